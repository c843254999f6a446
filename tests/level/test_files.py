from __future__ import annotations

import contextlib
import os
import struct
import threading
import tracemalloc

import pytest

from npp_env.errors import LevelError
from npp_env.level import load_level, save_level, write_map, write_text
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.files import read_bounded
from npp_env.level.shipped import load_shipped, shipped_folder, shipped_level_names

from .samples import same_in_full, small_level


def test_text_and_map_round_trip(tmp_path):
    level = small_level(name="room", metadata={"author": "Zoë ☃"})
    save_level(level, tmp_path / "a.txt")
    save_level(level, str(tmp_path / "a.nppmap"))
    assert same_in_full(load_level(tmp_path / "a.txt"), level)
    assert write_map(load_level(str(tmp_path / "a.nppmap"))) == write_map(level)


def test_content_decides_not_the_suffix(tmp_path):
    level = small_level()
    (tmp_path / "map.txt").write_bytes(write_map(level))
    (tmp_path / "text.nppmap").write_text(write_text(level))
    (tmp_path / "marked").write_text(write_text(level), encoding="utf-8-sig")
    for name in ("map.txt", "text.nppmap", "marked"):
        assert load_level(tmp_path / name) == level


def test_existing_files_are_left_alone(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("precious")
    with pytest.raises(LevelError, match="overwrite=True"):
        save_level(small_level(), path)
    assert path.read_text() == "precious"
    save_level(small_level(), path, overwrite=True)
    assert load_level(path) == small_level()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "offset 0: the map ends here"),
        (b"hello", "line 1: found 'hello'"),
        (b"npp-level 1\n\xff", "line 2: byte 0xff is not UTF-8"),
        (b"npp-level 1\ntiles:\n", "line 3: the text ends here"),
        (bytes(1236), "offset 1235: 1 bytes are left over"),
        (bytes((1 << 20) + 1), "larger than 1048576 bytes"),
        (b"NPPR", "this is a recording"),
        (struct.pack("<II", 1227, 31) + bytes(1227 + 31), "this is a recording"),
    ],
)
def test_bad_files_are_named(tmp_path, content, message):
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(LevelError, match=f"bad: .*{message}"):
        load_level(path)


def test_files_without_content(tmp_path):
    for path in (tmp_path / "missing", tmp_path, "nul\0"):
        with pytest.raises(LevelError, match="cannot be read"):
            load_level(path)
    with pytest.raises(LevelError, match="cannot be written"):
        save_level(small_level(), tmp_path / "no" / "folder.txt")
    with pytest.raises(LevelError, match=r"the suffix is '\.png'"):
        save_level(small_level(), tmp_path / "a.png")


def test_shipped_levels_are_sound():
    names = shipped_level_names()
    assert "first_steps/walk" in names
    assert names == sorted(set(names))
    levels = [load_shipped(name) for name in names]
    assert len(set(levels)) == len(names)
    for name, level in zip(names, levels, strict=True):
        assert [line for line in level.warnings if "is unverified" not in line] == []
        assert level.name
        assert level.metadata["group"] == name.split("/")[0]
        assert level.metadata["difficulty"]
        assert level.metadata["teaches"]
        assert level.count(EntityKind.EXIT) == level.count(EntityKind.EXIT_SWITCH) >= 1


def test_unknown_shipped_level_lists_similar_ones():
    with pytest.raises(LevelError, match="first_steps/walk"):
        load_shipped("first_step/wlak")
    with pytest.raises(LevelError, match="no shipped level"):
        load_shipped("../setup")
    assert shipped_folder().name == "levels"


def test_a_limit_costs_no_memory(tmp_path):
    path = tmp_path / "small"
    path.write_bytes(b"content")
    tracemalloc.start()
    try:
        assert read_bounded(path, 1 << 29, LevelError) == b"content"
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [0, 1, 4095, 3 << 20])
def test_files_and_pipes_are_read_up_to_the_limit(tmp_path, size):
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "pipe"):
        for limit in {size, size + 1, size + 5, 1 << 23, size - 1}:
            if limit < 0:
                continue
            writer = threading.Thread(target=_feed, args=(tmp_path / name, content))
            if name == "pipe":
                writer.start()
            if limit < size:
                with pytest.raises(LevelError, match="larger than"):
                    read_bounded(tmp_path / name, limit, LevelError)
            else:
                assert read_bounded(tmp_path / name, limit, LevelError) == content
            if name == "pipe":
                writer.join()


def _feed(path, content):
    with contextlib.suppress(BrokenPipeError):
        path.write_bytes(content)


def test_a_device_without_an_end_is_refused():
    with pytest.raises(LevelError, match="larger than 5000000 bytes"):
        read_bounded("/dev/zero", 5_000_000, LevelError)
