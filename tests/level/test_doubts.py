"""What is told of entities that are not simulated or unverified."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import npp_env
from npp_env import LevelWarning, NppEnv, NppVectorEnv
from npp_env.level import EntityKind, doubts, save_level, validation
from npp_env.level.doubts import DOUBTFUL, NOT_SIMULATED, UNVERIFIED, describe_doubts, doubtful_types, type_bits
from npp_env.level.entity_kinds import ENTITY_TABLE
from npp_env.level.evidence import Evidence
from npp_env.level.shipped import load_shipped, shipped_level_names

from .packs import crowded_blocks, pack_line
from .samples import small_level

FIDELITY = Path(__file__).parent.parent.parent / "docs" / "fidelity.md"
PLAIN = {"observation": {"keys": ["game_state"]}, "reward": {"shaping_weight": 0.0}}
LATE = (12, 13, 15, 18, 19, 22)
"""Of these no recording of the real game decides anything (physics 6.15)."""


def level_with(*kinds: int):
    return small_level(extra=[(kind, 40 + k, 40, 0, 0) for k, kind in enumerate(kinds)])


def test_the_table_and_the_documentation_agree():
    rows = re.findall(r"^\| (\d+) \| ([a-z0-9-]+) \| ([a-z ]+) \|", FIDELITY.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(str(kind.value), kind.label, kind.row.evidence.value) for kind in EntityKind]


def test_nothing_is_claimed_that_the_specification_does_not_say():
    for kind, row in ENTITY_TABLE.items():
        assert row.evidence.verified == (kind not in LATE and kind != 27)
    assert {ENTITY_TABLE[EntityKind(kind)].evidence for kind in LATE} == {Evidence.ONE_SOURCE}
    assert ENTITY_TABLE[EntityKind.UNUSED_27].evidence is Evidence.NOTHING
    assert doubtful_types((1 << 256) - 1) == sorted((*LATE, 27, *range(29, 256)))
    assert NOT_SIMULATED & UNVERIFIED == 0


def test_bits_of_types():
    assert type_bits(np.array([0, 255, 3, 3], np.uint8)) == 1 | 1 << 3 | 1 << 255
    assert type_bits(np.array([], np.uint8)) == 0
    assert doubtful_types(0b1111) == []


@pytest.fixture
def rockets_fly(monkeypatch):
    """The world after a rocket turret got its rules, whatever the table says today."""
    bit = 1 << 18
    for module in (doubts, validation):
        monkeypatch.setattr(module, "NOT_SIMULATED", NOT_SIMULATED & ~bit)
    monkeypatch.setattr(doubts, "UNVERIFIED", UNVERIFIED | bit)


@pytest.fixture
def rockets_rest(monkeypatch):
    bit = 1 << 18
    for module in (doubts, validation):
        monkeypatch.setattr(module, "NOT_SIMULATED", NOT_SIMULATED | bit)
    monkeypatch.setattr(doubts, "UNVERIFIED", UNVERIFIED & ~bit)


def test_a_kind_that_gets_rules_becomes_unverified(rockets_fly):
    (warning,) = level_with(18, 2, 18).warnings
    place = "the first is record 3 (offset 1245)"
    assert warning == f"rocket-turret is unverified: 2 follow rules that rest on one source, {place}"
    assert describe_doubts([type_bits(level_with(18).records[:, 0])]) == (
        "the level holds entities whose rules no recording of the game bears out (rocket-turret)"
    )


def test_a_kind_without_rules_is_not_simulated(rockets_rest):
    (warning,) = level_with(18, 2, 18).warnings
    assert warning.startswith("rocket-turret is not simulated: 2 kept without effect, the first is record 3")


def test_a_set_is_summed_up(rockets_fly):
    sets = [type_bits(level_with(*kinds).records[:, 0]) for kinds in ((2,), (27, 77), (18,), (18, 27))]
    assert describe_doubts(sets) == (
        "3 of 4 levels hold entities that are not simulated (unused-27, entity 77), and entities whose rules no "
        "recording of the game bears out (rocket-turret)"
    )
    assert describe_doubts(sets[:1]) == ""
    assert len(describe_doubts([(1 << 256) - 1] * 1000)) < 400


MAKERS = (
    lambda levels: NppEnv(levels=levels, **PLAIN),
    lambda levels: NppVectorEnv(3, levels=levels, **PLAIN),
    lambda levels: gym.make("npp_env:Npp-v0", levels=levels, **PLAIN),
    lambda levels: gym.make_vec("npp_env:Npp-v0", num_envs=3, levels=levels, **PLAIN),
)


@pytest.mark.parametrize("make", MAKERS)
def test_environments_warn_once(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        env = make([level_with(2), level_with(27), level_with(27, 99)])
        for seed in range(8):
            env.reset(seed=seed)
    (warning,) = [one for one in caught if one.category is LevelWarning]
    assert str(warning.message) == (
        "2 of 3 levels hold entities that are not simulated (unused-27, entity 99); docs/fidelity.md says what each "
        "rests on, warnings.filterwarnings('ignore', category=npp_env.LevelWarning) silences this"
    )
    env.close()


@pytest.mark.parametrize("make", MAKERS)
def test_environments_are_silent_where_there_is_nothing_to_tell_or_nobody_listens(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error", LevelWarning)
        make([level_with(2)]).close()
        warnings.filterwarnings("ignore", category=npp_env.LevelWarning)
        make([level_with(77)]).close()


def test_levels_that_come_later_are_told_of_when_they_come():
    env = NppEnv(levels=lambda seed: level_with(2), **PLAIN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(seed=0)
    with pytest.warns(LevelWarning, match=r"the level holds entities that are not simulated \(entity 88\)"):
        env.reset(options={"level": level_with(88)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.reset(options={"level": level_with(88, 88)})


def test_files_and_packs_are_told_of_too(tmp_path):
    save_level(level_with(27), tmp_path / "a.txt")
    (tmp_path / "pack").write_bytes(pack_line("crowd", crowded_blocks()))
    for levels in (str(tmp_path), f"pack:{tmp_path / 'pack'}", str(tmp_path / "a.txt")):
        with pytest.warns(LevelWarning, match="unused-27"):
            NppEnv(levels=levels, **PLAIN)


def test_shipped_levels_hold_nothing_that_is_not_simulated():
    for name in shipped_level_names():
        bits = type_bits(load_shipped(name).records[:, 0])
        assert not bits & NOT_SIMULATED
        assert bool(bits & DOUBTFUL) == any("is unverified" in line for line in load_shipped(name).warnings)


def test_a_category_of_its_own():
    assert issubclass(LevelWarning, UserWarning)
    assert npp_env.LevelWarning is LevelWarning
