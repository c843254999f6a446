from __future__ import annotations

import pickle

import numpy as np
import pytest

from level.samples import small_level
from npp_env.config import EnvironmentConfig
from npp_env.errors import LevelError
from npp_env.level import Level, save_level
from npp_env.level import level_set as module
from npp_env.level.doubts import type_bits
from npp_env.level.generate import generate
from npp_env.level.level_set import LevelSet, register_scheme
from npp_env.level.mirror import mirror_level
from npp_env.level.shipped import load_shipped, shipped_level_names


def level_with_gold(count: int) -> Level:
    return small_level(extra=[(2, 10 + k, 20, 0, 0) for k in range(count)], name=f"gold {count}")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "b").mkdir()
    for k, name in enumerate(("c.txt", "a.nppmap", "b/x.txt")):
        save_level(level_with_gold(k), tmp_path / name)
    (tmp_path / "README.md").write_text("not a level")
    return tmp_path


def test_none_and_shipped_name_all_shipped_levels():
    for source in (None, "shipped", "shipped:"):
        assert LevelSet.parse(source).names() == shipped_level_names()
    group = LevelSet.parse("shipped:first_steps")
    assert group.names() == [name for name in shipped_level_names() if name.startswith("first_steps/")]
    assert LevelSet.parse("shipped:first_steps/walk")[0] == LevelSet.parse("first_steps/walk")[0]


def test_verified_levels_are_those_that_nobody_has_to_be_warned_of():
    verified = LevelSet.parse("shipped:verified")
    unverified = {name for name in shipped_level_names() if load_shipped(name).warnings}
    assert verified.names() == [name for name in shipped_level_names() if name not in unverified]
    assert len(verified) == 75
    assert {name.split("/")[0] for name in unverified} == {
        "chaingun_drones", "chasers", "evil_ninjas", "gauss", "laser_drones", "rockets",
    }  # fmt: skip
    assert LevelSet.parse(EnvironmentConfig().levels).names() == verified.names()


@pytest.mark.parametrize("source", ["shipped:verified", "shipped", "shipped:rockets/hive"])
def test_what_is_known_of_shipped_levels_is_what_they_hold(source):
    levels = LevelSet.parse(source)
    assert levels.types() == tuple(type_bits(level.records[:, 0]) for level in levels)
    assert levels.types() == LevelSet(list(levels)).types()
    assert np.array_equal(levels.record_counts(), LevelSet(list(levels)).record_counts())


def test_folders_and_globs_have_a_stable_order(folder):
    names = [path[len(folder.as_posix()) + 1 :] for path in LevelSet.parse(folder).names()]
    assert names == ["a.nppmap", "b/x.txt", "c.txt"]
    assert len(LevelSet.parse(f"{folder}/*.txt")) == 1
    assert len(LevelSet.parse(f"{folder}/**/*.txt")) == 2
    assert LevelSet.parse(folder / "c.txt")[0].name == "gold 0"


def test_lists_join_what_they_name(folder):
    levels = LevelSet.parse([str(folder), "shipped:first_steps/walk", level_with_gold(5)])
    assert len(levels) == 5
    assert levels[-1].name == "gold 5"
    assert [level.name for level in levels][:3] == ["gold 1", "gold 2", "gold 0"]
    assert LevelSet.parse(levels) is levels
    assert levels[1:3] == [levels[1], levels[2]]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("shipped:nonsense", "the groups are .*first_steps"),
        ("no/such/file.txt", "no such file"),
        ("no/such/*.txt", "fits no file"),
        ([], "empty list"),
        (7, "names no levels"),
        ("nonsense:1", "none of the schemes shipped"),
    ],
)
def test_mistakes_are_explained(source, complaint):
    with pytest.raises(LevelError, match=complaint):
        LevelSet.parse(source)


def test_an_empty_folder_is_a_mistake(tmp_path):
    with pytest.raises(LevelError, match="no level files"):
        LevelSet.parse(tmp_path)


def test_naming_levels_does_not_load_them(tmp_path, monkeypatch):
    loads = []
    monkeypatch.setattr(module, "load_level", lambda path: loads.append(path) or level_with_gold(1))
    levels = LevelSet([tmp_path / f"{k:04}.txt" for k in range(300)], capacity=10)
    assert (len(levels), len(levels.names()), loads) == (300, 300, [])
    for k in range(20):
        levels[k % 10]
    assert len(loads) == 10
    levels[10]
    levels[0]
    assert len(loads) == 12
    assert len(levels._loaded) == 10


def test_functions_make_endless_sets():
    levels = LevelSet.parse(lambda seed: level_with_gold(seed % 7))
    assert not levels.is_finite
    assert levels[2**31 - 2].name == f"gold {(2**31 - 2) % 7}"
    assert levels[3] is levels[3]
    assert len(levels._loaded) <= module.DEFAULT_CAPACITY
    with pytest.raises(LevelError, match="no end"):
        len(levels)
    with pytest.raises(LevelError, match="no end"):
        list(levels)
    with pytest.raises(IndexError):
        levels[-1]
    with pytest.raises(LevelError, match="not a Level"):
        LevelSet.parse(lambda seed: np.zeros(3))[0]
    with pytest.raises(LevelError, match="one of several"):
        LevelSet.parse([levels, "shipped"])


def test_schemes_can_be_registered(monkeypatch):
    monkeypatch.setattr(module, "_schemes", {})
    register_scheme("golden", lambda rest: LevelSet([level_with_gold(int(rest))]))
    register_scheme("endless", lambda rest: lambda seed: level_with_gold(seed))
    assert LevelSet.parse("golden:4")[0].name == "gold 4"
    assert LevelSet.parse(["golden:4", "golden:5"])[1].name == "gold 5"
    assert LevelSet.parse("endless:")[6].name == "gold 6"
    for name in ("shipped", "c", "two words"):
        with pytest.raises(LevelError, match="scheme"):
            register_scheme(name, lambda rest: LevelSet([]))


def test_sets_pickle_without_their_levels(folder):
    levels = LevelSet.parse(folder)
    assert levels[0] in levels
    copy = pickle.loads(pickle.dumps(levels))
    assert (copy.names(), len(copy._loaded)) == (levels.names(), 0)
    assert copy[0] == levels[0]


@pytest.mark.parametrize("index", [3, -4])
def test_indices_are_checked(folder, index):
    with pytest.raises(IndexError, match="of 3"):
        LevelSet.parse(folder)[index]


def test_mirrored_sets():
    levels = LevelSet.parse("mirrored:shipped:first_steps")
    plain = LevelSet.parse("shipped:first_steps")
    assert levels.names() == [f"mirrored:{name}" for name in plain.names()]
    assert [level.hash for level in levels] == [mirror_level(level).hash for level in plain]
    both = LevelSet.parse(["shipped:first_steps", "mirrored:shipped:first_steps"])
    assert len(both) == 12
    stream = LevelSet.parse("mirrored:generated:mazes?seeds=3-6")
    assert len(stream) == 4
    assert stream[1] == mirror_level(generate("mazes", seed=4))
    assert not LevelSet.parse("mirrored:generated:mazes").is_finite
    for text, complaint in (("mirrored:", "of which levels"), ("mirrored:shipped:nothing", "nothing")):
        with pytest.raises(LevelError, match=complaint):
            LevelSet.parse(text)
