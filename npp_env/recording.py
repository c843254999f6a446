"""Recordings: the inputs of one attempt at a level, in the attract format of the game and one of our own.

Our own, compact format, all numbers little endian:

    4 bytes   magic ``NPPR``
    u8        version, 1
    u8        flags: 1 level embedded, 2 frames known, 4 gold known, 8 demo header kept
    u8        outcome: 0 unknown, 1 won, 2 died, 3 alive
    u8        0
    16 bytes  level hash
    u32       number of input bytes
    u32       frames, if known
    u32       gold, if known
    30 bytes  demo header, if kept
    u32, ...  length of the zlib stream of the binary map and the stream itself, if the level is embedded
    u32, ...  length of the coded inputs and these
    u32       CRC-32 of all bytes before

Inputs are coded in runs: the low four bits are the input, the high four the run length less one; if these
are 15, a u16 follows that holds the run length itself (at least 16).
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import LevelError, RecordingError
from npp_env.level.binary import read_map, write_map
from npp_env.level.files import read_bounded, write_file
from npp_env.level.layout import LENGTH_EXCLUDED_BYTES, MAX_MAP_BYTES
from npp_env.level.model import Level
from npp_env.level.shipped import shipped_file

MAX_FRAMES = 1 << 20
"""Nearly five hours of play."""
MAX_FILE_BYTES = 2 << 20
DEMO_HEADER_BYTES = 30
RECORDING_SUFFIX = ".npprec"
OUTCOMES = (None, "won", "died", "alive")

_MAGIC = b"NPPR"
_VERSION = 1
_CRC_BYTES = 4
_HEAD = struct.Struct("<4sBBBB16sI")
_FRAME_COUNT_OFFSET = 9
_HAS_LEVEL, _HAS_FRAMES, _HAS_GOLD, _HAS_DEMO_HEADER = 1, 2, 4, 8
_LONG_RUN = 15
_HASH = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The inputs of one attempt at a level, and how it ended.

    Attributes:
        level: The level, if it is at hand.
        level_hash: `Level.hash` of the level that the inputs belong to.
        inputs: One byte a frame: bit 0 jump, bit 1 right, bit 2 left; attract files also use bit 3, reset.
        outcome: "won", "died", "alive", or None if unknown.
        frames: Number of frames played until the outcome, if known.
        gold: Gold collected, if known.
        demo_header: The 30 bytes in front of the inputs of an attract file, verbatim.

    Raises:
        RecordingError: A part does not fit.
    """

    level: Level | None
    level_hash: str
    inputs: NDArray[np.uint8]  # (T,), read-only
    outcome: str | None = None
    frames: int | None = None
    gold: int | None = None
    demo_header: bytes | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.level_hash, str) or not _HASH.fullmatch(self.level_hash):
            raise RecordingError(f"level hash is {self.level_hash!r}; it must be 32 hex digits, as in Level.hash")
        if self.level is not None and self.level.hash != self.level_hash:
            raise RecordingError(
                f"the recording belongs to level {self.level_hash}, but the level given is {self.level.hash}"
            )
        if self.outcome not in OUTCOMES:
            raise RecordingError(f"outcome is {self.outcome!r}; it must be one of {OUTCOMES}")
        for name, value in (("frames", self.frames), ("gold", self.gold)):
            if value is not None and not 0 <= value < 1 << 32:
                raise RecordingError(f"{name} is {value}; it must lie in 0..{(1 << 32) - 1}")
        if self.demo_header is not None and len(self.demo_header) != DEMO_HEADER_BYTES:
            raise RecordingError(f"the demo header has {len(self.demo_header)} bytes; it must have {DEMO_HEADER_BYTES}")
        object.__setattr__(self, "inputs", _freeze_inputs(self.inputs))

    @classmethod
    def of_level(
        cls,
        level: Level,
        inputs: NDArray[np.uint8],
        outcome: str | None = None,
        frames: int | None = None,
        gold: int | None = None,
    ) -> Recording:
        """Make a recording of inputs played on a level."""
        return cls(level, level.hash, inputs, outcome, frames, gold)

    def _key(self) -> tuple[object, ...]:
        inputs = self.inputs.tobytes()
        return self.level_hash, inputs, self.outcome, self.frames, self.gold, self.demo_header

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Recording) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[object, ...]:
        parts = (
            self.level,
            self.level_hash,
            self.inputs,
            self.outcome,
            self.frames,
            self.gold,
            self.demo_header,
        )
        return Recording, parts


