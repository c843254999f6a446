"""Faults in the grey frames."""

from __future__ import annotations

from ..faults import Fault

FRAMES = "npp_env/render/frames.pyx"

FAULTS = [
    Fault("camera-a-pixel-off", FRAMES, "+ 0.5) - 42", "+ 0.5) - 41", "frames", "off-by-one"),
    Fault(
        "death-ball-drawn-too-small",
        FRAMES,
        "fill_disc(c, x, y, 8.0, 44)",
        "fill_disc(c, x, y, 7.0, 44)",
        "frames",
        "wrong-radius",
    ),
    Fault(
        "doors-lie-across",
        FRAMES,
        "fill_box(c, e.x0, e.y0, 2.0, 12.0, grey)",
        "fill_box(c, e.x0, e.y0, 12.0, 2.0, grey)",
        "frames",
        "swapped-arguments",
    ),
]
