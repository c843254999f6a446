"""Our own format of recordings.

All numbers are little endian:

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

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import RecordingError
from npp_env.level.binary import write_map
from npp_env.level.layout import MAX_MAP_BYTES
from npp_env.recording.attract import read_embedded_level
from npp_env.recording.model import DEMO_HEADER_BYTES, MAX_FRAMES, OUTCOMES, Recording, input_runs

MAGIC = b"NPPR"
_VERSION = 1
_CRC_BYTES = 4
_HEAD = struct.Struct("<4sBBBB16sI")
_HAS_LEVEL, _HAS_FRAMES, _HAS_GOLD, _HAS_DEMO_HEADER = 1, 2, 4, 8
_LONG_RUN = 15


def read_recording(data: bytes) -> Recording:
    """Read a recording in our compact format.

    Raises:
        RecordingError: The data is damaged, of another version, or has something behind its end.
    """
    data = bytes(data)
    if not data.startswith(MAGIC):
        raise RecordingError(f"offset 0: found {data[:4]!r}; a recording begins with {MAGIC!r}")
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
    level = (
        read_embedded_level(_inflate(reader.take(reader.u32("level length"), "level"))) if flags & _HAS_LEVEL else None
    )
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
    head = _HEAD.pack(MAGIC, _VERSION, flags, outcome, 0, level_hash, len(recording.inputs))
    body = head + b"".join(part for _, part in optional) + _with_length(_encode_runs(recording.inputs))
    return body + struct.pack("<I", zlib.crc32(body))


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


def _encode_runs(inputs: NDArray[np.uint8]) -> bytes:
    coded = bytearray()
    for value, length in input_runs(inputs):
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
