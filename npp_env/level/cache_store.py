"""Compiled artifacts on disk: one `.npy` file each, written atomically, verified, mapped read-only.

A file holds one uint8 array: a head that says what the payload is and how it was meant to look, then the payload.
Whatever does not fit its head in every byte counts as damaged; the caller builds it again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import mmap
import os
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STORE_VERSION = 1
HEAD_BYTES = 512
SUFFIX = ".npy"
_TEMPORARY = ".tmp-"
_ABANDONED_SECONDS = 3600.0
_OFF = frozenset({"", "0", "off", "none"})

ENVIRONMENT_VARIABLE = "NPP_ENV_CACHE"
DEFAULT_LIMIT_BYTES = 4 * 2**30
_WRITES_BETWEEN_CHECKS = 64


class DamagedArtifactError(Exception):
    """A file that is truncated, altered or foreign; never leaves the cache."""


class ArtifactKey(NamedTuple):
    """What identifies an artifact: the level's content, and which computation of which version."""

    level_hash: str
    name: str
    variant: str
    version: int


class StoredFile(NamedTuple):
    """One file of the cache directory."""

    path: Path
    artifact: str
    level_hash: str
    nbytes: int


def default_directory() -> Path | None:
    """Where compiled artifacts live: `NPP_ENV_CACHE` if set (empty or `off` means nowhere), else by platform."""
    chosen = os.environ.get(ENVIRONMENT_VARIABLE)
    if chosen is not None:
        return None if chosen.strip().lower() in _OFF else Path(chosen).expanduser()
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # no home directory
        return None
    return base / "npp_env"


