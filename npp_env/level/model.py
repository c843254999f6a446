"""The immutable level."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from npp_env.errors import LevelError
from npp_env.level.entity_kinds import FIRST_UNKNOWN_TYPE, EntityKind
from npp_env.level.layout import (
    COLUMNS,
    COUNT_TYPES,
    HEADER_BYTES,
    MAX_RECORDS,
    NAME_BYTES,
    NAME_OFFSET,
    QUERY_TYPE,
    RECORD_BYTES,
    ROWS,
    UNIT_PX,
    record_offset,
)
from npp_env.level.validation import check_metadata, count_records, find_fault, find_warnings, shorten
from npp_env.level.work import find_overload, tick_ns

_Unsigned = TypeVar("_Unsigned", np.uint8, np.uint16)


class _WeaklyReferable:
    """Lets caches hold a level weakly; ``dataclass(weakref_slot=True)`` needs Python 3.11."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Level(_WeaklyReferable):
    """A level, never changed after construction; every array is read-only.

    Two levels are equal if they play the same, that is if their ``hash`` is the same: name, header and
    metadata do not count.

    Attributes:
        tiles: Tile ids by [row, column], without the solid ring around the map.
        records: Raw entity records (type, x, y, orientation, mode) in map order. The first is the spawn.
        counts: The entity counts table of the binary map.
        header: Bytes 0..183 of the binary map, verbatim.
        metadata: Author, difficulty, group and the like, from the text format.
        notes: What was odd about the file that it was read from, one sentence each; no file format keeps them.

    Raises:
        LevelError: A part has the wrong shape or range, a record could not be simulated, or a tick would take longer
            than a frame of the game.

    Example:
        >>> records = [(0, 10, 90, 0, 0), (3, 60, 90, 0, 0), (4, 30, 90, 0, 0)]
        >>> level = Level.from_parts(np.zeros((23, 42), np.uint8), records, name="empty room")
        >>> level.name, level.spawn, level.count(EntityKind.EXIT)
        ('empty room', (60.0, 540.0), 1)
    """

    tiles: NDArray[np.uint8]  # (23, 42)
    records: NDArray[np.uint8]  # (n, 5), 1 <= n <= 8192
    counts: NDArray[np.uint16]  # (40,)
    header: bytes  # 184 bytes
    metadata: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    _hash: str = field(init=False)

    def __post_init__(self) -> None:
        tiles = _freeze(self.tiles, np.uint8, (ROWS, COLUMNS), "tiles")
        records = _freeze_records(self.records)
        counts = _freeze(self.counts, np.uint16, (COUNT_TYPES,), "counts")
        header = bytes(self.header)
        if len(header) != HEADER_BYTES:
            raise LevelError(f"header has {len(header)} bytes; it must have {HEADER_BYTES}")
        check_metadata(self.metadata)
        fault = find_fault(records, counts)
        if fault is not None:
            offset = record_offset(fault.record, fault.byte)
            raise LevelError(f"offset {offset} (record {fault.record}): {fault.message}")
        overload = find_overload(records, counts)
        if overload is not None:
            raise LevelError(overload)
        values: dict[str, Any] = {
            "tiles": tiles,
            "records": records,
            "counts": counts,
            "header": header,
            "metadata": MappingProxyType(dict(self.metadata)),
            "notes": tuple(self.notes),
            "_hash": _content_hash(tiles, records, counts),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_parts(
        cls,
        tiles: ArrayLike,
        records: ArrayLike,
        *,
        name: str = "",
        counts: ArrayLike | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Level:
        """Build a fresh level.

        Args:
            tiles: Tile ids, shape (23, 42).
            records: Entity records, shape (n, 5), the spawn first.
            name: At most 128 characters of Latin-1.
            counts: Counts table, shape (40,); as the game counts the records if None.
            metadata: One-line texts by lower-case key.

        Raises:
            LevelError: A part does not fit.
        """
        frozen_records = _freeze_records(records)
        if counts is None:
            counts = count_records(frozen_records)
        return cls(
            tiles=np.asarray(tiles),
            records=frozen_records,
            counts=np.asarray(counts),
            header=canonical_header(name, len(frozen_records)),
            metadata=metadata or {},
        )

    @property
    def name(self) -> str:
        """Name from the header; any byte there decodes."""
        return self.header[NAME_OFFSET : NAME_OFFSET + NAME_BYTES].split(b"\0", 1)[0].decode("latin-1")

    @property
    def spawn(self) -> tuple[float, float]:
        """Where the ninja starts, in pixels (x, y)."""
        return float(UNIT_PX * int(self.records[0, 1])), float(UNIT_PX * int(self.records[0, 2]))

    @property
    def hash(self) -> str:
        """Identity of the level: 32 hex digits over everything that the physics reads."""
        return self._hash

    @property
    def unknown_entities(self) -> tuple[tuple[int, int], ...]:
        """(record index, type) of every record whose type the game does not have."""
        places = np.flatnonzero(self.records[:, 0] >= FIRST_UNKNOWN_TYPE).tolist()
        return tuple((index, int(self.records[index, 0])) for index in places)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What does not keep the level from being played, but is worth knowing, one sentence each.

        Oddities, and entities that are not simulated or whose rules are unverified (see docs/fidelity.md).
        """
        return (*self.notes, *find_warnings(self.tiles, self.records, self.counts))

    @property
    def tick_ns(self) -> int:
        """Nanoseconds that a tick of the physics takes at most, roughly."""
        return tick_ns(self.records, self.counts)

    def count(self, kind: int) -> int:
        """Number of records of this type (which the counts table need not agree with)."""
        return int(np.count_nonzero(self.records[:, 0] == int(kind)))

    def __eq__(self, other: object) -> bool:
        return self._hash == other._hash if isinstance(other, Level) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._hash)

    def __repr__(self) -> str:
        return f"<Level {self.name!r} {self._hash} with {len(self.records)} records>"

    def __copy__(self) -> Level:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Level:
        return self

    def checked_parts(self) -> tuple[Any, ...]:
        """The plain values of this level, for `Level.from_checked_parts` in a process that trusts this one."""
        arrays = (self.tiles.tobytes(), self.records.tobytes(), self.counts.tobytes())
        return (*arrays, self.header, dict(self.metadata), self.notes, self._hash)

    @classmethod
    def from_checked_parts(cls, parts: tuple[Any, ...]) -> Level:
        """The level that has these parts; the checks that it passed when it was made are not repeated."""
        tiles, records, counts, header, metadata, notes, content_hash = parts
        values = {
            "tiles": np.frombuffer(tiles, np.uint8).reshape(ROWS, COLUMNS),
            "records": np.frombuffer(records, np.uint8).reshape(-1, RECORD_BYTES),
            "counts": np.frombuffer(counts, np.uint16),
            "header": header,
            "metadata": MappingProxyType(metadata),
            "notes": notes,
            "_hash": content_hash,
        }
        level = object.__new__(cls)
        for name, value in values.items():
            object.__setattr__(level, name, value)
        return level

    def __reduce__(self) -> tuple[Any, ...]:
        return Level, (self.tiles, self.records, self.counts, self.header, dict(self.metadata), self.notes)


def canonical_header(name: str, record_count: int) -> bytes:
    """Header of a fresh map, as the game writes it (physics 2.1).

    Raises:
        LevelError: The name is too long, or has characters that the map format cannot hold.
    """
    try:
        encoded = name.encode("latin-1")
    except UnicodeEncodeError as error:
        raise LevelError(
            f"name {shorten(name)} has the character {shorten(name[error.start])}; a map takes Latin-1 only"
        ) from error
    if len(encoded) > NAME_BYTES:
        raise LevelError(f"name has {len(encoded)} characters; at most {NAME_BYTES} fit into a map")
    if b"\0" in encoded:
        raise LevelError(f"name {shorten(name)} contains a NUL, which would end it in the map; leave it out")
    magic, level_id, game_mode, author_id, favourites = 0, -1, 0, -1, 0
    fields = (magic, record_offset(record_count), level_id, game_mode, QUERY_TYPE, author_id, favourites)
    return (struct.pack("<7i", *fields).ljust(NAME_OFFSET, b"\0") + encoded).ljust(HEADER_BYTES, b"\0")


def _content_hash(tiles: NDArray[np.uint8], records: NDArray[np.uint8], counts: NDArray[np.uint16]) -> str:
    # Of the counts the physics reads two low bytes: exits find their switches by one, death balls bounce by
    # the other.
    used_counts = bytes(int(counts[kind]) & 0xFF for kind in (EntityKind.EXIT, EntityKind.DEATH_BALL))
    return hashlib.blake2b(tiles.tobytes() + used_counts + records.tobytes(), digest_size=16).hexdigest()


def _freeze_records(records: ArrayLike) -> NDArray[np.uint8]:
    array = _as_array(records, "records")
    if array.size == 0:
        raise LevelError("no entity records; at least one is needed, the first is where the ninja starts")
    if len(array) > MAX_RECORDS:
        raise LevelError(f"{len(array)} entity records; at most {MAX_RECORDS} are allowed")
    return _freeze(array, np.uint8, (len(array), RECORD_BYTES), "records")


def _freeze(values: ArrayLike, dtype: type[_Unsigned], shape: tuple[int, ...], what: str) -> NDArray[_Unsigned]:
    array = _as_array(values, what)
    if array.shape != shape:
        raise LevelError(f"{what} has shape {array.shape}; it must be {shape}")
    if array.dtype.kind not in "iu":
        raise LevelError(f"{what} has the type {array.dtype}; it must hold integers")
    limit = int(np.iinfo(dtype).max)
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > limit:
        raise LevelError(f"{what} has the value {low if low < 0 else high}; it must lie in 0..{limit}")
    # An array over bytes cannot be made writable again, not even on purpose.
    return np.frombuffer(array.astype(dtype).tobytes(), dtype=dtype).reshape(shape)


def _as_array(values: ArrayLike, what: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise LevelError(f"{what} is not a rectangular array of integers: {error}") from error
    if array.ndim == 0:
        raise LevelError(f"{what} is the single value {shorten(array.item())}; it must be an array")
    return array
