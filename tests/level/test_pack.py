from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.errors import LevelError
from npp_env.level import Level, in_game_form, read_map, read_pack, write_map, write_pack
from npp_env.level.shipped import load_shipped

from .packs import (
    BLOCKS,
    SIMPLE,
    SIZE_OF,
    check_damaged,
    check_pack_or_error,
    crowded_blocks,
    digits,
    level_bytes,
    pack_line,
    sample_pack,
)
from .samples import golden_maps, small_level

FIRST_COUNT = 2 * (4 + 966)
"""Offset of the digits of the first count, from the first digit on."""


def written_by_hand() -> bytes:
    """A level of solid tiles but one, a ninja, two pieces of gold, an exit and a locked door."""
    tiles = "10" * 42 + "10" + "52" + "10" * (966 - 44)  # 0x25, tile 37, in column 2 of row 2
    ninja = "0010" + "51" + "e4"  # 0x15, 0x4e
    mines = "0000"
    gold = "0020" + "6180" + "ff00"  # (0x16, 0x08), (0xff, 0x00)
    exits = "0010" + "8213" + "9273"  # (0x28, 0x31), switch (0x29, 0x37)
    doors = "0000"
    locked = "0010" + "a1b2" + "40" + "c1d2"  # (0x1a, 0x2b), orientation 4, switch (0x1c, 0x2d)
    rest = "0000" * 20
    return f"$By hand#00000000{tiles}{ninja}{mines}{gold}{exits}{doors}{locked}{rest}00000000#\n".encode()


def test_a_pack_written_by_hand():
    (level,) = read_pack(written_by_hand())
    assert level.name == "By hand"
    assert level.tiles[1, 1] == 37
    assert np.count_nonzero(level.tiles == 1) == 965
    assert level.records.tolist() == [
        [0, 0x15, 0x4E, 0, 0],
        [2, 0x16, 0x08, 0, 0],
        [2, 0xFF, 0x00, 0, 0],
        [3, 0x28, 0x31, 0, 0],
        [4, 0x29, 0x37, 0, 0],
        [6, 0x1A, 0x2B, 4, 0],
        [7, 0x1C, 0x2D, 0, 0],
    ]
    assert {kind: int(n) for kind, n in enumerate(level.counts) if n} == {0: 1, 2: 2, 3: 1, 4: 1, 6: 1}
    assert level.warnings == ("1 records lie outside the map, the first is 2",)
    assert write_pack([level]) == written_by_hand()
    assert level == in_game_form(level)
    assert write_map(in_game_form(level)) == write_map(level)


@pytest.mark.parametrize("kind", BLOCKS)
def test_every_type_has_the_record_size_of_the_format(kind):
    blocks = {0: [(10, 90)], **({kind: crowded_blocks()[kind]} if kind else {})}
    (level,) = read_pack(pack_line("x", blocks))
    assert level.notes == ()
    if kind:
        first = level.records[1].tolist()
        fields = blocks[kind][0]
        assert first[:3] == [kind, *fields[:2]]
        assert first[3] == (fields[2] if SIZE_OF[kind] > 2 and kind != 3 else 0)
        assert first[4] == (fields[3] if SIZE_OF[kind] == 4 and kind != 3 else 0)
    assert write_pack([level]) == pack_line("x", blocks) + b"\n"


def test_exits_stand_before_their_switches_and_doors_in_pairs():
    blocks = {**SIMPLE, 3: [(1, 2, 3, 4), (5, 6, 7, 8)], 8: [(11, 12, 2, 13, 14), (15, 16, 6, 17, 18)]}
    (level,) = read_pack(pack_line("x", blocks))
    assert level.records[1:].tolist() == [
        [3, 1, 2, 0, 0],
        [3, 5, 6, 0, 0],
        [4, 3, 4, 0, 0],
        [4, 7, 8, 0, 0],
        [8, 11, 12, 2, 0],
        [9, 13, 14, 0, 0],
        [8, 15, 16, 6, 0],
        [9, 17, 18, 0, 0],
    ]
    assert (level.counts[3], level.counts[4], level.counts[8], level.counts[9]) == (2, 2, 2, 0)


