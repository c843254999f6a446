"""Packs in files, folders of all kinds of level files, and what is left out of them."""

from __future__ import annotations

import os
import pickle
import warnings

import pytest

from npp_env.errors import LevelError, LevelWarning
from npp_env.level import level_set, load_level, save_level, survey, write_map
from npp_env.level.level_set import LevelSet
from npp_env.recording import Recording, write_attract

from .packs import SIMPLE, pack_line, sample_pack
from .samples import small_level


@pytest.fixture
def pack(tmp_path):
    path = tmp_path / "some levels.txt"
    path.write_bytes(sample_pack().replace(b"\n", b"\r\n\r\n"))
    return path


def test_all_levels_of_a_pack(pack):
    levels = LevelSet.parse(f"pack:{pack}")
    assert [level.name for level in levels] == ["one", "crowd", "doors"]
    assert levels.names() == [f"pack:{pack.as_posix()}#{name}" for name in ("one", "crowd", "doors")]
    for name, level in zip(levels.names(), levels, strict=True):
        assert LevelSet.parse(name)[0] == level
    assert LevelSet.parse(pack).names() == levels.names()
    assert LevelSet.parse(str(pack.parent)).names() == levels.names()
    assert LevelSet.parse(f"{pack.parent}/*.txt").names() == levels.names()


def test_one_level_by_number_or_name(pack):
    levels = LevelSet.parse(f"pack:{pack}")
    for number in range(3):
        (level,) = LevelSet.parse(f"pack:{pack}#{number}")
        assert level == levels[number]
    assert LevelSet.parse(f"pack:{pack}#doors")[0] == levels[2]


def test_a_pack_among_other_sources(pack):
    levels = LevelSet.parse(["shipped:first_steps/walk", f"pack:{pack}#2", small_level(name="own"), f"pack:{pack}"])
    assert [level.name for level in levels[1:]] == ["doors", "own", "one", "crowd", "doors"]
    own, one, crowd = 0b11001, 0b11001, 2**29 - 1
    doors = sum(1 << kind for kind in (0, 3, 4, 5, 6, 7, 25))
    assert levels.types()[1:] == (doors, own, one, crowd, doors)


def test_levels_are_read_one_by_one(pack, monkeypatch):
    levels = pickle.loads(pickle.dumps(LevelSet.parse(f"pack:{pack}")))
    assert len(levels._loaded) == 0
    reads = []
    real = level_set.PackEntry.load
    monkeypatch.setattr(level_set.PackEntry, "load", lambda entry: reads.append(entry.at.number) or real(entry))
    assert levels[2].name == "doors"
    assert levels[2] is levels[2]
    assert reads == [2]
    assert levels.types()
    assert reads == [2]


def test_names_that_do_not_name_get_numbers(tmp_path):
    path = tmp_path / "p#1.txt"
    lines = [pack_line(name, SIMPLE) for name in ("twice", "twice", "12", "", "bell\a", " edge ", "Once")]
    path.write_bytes(b"\n".join(lines))
    levels = LevelSet.parse(f"pack:{path}")
    assert [name.rpartition("#")[2] for name in levels.names()] == ["0", "1", "2", "3", "4", "5", "Once"]
    assert all(len(LevelSet.parse(name)) == 1 for name in levels.names())
    assert LevelSet.parse(f"pack:{path}# edge ").names() == [f"pack:{path.as_posix()}#5"]
    for key, complaint in (
        ("twice", "2 levels are called 'twice'; use a number: 0, 1"),
        ("7", "no level 7; there are 7, with numbers from 0"),
        ("12", "no level 12; there are 7"),
        ("one", "no level 'one' among the 7 of this pack; did you mean 'Once'"),
        ("zzzz", "use a name of it, or a number from 0"),
    ):
        with pytest.raises(LevelError, match=complaint):
            LevelSet.parse(f"pack:{path}#{key}")
    assert LevelSet.parse(f"pack:{path}#")[0].name == ""


def test_faults_of_packs_are_found_at_once(pack, tmp_path):
    with pytest.raises(LevelError, match=r"pack:nowhere: no such file; write pack:FILE"):
        LevelSet.parse("pack:nowhere")
    with pytest.raises(LevelError, match="no such file"):
        LevelSet.parse("pack:nowhere#3")
    pack.write_bytes(sample_pack() + b"$bad#00#\n")
    with pytest.raises(LevelError, match=r"some levels\.txt: line 4, offset 7: the data end here"):
        LevelSet.parse(f"pack:{pack}")
    assert LevelSet.parse(f"pack:{pack}#1")[0].name == "crowd"
    with pytest.raises(LevelError, match="line 4, offset 7"):
        LevelSet.parse(f"pack:{pack}#bad")
    pack.write_bytes(sample_pack() + b"something else\n")
    with pytest.raises(LevelError, match="line 4, offset 0: found 'something else'"):
        LevelSet.parse(f"pack:{pack}#1")
    save_level(small_level(), tmp_path / "level.txt")
    with pytest.raises(LevelError, match="line 1, offset 0: found 'npp-level 1'; a level of a pack begins with"):
        LevelSet.parse(f"pack:{tmp_path / 'level.txt'}")


