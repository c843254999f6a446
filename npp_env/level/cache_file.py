"""The format of a cache file: all that was compiled from one level, behind a head that is parsed strictly.

The head is little-endian: magic, version, number of sections, level; then for each section what it is, its type and
shape, and a checksum of its bytes; at last a checksum of the head. Sections follow in this order. Each begins at a
multiple of 64 and is filled up with zeros, which its checksum covers; the last one ends with the file. So there is
no place in a file that nothing covers, and no offset in it that could lead elsewhere.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FORMAT_VERSION = 2
ALIGNMENT = 64
MOST_SECTIONS = 16
"""A file that would have more begins anew: then most are of versions that nobody uses any more."""

_MAGIC = b"NPPCACHE"
_DIGEST_BYTES = 16
_MOST_DIMENSIONS = 4
_DTYPES = ("|b1", "|u1", "|i1", "<u2", "<i2", "<f2", "<u4", "<i4", "<f4", "<u8", "<i8", "<f8")
_START = struct.Struct("<8sII16s")
_ENTRY = struct.Struct("<32s16sIBBxx4Q16s")  # name, variant, version, dtype, dimensions, shape, checksum
HEAD_LIMIT_BYTES = 2048


class DamagedArtifactError(Exception):
    """A file that is truncated, altered or foreign; never leaves the cache."""


class ArtifactKey(NamedTuple):
    """What identifies an artifact: the level's content, and which computation of which version."""

    level_hash: str
    name: str
    variant: str
    version: int


class Section(NamedTuple):
    """One array of a file: what it is, and where."""

    name: str
    variant: bytes  # checksum of the variant, which may be long
    version: int
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    digest: bytes  # checksum of the array and the zeros behind it
    start: int

    @property
    def end(self) -> int:
        """Where the next section begins."""
        return _aligned(self.start + self.nbytes)

    def holds(self, key: ArtifactKey) -> bool:
        """Whether this is the array of a key."""
        return self.name == key.name and self.version == key.version and self.variant == checksum(key.variant.encode())

    def replaces(self, other: Section) -> bool:
        """Whether a file has room for only one of both."""
        return self[:3] == other[:3]


def describe(key: ArtifactKey, array: NDArray[Any]) -> Section:
    """The section that holds a contiguous array, wherever it is placed.

    Raises:
        ValueError: The array cannot be stored.
    """
    name = key.name.encode("ascii")
    if array.dtype.str not in _DTYPES or array.ndim > _MOST_DIMENSIONS or not 0 < len(name) <= 32:
        raise ValueError(f"artifact {key.name!r} of {array.dtype} with shape {array.shape} cannot be stored")
    state = running_checksum()
    state.update(array.reshape(-1).view(np.uint8).data)
    state.update(padding_of(array.nbytes))
    variant = checksum(key.variant.encode())
    return Section(key.name, variant, key.version, array.dtype.str, array.shape, array.nbytes, state.digest(), 0)


def running_checksum() -> hashlib.blake2b:
    """The checksum of bytes that come in parts: `update` with each, then `digest`."""
    return hashlib.blake2b(digest_size=_DIGEST_BYTES)


def checksum(data: bytes | memoryview) -> bytes:
    """Checksum of bytes."""
    state = running_checksum()
    state.update(data)
    return state.digest()


def padding_of(nbytes: int) -> bytes:
    """The zeros between a section and the next."""
    return bytes(-nbytes % ALIGNMENT)


def place(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The same sections one behind the other, after a head for all of them."""
    listed = list(sections)
    position = _aligned(_head_bytes(len(listed)))
    placed = []
    for section in listed:
        placed.append(section._replace(start=position))
        position = placed[-1].end
    return tuple(placed)


def pack_head(level_hash: str, sections: tuple[Section, ...]) -> bytes:
    """All bytes before the first section."""
    parts = [_START.pack(_MAGIC, FORMAT_VERSION, len(sections), bytes.fromhex(level_hash))]
    for s in sections:
        shape = (*s.shape, *[0] * (_MOST_DIMENSIONS - len(s.shape)))
        code = _DTYPES.index(s.dtype)
        parts.append(_ENTRY.pack(s.name.encode(), s.variant, s.version, code, len(s.shape), *shape, s.digest))
    head = b"".join(parts)
    head += checksum(head)
    return head + padding_of(len(head))


def parse_head(head: bytes, file_bytes: int, level_hash: str) -> tuple[Section, ...]:
    """The sections of a file.

    Args:
        head: The first bytes of the file, `HEAD_LIMIT_BYTES` unless it is shorter.
        file_bytes: Size of the file.
        level_hash: The level whose file it is.

    Raises:
        DamagedArtifactError: These are not the first bytes of a file of this size and level.
    """
    if len(head) < _START.size:
        raise DamagedArtifactError(f"{file_bytes} bytes are no cache file")
    magic, version, count, level = _START.unpack_from(head)
    if (magic, version) != (_MAGIC, FORMAT_VERSION) or not 0 < count <= MOST_SECTIONS:
        raise DamagedArtifactError("the head is unreadable")
    size = _head_bytes(count)
    covered = size - _DIGEST_BYTES
    if len(head) < size or checksum(head[:covered]) != head[covered:size] or any(head[size : _aligned(size)]):
        raise DamagedArtifactError("the head does not fit its checksum")
    if level.hex() != level_hash:
        raise DamagedArtifactError(f"it belongs to level {level.hex()}")
    sections = []
    position = _aligned(size)
    for name, variant, artifact, code, dimensions, *sizes, digest in _ENTRY.iter_unpack(head[_START.size : covered]):
        if code >= len(_DTYPES) or dimensions > _MOST_DIMENSIONS or not name.isascii():
            raise DamagedArtifactError("the head describes no array")
        shape, dtype = tuple(sizes[:dimensions]), _DTYPES[code]
        word = name.rstrip(b"\0").decode("ascii")
        nbytes = math.prod(shape) * int(dtype[2:])
        sections.append(Section(word, variant, artifact, dtype, shape, nbytes, digest, position))
        position = _aligned(position + nbytes)
    if position != file_bytes:
        raise DamagedArtifactError(f"the head describes {position} bytes, the file has {file_bytes}")
    return tuple(sections)


def _head_bytes(count: int) -> int:
    return _START.size + count * _ENTRY.size + _DIGEST_BYTES


def _aligned(position: int) -> int:
    return position + -position % ALIGNMENT
