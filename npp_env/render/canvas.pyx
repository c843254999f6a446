"""Anti-aliased discs, boxes and lines on a small grey picture, drawn without allocating.

Shapes are given in world pixels; the canvas maps them to its own pixels by a scale and the position of its
top left corner. Coverage is computed per pixel from the true, fractional position, so that motion below one
pixel shows.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset
from npp_env.sim.layout cimport ifloor

# Whatever the scale, nothing shrinks below what one pixel can show.
cdef double MIN_RADIUS = 0.8
cdef double MIN_HALF_WIDTH = 0.75
# Positions beyond this are not drawn; it keeps the conversion to integers defined, whatever a state holds.
cdef double FAR = 100000.0
# Lengths that differ by less are equal, but for rounding.
cdef double SAME_LENGTH = 1e-6


cdef inline void blend(unsigned char* pixels, int k, int grey, double cover) noexcept nogil:
    """Cover a share of pixel k, 0 to 256 parts of 256, with a grey value."""
    cdef int parts = <int>cover
    pixels[k] = (pixels[k] * (256 - parts) + grey * parts + 128) >> 8


cdef struct Span:
    int first, end


cdef inline Span pixels_in(double low, double high, int size) noexcept nogil:
    """The pixels of an axis that [low, high] touches; both are small enough for an integer."""
    cdef Span span = Span(ifloor(low), ifloor(high) + 1)
    if span.first < 0:
        span.first = 0
    if span.end > size:
        span.end = size
    return span


cdef inline Span span_over(double middle, double half, int size) noexcept nogil:
    """The pixels of an axis within `half` of the middle; none where that lies outside, or is no number."""
    if not (middle > -half and middle < size + half):
        return Span(0, 0)
    return pixels_in(middle - half, middle + half, size)


cdef void fill_disc(Canvas* c, double x, double y, double radius, int grey) noexcept nogil:
    """Fill a disc; the rim fades over one pixel, linearly in the squared distance."""
    cdef double r = radius * c.scale
    if r < MIN_RADIUS:
        r = MIN_RADIUS
    cdef double cx = x * c.scale - c.left
    cdef double cy = y * c.scale - c.top
    cdef double outer = r + 0.5
    cdef Span columns = span_over(cx, outer, c.width)
    cdef Span rows = span_over(cy, outer, c.height)
    cdef double outer_sq = outer * outer
    cdef double inner_sq = (r - 0.5) * (r - 0.5)
    cdef double slope = 256.0 / (outer_sq - inner_sq)
    cdef int i, j
    cdef double dx, dy_sq, cover
    cdef int row
    # Bytes may alias anything, so what the loops need is kept out of the struct.
    cdef unsigned char* pixels = c.pixels
    cdef int width = c.width
    for j in range(rows.first, rows.end):
        dy_sq = (j + 0.5 - cy) * (j + 0.5 - cy)
        row = j * width
        for i in range(columns.first, columns.end):
            dx = i + 0.5 - cx
            # Small discs are nearly all rim: clamping beats branches that are hard to predict.
            cover = (outer_sq - (dx * dx + dy_sq)) * slope
            if cover < 0.0:
                cover = 0.0
            if cover > 256.0:
                cover = 256.0
            blend(pixels, row + i, grey, cover)


cdef inline double overlap(int k, double low, double high) noexcept nogil:
    """Length of the pixel [k, k + 1] that lies in [low, high]; not negative where they meet."""
    cdef double a = k
    cdef double b = k + 1
    if low > a:
        a = low
    if high < b:
        b = high
    return b - a


cdef void fill_box(Canvas* c, double x, double y, double half_width, double half_height, int grey) noexcept nogil:
    """Fill an axis-aligned box, each pixel by the share of it that is covered."""
    cdef double hw = half_width * c.scale
    cdef double hh = half_height * c.scale
    if hw < MIN_HALF_WIDTH:
        hw = MIN_HALF_WIDTH
    if hh < MIN_HALF_WIDTH:
        hh = MIN_HALF_WIDTH
    cdef double cx = x * c.scale - c.left
    cdef double cy = y * c.scale - c.top
    cdef Span columns = span_over(cx, hw, c.width)
    cdef Span rows = span_over(cy, hh, c.height)
    cdef int i, j
    cdef double share
    cdef unsigned char* pixels = c.pixels
    cdef int width = c.width
    for j in range(rows.first, rows.end):
        share = 256.0 * overlap(j, cy - hh, cy + hh)
        for i in range(columns.first, columns.end):
            blend(pixels, j * width + i, grey, share * overlap(i, cx - hw, cx + hw))


cdef void draw_line(Canvas* c, double x1, double y1, double x2, double y2, double half_width, int grey) noexcept nogil:
    """Draw a line of some width: one run of pixels across it per step along its longer axis."""
    # (a, b) are the coordinates along the longer and the shorter axis.
    cdef double a1 = x1 * c.scale - c.left
    cdef double b1 = y1 * c.scale - c.top
    cdef double a2 = x2 * c.scale - c.left
    cdef double b2 = y2 * c.scale - c.top
    if not (fabs(a1) < FAR and fabs(b1) < FAR and fabs(a2) < FAR and fabs(b2) < FAR):
        return
    cdef int a_step = 1
    cdef int b_step = c.width
    cdef int a_size = c.width
    cdef int b_size = c.height
    # At 45 degrees the last bit of a sum must not decide.
    if fabs(b2 - b1) > fabs(a2 - a1) + SAME_LENGTH:
        a1, b1 = b1, a1
        a2, b2 = b2, a2
        a_step, b_step = b_step, a_step
        a_size, b_size = b_size, a_size
    if a2 < a1:
        a1, a2 = a2, a1
        b1, b2 = b2, b1
    cdef double slope = 0.0
    if a2 > a1:
        slope = (b2 - b1) / (a2 - a1)
    cdef double half = half_width * c.scale
    if half < MIN_HALF_WIDTH:
        half = MIN_HALF_WIDTH
    half = half * sqrt(1.0 + slope * slope)
    cdef Span along = pixels_in(a1, a2, a_size)
    cdef Span across
    cdef int i, j
    cdef double middle, share
    cdef unsigned char* pixels = c.pixels
    for i in range(along.first, along.end):
        share = 256.0 * overlap(i, a1, a2)
        middle = b1 + slope * (i + 0.5 - a1)
        across = pixels_in(middle - half, middle + half, b_size)
        for j in range(across.first, across.end):
            blend(pixels, i * a_step + j * b_step, grey, share * overlap(j, middle - half, middle + half))


cdef void copy_window(unsigned char* source, int source_width, int source_height, Canvas* c, int grey) noexcept nogil:
    """Fill the canvas with what lies under it in a larger picture of the same scale, and grey beyond that."""
    cdef int left = ifloor(c.left)
    cdef int top = ifloor(c.top)
    # Columns of the canvas that lie over the source.
    cdef int i1 = 0
    cdef int i2 = c.width
    if left < 0:
        i1 = -left
    if left + c.width > source_width:
        i2 = source_width - left
    cdef int j, row, start
    if i1 >= i2:
        i1 = 0
        i2 = 0
    for j in range(c.height):
        row = j * c.width
        if top + j < 0 or top + j >= source_height or i1 == i2:
            memset(c.pixels + row, grey, c.width)
            continue
        start = (top + j) * source_width + left
        memset(c.pixels + row, grey, i1)
        memcpy(c.pixels + row + i1, source + start + i1, i2 - i1)
        memset(c.pixels + row + i2, grey, c.width - i2)
