"""Which nodes touch each other, pixel by pixel.

A contact is a step from a pixel of one node to a neighbouring pixel of another. Its key is the label of the first node
in the high bits and that of the second in the low 16.
"""

import numpy as np

cdef enum:
    STEPS = 8
    HALF_PX = 12

cdef int NODE_BITS = 16
cdef unsigned char KEPT = 1
cdef unsigned char CUT = 2

# A step and the step back are four apart: right, down, down and right, down and left; then the same backwards.
cdef int[STEPS] STEP_Y = [0, 1, 1, 1, 0, -1, -1, -1]
cdef int[STEPS] STEP_X = [1, 0, 1, -1, -1, 0, -1, 1]


cdef class KeyTable:
    """Marks by key, in a hash table that grows."""

    cdef long long[::1] keys
    cdef unsigned char[::1] marks
    cdef int[::1] used
    cdef Py_ssize_t count

    def __init__(self, int size_bits) -> None:
        self.make_room(1 << size_bits)

    cdef make_room(self, Py_ssize_t size):
        """Begin with empty places; the number of places is a power of two."""
        self.keys = np.zeros(size, np.int64)
        self.marks = np.zeros(size, np.uint8)
        self.used = np.zeros(size // 2, np.int32)
        self.count = 0

    cdef grow(self):
        """Double the number of places."""
        cdef long long[::1] keys = self.keys
        cdef unsigned char[::1] marks = self.marks
        cdef int[::1] used = self.used
        cdef Py_ssize_t count = self.count
        cdef Py_ssize_t k
        self.make_room(2 * keys.shape[0])
        for k in range(count):
            self.add(keys[used[k]], marks[used[k]])

    cdef int add(self, long long key, unsigned char mark) except -1:
        """Add a mark to those of a key."""
        if self.count == self.used.shape[0]:
            self.grow()
        cdef unsigned long long mask = self.keys.shape[0] - 1
        cdef unsigned long long place = ((<unsigned long long>key * 0x9E3779B97F4A7C15ULL) >> 32) & mask
        while self.marks[place] != 0 and self.keys[place] != key:
            place = (place + 1) & mask
        if self.marks[place] == 0:
            self.keys[place] = key
            self.used[self.count] = place
            self.count += 1
        self.marks[place] |= mark
        return 0

    cdef keys_marked(self, unsigned char mark):
        """Take out the keys that have exactly this mark, sorted; the table is empty then."""
        found = np.empty(self.count, np.int64)
        cdef long long[::1] out = found
        cdef Py_ssize_t size = 0
        cdef Py_ssize_t k
        for k in range(self.count):
            if self.marks[self.used[k]] == mark:
                out[size] = self.keys[self.used[k]]
                size += 1
            self.marks[self.used[k]] = 0
        self.count = 0
        return np.sort(found[:size])


def stop_image(one_ways, shape) -> np.ndarray:
    """The steps that go down through the surface of a one-way platform.

    Args:
        one_ways: The platforms.
        shape: Height and width of the image.

    Returns:
        A fresh uint8 image; bit s is set where step s is stopped.
    """
    stops = np.zeros(shape, np.uint8)
    cdef unsigned char[:, ::1] image = stops
    cdef unsigned char[:, ::1] above, under
    cdef Py_ssize_t y, x, top, left, y2, x2
    cdef int step
    for one_way in one_ways:
        above = one_way.above.view(np.uint8)
        under = one_way.under.view(np.uint8)
        top, left = one_way.window[0].start, one_way.window[1].start
        for y in range(above.shape[0]):
            for x in range(above.shape[1]):
                if above[y, x] == 0:
                    continue
                for step in range(STEPS):
                    y2 = y + STEP_Y[step]
                    x2 = x + STEP_X[step]
                    if 0 <= y2 < under.shape[0] and 0 <= x2 < under.shape[1] and under[y2, x2] != 0:
                        image[top + y, left + x] |= 1 << step
    return stops


cdef class ContactImage:
    """The contacts between the nodes of an image.

    Args:
        labels: uint16 (height, width), contiguous: node of every pixel counted from 1, 0 where the ninja does not fit.
        stops: As `stop_image` gives it.
    """

    cdef unsigned short[:, ::1] labels
    cdef unsigned char[:, ::1] stops
    cdef unsigned int[:, ::1] noted     # by step and column, the nodes of the last contact that nothing stopped
    cdef KeyTable table

    def __init__(self, labels, stops) -> None:
        self.labels = labels
        self.stops = stops
        self.table = KeyTable(15)

    cdef int look_under(self, Py_ssize_t y, Py_ssize_t x, Py_ssize_t bottom, Py_ssize_t right, Py_ssize_t left,
                        unsigned char[:, ::1] near, Py_ssize_t near_top, Py_ssize_t near_left) except -1:
        """Note the contacts of a pixel with the four neighbours that follow it, inside a window, in both directions."""
        cdef int step
        cdef Py_ssize_t y2, x2
        cdef unsigned short b
        cdef unsigned short a = self.labels[y, x]
        cdef unsigned char mark
        if a == 0:
            return 0
        for step in range(4):
            y2 = y + STEP_Y[step]
            x2 = x + STEP_X[step]
            if y2 >= bottom or x2 >= right or x2 < left:
                continue
            b = self.labels[y2, x2]
            if b == 0 or b == a:
                continue
            mark = KEPT
            if covers(near, y - near_top, x - near_left) or covers(near, y2 - near_top, x2 - near_left):
                mark = CUT
            self.note(step, self.stops[y, x], self.stops[y2, x2], a, b, mark)
        return 0

    cdef int look(self, Py_ssize_t y, Py_ssize_t x) except -1:
        """The same in the whole image, where nothing lies under a mask."""
        cdef int step
        cdef Py_ssize_t y2, x2
        cdef unsigned short b
        cdef unsigned short a = self.labels[y, x]
        for step in range(4):
            y2 = y + STEP_Y[step]
            x2 = x + STEP_X[step]
            if y2 >= self.labels.shape[0] or x2 >= self.labels.shape[1] or x2 < 0:
                continue
            b = self.labels[y2, x2]
            if b == 0 or b == a:
                continue
            if self.stops[y, x] or self.stops[y2, x2] or not self.was_noted(step, x, a, b):
                self.note(step, self.stops[y, x], self.stops[y2, x2], a, b, KEPT)
        return 0

    cdef inline int note(
        self, int step, unsigned char stops, unsigned char other_stops, long long a, long long b, unsigned char mark
    ) except -1:
        """Note a contact in the directions that nothing stops."""
        if (stops >> step) & 1 == 0:
            self.table.add((a << NODE_BITS) | b, mark)
        if (other_stops >> (step + 4)) & 1 == 0:
            self.table.add((b << NODE_BITS) | a, mark)
        return 0

    def all_keys(self) -> np.ndarray:
        """Sorted keys of all contacts; a fresh int64 array."""
        self.noted = np.zeros((4, self.labels.shape[1] + 1), np.uint32)
        cdef Py_ssize_t height = self.labels.shape[0]
        cdef Py_ssize_t width = self.labels.shape[1]
        cdef Py_ssize_t y, x, top, left, bottom, right
        cdef bint plain
        for top in range(0, height, HALF_PX):
            for left in range(0, width, HALF_PX):
                bottom, right = min(top + HALF_PX, height), min(left + HALF_PX, width)
                plain = self.is_plain(top, left, bottom, right)
                if plain and self.labels[top, left] == 0:
                    continue
                for y in range(top, bottom):
                    x = left
                    while x < right:
                        if not self.is_alone(y, x):
                            self.look(y, x)
                        # Where a half cell has a single node, only pixels at the sides and at the bottom touch others.
                        x = right - 1 if plain and x == left and y + 1 < bottom and left + 1 < right else x + 1
        return self.table.keys_marked(KEPT)

    cdef inline bint is_plain(self, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right) noexcept:
        """Whether all pixels of a window have the same node, or none."""
        cdef unsigned short a = self.labels[top, left]
        cdef unsigned short different = 0
        cdef Py_ssize_t y, x
        for y in range(top, bottom):
            for x in range(left, right):
                different |= self.labels[y, x] ^ a
        return different == 0

    cdef inline bint was_noted(self, int step, Py_ssize_t x, unsigned int a, unsigned int b) noexcept:
        """Whether the same step above or to the left was between the same nodes, with nothing to stop it; note it."""
        cdef unsigned int key = (a << NODE_BITS) | b
        cdef bint noted = self.noted[step, x] == key or self.noted[step, x + 1] == key
        self.noted[step, x + 1] = key
        return noted

    cdef inline bint is_alone(self, Py_ssize_t y, Py_ssize_t x) noexcept:
        """Whether a pixel has no node, or the neighbours that follow it are of its own node."""
        cdef unsigned short a = self.labels[y, x]
        if a == 0:
            return True
        if x == 0 or y + 1 == self.labels.shape[0] or x + 1 == self.labels.shape[1]:
            return False
        return (
            self.labels[y, x + 1] == a and self.labels[y + 1, x] == a and self.labels[y + 1, x + 1] == a
            and self.labels[y + 1, x - 1] == a
        )

    def keys_cut_by(self, near, Py_ssize_t top, Py_ssize_t left) -> np.ndarray:
        """Sorted keys whose contacts all begin or end under a mask; a fresh int64 array.

        Args:
            near: uint8 mask (height, width), not empty.
            top: Row of the image in which it begins.
            left: Column of the image in which it begins.
        """
        cdef unsigned char[:, ::1] mask = near
        # Whole half cells and one more on either side hold all contacts of whatever the mask meets.
        cdef Py_ssize_t first_row = max(0, (top // HALF_PX - 1) * HALF_PX)
        cdef Py_ssize_t first_column = max(0, (left // HALF_PX - 1) * HALF_PX)
        cdef Py_ssize_t bottom = min(self.labels.shape[0], ((top + mask.shape[0] - 1) // HALF_PX + 2) * HALF_PX)
        cdef Py_ssize_t right = min(self.labels.shape[1], ((left + mask.shape[1] - 1) // HALF_PX + 2) * HALF_PX)
        cdef Py_ssize_t y, x
        for y in range(first_row, bottom):
            for x in range(first_column, right):
                self.look_under(y, x, bottom, right, first_column, mask, top, left)
        return self.table.keys_marked(CUT)


cdef inline bint covers(unsigned char[:, ::1] mask, Py_ssize_t y, Py_ssize_t x) noexcept:
    """Whether a mask covers a place that may lie outside of it."""
    return 0 <= y < mask.shape[0] and 0 <= x < mask.shape[1] and mask[y, x] != 0


cdef class TouchImage:
    """The nodes in touch with some places: entries (place, node), by place, each with its number of pixels in touch.

    Args:
        labels: uint16 (height, width), contiguous, as for `ContactImage`.
        places: float64 (n, 3): x, y and the distance below which a place is touched.

    Attributes:
        start: int64 (n + 1,), where the entries of each place begin.
        node: uint16 (m,), the label of each entry's node.
    """

    cdef unsigned short[:, ::1] labels
    cdef double[:, ::1] places
    cdef int[::1] counter
    cdef long long[::1] first
    cdef unsigned short[::1] nodes
    cdef int[::1] pixels
    cdef readonly object start
    cdef readonly object node

    def __init__(self, labels, places) -> None:
        self.labels = labels
        self.places = places
        self.counter = np.zeros(1 << NODE_BITS, np.int32)
        self.start = np.zeros(len(places) + 1, np.int64)
        self.first = self.start
        cdef unsigned short[::1] met = np.empty(1 << NODE_BITS, np.uint16)
        cdef int[::1] sizes
        cdef Py_ssize_t k, j, count
        nodes, pixels = [], []
        for k in range(self.places.shape[0]):
            count = self.count_pixels(k, 0, 0, self.labels.shape[0], self.labels.shape[1], None, met)
            nodes.append(np.array(met[:count]))
            pixels.append(np.empty(count, np.int32))
            sizes = pixels[k]
            for j in range(count):
                sizes[j] = self.counter[met[j]]
                self.counter[met[j]] = 0
            self.first[k + 1] = self.first[k] + count
        self.node = np.concatenate([np.zeros(0, np.uint16), *nodes])
        self.nodes = self.node
        self.pixels = np.concatenate([np.zeros(0, np.int32), *pixels])

    cdef Py_ssize_t count_pixels(
        self, Py_ssize_t k, Py_ssize_t top, Py_ssize_t left, Py_ssize_t bottom, Py_ssize_t right,
        unsigned char[:, ::1] mask, unsigned short[::1] met
    ):
        """Count the pixels in touch with place k in a window, and under a mask if there is one, by node.

        Returns:
            How many nodes were met; the caller sets their counters back to zero.
        """
        cdef double dx, dy
        cdef double x = self.places[k, 0]
        cdef double y = self.places[k, 1]
        cdef double touch_px = self.places[k, 2]
        cdef int reach = <int>touch_px + 1
        cdef Py_ssize_t count = 0
        cdef Py_ssize_t py, px
        cdef unsigned short label
        for py in range(max(top, <int>y - reach), min(bottom, <int>y + reach + 1)):
            dy = py - y
            for px in range(max(left, <int>x - reach), min(right, <int>x + reach + 1)):
                label = self.labels[py, px]
                if label == 0 or (mask is not None and mask[py - top, px - left] == 0):
                    continue
                dx = px - x
                if dx * dx + dy * dy < touch_px * touch_px:
                    if self.counter[label] == 0:
                        met[count] = label
                        count += 1
                    self.counter[label] += 1
        return count

    def entries_cut_by(self, near, Py_ssize_t top, Py_ssize_t left, long long[::1] chosen) -> np.ndarray:
        """Entries of some places whose pixels in touch all lie under a mask; a fresh int64 array.

        Args:
            near: uint8 mask (height, width).
            top: Row of the image in which it begins.
            left: Column of the image in which it begins.
            chosen: int64, the places.
        """
        cdef unsigned char[:, ::1] mask = near
        cdef unsigned short[::1] met = np.empty(mask.shape[0] * mask.shape[1] + 1, np.uint16)
        cdef Py_ssize_t c, j, count
        cdef long long entry
        found = []
        for c in range(chosen.shape[0]):
            count = self.count_pixels(chosen[c], top, left, top + mask.shape[0], left + mask.shape[1], mask, met)
            if count:
                for entry in range(self.first[chosen[c]], self.first[chosen[c] + 1]):
                    if self.pixels[entry] == self.counter[self.nodes[entry]]:
                        found.append(entry)
                for j in range(count):
                    self.counter[met[j]] = 0
        return np.array(found, np.int64)