def test_lines_names_and_ends():
    one, two = pack_line("a; ~é|", SIMPLE), pack_line("", {0: [(1, 2)]})
    for data in (
        one + b"\n" + two,
        one + b"\r\n" + two + b"\r\n",
        b"\n\r\n" + one + b"\n\n  \n" + two + b"\n\n",
        b"\xef\xbb\xbf" + one + b"\n" + two,
        one.upper().replace(b"A; ~", b"a; ~") + b"  \n" + two,
    ):
        levels = read_pack(data)
        assert [level.name for level in levels] == ["a; ~é|", ""]
        assert levels[1].spawn == (6.0, 12.0)
        assert write_pack(levels) == one + b"\n" + two + b"\n"


def test_the_counts_are_two_bytes_big_endian():
    (level,) = read_pack(pack_line("x", {**SIMPLE, 2: [(k % 100, k // 100) for k in range(259)]}))
    assert level.counts[2] == 259
    assert digits(bytes([1, 3])) == "1030"


def test_several_ninjas_are_kept_and_the_first_plays():
    (level,) = read_pack(pack_line("coop", {**SIMPLE, 0: [(10, 20), (30, 40)]}))
    assert level.spawn == (60.0, 120.0)
    assert level.counts[0] == 2
    assert level.warnings == ("later ninja records are ignored",)


@pytest.mark.parametrize("upto", [kind for kind in BLOCKS if kind < 28])
def test_counts_that_are_missing_are_zero(upto):
    data = level_bytes({0: [(10, 90)], 2: [(3, 4)]}, upto=upto)
    (level,) = read_pack(f"$x#{digits(data)}#".encode())
    assert level.count(2) == (upto >= 2)
    (note,) = level.notes
    assert note.startswith(f"line 1, offset {3 + 2 * len(data)}: the data end where the count of ")
    assert note in level.warnings


@pytest.mark.parametrize(
    ("footer", "complaint"),
    [
        (b"", "no footer"),
        (b"\0\0\0", "the footer is 000000;"),
        (b"\0\0\0\1", "the footer is 00000001;"),
        (bytes(9), "the footer is 0000000000000000...;"),
    ],
)
def test_odd_footers_are_told(footer, complaint):
    data = level_bytes(SIMPLE)
    (level,) = read_pack(f"\n$x#{digits(data + footer)}#".encode())
    (note,) = level.notes
    assert note.startswith(f"line 2, offset {3 + 2 * len(data)}: {complaint}")
    assert write_pack([level]) == pack_line("x", SIMPLE) + b"\n"


def test_an_odd_start_is_told():
    text = pack_line("x", SIMPLE).replace(b"#0000", b"#1000", 1)
    (level,) = read_pack(text)
    assert level.notes == ("line 1, offset 3: the data begin with 01000000, not with four zero bytes",)


NINJA_ONLY = digits(level_bytes({0: [(10, 90)]}, upto=0)).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1, offset 0: the pack is empty"),
        (b"\n\r\n  \n", "line 4, offset 0: the pack is empty"),
        (b"hello", "line 1, offset 0: found 'hello'; a level of a pack begins with '$'"),
        (b"\n $x#", "line 2, offset 0: found ' $x#'"),
        (b"$no end", "line 1, offset 7: the line ends here; a '#' must end the name"),
        (b"$x#", "line 1, offset 3: the line ends here; a '#' must end the digits"),
        (b"$x#00", "line 1, offset 5: the line ends here; a '#' must end the digits"),
        (b"$x#0 0#", "line 1, offset 4: ' ' is not a hex digit"),
        (b"$x#0g#", "line 1, offset 4: 'g' is not a hex digit"),
        (b"$x#000#", "line 1, offset 6: an odd number of digits"),
        (b"$x##", "line 1, offset 3: the data end here, within four zero bytes"),
        (b"$x#00000000#", "line 1, offset 11: the data end here, within 966 tiles"),
        (b"$x#" + b"0" * 1939 + b"#", "line 1, offset 1942: an odd number"),
        (b"$x#" + b"0" * 1940 + b"#", "line 1, offset 1943: no ninja"),
        (b"$x#" + b"0" * 1942 + b"#", "line 1, offset 1945: the data end here, within the count of ninja"),
        (b"$x#" + b"0" * 2100 + b"#", "line 1, offset 1943: no ninja"),
        (b"$x#" + NINJA_ONLY[:-2] + b"#", "line 1, offset 1949: the data end here, within 1 records of ninja of 2"),
        (b"$x#" + NINJA_ONLY + b"00#", "line 1, offset 1953: the data end here, within the count of mine"),
        (
            b"$x#" + NINJA_ONLY + b"0020" + b"1111" + b"#",
            "line 1, offset 1959: the data end here, within 2 records of m",
        ),
        (b"$x#" + NINJA_ONLY + b"0200#", "line 1, offset 1951: 8192 of mine make more than 8192 records in all"),
        (b"$x#" + NINJA_ONLY + b"# more", "line 1, offset 1952: found ' more' behind the level"),
        (b"$" + b"n" * 129 + b"#00#", "line 1, offset 129: the name has 129 characters; a level takes at most 128"),
        (b"$a\0b#00#", "line 1, offset 2: a NUL in the name"),
        (pack_line("a", SIMPLE) + b"\n\n$b#z#", "line 3, offset 3: 'z' is not a hex digit"),
    ],
)
def test_errors_say_where(data, message):
    with pytest.raises(LevelError) as caught:
        read_pack(data)
    assert str(caught.value).startswith(message)


def test_bytes_that_the_physics_refuse_are_found_in_the_line():
    before = 3 + 2 * len(level_bytes({0: [(10, 90)]}, upto=8))
    text = pack_line("x", {0: [(10, 90)], 10: [(1, 2, 3), (4, 5, 9)]})
    with pytest.raises(LevelError, match="launch-pad has orientation 9") as caught:
        read_pack(text)
    offset = before + 4 + 6 + 4
    assert str(caught.value).startswith(f"line 1, offset {offset}: ")
    assert text[offset : offset + 2] == b"90"
    before = 3 + 2 * len(level_bytes({0: [(10, 90)]}, upto=13))
    text = pack_line("x", {0: [(10, 90)], 14: [(1, 2, 3, 4)]})
    with pytest.raises(LevelError, match=f"line 1, offset {before + 4 + 6}: zap-drone has mode 4"):
        read_pack(text)


def test_too_many_exits_are_read_as_the_game_counts_them():
    (level,) = read_pack(pack_line("x", {0: [(1, 1)], 3: [(k % 200, 1, k % 100, 2) for k in range(300)]}))
    assert level.counts[3] == 300
    assert any("of exit have no exit-switch" in line for line in level.warnings)
    with pytest.raises(LevelError, match="300 exits; the game tells at most 255 apart"):
        write_pack([level])


def crowd() -> Level:
    return read_pack(pack_line("crowd", crowded_blocks()))[0]


def test_a_pack_holds_what_reading_one_gives_and_nothing_else():
    level = crowd()
    assert write_pack([level]) == pack_line("crowd", crowded_blocks()) + b"\n"
    unknown = [*level.records.tolist(), [77, 1, 1, 1, 1]]
    swapped = level.records.copy()
    swapped[[2, 3]] = swapped[[3, 2]]
    pointless = level.records.copy()
    pointless[1, 3] = 2  # a mine that faces somewhere
    counts = level.counts.copy()
    counts[25] = 1
    for part, complaint in (
        ({"records": unknown}, "record .* is entity 77, which has no place in a pack"),
        ({"records": swapped}, "not as the game orders them, from record 2 on; as_game=True"),
        ({"records": pointless}, "from record 1 on"),
        ({"counts": counts}, "counts of exits or death balls"),
        ({"name": "a#b"}, "holds '#', which would end it"),
        ({"name": "a\nb"}, "which would end it"),
    ):
        parts = {"records": level.records, **part}
        other = Level.from_parts(level.tiles, parts.pop("records"), **parts)
        with pytest.raises(LevelError, match=f"level 1, .*{complaint}"):
            write_pack([level, other])
    assert read_pack(write_pack([Level.from_parts(level.tiles, swapped)], as_game=True)) == [level]
    assert read_pack(write_pack([Level.from_parts(level.tiles, level.records, counts=counts)], as_game=True)) == [level]


def test_the_form_of_the_game_keeps_every_entity():
    """Worked out by hand: two exits whose count says three, a door, and records that belong to nothing."""
    records = [
        (2, 50, 50, 3, 9),  # the ninja starts at gold
        (20, 30, 30, 2, 5),
        (3, 1, 1, 0, 0),  # its switch is three records on
        (3, 2, 2, 0, 0),
        (8, 5, 5, 4, 0),
        (4, 11, 11, 0, 0),  # of the first exit; the trap door takes its place too
        (4, 12, 12, 0, 0),
        (9, 13, 13, 0, 0),
        (0, 7, 7, 0, 0),
        (99, 1, 2, 3, 4),
        (2, 9, 9, 0, 0),
    ]
    counts = np.zeros(40, np.uint16)
    counts[3] = 3
    level = in_game_form(Level.from_parts(np.zeros((23, 42)).astype(int), records, counts=counts, name="odd"))
    assert level.records.tolist() == [
        [0, 50, 50, 0, 0],
        [0, 7, 7, 0, 0],
        [2, 50, 50, 0, 0],
        [2, 9, 9, 0, 0],
        [3, 1, 1, 0, 0],
        [3, 2, 2, 0, 0],
        [4, 11, 11, 0, 0],
        [4, 12, 12, 0, 0],
        [8, 5, 5, 4, 0],
        [9, 11, 11, 0, 0],
        [20, 30, 30, 2, 0],
        [99, 1, 2, 3, 4],
    ]
    assert {kind: int(n) for kind, n in enumerate(level.counts) if n} == {0: 2, 2: 2, 3: 2, 4: 2, 8: 1, 20: 1}
    assert level.name == "odd"
    assert write_map(in_game_form(level)) == write_map(level)


def test_golden_maps_in_the_form_of_the_game_survive_the_pack():
    maps = [data for data in golden_maps() if max(data[1230::5]) < 29]
    assert len(maps) > 50
    levels = [in_game_form(read_map(data)) for data in maps]
    data = write_pack(levels)
    back = read_pack(data)
    assert [write_map(level) for level in back] == [write_map(level) for level in levels]
    assert write_pack(back) == data
    for old, level in zip(maps, back, strict=True):
        before = [tuple(old[at : at + 3]) for at in range(1235, len(old), 5)]
        after = [tuple(record[:3]) for record in level.records.tolist()]
        switches = (0, 4, 7, 9)
        assert sorted(r for r in before if r[0] not in switches) == [r for r in sorted(after) if r[0] not in switches]
        assert [r[0] for r in after if r[0] not in (7, 9)] == sorted(r[0] for r in after if r[0] not in (7, 9))


def test_order_decides_identity_so_it_is_kept_unless_asked():
    level = load_shipped("mines/ring")
    with pytest.raises(LevelError, match="recordings of this one do not fit"):
        write_pack([level])
    (changed,) = read_pack(write_pack([level], as_game=True))
    assert changed != level
    assert sorted(changed.records.tolist()) == sorted(level.records.tolist())


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text("$#0aF\n\r x", max_size=60).map(str.encode)))
def test_any_bytes(data):
    check_pack_or_error(data)


def test_damaged_packs_are_packs_or_errors():
    found = check_damaged(4000, seed=1, play_every=40)
    assert min(found.values()) > 20


def test_the_sample_is_whole():
    levels = check_pack_or_error(sample_pack())
    assert [level.name for level in levels] == ["one", "crowd", "doors"]
    assert write_pack(levels) == sample_pack()
    assert small_level() == levels[0]
