"""Bounds of the values in an array: a cache file has dozens of arrays, and a process opens thousands of files."""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer

ctypedef fused Number:
    signed char
    unsigned char
    short
    unsigned short
    int
    unsigned int
    float
    double


cdef bint fits(Number* first, Py_ssize_t count, Py_ssize_t stride, double low, double high, double also) noexcept nogil:
    """Whether all values lie in a range, or are the other one."""
    cdef Number least = first[0]
    cdef Number most = first[0]
    cdef Number value
    cdef bint strange = False
    cdef Py_ssize_t k
    if stride == sizeof(Number):
        # The usual case is decided by the least and the greatest value, which compilers find many at once.
        for k in range(count):
            value = first[k]
            least = value if value < least else least
            most = value if value > most else most
            if Number is float or Number is double:
                strange |= value != value
        if least >= low and most <= high and not strange:
            return True
    for k in range(count):
        value = (<Number*>(<char*>first + k * stride))[0]
        if not (value >= low and value <= high) and value != also:
            return False
    return True


cdef bint ascends(Number* first, Py_ssize_t count) noexcept nogil:
    """Whether no value is smaller than the one before."""
    cdef bint bad = False
    cdef Py_ssize_t k
    for k in range(1, count):
        bad |= first[k] < first[k - 1]
    return not bad


def within(values, double low, double high, double other=float("nan")) -> bool:
    """Whether every value of an array (n,) lies in a range, ends included, or is the other value; a NaN never does.

    Raises:
        TypeError: The array has more axes, or a type that this is not made for.
    """
    cdef Py_buffer view
    PyObject_GetBuffer(values, &view, PyBUF_FORMAT | PyBUF_STRIDES)
    cdef bint good
    try:
        if view.ndim != 1:
            raise TypeError(f"an array of {view.ndim} axes")
        if view.shape[0] == 0:
            return True
        code = view.format.lstrip(b"<=|")
        if code == b"H":
            good = fits(<unsigned short*>view.buf, view.shape[0], view.strides[0], low, high, other)
        elif code == b"B" or code == b"?":
            good = fits(<unsigned char*>view.buf, view.shape[0], view.strides[0], low, high, other)
        elif code == b"f":
            good = fits(<float*>view.buf, view.shape[0], view.strides[0], low, high, other)
        elif code == b"h":
            good = fits(<short*>view.buf, view.shape[0], view.strides[0], low, high, other)
        elif code == b"b":
            good = fits(<signed char*>view.buf, view.shape[0], view.strides[0], low, high, other)
        elif code == b"d":
            good = fits(<double*>view.buf, view.shape[0], view.strides[0], low, high, other)
        elif code == b"i":
            good = fits(<int*>view.buf, view.shape[0], view.strides[0], low, high, other)
        elif code == b"I":
            good = fits(<unsigned int*>view.buf, view.shape[0], view.strides[0], low, high, other)
        else:
            raise TypeError(f"values of type {code}")
        return good
    finally:
        PyBuffer_Release(&view)


def ascending(values) -> bool:
    """Whether no value of a contiguous array (n,) of uint16 or uint32 is smaller than the one before.

    Raises:
        TypeError: The array has more axes or another type.
    """
    cdef Py_buffer view
    PyObject_GetBuffer(values, &view, PyBUF_FORMAT | PyBUF_ND)
    try:
        code = view.format.lstrip(b"<=|")
        if view.ndim != 1 or (code != b"H" and code != b"I"):
            raise TypeError(f"values of type {code} in {view.ndim} axes")
        if code == b"H":
            return ascends(<unsigned short*>view.buf, view.shape[0])
        return ascends(<unsigned int*>view.buf, view.shape[0])
    finally:
        PyBuffer_Release(&view)
