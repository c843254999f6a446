"""What commands that measure do before they start the clock."""

from __future__ import annotations

from npp_env.env import NppEnv
from npp_env.vector import NppVectorEnv

MOST_LEVELS = 256


def meet_levels(env: NppEnv | NppVectorEnv) -> None:
    """Begin an episode on every level, the first 256 of a large set, so that later ones load and build nothing."""
    for number in range(min(env.num_levels, MOST_LEVELS)):
        env.reset(options={"level": number})
