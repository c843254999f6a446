"""Grey values of the frames that policies see, and the sizes of the backgrounds that they are cut from.

What harms is darker than empty space and walls, what helps is brighter, the ninja is the brightest of all.
"""

from __future__ import annotations

WALL, EMPTY = 72, 128

HALF_SHAPE, SIXTH_SHAPE = (300, 528), (100, 176)
BACKGROUND_BYTES = HALF_SHAPE[0] * HALF_SHAPE[1] + SIXTH_SHAPE[0] * SIXTH_SHAPE[1]
