from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import LevelError
from npp_env.level import read_map, write_map

from .samples import golden_maps, map_bytes


def check_level_or_error(data: bytes) -> None:
    try:
        level = read_map(data)
    except LevelError as error:
        message = str(error)
    else:
        assert write_map(level) == data
        assert all(isinstance(line, str) for line in (level.name, *level.warnings))
        return
    assert message.startswith("offset ")


def test_golden_maps_come_back_byte_for_byte():
    for data in golden_maps():
        level = read_map(data)
        assert write_map(level) == data
        assert level.name.startswith("generated")
        assert level.spawn == (6.0 * data[1231], 6.0 * data[1232])
        assert int(level.tiles[22, 41]) == data[1149]
        assert level.tiles[1, 0] == data[184 + 42]


def test_counts_are_little_endian():
    data = bytearray(golden_maps()[0])
    data[1150 + 2 * 30 : 1150 + 2 * 31] = b"\x01\x02"
    assert read_map(bytes(data)).counts[30] == 0x0201


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "offset 0: the map ends here"),
        (bytes(1234), "offset 1234: the map ends here"),
        (bytes(1238), "offset 1235: 3 bytes are left over"),
        (bytes(1230 + 5 * 8193), "offset 42190: the map goes on"),
    ],
)
def test_wrong_lengths_say_where(data, message):
    with pytest.raises(LevelError, match=message):
        read_map(data)


def test_shortest_and_longest_map():
    assert len(read_map(bytes(1235)).records) == 1
    assert len(read_map(bytes(1230 + 5 * 8192)).records) == 8192


@settings(max_examples=150, deadline=None)
@given(map_bytes())
def test_anything_in_the_outline_of_a_map(data):
    check_level_or_error(data)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=2000))
def test_any_bytes(data):
    check_level_or_error(data)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_maps(data):
    damaged = bytearray(data.draw(st.sampled_from(golden_maps())))
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.one_of(st.none(), st.integers(0, len(damaged))))
    check_level_or_error(bytes(damaged[:cut]))
