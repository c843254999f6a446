"""Cache files as memory: opened once, trusted by what the open file is, mapped read-only.

A file is trusted if it is a regular one, belongs to the user or to root, and nobody else may write to it. Whoever
could write to a mapped file could change levels under the kernel's feet, or shorten it, which ends the process.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
import sys
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.level.cache_file import DamagedArtifactError

_ROOT = 0
# A planted pipe must not make us wait, nor a planted link lead us elsewhere.
_FLAGS = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
    _FLAGS |= getattr(os, _flag, 0)
_NO_MEMORY = frozenset({errno.ENOMEM, errno.EAGAIN, errno.ENODEV})


def check_trust(status: os.stat_result) -> None:
    """Refuse an open file that someone else may have planted, or can change.

    Raises:
        DamagedArtifactError: It is not to be trusted; the message says why.
    """
    if not stat.S_ISREG(status.st_mode):
        raise DamagedArtifactError("not a regular file")
    if not hasattr(os, "geteuid"):
        return  # files of Windows say nothing of this in their mode
    if status.st_uid not in (os.geteuid(), _ROOT):
        raise DamagedArtifactError(f"it belongs to user {status.st_uid}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise DamagedArtifactError("others than its owner may write to it")


def open_file(path: str) -> OpenFile:
    """Open a file for reading, mapped if the system has room for a mapping, else as a copy in memory.

    Raises:
        DamagedArtifactError: It is not to be trusted, or empty.
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        status = os.fstat(descriptor)
        check_trust(status)
        if status.st_size == 0:
            raise DamagedArtifactError("the file is empty")
        try:
            kind = _WindowsMapping if sys.platform == "win32" else _Mapping
            return kind(descriptor, status)
        except OSError as error:
            if error.errno not in _NO_MEMORY:
                raise
        return _Copy(descriptor, status)
    finally:
        os.close(descriptor)


class OpenFile:
    """The bytes of a file; arrays made from it keep it open.

    Attributes:
        size: Bytes of the file.
        identity: Device and inode: another file of the same name has others.
        shared: Whether all processes share these bytes.
    """

    __slots__ = ("__weakref__", "_address", "identity", "size")
    shared = True

    def __init__(self, status: os.stat_result, address: int) -> None:
        self._address, self.size = address, status.st_size
        self.identity = identity_of(status)

    @property
    def closed(self) -> bool:
        """Whether it is about to go, its bytes being gone already."""
        return self._address == 0

    def array(self, dtype: str, shape: tuple[int, ...], offset: int) -> NDArray[Any]:
        """A read-only array in the file, of which the caller knows that it lies inside."""
        place = {"version": 3, "typestr": dtype, "shape": shape, "data": (self._address + offset, True)}
        window = _Window(self, place)
        array = np.asarray(window)
        # numpy has asked; a process with thousands of arrays open need not keep the answers.
        window.__array_interface__ = None
        return array

    def span(self, start: int, end: int) -> NDArray[np.uint8]:
        """Some bytes of the file, no further than its end; a read-only array."""
        return self.array("|u1", (min(end, self.size) - start,), start)

    def release_pages(self, start: int, end: int) -> None:
        """Let go of pages that were looked at; those looked at again come back from the page cache.

        Checksums and checks read all of a section, of which an environment may need a third, and the system maps what
        lies around a page along with it, other sections too.
        """


class _Window:
    """What stands between an array and its file, so that the array keeps the file open."""

    __slots__ = ("__array_interface__", "file")

    def __init__(self, file: OpenFile, place: dict[str, Any]) -> None:
        self.file = file
        self.__array_interface__: dict[str, Any] | None = place


def identity_of(status: os.stat_result) -> tuple[int, int]:
    """What tells a file from another of the same name."""
    return status.st_dev, status.st_ino


def is_shared(array: NDArray[Any]) -> bool:
    """Whether all processes share the bytes of an array that was read from a file."""
    return isinstance(array.base, _Window) and array.base.file.shared


class _Mapping(OpenFile):
    """A read-only mapping of a whole file that needs no open file afterwards.

    Python's own mappings (up to 3.12) keep a file descriptor each, and a process that has a thousand levels open would
    run out of them.
    """

    __slots__ = ()

    def __init__(self, descriptor: int, status: os.stat_result) -> None:
        super().__init__(status, _c_library().map(descriptor, status.st_size))

    def release_pages(self, start: int, end: int) -> None:
        first = start - start % mmap.PAGESIZE
        _c_library().release(self._address + first, end - first)

    def __del__(self) -> None:
        address = getattr(self, "_address", 0)
        # Until it is gone others can still get it by a weak reference: threads while the system unmaps, and a child
        # that is forked in this moment for good.
        self._address = 0
        if address:
            _c_library().unmap(address, self.size)


class _WindowsMapping(OpenFile):
    """The same by Python's own means, which keep no descriptor on Windows."""

    __slots__ = ("_map",)

    def __init__(self, descriptor: int, status: os.stat_result) -> None:
        self._map = np.frombuffer(mmap.mmap(descriptor, status.st_size, access=mmap.ACCESS_READ), np.uint8)
        super().__init__(status, int(self._map.__array_interface__["data"][0]))


class _Copy(OpenFile):
    """A file in memory, for a process that has as many mappings as the system allows."""

    __slots__ = ("_bytes",)
    shared = False

    def __init__(self, descriptor: int, status: os.stat_result) -> None:
        self._bytes = np.zeros(-(-status.st_size // 8), np.uint64).view(np.uint8)[: status.st_size]
        rest = self._bytes.data
        while rest:
            count = os.readv(descriptor, [rest])
            if count == 0:
                raise DamagedArtifactError("the file was cut off while it was read")
            rest = rest[count:]
        super().__init__(status, int(self._bytes.__array_interface__["data"][0]))


class _CLibrary:
    """The calls of the C library that mappings need."""

    def __init__(self) -> None:
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        size, pointer, number = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
        self._map, self.unmap = library.mmap, library.munmap
        self._map.restype = pointer
        self._map.argtypes = [pointer, size, number, number, number, ctypes.c_long]
        self.unmap.argtypes = [pointer, size]
        self._advise = library.madvise
        self._advise.argtypes = [pointer, size, number]
        self._failed = ctypes.c_void_p(-1).value
        self._errno = ctypes.get_errno

    def map(self, descriptor: int, size: int) -> int:
        """Address of a new read-only mapping of a file."""
        address = self._map(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address is None or address == self._failed:
            number = self._errno()
            raise OSError(number, os.strerror(number))
        return int(address)

    def release(self, address: int, size: int) -> None:
        """Drop the pages of a read-only mapping from this process; a refusal changes nothing."""
        self._advise(address, size, mmap.MADV_DONTNEED)


@lru_cache(maxsize=1)
def _c_library() -> _CLibrary:
    return _CLibrary()
