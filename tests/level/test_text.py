from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from npp_env.errors import LevelError
from npp_env.level import Level, read_map, read_text, write_map, write_text
from npp_env.level.tile_characters import TILE_CHARACTERS

from .samples import SMALL_RECORDS, golden_maps, map_bytes, same_in_full, small_level

GRID = "\n".join(["." * 42] * 23)
HEAD = f"npp-level 1\ntiles:\n{GRID}\nentities:\n"
README = Path(__file__).parent.parent.parent / "levels" / "README.md"


def check_level_or_error(text: str) -> None:
    try:
        level = read_text(text)
    except LevelError as error:
        message = str(error)
    else:
        assert same_in_full(level, read_text(write_text(level)))
        return
    number = re.match(r"line (\d+): ", message)
    assert number
    assert 1 <= int(number[1]) <= text.count("\n") + 1
    assert len(message) < 400


def test_readable_and_exact():
    extra = [(20, 30, 12, 0, 0), (14, 8, 8, 2, 3), (23, 9, 9, 6, 1), (2, 5, 5, 0, 0), (77, 1, 2, 3, 4)]
    extra += [(8, 40, 40, 4, 0), (9, 20, 20, 0, 0)]
    level = small_level(extra=extra, name="A room", metadata={"author": "N. N.", "difficulty": "3"})
    head, grid_and_entities = write_text(level).split("\ntiles:\n")
    assert head == "npp-level 1\nname: A room\nauthor: N. N.\ndifficulty: 3\n"
    assert grid_and_entities.split("\nentities:\n")[1].splitlines() == [
        "ninja 10 90",
        "exit 60 90",
        "exit-switch 30 90",
        "thwump 30 12 right",
        "zap-drone 8 8 down ahead-anticlockwise",
        "laser-turret 9 9 up anticlockwise",
        "gold 5 5",
        "entity 77 1 2 3 4",
        "trap-door 40 40 left",
        "trap-door-switch 20 20",
    ]


def test_golden_maps_survive_the_text_byte_for_byte():
    for data in golden_maps():
        text = write_text(read_map(data))
        level = read_text(text)
        assert write_map(level) == data
        assert write_text(level) == text


@settings(max_examples=150, deadline=None)
@given(map_bytes())
def test_any_map_survives_the_text_byte_for_byte(data):
    try:
        level = read_map(data)
    except LevelError:
        assume(False)
    assert write_map(read_text(write_text(level))) == data


def test_largest_level_survives():
    rng = np.random.default_rng(0)
    records = rng.integers(100, 256, (8192, 5))
    metadata = {f"k{number}": "☃" * 1000 for number in range(64)}
    level = Level.from_parts(rng.integers(100, 256, (23, 42)), records, metadata=metadata)
    text = write_text(level)
    assert len(text.encode()) < 1 << 20
    assert same_in_full(level, read_text(text))


@pytest.mark.parametrize("name", ["", " padded ", "a\nb", "tab\t", "é\xa0", "x" * 128, "; c", "name: x", "\x85"])
def test_any_name_survives(name):
    level = small_level(name=name)
    assert read_text(write_text(level)).header == level.header


def test_every_tile_has_its_own_character():
    assert len(set(TILE_CHARACTERS)) == 38
    tiles = np.arange(23 * 42).reshape(23, 42) % 256
    level = Level.from_parts(tiles, SMALL_RECORDS)
    assert (read_text(write_text(level)).tiles == tiles).all()


def test_comments_blank_lines_and_line_ends_do_not_matter():
    text = HEAD + "ninja 10 90\nexit 60 90\nexit-switch 30 90\n"
    noisy = text.replace("tiles:", "; a comment\n\n  tiles:  ").replace("exit 60 90", "exit  60\t90 ; the way out")
    assert read_text(noisy.replace("\n", "\r\n")) == read_text("\ufeff" + text) == small_level()


