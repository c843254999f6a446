from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

from npp_env.errors import LevelError
from npp_env.level import EntityKind, Level, read_map, write_map

from .samples import SMALL_RECORDS, golden_maps, same_in_full, small_level

EMPTY = np.zeros((23, 42), np.uint8)


def test_fresh_level_has_sensible_parts():
    level = small_level(name="room", metadata={"author": "me"})
    assert level.name == "room"
    assert level.spawn == (60.0, 540.0)
    assert level.counts[:5].tolist() == [1, 0, 0, 1, 1]
    assert dict(level.metadata) == {"author": "me"}
    assert level.warnings == ()
    assert level.unknown_entities == ()


def test_the_header_of_a_fresh_level_is_that_of_the_game():
    level = small_level(extra=[(6, 5, 5, 0, 0), (7, 6, 6, 0, 0), (8, 5, 5, 0, 0), (9, 6, 6, 0, 0)], name="room")
    data = write_map(level)
    assert len(data) == 1265
    words = [int.from_bytes(data[at : at + 4], "little", signed=True) for at in range(0, 28, 4)]
    assert words == [0, 1265, -1, 0, 37, -1, 0]  # magic, length, level id, solo, query type, author id, favourites
    assert data[28:38] == bytes(10)
    assert data[38:166] == b"room".ljust(128, b"\0")
    assert data[166:184] == bytes(18)
    counts = {kind: int.from_bytes(data[1150 + 2 * kind :][:2], "little") for kind in range(40)}
    assert {kind: count for kind, count in counts.items() if count} == {0: 1, 3: 1, 4: 1, 6: 1, 8: 1}
    assert level.warnings == ()


def test_a_name_ends_where_the_author_begins():
    data = bytearray(write_map(small_level(name="x" * 128)))
    data[166:170] = b"Anne"
    assert read_map(bytes(data)).name == "x" * 128
    assert write_map(read_map(bytes(data))) == data


def test_counted_switches_of_doors_are_as_good_as_uncounted_ones():
    level = small_level(extra=[(6, 5, 5, 0, 0), (7, 6, 6, 0, 0)])
    for count, complaints in ((0, 0), (1, 0), (2, 1)):
        counts = level.counts.copy()
        counts[7] = count
        assert len(Level.from_parts(level.tiles, level.records, counts=counts).warnings) == complaints


def test_every_array_is_read_only_and_detached_from_its_source():
    tiles, records = EMPTY.copy(), np.array(SMALL_RECORDS, np.uint8)
    level = Level.from_parts(tiles, records)
    tiles[:], records[:] = 1, 9
    assert not level.tiles.any()
    assert level.records.tolist() == [list(record) for record in SMALL_RECORDS]
    for array in (level.tiles, level.records, level.counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    with pytest.raises(TypeError):
        level.metadata["x"] = "y"
    with pytest.raises(AttributeError):
        level.tiles = EMPTY


def test_copies_keep_everything_read_only():
    level = dataclasses.replace(small_level(name="n", metadata={"teaches": "nothing"}), notes=("odd",))
    restored = pickle.loads(pickle.dumps(level))
    assert restored.notes == ("odd",)
    assert same_in_full(level, restored)
    assert not restored.tiles.flags.writeable
    assert not restored.records.flags.writeable
    assert not restored.counts.flags.writeable
    assert copy.copy(level) is level
    assert copy.deepcopy({"a": level})["a"] is level
    assert weakref.ref(level)() is level


def test_identity_is_what_the_physics_reads():
    level = small_level(name="a")
    assert level == small_level(name="b", metadata={"author": "x"})
    assert hash(level) == hash(small_level(name="b"))
    assert len(level.hash) == 32
    assert level != small_level(extra=[(2, 5, 5, 0, 0)])
    tiles = EMPTY.copy()
    tiles[3, 4] = 1
    assert level != Level.from_parts(tiles, SMALL_RECORDS)
    assert level != "a"


@pytest.mark.parametrize(("type_id", "matters"), [(25, True), (3, True), (2, False), (39, False)])
def test_only_two_counts_belong_to_the_identity(type_id, matters):
    level = small_level(extra=[(2, 1, 1, 0, 0)])
    counts = level.counts.copy()
    counts[type_id] += 1
    assert (level != Level.from_parts(level.tiles, level.records, counts=counts)) is matters
    counts[type_id] += 255
    assert level == Level.from_parts(level.tiles, level.records, counts=counts)


def test_golden_levels_have_distinct_hashes():
    assert len({read_map(data).hash for data in golden_maps()}) == len(set(golden_maps())) == 96


@pytest.mark.parametrize("kind", [5, 6, 8, 10, 11, 14, 23, 26])
def test_orientation_beyond_seven_is_an_error(kind):
    tail = [(7, 1, 1, 0, 0)]
    small_level(extra=[(kind, 1, 1, 7, 0), *tail])
    with pytest.raises(LevelError, match=r"offset 1248 \(record 3\): .* has orientation 8"):
        small_level(extra=[(kind, 1, 1, 8, 0), *tail])


@pytest.mark.parametrize("kind", [1, 2, 16, 20, 25, 77])
def test_orientation_is_free_where_it_means_nothing(kind):
    assert small_level(extra=[(kind, 1, 1, 200, 200)]).records[-1, 3] == 200


@pytest.mark.parametrize("kind", [14, 26])
def test_drone_mode_beyond_three_is_an_error(kind):
    small_level(extra=[(kind, 1, 1, 0, 3)])
    with pytest.raises(LevelError, match=r"offset 1249 .* has mode 4"):
        small_level(extra=[(kind, 1, 1, 0, 4)])


def test_an_exit_needs_its_switch_record():
    with pytest.raises(LevelError, match=r"offset 1235 .*exit has no switch"):
        Level.from_parts(EMPTY, SMALL_RECORDS[:2])
    counts = small_level().counts.copy()
    counts[3] = 0x100  # low byte 0: the exit is its own switch
    Level.from_parts(EMPTY, SMALL_RECORDS[:2], counts=counts)


@pytest.mark.parametrize("kind", [6, 8])
def test_a_door_with_switch_cannot_be_last(kind):
    with pytest.raises(LevelError, match="last record"):
        small_level(extra=[(kind, 1, 1, 0, 0)])


def test_number_of_records_is_bounded():
    Level.from_parts(EMPTY, np.zeros((8192, 5), np.uint8))
    for count, message in ((0, "no entity records"), (8193, "at most 8192")):
        with pytest.raises(LevelError, match=message):
            Level.from_parts(EMPTY, np.zeros((count, 5), np.uint8))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tiles": np.zeros((23, 41))}, r"tiles has shape \(23, 41\)"),
        ({"tiles": np.zeros((23, 42))}, "tiles has the type float64"),
        ({"tiles": np.full((23, 42), 256)}, "tiles has the value 256"),
        ({"tiles": 7}, "tiles is the single value 7"),
        ({"records": [(0, 1, 1, 0)]}, r"records has shape \(1, 4\)"),
        ({"records": [(0, 1, -1, 0, 0)]}, "records has the value -1"),
        ({"records": [(0,), (0, 1)]}, "not a rectangular array"),
        ({"counts": [1, 2]}, r"counts has shape \(2,\)"),
        ({"name": "x" * 129}, "at most 128"),
        ({"name": "snow ☃"}, "Latin-1"),
        ({"name": "a\0b"}, "NUL"),
        ({"metadata": {"Bad key": "x"}}, "metadata key 'Bad key'"),
        ({"metadata": {"name": "x"}}, "reserved"),
        ({"metadata": {"author": "two\nlines"}}, "one line"),
        ({"metadata": {"author": "x" * 1001}}, "at most 1000"),
        ({"metadata": {f"k{i}": "" for i in range(65)}}, "65 metadata keys"),
    ],
)
def test_wrong_parts_are_named(change, message):
    parts = {"tiles": EMPTY, "records": SMALL_RECORDS, **change}
    with pytest.raises(LevelError, match=message):
        Level.from_parts(parts.pop("tiles"), parts.pop("records"), **parts)