def test_a_pack_that_changes_is_noticed(pack):
    levels = LevelSet.parse(f"pack:{pack}")
    pack.write_bytes(b"\n" + sample_pack())
    with pytest.raises(LevelError, match="level 'doors' is not here any more; the file has changed"):
        levels[2]
    pack.unlink()
    with pytest.raises(LevelError, match="cannot be read"):
        levels[1]


def test_a_pack_of_one_is_a_level_file(tmp_path, pack):
    path = tmp_path / "one"
    path.write_bytes(pack_line("single", SIMPLE))
    assert load_level(path).name == "single"
    with pytest.raises(LevelError, match=r"this is a pack of 3 levels; name one as pack:FILE#0"):
        load_level(pack)


@pytest.fixture
def mixed_folder(tmp_path):
    """Maps of the game without suffix beside all that gathers in folders."""
    folder = tmp_path / "levels"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".git").mkdir()
    data = write_map(small_level(name="map"))
    for name in ("plain", "1.5 times", "deep/er/down", ".hidden", ".git/object"):
        (folder / name).write_bytes(data)
    (folder / "stray.txt").write_text("shopping list")
    (folder / "broken.txt").write_text("npp-level 1\ntiles:\n")
    (folder / "attempt").write_bytes(write_attract(Recording.of_level(small_level(), [0, 1])))
    (folder / "notes.md").write_text("read me")
    (folder / "picture.png").write_bytes(bytes(1235))
    os.mkfifo(folder / "pipe")
    return folder


def test_folders_take_maps_without_suffix_and_say_what_they_leave_out(mixed_folder):
    with pytest.warns(LevelWarning, match="3 files are left out: ") as caught:
        levels = LevelSet.parse(mixed_folder)
    assert len(caught) == 1
    assert [name[len(mixed_folder.as_posix()) :] for name in levels.names()] == [
        "/1.5 times",
        "/deep/er/down",
        "/plain",
    ]
    left_out = "\n".join(levels.left_out)
    for words in ("attempt: offset 0: this is a recording", "broken.txt: line 3: the text ends", "stray.txt: line 1:"):
        assert words in left_out
        assert words in str(caught[0].message)
    assert pickle.loads(pickle.dumps(levels)).left_out == levels.left_out
    with pytest.warns(LevelWarning):
        assert LevelSet.parse(["shipped:mines", str(mixed_folder)]).left_out == levels.left_out


def test_many_files_that_are_left_out_make_a_short_warning(tmp_path):
    save_level(small_level(), tmp_path / "level.txt")
    for k in range(500):
        (tmp_path / f"stray {k}.txt").write_text("?" * 300)
    with pytest.warns(LevelWarning, match="500 files are left out: .*; and 497 more") as caught:
        LevelSet.parse(tmp_path)
    assert len(str(caught[0].message)) < 1000


def test_a_folder_without_any_level_is_a_mistake(tmp_path):
    (tmp_path / "stray.txt").write_text("shopping list")
    with pytest.raises(LevelError, match=r"no level files .* in this folder; left out: .*stray.txt: line 1"):
        LevelSet.parse(tmp_path)
    with pytest.raises(LevelError, match=r"fits no file that is a level; left out: .*stray.txt"):
        LevelSet.parse(f"{tmp_path}/*.txt")
    with pytest.raises(LevelError, match=r"stray\.txt: line 1"):
        LevelSet.parse(tmp_path / "stray.txt")


def test_files_are_not_read_again_while_a_set_lives(mixed_folder, monkeypatch):
    reads = []
    real = survey.read_bounded
    monkeypatch.setattr(survey, "read_bounded", lambda path, *rest: reads.append(path) or real(path, *rest))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = LevelSet.parse(mixed_folder)
        assert len(reads) == 6
        second = LevelSet.parse(mixed_folder)
        assert (len(reads), second.names()) == (6, first.names())
        (mixed_folder / "stray.txt").write_bytes(write_map(small_level(extra=[(2, 9, 9, 0, 0)])))
        third = LevelSet.parse(mixed_folder)
        assert (len(reads), len(third)) == (12, 4)
        del first, second, third
        LevelSet.parse(mixed_folder)
        assert len(reads) == 18
