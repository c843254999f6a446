# Actions of many environments, out of whatever integers the caller has them in.
from libc.string cimport memcpy

cdef inline unsigned long long number_at(unsigned char* place, Py_ssize_t size) noexcept nogil:
    # The unsigned number in so many bytes: a negative one becomes huge.
    cdef unsigned long long wide
    cdef unsigned int middle
    cdef unsigned short narrow
    if size == 8:
        memcpy(&wide, place, 8)
        return wide
    if size == 4:
        memcpy(&middle, place, 4)
        return middle
    if size == 2:
        memcpy(&narrow, place, 2)
        return narrow
    return place[0]

cdef inline Py_ssize_t copy_actions(Py_buffer* given, Py_ssize_t count, unsigned char* actions) noexcept nogil:
    # Returns the place of the first that is not one of 0..5, and copies none then; else their number.
    cdef unsigned char* base = <unsigned char*>given.buf
    cdef Py_ssize_t stride = given.strides[0]
    cdef Py_ssize_t i
    for i in range(count):
        if number_at(base + i * stride, given.itemsize) > 5:
            return i
    for i in range(count):
        actions[i] = <unsigned char>number_at(base + i * stride, given.itemsize)
    return count