def test_oddities_are_kept_and_reported():
    tiles = EMPTY.copy()
    tiles[2, 5] = 99
    extra = [(77, 1, 2, 3, 4), (27, 1, 1, 0, 0), (0, 9, 9, 0, 0), (2, 255, 1, 0, 0)]
    level = Level.from_parts(tiles, [*SMALL_RECORDS, *extra], counts=small_level().counts)
    assert level.unknown_entities == ((3, 77),)
    assert level.records[3].tolist() == [77, 1, 2, 3, 4]
    report = "\n".join(level.warnings)
    for part in (
        "entity 77 is unknown to the game: 1 kept without effect, the first is record 3 (offset 1245)",
        "unused-27 is not simulated",
        "later ninja records",
        "the counts table says 0 of gold, the records hold 1",
        "id 99 in column 6, row 3 (offset 273)",
        "1 records lie outside the map, the first is 6",
    ):
        assert part in report


def test_warnings_stay_short_for_many_oddities():
    records = np.full((8192, 5), 200, np.uint8)
    assert sum(map(len, Level.from_parts(EMPTY, records).warnings)) < 1000


def test_missing_exit_and_odd_spawn_are_reported():
    report = Level.from_parts(EMPTY, [(2, 1, 1, 0, 0)]).warnings
    assert any("not ninja" in line for line in report)
    assert any("no exit" in line for line in report)


def test_switches_in_the_wrong_place_are_reported():
    extra = [(6, 1, 1, 0, 0), (2, 5, 5, 0, 0), (8, 1, 1, 0, 0), (9, 1, 1, 0, 0)]
    (warning,) = small_level(extra=extra).warnings
    assert warning.startswith("1 of locked-door have no locked-door-switch in the place of their switch")
    assert warning.endswith("is record 3: it takes the position of record 4, gold")
    spawn, first_exit, switch = SMALL_RECORDS
    (warning,) = Level.from_parts(EMPTY, [spawn, first_exit, switch, first_exit, switch, switch]).warnings
    assert "of exit have no exit-switch" in warning


def test_kinds_have_the_ids_of_the_game():
    assert [kind.value for kind in EntityKind] == list(range(29))
    assert EntityKind.SHOVE_THWUMP.label == "shove-thwump"
    assert EntityKind.EXIT_SWITCH.simulated
    assert not all(kind.simulated for kind in EntityKind)


def test_import_is_light():
    heavy = "pygame cv2 networkx matplotlib torch psutil cython"
    code = f"import sys, npp_env.recording; print(sorted(set('{heavy}'.split()) & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
