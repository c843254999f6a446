from __future__ import annotations

import pickle
import struct
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import RecordingError
from npp_env.level import Level, read_map, write_map
from npp_env.recording import (
    Recording,
    load_recording,
    read_attract,
    read_recording,
    save_recording,
    write_attract,
    write_recording,
)

GOLDEN = Path(__file__).parent.parent / "golden" / "trajectories.npz"
LEVEL = Level.from_parts(
    np.zeros((23, 42), np.uint8), [(0, 10, 90, 0, 0), (3, 60, 90, 0, 0), (4, 30, 90, 0, 0)], name="room"
)


@lru_cache(maxsize=1)
def golden() -> tuple[tuple[bytes, np.ndarray], ...]:
    with np.load(GOLDEN) as archive:
        return tuple((archive[f"{k:04}_map"].tobytes(), archive[f"{k:04}_inputs"]) for k in range(96))


def attract_file(level_map: bytes, inputs: bytes) -> bytes:
    header = bytearray(range(100, 130))
    header[9:13] = struct.pack("<I", len(inputs))
    return struct.pack("<II", len(level_map) - 8, len(inputs) + 30) + level_map[8:] + bytes(header) + inputs


def sealed(body: bytes) -> bytes:
    return body + struct.pack("<I", zlib.crc32(body))


def check_recording_or_error(read, data: bytes) -> None:
    try:
        recording = read(data)
    except RecordingError:
        return
    assert not recording.inputs.flags.writeable
    if read is read_attract:
        assert write_attract(recording) == data
    else:
        assert read_recording(write_recording(recording)) == recording


def test_attract_files_come_back_byte_for_byte():
    for level_map, inputs in golden():
        data = attract_file(level_map, inputs.tobytes() + b"\x08\x08")
        recording = read_attract(data)
        assert write_attract(recording) == data
        assert recording.inputs.tolist() == [*inputs.tolist(), 8, 8]
        assert recording.level == read_map(level_map)
        assert recording.outcome is None


def test_a_fresh_recording_can_be_written_as_attract():
    recording = Recording.of_level(LEVEL, np.array([1, 2, 4], np.uint8), "won", 3, 0)
    again = read_attract(write_attract(recording))
    assert again.level == LEVEL
    assert again.level.name == "room"
    assert again.inputs.tolist() == [1, 2, 4]


def test_compact_format_keeps_everything():
    for level_map, inputs in golden():
        level = read_map(level_map)
        recording = Recording(level, level.hash, inputs, "died", len(inputs), 7, bytes(range(30)))
        data = write_recording(recording)
        again = read_recording(data)
        assert again == recording
        assert again.level is not None
        assert write_map(again.level) == level_map
        assert not again.inputs.flags.writeable
        without = read_recording(write_recording(recording, embed_level=False))
        assert without.level is None
        assert without == recording


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 15), st.integers(1, 70_000)), max_size=4),
    st.sampled_from([None, "alive"]),
)
def test_any_run_lengths(runs, outcome):
    inputs = np.repeat(np.array([value for value, _ in runs], np.uint8), [length for _, length in runs])
    recording = Recording.of_level(LEVEL, inputs, outcome)
    assert read_recording(write_recording(recording, embed_level=False)) == recording


@pytest.mark.parametrize("length", [0, 1, 14, 15, 16, 17, 255, 256, 65535, 65536, 65551, 1 << 20])
def test_run_length_borders(length):
    recording = Recording.of_level(LEVEL, np.full(length, 3, np.uint8))
    data = write_recording(recording, embed_level=False)
    assert read_recording(data) == recording
    assert len(data) < 100


def test_recordings_are_immutable_and_can_be_pickled():
    source = np.array([1, 2], np.uint8)
    recording = Recording.of_level(LEVEL, source)
    source[:] = 0
    again = pickle.loads(pickle.dumps(recording))
    assert again == recording
    assert hash(again) == hash(recording)
    for copy in (recording, again):
        assert copy.inputs.tolist() == [1, 2]
        with pytest.raises(ValueError, match="read-only"):
            copy.inputs[0] = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level_hash": "xyz"}, "level hash is 'xyz'"),
        ({"level_hash": "0" * 32}, "belongs to level 0000"),
        ({"outcome": "lost"}, "outcome is 'lost'"),
        ({"inputs": np.array([1, 16])}, "input 1 is 16"),
        ({"inputs": np.array([-1])}, "input 0 is -1"),
        ({"inputs": np.array([[1]])}, "one integer a frame"),
        ({"inputs": np.array([1.0])}, "one integer a frame"),
        ({"inputs": np.zeros((1 << 20) + 1, np.uint8)}, "at most 1048576"),
        ({"gold": -1}, "gold is -1"),
        ({"demo_header": b"short"}, "the demo header has 5 bytes"),
    ],
)
def test_wrong_parts_are_named(change, message):
    parts = {"level": LEVEL, "level_hash": LEVEL.hash, "inputs": np.zeros(2, np.uint8), **change}
    with pytest.raises(RecordingError, match=message):
        Recording(**parts)


def test_attract_needs_the_level():
    with pytest.raises(RecordingError, match="is not in the recording"):
        write_attract(Recording(None, LEVEL.hash, np.zeros(2, np.uint8)))