def read_attract(data: bytes) -> Recording:
    """Read an attract file of the game; `write_attract` gives exactly these bytes back.

    Raises:
        RecordingError: The lengths do not fit together, or the map inside is not playable.
    """
    data = bytes(data)
    if len(data) < LENGTH_EXCLUDED_BYTES:
        raise RecordingError(f"offset {len(data)}: the file ends here; it begins with two lengths of 4 bytes")
    map_length, demo_length = struct.unpack_from("<II", data)
    demo_offset = LENGTH_EXCLUDED_BYTES + map_length
    expected = demo_offset + demo_length
    if len(data) != expected:
        fault = "is cut short" if len(data) < expected else "has rubbish at its end"
        raise RecordingError(
            f"offset {min(len(data), expected)}: the attract file {fault}: a map of {map_length} and a demo "
            f"of {demo_length} bytes make {expected}, but it has {len(data)}"
        )
    if demo_length < DEMO_HEADER_BYTES:
        raise RecordingError(f"offset {demo_offset}: the demo has {demo_length} bytes; its header alone takes 30")
    header = data[demo_offset : demo_offset + DEMO_HEADER_BYTES]
    (frame_count,) = struct.unpack_from("<I", header, _FRAME_COUNT_OFFSET)
    if frame_count != demo_length - DEMO_HEADER_BYTES:
        raise RecordingError(
            f"offset {demo_offset + _FRAME_COUNT_OFFSET}: the demo header says {frame_count} frames, but "
            f"{demo_length - DEMO_HEADER_BYTES} follow"
        )
    level = _read_level(data[:demo_offset])
    inputs = np.frombuffer(data, np.uint8, offset=demo_offset + DEMO_HEADER_BYTES)
    return Recording(level, level.hash, inputs, demo_header=header)


def write_attract(recording: Recording) -> bytes:
    """Write an attract file; it always embeds the level.

    Raises:
        RecordingError: The recording has no level.
    """
    if recording.level is None:
        raise RecordingError(
            f"an attract file holds the level, but level {recording.level_hash} is not in the recording"
        )
    header = bytearray(recording.demo_header or bytes(DEMO_HEADER_BYTES))
    struct.pack_into("<I", header, _FRAME_COUNT_OFFSET, len(recording.inputs))
    demo = bytes(header) + recording.inputs.tobytes()
    level_map = write_map(recording.level)
    lengths = struct.pack("<II", len(level_map) - LENGTH_EXCLUDED_BYTES, len(demo))
    return lengths + level_map[LENGTH_EXCLUDED_BYTES:] + demo


def read_recording(data: bytes) -> Recording:
    """Read a recording in our compact format.

    Raises:
        RecordingError: The data is damaged, of another version, or has something behind its end.
    """
    data = bytes(data)
    if not data.startswith(_MAGIC):
        raise RecordingError(f"offset 0: found {data[:4]!r}; a recording begins with {_MAGIC!r}")
    if len(data) < _HEAD.size + _CRC_BYTES:
        raise RecordingError(f"offset {len(data)}: the recording ends here; head and checksum take 32 bytes")
    reader = _ByteReader(data[:-_CRC_BYTES])
    _, version, flags, outcome, zero, level_hash, frame_count = _HEAD.unpack(reader.take(_HEAD.size, "head"))
    if version != _VERSION:
        raise RecordingError(f"offset 4: version {version}; this npp_env reads version {_VERSION}")
    if zlib.crc32(data[:-_CRC_BYTES]) != int.from_bytes(data[-_CRC_BYTES:], "little"):
        raise RecordingError(
            f"offset {len(data) - _CRC_BYTES}: the checksum does not fit; the recording is damaged, cut "
            f"short, or has rubbish at its end"
        )
    if flags >= 16 or outcome >= len(OUTCOMES) or zero:
        raise RecordingError(f"offset 5: flags {flags}, outcome {outcome}, {zero}; version {_VERSION} has none such")
    if frame_count > MAX_FRAMES:
        raise RecordingError(f"offset 24: {frame_count} frames; at most {MAX_FRAMES} are allowed")
    frames = reader.u32("frames") if flags & _HAS_FRAMES else None
    gold = reader.u32("gold") if flags & _HAS_GOLD else None
    demo_header = reader.take(DEMO_HEADER_BYTES, "demo header") if flags & _HAS_DEMO_HEADER else None
    level = _read_level(_inflate(reader.take(reader.u32("level length"), "level"))) if flags & _HAS_LEVEL else None
    inputs = _decode_runs(reader.take(reader.u32("inputs length"), "inputs"), frame_count)
    reader.expect_end()
    return Recording(level, level_hash.hex(), inputs, OUTCOMES[outcome], frames, gold, demo_header)


def write_recording(recording: Recording, embed_level: bool = True) -> bytes:
    """Write a recording in our compact format.

    Args:
        recording: What to write.
        embed_level: Put the level itself into it, if the recording has one; otherwise only its hash.
    """
    optional: list[tuple[int, bytes]] = []
    if recording.frames is not None:
        optional.append((_HAS_FRAMES, struct.pack("<I", recording.frames)))
    if recording.gold is not None:
        optional.append((_HAS_GOLD, struct.pack("<I", recording.gold)))
    if recording.demo_header is not None:
        optional.append((_HAS_DEMO_HEADER, recording.demo_header))
    if embed_level and recording.level is not None:
        optional.append((_HAS_LEVEL, _with_length(zlib.compress(write_map(recording.level), 9))))
    flags = sum(flag for flag, _ in optional)
    outcome = OUTCOMES.index(recording.outcome)
    level_hash = bytes.fromhex(recording.level_hash)
    head = _HEAD.pack(_MAGIC, _VERSION, flags, outcome, 0, level_hash, len(recording.inputs))
    body = head + b"".join(part for _, part in optional) + _with_length(_encode_runs(recording.inputs))
    return body + struct.pack("<I", zlib.crc32(body))


