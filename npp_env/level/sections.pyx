"""The sections of a block as a mapping whose arrays are made when somebody asks for them.

A level has three blocks with fifty sections. Compiled code wants to know where they begin, which takes no array; an
environment that begins every episode on a new level would else spend most of a reset on making them.
"""

from collections.abc import Mapping

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport strcmp

from npp_env.errors import StateError

cdef Py_ssize_t MOST_SECTIONS = 64
cdef Py_ssize_t FIRST_NUMBER = 3


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
    """What all blocks of a format have.

    Args:
        what: Name of the format for messages.
        magic: First int32 of a block.
        version: Second int32.
        n_numbers: How many int32 numbers follow the size.
        names: Of the sections.
        dtypes: Likewise.
        alignment: Of their offsets.

    Attributes:
        head_bytes: Bytes before the first section.
    """

    def __init__(
        self, what, int magic, int version, Py_ssize_t n_numbers, tuple names, tuple dtypes, Py_ssize_t alignment
    ) -> None:
        if len(names) > MOST_SECTIONS:
            raise ValueError(f"{len(names)} sections; a block has at most {MOST_SECTIONS}")
        self.what = what
        self.magic = magic
        self.version = version
        self.alignment = alignment
        self.first_section = FIRST_NUMBER + n_numbers
        self.numbers = {name: k for k, name in enumerate(names)}
        self.dtypes = dtypes
        self.n_sections = len(names)
        self.head_bytes = 4 * (self.first_section + 2 * self.n_sections)
        for k, dtype in enumerate(dtypes):
            self.itemsizes[k] = dtype.itemsize


cdef class Sections(Places):
    """The sections of a block.

    Args:
        block: uint8 (n,).
        table: Of the format.

    Raises:
        StateError: The block is of another format or version, or cut off.
    """

    def __init__(self, block, SectionTable table not None) -> None:
        cdef Py_buffer view
        PyObject_GetBuffer(block, &view, PyBUF_ND | PyBUF_FORMAT)
        cdef Py_ssize_t size = view.len
        cdef bint is_bytes = view.ndim == 1 and strcmp(view.format, b"B") == 0
        cdef bint read_only = view.readonly
        self.header = <const int*>view.buf
        PyBuffer_Release(&view)
        if not is_bytes or size < table.head_bytes:
            raise StateError(f"not a {table.what}: {size} bytes, want an array of {table.head_bytes} bytes or more")
        if self.header[0] != table.magic or self.header[1] != table.version or self.header[2] != size:
            found = [self.header[0], self.header[1], self.header[2]]
            raise StateError(f"not a {table.what} of version {table.version}: header {found} in {size} bytes")
        self.table = table
        self.places = self.header + table.first_section
        cdef Py_ssize_t k, start, end
        for k in range(table.n_sections):
            start = self.places[2 * k]
            end = start + self.places[2 * k + 1] * table.itemsizes[k]
            if start < table.head_bytes or start % table.alignment or end < start or end > size:
                name = list(table.numbers)[k]
                raise StateError(f"not a {table.what}: section {name} at {start}..{end} of {size} bytes")
        if not read_only:
            block = block.view()
            block.setflags(write=False)
        self.block = block

    @property
    def numbers(self) -> list:
        """The numbers of the block; a fresh list."""
        return [self.header[k] for k in range(FIRST_NUMBER, self.table.first_section)]

    cdef int number(self, name) except -1:
        """Which section it is."""
        return self.table.numbers[name]

    cdef void* address(self, name) except? NULL:
        return <unsigned char*>self.header + self.places[2 * self.number(name)]

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