def test_attract_lengths_must_fit():
    data = attract_file(write_map(LEVEL), b"\1\2\4")
    with pytest.raises(RecordingError, match=rf"offset {len(data)}: .*rubbish at its end"):
        read_attract(data + b"x")
    with pytest.raises(RecordingError, match="cut short"):
        read_attract(data[:-1])
    with pytest.raises(RecordingError, match="offset 3: the file ends here"):
        read_attract(data[:3])
    with pytest.raises(RecordingError, match="header alone takes 30"):
        read_attract(struct.pack("<II", len(data) - 37, 29) + data[8:])
    demo = len(data) - 33
    wrong_count = data[: demo + 9] + b"\4" + data[demo + 10 :]
    with pytest.raises(RecordingError, match=rf"offset {demo + 9}: the demo header says 4 frames, but 3 follow"):
        read_attract(wrong_count)
    shifted = struct.pack("<II", len(data) - 33 - 9, 34) + data[8:]
    with pytest.raises(RecordingError):
        read_attract(shifted)


def test_a_bad_map_inside_is_a_recording_error():
    level_map = bytearray(write_map(LEVEL) + bytes([10, 1, 1, 9, 0]))
    with pytest.raises(RecordingError, match=r"the level inside the recording: offset 1248 .*orientation 9"):
        read_attract(attract_file(bytes(level_map), b"\0"))


def test_damage_to_the_compact_format_is_noticed():
    data = write_recording(Recording.of_level(LEVEL, np.arange(8, dtype=np.uint8), "won", 8, 1))
    for end in range(len(data)):
        with pytest.raises(RecordingError):
            read_recording(data[:end])
    for offset in range(len(data)):
        with pytest.raises(RecordingError):
            read_recording(data[:offset] + bytes([data[offset] ^ 0x11]) + data[offset + 1 :])
    with pytest.raises(RecordingError, match="rubbish at its end"):
        read_recording(data + b"x")
    with pytest.raises(RecordingError, match="version 2"):
        read_recording(data[:4] + b"\2" + data[5:])
    with pytest.raises(RecordingError, match="7 bytes of rubbish follow the inputs"):
        read_recording(sealed(data[:-4] + b"rubbish"))


def compact(flags: int, frame_count: int, *parts: bytes) -> bytes:
    head = struct.pack("<4sBBBB16sI", b"NPPR", 1, flags, 0, 0, bytes.fromhex(LEVEL.hash), frame_count)
    return sealed(head + b"".join(struct.pack("<I", len(part)) + part for part in parts))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (compact(1, 0, zlib.compress(bytes(50_000_000)), b""), "more than the 42190 bytes"),
        (compact(1, 0, zlib.compress(write_map(LEVEL)) + b"x", b""), "something behind its end"),
        (compact(1, 0, zlib.compress(write_map(LEVEL))[:-1], b""), "cut short"),
        (compact(1, 0, b"no zlib", b""), "cannot be decompressed"),
        (compact(1, 0, zlib.compress(bytes(1235)), b""), "belongs to level"),
        (compact(0, 5, b"\x00"), "hold 1 frames, but the head says 5"),
        (compact(0, 1, b"\x10"), "more than the 1 frames"),
        (compact(0, 16, b"\xf0\x10"), "end within a run"),
        (compact(0, 0, b"\xf0\x00\x00"), "a run of 0"),
        (compact(0, 0xFFFFFFFF, b"\xf0\xff\xff"), "at most 1048576"),
        (compact(16, 0, b""), "flags 16"),
        (compact(0, 0), "inputs length takes 4 bytes, but 0 are left"),
    ],
)
def test_sealed_nonsense_is_refused(data, message):
    with pytest.raises(RecordingError, match=message):
        read_recording(data)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([read_attract, read_recording]), st.data())
def test_damaged_recordings(read, data):
    recording = Recording.of_level(LEVEL, np.arange(16, dtype=np.uint8), "won", 16)
    damaged = bytearray(write_attract(recording) if read is read_attract else write_recording(recording)[:-4])
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    check_recording_or_error(read, bytes(damaged) if read is read_attract else sealed(bytes(damaged)))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([read_attract, read_recording]), st.binary(max_size=300))
def test_any_bytes(read, data):
    check_recording_or_error(read, data)
    check_recording_or_error(read, sealed(b"NPPR\1" + data))


def test_files_are_told_apart_by_content(tmp_path):
    recording = Recording.of_level(LEVEL, np.array([1, 2], np.uint8), "alive", 2, 0)
    save_recording(recording, tmp_path / "a")
    (tmp_path / "b").write_bytes(write_attract(recording))
    assert load_recording(tmp_path / "a") == recording
    assert load_recording(tmp_path / "b").inputs.tolist() == [1, 2]
    with pytest.raises(RecordingError, match="overwrite=True"):
        save_recording(recording, tmp_path / "a")
    save_recording(recording, tmp_path / "a", overwrite=True)
    (tmp_path / "c").write_bytes(b"rubbish of the worst kind")
    with pytest.raises(RecordingError, match="c: offset"):
        load_recording(tmp_path / "c")
    with pytest.raises(RecordingError, match="cannot be read"):
        load_recording(tmp_path / "missing")
