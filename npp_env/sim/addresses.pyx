"""Where the bytes of an array lie: compiled code asks for dozens of them whenever a level is loaded."""

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBuffer_Release, PyObject_GetBuffer


def address_of(array) -> int:
    """Address of the first byte of a contiguous array; the caller keeps the array alive.

    Raises:
        ValueError: The array is not contiguous.
    """
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS)
    cdef size_t place = <size_t>view.buf
    PyBuffer_Release(&view)
    return place
