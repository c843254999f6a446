"""A place in shared memory that is given back when nothing refers to it any more."""

from cpython.buffer cimport PyBuffer_FillInfo


cdef class Slot:
    """Some bytes of shared memory, read-only, as a buffer: arrays that are made from it keep it.

    Args:
        memory: What keeps the memory.
        free: Numbers of the free slots; this one takes the last, and puts it back in the end.
        base: Address of the first slot.
        size: Bytes of a slot.

    Attributes:
        number: Which slot it is.
    """

    cdef object memory
    cdef list free
    cdef readonly Py_ssize_t number
    cdef size_t address
    cdef Py_ssize_t size

    def __init__(self, memory, list free not None, size_t base, Py_ssize_t size) -> None:
        self.memory = memory
        self.number = free.pop()
        self.free = free
        self.size = size
        self.address = base + self.number * size

    def __getbuffer__(self, Py_buffer* view, int flags):
        PyBuffer_FillInfo(view, self, <void*>self.address, self.size, 1, flags)

    def __del__(self):
        if self.free is not None:
            self.free.append(self.number)
