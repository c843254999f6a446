"""Faults in what an episode keeps beside its state."""

from __future__ import annotations

from ..faults import Fault

ENGINE = "npp_env/runtime/engine.pyx"
EPISODES = "npp_env/runtime/episodes.py"

FAULTS = [
    Fault("left-and-right-exchanged", ENGINE, "(0x351240 >>", "(0x351420 >>", "episodes", "exchanged-fields"),
    Fault(
        "time-limit-a-tick-late",
        ENGINE,
        "slot.limit_frames > 0 and ninja.frame >= slot.limit_frames",
        "slot.limit_frames > 0 and ninja.frame > slot.limit_frames",
        "episodes",
        "off-by-one",
    ),
    Fault(
        "automatic-limit-counts-solid-tiles",
        EPISODES,
        "level.tiles != 1",
        "level.tiles == 1",
        "episodes",
        "dropped-condition",
    ),
]