class ArtifactStore:
    """The artifacts of one directory, shared by every process that uses it.

    Args:
        directory: Made on the first write.
        limit_bytes: The oldest files are removed when all files together grow beyond this; mapped ones stay valid.
    """

    def __init__(self, directory: str | os.PathLike[str], limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.directory = Path(directory)
        self.limit_bytes = limit_bytes
        self._writes = 0

    def path_of(self, key: ArtifactKey) -> Path:
        """Where an artifact is stored."""
        label = key.name if not key.variant else f"{key.name}-{key.variant}"
        file = f"{key.level_hash}.{label}.v{key.version}.s{STORE_VERSION}{SUFFIX}"
        return self.directory / key.level_hash[:2] / file

    def read(self, key: ArtifactKey) -> NDArray[Any] | None:
        """Map a stored artifact, all of it verified; None if it is not there.

        Raises:
            DamagedArtifactError: The file is not what was written.
            OSError: It cannot be opened.
        """
        path = self.path_of(key)
        try:
            mapping, start = _map_npy(path)
        except FileNotFoundError:
            return None
        except (ValueError, EOFError, SyntaxError) as error:
            raise DamagedArtifactError(f"{path}: {error}") from error
        raw = mapping.array(np.dtype(np.uint8), (mapping.size - start,), start)
        try:
            head = json.loads(raw[:HEAD_BYTES].tobytes().rstrip(b"\0"))
            dtype, shape = np.dtype(head["dtype"]), tuple(head["shape"])
            wanted = _head_of(key, dtype, shape, head["digest"])
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedArtifactError(f"{path}: the head is unreadable") from error
        if head != wanted:
            raise DamagedArtifactError(f"{path}: it belongs to {head}")
        payload = raw[HEAD_BYTES:]
        if payload.size != dtype.itemsize * math.prod(shape) or _digest(payload) != head["digest"]:
            raise DamagedArtifactError(f"{path}: the checksum does not fit")
        mapping.release_pages()
        return mapping.array(dtype, shape, start + HEAD_BYTES)

    def write(self, key: ArtifactKey, payload: NDArray[Any]) -> None:
        """Store an artifact; readers see the old file, the whole new one, or none.

        Raises:
            OSError: The directory cannot be written or the disk is full; no file is left behind.
        """
        path = self.path_of(key)
        data = np.ascontiguousarray(payload)
        flat = data.reshape(-1).view(np.uint8)
        head = json.dumps(_head_of(key, data.dtype, data.shape, _digest(flat))).encode()
        if len(head) > HEAD_BYTES:
            raise ValueError(f"artifact {key.name!r} needs a head of {len(head)} bytes; at most {HEAD_BYTES} fit")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f"{_TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"
        try:
            with open(temporary, "xb") as file:
                np.save(file, np.concatenate([np.frombuffer(head.ljust(HEAD_BYTES, b"\0"), np.uint8), flat]))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        self._writes += 1
        if self._writes % _WRITES_BETWEEN_CHECKS == 0:
            self.prune()

    def files(self) -> Iterator[StoredFile]:
        """Every stored artifact, in no particular order."""
        for path in self.directory.glob(f"??/*{SUFFIX}"):
            parts = path.name.split(".")
            if len(parts) == 5:
                with contextlib.suppress(OSError):
                    yield StoredFile(path, parts[1].split("-")[0], parts[0], path.stat().st_size)

    def clear(self) -> tuple[int, int]:
        """Remove everything that was stored here; returns how many files and bytes."""
        count = nbytes = 0
        for file in list(self.files()):
            with contextlib.suppress(OSError):
                file.path.unlink()
                count, nbytes = count + 1, nbytes + file.nbytes
        self._remove_abandoned(0.0)
        return count, nbytes

    def prune(self) -> None:
        """Remove the oldest files beyond the limit, and what killed writers left behind."""
        self._remove_abandoned(_ABANDONED_SECONDS)
        found = []
        for file in self.files():
            with contextlib.suppress(OSError):
                found.append((file.path.stat().st_mtime, file.nbytes, file.path))
        total = sum(nbytes for _, nbytes, _ in found)
        if total <= self.limit_bytes:
            return
        for _, nbytes, path in sorted(found):
            # Some slack, or every following write would have to prune again.
            if total <= 0.9 * self.limit_bytes:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                total -= nbytes

    def _remove_abandoned(self, older_than_seconds: float) -> None:
        now = time.time()
        for path in self.directory.glob(f"??/{_TEMPORARY}*"):
            with contextlib.suppress(OSError):
                if now - path.stat().st_mtime >= older_than_seconds:
                    path.unlink()


def _head_of(key: ArtifactKey, dtype: np.dtype[Any], shape: tuple[int, ...], digest: str) -> dict[str, Any]:
    if dtype.hasobject or dtype.names is not None:
        raise ValueError(f"an artifact has a plain dtype, not {dtype}")
    return {
        "format": f"npp_env artifact {STORE_VERSION}",
        **key._asdict(),
        "dtype": dtype.str,
        "shape": list(shape),
        "digest": digest,
    }


def _digest(payload: NDArray[np.uint8]) -> str:
    return hashlib.blake2b(payload.data, digest_size=16).hexdigest()


class _Mapping:
    """A read-only mapping of a whole file that needs no open file afterwards.

    Python's own mappings (up to 3.12) keep a file descriptor each, and a process that has a thousand levels open would
    run out of them.
    """

    __slots__ = ("_address", "_place", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self._address, self.size = _c_library().map(descriptor, size), size
        self._place: tuple[str, tuple[int, ...], int] | None = None

    @property
    def __array_interface__(self) -> dict[str, Any]:
        typestr, shape, offset = self._place or ("|u1", (self.size,), 0)
        return {"version": 3, "typestr": typestr, "shape": shape, "data": (self._address + offset, True)}

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], offset: int) -> NDArray[Any]:
        """A read-only array in the file, which keeps it mapped."""
        self._place = (dtype.str, shape, offset)
        array = np.asarray(self)
        # numpy has asked; a process with thousands of artifacts open need not keep the answers.
        self._place = None
        return array

    def release_pages(self) -> None:
        """Let go of the pages that were looked at; those looked at again come back from the page cache.

        The checksum reads all of a file, of which an environment may need a third.
        """
        _c_library().release(self._address, self.size)

    def __del__(self) -> None:
        address = getattr(self, "_address", None)
        if address is not None:
            _c_library().unmap(address, self.size)


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


class _WindowsMapping:
    """The same by Python's own means, which keep no descriptor on Windows."""

    __slots__ = ("_map", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self._map, self.size = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ), size

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], offset: int) -> NDArray[Any]:
        """A read-only array in the file, which keeps it mapped."""
        return np.asarray(np.ndarray(shape, dtype, self._map, offset))

    def release_pages(self) -> None:
        """Nothing: Windows takes pages back by itself."""


def _map_npy(path: Path) -> tuple[_Mapping | _WindowsMapping, int]:
    """Map an `.npy` file with a single uint8 array and say where that begins; ValueError where there is none."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("an .npy file of another version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        start = file.tell()
        if dtype != np.uint8 or len(shape) != 1 or start + shape[0] != size or shape[0] < HEAD_BYTES:
            raise ValueError(f"{size} bytes with an array of {dtype} and shape {shape}")
        return (_WindowsMapping if sys.platform == "win32" else _Mapping)(file.fileno(), size), start