def test_numbers_may_stand_for_names():
    named = read_text(HEAD + "zap-drone 5 6 down clockwise")
    assert named == read_text(HEAD + "zap-drone 5 6 2 0") == read_text(HEAD + "entity 14 5 6 2 0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the text ends here"),
        ("hello", "line 1: found 'hello'"),
        ("\nnpp-level 1", "line 2: found"),
        ("npp-level 2", "line 1: found 'npp-level 2'"),
        ("npp-level 1\nauthor", "line 2: found 'author'; before 'tiles:' every line is 'key: value'"),
        ("npp-level 1\nAuthor: x", "line 2: metadata key 'Author'"),
        ("npp-level 1\na: x\na: y", "line 3: a second 'a'"),
        ("npp-level 1\nname: x\nname: y", "line 3: a second name"),
        ("npp-level 1\nentities:", "line 2: metadata key 'entities' is reserved"),
        ("npp-level 1\nheader: 0 0g", "line 2: header bytes '0g'"),
        ("npp-level 1\nheader: 184 00", "line 2: header offset '184'"),
        ("npp-level 1\nheader: 183 0000", "line 2: 2 header bytes at offset 183 reach beyond"),
        ("npp-level 1\ncounts: gold", "line 2: count 'gold'"),
        ("npp-level 1\ncounts: gold=65536", "line 2: count of gold '65536'"),
        ("npp-level 1\ncounts: 40=1", "line 2: entity kind '40'"),
        ("npp-level 1\ntiles:\n....", "line 3: row 1 of the grid has 4 characters; it must have 42"),
        ("npp-level 1\ntiles:\n..!.", "line 3: column 3 of the grid: '!' is not a tile"),
        ("npp-level 1\ntiles:\n" + GRID, "line 25: the text ends here; a line 'entities:' must follow"),
        ("npp-level 1\ntiles:\n" + GRID[:-43] + "\nentities:", "line 25: the grid ends after 22 rows"),
        (HEAD.replace(".", "?", 1) + "ninja 1 1", "line 3: '?' needs a line 'tile 1 1 ID'"),
        (HEAD.replace("entities:", "tile 2 1 99"), "line 26: the grid has no '?' left in column 2, row 1"),
        (HEAD.replace("entities:", "tile 0 0 99"), "line 26: the grid has no '?' left in column 0, row 0"),
        (HEAD.replace("entities:", "ninja 1 1"), "line 26: found 'ninja 1 1'"),
        (HEAD, "line 27: no entities"),
        (HEAD + "thwunp 1 2", "line 27: unknown entity 'thwunp'; did you mean thwump"),
        (HEAD + "gold 1", "line 27: gold takes"),
        (HEAD + "gold 1 256", "line 27: y '256' is not a whole number from 0 to 255"),
        (HEAD + "gold 1 -1", "line 27: y '-1'"),
        (HEAD + "gold 1 ١", "line 27: y '١'"),
        (HEAD + "gold 1 1_0", "line 27: y '1_0'"),
        (HEAD + "thwump 1 1 east", "line 27: direction 'east' is none of right"),
        (HEAD + "thwump 1 1 left fast", "line 27: mode 'fast'"),
        (HEAD + "entity 1 2 3", "line 27: 'entity' takes 5 numbers"),
        (HEAD + "ninja 1 1\n\n\nlaunch-pad 1 1 9", "line 30: launch-pad has orientation 9"),
        (HEAD + "ninja 1 1\nexit 1 1", "line 28: exit has no switch"),
        (HEAD + "ninja 1 1\n" * 8193, "line 8219: too many entities"),
        ("npp-level 1\n\nname: ☃\n" + HEAD[12:] + "ninja 1 1", "line 3: name '☃'"),
        ("npp-level 1\n" + "x" * (1 << 20), "line 1: the text has"),
    ],
)
def test_errors_name_the_line(text, message):
    with pytest.raises(LevelError, match="^" + re.escape(message)):
        read_text(text)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.text(max_size=300), st.text(max_size=300).map(lambda text: HEAD + text)))
def test_any_text(text):
    check_level_or_error(text)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_text(data):
    text = write_text(read_map(data.draw(st.sampled_from(golden_maps()))))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    alphabet = st.one_of(st.sampled_from(" \n;:.?#0123456789"), st.characters())
    check_level_or_error(text[:start] + data.draw(st.text(alphabet, max_size=20)) + text[end:])


def test_the_documentation_lists_every_tile_and_its_example_loads():
    text = README.read_text(encoding="utf-8")
    for tile, character in enumerate(TILE_CHARACTERS):
        assert f"| {tile} | `{character}` |" in text
    example = re.search(r"```\n(npp-level 1\n.*?)```", text, re.DOTALL)
    assert example
    assert read_text(example[1]).warnings == ()