def load_recording(path: str | os.PathLike[str]) -> Recording:
    """Load a recording file, ours or an attract file, told apart by content.

    Raises:
        RecordingError: The file cannot be opened, is larger than 2 MB, or is not a recording.
    """
    data = read_bounded(path, MAX_FILE_BYTES, RecordingError)
    read: Callable[[bytes], Recording] = read_recording if data.startswith(_MAGIC) else read_attract
    try:
        return read(data)
    except RecordingError as error:
        raise RecordingError(f"{os.fspath(path)}: {error}") from error


def load_shipped_recording(name: str) -> Recording:
    """Load the recording that wins a shipped level.

    Raises:
        LevelError: There is no such level; the message lists similar names.

    Example:
        >>> load_shipped_recording("first_steps/walk").outcome
        'won'
    """
    return load_recording(shipped_file(name, RECORDING_SUFFIX))


def save_recording(recording: Recording, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Save a recording in our compact format, with its level.

    Raises:
        RecordingError: The file exists and may not be overwritten, or cannot be written.
    """
    write_file(path, write_recording(recording), overwrite, RecordingError)


class _ByteReader:
    """Takes fields from the front of some bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._offset = 0

    def take(self, length: int, what: str) -> bytes:
        if length > len(self._data) - self._offset:
            raise RecordingError(
                f"offset {self._offset}: {what} takes {length} bytes, but {len(self._data) - self._offset} are left"
            )
        self._offset += length
        return self._data[self._offset - length : self._offset]

    def u32(self, what: str) -> int:
        return int.from_bytes(self.take(4, what), "little")

    def expect_end(self) -> None:
        if self._offset != len(self._data):
            raise RecordingError(
                f"offset {self._offset}: {len(self._data) - self._offset} bytes of rubbish follow the inputs"
            )


def _with_length(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def _inflate(stream: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        # Never more than a map can have, whatever the stream claims to hold.
        data = inflater.decompress(stream, MAX_MAP_BYTES + 1)
    except zlib.error as error:
        raise RecordingError(f"the embedded level cannot be decompressed: {error}") from error
    if len(data) > MAX_MAP_BYTES:
        raise RecordingError(f"the embedded level has more than the {MAX_MAP_BYTES} bytes that a map can have")
    if not inflater.eof or inflater.unused_data:
        raise RecordingError("the embedded level is cut short or has something behind its end")
    return data


def _read_level(data: bytes) -> Level:
    try:
        return read_map(data)
    except LevelError as error:
        raise RecordingError(f"the level inside the recording: {error}") from error


def _freeze_inputs(inputs: NDArray[np.uint8]) -> NDArray[np.uint8]:
    array = np.asarray(inputs)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RecordingError(f"inputs have shape {array.shape} of {array.dtype}; they must be one integer a frame")
    if len(array) > MAX_FRAMES:
        raise RecordingError(f"{len(array)} inputs; at most {MAX_FRAMES} are allowed")
    bad = np.flatnonzero((array < 0) | (array > 15))
    if len(bad):
        raise RecordingError(f"input {bad[0]} is {array[bad[0]]}; it must lie in 0..15")
    return np.frombuffer(array.astype(np.uint8).tobytes(), dtype=np.uint8)


def _encode_runs(inputs: NDArray[np.uint8]) -> bytes:
    starts = np.flatnonzero(np.diff(inputs, prepend=np.uint8(255)))
    lengths = np.diff(starts, append=len(inputs))
    coded = bytearray()
    for value, length in zip(inputs[starts].tolist(), lengths.tolist(), strict=True):
        while length > 0xFFFF:
            coded += struct.pack("<BH", value | _LONG_RUN << 4, 0xFFFF)
            length -= 0xFFFF
        if length <= _LONG_RUN:
            coded.append(value | (length - 1) << 4)
        else:
            coded += struct.pack("<BH", value | _LONG_RUN << 4, length)
    return bytes(coded)


def _decode_runs(coded: bytes, frame_count: int) -> NDArray[np.uint8]:
    inputs = bytearray()
    offset = 0
    while offset < len(coded):
        value, length = coded[offset] & 15, (coded[offset] >> 4) + 1
        offset += 1
        if length > _LONG_RUN:
            if offset + 2 > len(coded):
                raise RecordingError(f"the coded inputs end within a run, at byte {offset} of {len(coded)}")
            length = int.from_bytes(coded[offset : offset + 2], "little")
            offset += 2
            if length <= _LONG_RUN:
                raise RecordingError(f"the coded inputs have a run of {length} in the form for long runs")
        if len(inputs) + length > frame_count:
            raise RecordingError(f"the coded inputs hold more than the {frame_count} frames that the head says")
        inputs += bytes((value,)) * length
    if len(inputs) != frame_count:
        raise RecordingError(f"the coded inputs hold {len(inputs)} frames, but the head says {frame_count}")
    return np.frombuffer(inputs, dtype=np.uint8)
