"""The sections of a block as a mapping whose arrays are made when somebody asks for them.

A level has three blocks with fifty sections. Compiled code wants to know where they begin, which takes no array; an
environment that begins every episode on a new level would else spend most of a reset on making them.
"""

from collections.abc import Mapping

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

cdef Py_ssize_t MOST_SECTIONS = 64


cdef class Places:
    """A read-only mapping of names to arrays, which also says where these are without making them."""

    cdef void* address(self, name) except? NULL:
        """Where an array begins."""
        raise NotImplementedError

    cdef Py_ssize_t count(self, name) except -1:
        """How many elements it has."""
        raise NotImplementedError

    def __contains__(self, name) -> bool:
        return name in set(self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def keys(self) -> list:
        """The names; a fresh list."""
        return list(self)

    def values(self) -> list:
        """The arrays; a fresh list of read-only views."""
        return [self[name] for name in self]

    def items(self) -> list:
        """Both; a fresh list."""
        return [(name, self[name]) for name in self]


Mapping.register(Places)


cdef class SectionTable:
    """The sections that all blocks of a format have.

    Args:
        names: Of the sections.
        dtypes: Likewise.
    """

    def __init__(self, tuple names, tuple dtypes) -> None:
        if len(names) > MOST_SECTIONS:
            raise ValueError(f"{len(names)} sections; a block has at most {MOST_SECTIONS}")
        self.numbers = {name: k for k, name in enumerate(names)}
        self.dtypes = dtypes
        self.n_sections = len(names)
        for k, dtype in enumerate(dtypes):
            self.itemsizes[k] = dtype.itemsize


cdef class Sections(Places):
    """The sections of a block.

    Args:
        block: uint8 (n,), read-only.
        table: Of the format.
        first: Index of the first section's offset in the int32 header, behind which its count follows.
        alignment: Of the offsets.

    Raises:
        ValueError: A section does not lie in the block: its name, and where it would begin and end.
    """

    def __init__(self, block, SectionTable table not None, Py_ssize_t first, Py_ssize_t alignment) -> None:
        cdef Py_buffer view
        PyObject_GetBuffer(block, &view, PyBUF_SIMPLE)
        cdef Py_ssize_t size = view.len
        self.base = <unsigned char*>view.buf
        PyBuffer_Release(&view)
        self.block = block
        self.table = table
        self.places = <const int*>self.base + first
        cdef Py_ssize_t head = 4 * (first + 2 * table.n_sections)
        cdef Py_ssize_t k, start, end
        for k in range(table.n_sections):
            start = self.places[2 * k]
            end = start + self.places[2 * k + 1] * table.itemsizes[k]
            if start < head or start % alignment or end < start or end > size:
                raise ValueError(list(table.numbers)[k], start, end)

    cdef int number(self, name) except -1:
        """Which section it is."""
        return self.table.numbers[name]

    cdef void* address(self, name) except? NULL:
        return self.base + self.places[2 * self.number(name)]

    cdef Py_ssize_t count(self, name) except -1:
        return self.places[2 * self.number(name) + 1]

    def __getitem__(self, name):
        cdef int k = self.number(name)
        cdef Py_ssize_t start = self.places[2 * k]
        cdef Py_ssize_t end = start + self.places[2 * k + 1] * self.table.itemsizes[k]
        return self.block[start:end].view(self.table.dtypes[k])

    def __iter__(self):
        return iter(self.table.numbers)


cdef class JoinedSections(Places):
    """The sections of two blocks."""

    def __init__(self, Sections first not None, Sections second not None) -> None:
        self.first = first
        self.second = second

    cdef Sections holder(self, name):
        """Whose section it is."""
        return self.first if name in self.first.table.numbers else self.second

    cdef void* address(self, name) except? NULL:
        return self.holder(name).address(name)

    cdef Py_ssize_t count(self, name) except -1:
        return self.holder(name).count(name)

    def __getitem__(self, name):
        return self.holder(name)[name]

    def __iter__(self):
        return iter([*self.first, *self.second])
