"""Anti-aliased discs, boxes and lines on a small grey picture, drawn without allocating.

Shapes are given in world pixels; the canvas maps them to its own pixels by a scale and the position of its
top left corner. Coverage is computed per pixel from the true, fractional position, so that motion below one
pixel shows.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.libc.math import fabs, sqrt
    from cython.cimports.libc.string import memcpy, memset
    from cython.cimports.npp_env.sim.layout import ifloor
else:
    from math import fabs, sqrt

    from npp_env.render.uncompiled import Canvas
    from npp_env.sim.structs import ifloor

# Whatever the scale, nothing shrinks below what one pixel can show.
MIN_RADIUS = cython.declare(cython.double, 0.8)
MIN_HALF_WIDTH = cython.declare(cython.double, 0.75)
# Positions beyond this are not drawn; it keeps the conversion to integers defined, whatever a state holds.
FAR = cython.declare(cython.double, 100000.0)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def blend(pixels: cython.pointer(cython.uchar), k: cython.int, grey: cython.int, cover: cython.double) -> cython.void:
    """Cover a share of pixel k, 0 to 256 parts of 256, with a grey value."""
    parts: cython.int = cython.cast(cython.int, cover)
    pixels[k] = (pixels[k] * (256 - parts) + grey * parts + 128) >> 8


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill_disc(
    c: cython.pointer(Canvas), x: cython.double, y: cython.double, radius: cython.double, grey: cython.int
) -> cython.void:
    """Fill a disc; the rim fades over one pixel, linearly in the squared distance."""
    r: cython.double = radius * c.scale
    if r < MIN_RADIUS:
        r = MIN_RADIUS
    cx: cython.double = x * c.scale - c.left
    cy: cython.double = y * c.scale - c.top
    outer: cython.double = r + 0.5
    # Written so that a NaN is left out as well.
    if not (cx > -outer and cx < c.width + outer and cy > -outer and cy < c.height + outer):
        return
    i1: cython.int = ifloor(cx - outer)
    i2: cython.int = ifloor(cx + outer)
    j1: cython.int = ifloor(cy - outer)
    j2: cython.int = ifloor(cy + outer)
    if i1 < 0:
        i1 = 0
    if i2 > c.width - 1:
        i2 = c.width - 1
    if j1 < 0:
        j1 = 0
    if j2 > c.height - 1:
        j2 = c.height - 1
    outer_sq: cython.double = outer * outer
    inner_sq: cython.double = (r - 0.5) * (r - 0.5)
    slope: cython.double = 256.0 / (outer_sq - inner_sq)
    i: cython.int
    j: cython.int
    dx: cython.double
    dy_sq: cython.double
    cover: cython.double
    row: cython.int
    # Bytes may alias anything, so what the loops need is kept out of the struct.
    pixels: cython.pointer(cython.uchar) = c.pixels
    width: cython.int = c.width
    for j in range(j1, j2 + 1):
        dy_sq = (j + 0.5 - cy) * (j + 0.5 - cy)
        row = j * width
        for i in range(i1, i2 + 1):
            dx = i + 0.5 - cx
            # Small discs are nearly all rim: clamping beats branches that are hard to predict.
            cover = (outer_sq - (dx * dx + dy_sq)) * slope
            if cover < 0.0:
                cover = 0.0
            if cover > 256.0:
                cover = 256.0
            blend(pixels, row + i, grey, cover)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def overlap(k: cython.int, low: cython.double, high: cython.double) -> cython.double:
    """Length of the pixel [k, k + 1] that lies in [low, high]; not negative where they meet."""
    a: cython.double = k
    b: cython.double = k + 1
    if low > a:
        a = low
    if high < b:
        b = high
    return b - a


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill_box(
    c: cython.pointer(Canvas),
    x: cython.double,
    y: cython.double,
    half_width: cython.double,
    half_height: cython.double,
    grey: cython.int,
) -> cython.void:
    """Fill an axis-aligned box, each pixel by the share of it that is covered."""
    hw: cython.double = half_width * c.scale
    hh: cython.double = half_height * c.scale
    if hw < MIN_HALF_WIDTH:
        hw = MIN_HALF_WIDTH
    if hh < MIN_HALF_WIDTH:
        hh = MIN_HALF_WIDTH
    cx: cython.double = x * c.scale - c.left
    cy: cython.double = y * c.scale - c.top
    if not (cx > -hw and cx < c.width + hw and cy > -hh and cy < c.height + hh):
        return
    i1: cython.int = ifloor(cx - hw)
    i2: cython.int = ifloor(cx + hw)
    j1: cython.int = ifloor(cy - hh)
    j2: cython.int = ifloor(cy + hh)
    if i1 < 0:
        i1 = 0
    if i2 > c.width - 1:
        i2 = c.width - 1
    if j1 < 0:
        j1 = 0
    if j2 > c.height - 1:
        j2 = c.height - 1
    i: cython.int
    j: cython.int
    share: cython.double
    pixels: cython.pointer(cython.uchar) = c.pixels
    width: cython.int = c.width
    for j in range(j1, j2 + 1):
        share = 256.0 * overlap(j, cy - hh, cy + hh)
        for i in range(i1, i2 + 1):
            blend(pixels, j * width + i, grey, share * overlap(i, cx - hw, cx + hw))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def draw_line(
    c: cython.pointer(Canvas),
    x1: cython.double,
    y1: cython.double,
    x2: cython.double,
    y2: cython.double,
    half_width: cython.double,
    grey: cython.int,
) -> cython.void:
    """Draw a line of some width: one run of pixels across it per step along its longer axis."""
    # (a, b) are the coordinates along the longer and the shorter axis.
    a1: cython.double = x1 * c.scale - c.left
    b1: cython.double = y1 * c.scale - c.top
    a2: cython.double = x2 * c.scale - c.left
    b2: cython.double = y2 * c.scale - c.top
    if not (fabs(a1) < FAR and fabs(b1) < FAR and fabs(a2) < FAR and fabs(b2) < FAR):
        return
    a_step: cython.int = 1
    b_step: cython.int = c.width
    a_size: cython.int = c.width
    b_size: cython.int = c.height
    if fabs(b2 - b1) > fabs(a2 - a1):
        a1, b1 = b1, a1
        a2, b2 = b2, a2
        a_step, b_step = b_step, a_step
        a_size, b_size = b_size, a_size
    if a2 < a1:
        a1, a2 = a2, a1
        b1, b2 = b2, b1
    slope: cython.double = 0.0
    if a2 > a1:
        slope = (b2 - b1) / (a2 - a1)
    half: cython.double = half_width * c.scale
    if half < MIN_HALF_WIDTH:
        half = MIN_HALF_WIDTH
    half = half * sqrt(1.0 + slope * slope)
    i1: cython.int = ifloor(a1)
    i2: cython.int = ifloor(a2)
    if i1 < 0:
        i1 = 0
    if i2 > a_size - 1:
        i2 = a_size - 1
    i: cython.int
    j: cython.int
    j1: cython.int
    j2: cython.int
    middle: cython.double
    share: cython.double
    pixels: cython.pointer(cython.uchar) = c.pixels
    for i in range(i1, i2 + 1):
        share = 256.0 * overlap(i, a1, a2)
        middle = b1 + slope * (i + 0.5 - a1)
        j1 = ifloor(middle - half)
        j2 = ifloor(middle + half)
        if j1 < 0:
            j1 = 0
        if j2 > b_size - 1:
            j2 = b_size - 1
        for j in range(j1, j2 + 1):
            blend(pixels, i * a_step + j * b_step, grey, share * overlap(j, middle - half, middle + half))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def copy_window(
    source: cython.pointer(cython.uchar),
    source_width: cython.int,
    source_height: cython.int,
    c: cython.pointer(Canvas),
    grey: cython.int,
) -> cython.void:
    """Fill the canvas with what lies under it in a larger picture of the same scale, and grey beyond that."""
    left: cython.int = ifloor(c.left)
    top: cython.int = ifloor(c.top)
    # Columns of the canvas that lie over the source.
    i1: cython.int = 0
    i2: cython.int = c.width
    if left < 0:
        i1 = -left
    if left + c.width > source_width:
        i2 = source_width - left
    j: cython.int
    row: cython.int
    start: cython.int
    if i1 >= i2:
        i1 = 0
        i2 = 0
    for j in range(c.height):
        row = j * c.width
        if top + j < 0 or top + j >= source_height or i1 == i2:
            if cython.compiled:
                memset(c.pixels + row, grey, c.width)
            else:
                c.pixels[row : row + c.width] = bytes([grey]) * c.width
            continue
        start = (top + j) * source_width + left
        if cython.compiled:
            memset(c.pixels + row, grey, i1)
            memcpy(c.pixels + row + i1, source + start + i1, i2 - i1)
            memset(c.pixels + row + i2, grey, c.width - i2)
        else:
            c.pixels[row : row + i1] = bytes([grey]) * i1
            c.pixels[row + i1 : row + i2] = source[start + i1 : start + i2]
            c.pixels[row + i2 : row + c.width] = bytes([grey]) * (c.width - i2)
