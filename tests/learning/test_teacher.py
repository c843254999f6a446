from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env import NppEnv, NppVectorEnv
from npp_env.errors import ConfigError, NppError, StateError
from npp_env.learning.teacher import NO_ANSWER, AnswerTable, Teacher, TeacherConfig
from npp_env.level import Level, read_text
from npp_env.sim.outcome import Outcome

QUICK = TeacherConfig(solve_ticks=4_000_000, ticks_per_state=100_000, cached_states=1 << 16)
GROUPS = ("first_steps", "doors", "mines")


def rows_env(levels: object, **more: object) -> NppEnv:
    return NppEnv(levels=levels, observation={"layout": "state"}, max_episode_frames=None, **more)


def perturbed_rows(levels: str, teacher: Teacher, seed: int, count: int = 12, steps: int = 40) -> np.ndarray:
    """Rows along runs that follow the teacher, with bursts of chance."""
    rng = np.random.default_rng(seed)
    envs = NppVectorEnv(count, levels=levels, observation={"layout": "state"}, max_episode_frames=None)
    rows, _ = envs.reset(seed=seed)
    found = []
    burst = np.zeros(count, int)
    for step in range(steps):
        burst = np.where((burst == 0) & (rng.random(count) < 0.1), rng.integers(1, 6, count), np.maximum(burst - 1, 0))
        answers = teacher.act_batch(rows)
        if step % 8 == 7:
            found.append(rows[answers != NO_ANSWER])
        rows = envs.step(np.where((burst > 0) | (answers < 0), rng.integers(0, 6, count), answers))[0]
    return np.concatenate(found)


def follow(env: NppEnv, teacher: Teacher, row: np.ndarray) -> Outcome:
    env.reset(seed=0, options={"level": int(row[4:8].view("<i4")[0])})
    env.set_state(row)
    info = {"outcome": 0}
    for _ in range(2000):
        action = teacher.act(row)
        if action == NO_ANSWER:
            break
        row, _, terminated, _, info = env.step(action)
        if terminated:
            break
    return Outcome(info["outcome"])


@pytest.mark.parametrize("group", GROUPS)
def test_whoever_follows_its_answers_wins(group):
    levels = f"shipped:{group}"
    teacher = Teacher(levels, QUICK)
    rows = perturbed_rows(levels, teacher, 3)
    assert len(rows) >= 30
    env = rows_env(levels)
    outcomes = [follow(env, teacher, row) for row in rows[:: max(1, len(rows) // 15)]]
    assert outcomes.count(Outcome.WON) == len(outcomes)
    assert teacher.statistics.found > 0
    assert teacher.statistics.known > 0


def test_it_wins_where_evil_ninjas_follow():
    """There the same place at another time is another state."""
    tiles = np.ones((23, 42), np.uint8)
    tiles[9:12, 1:25] = 0
    records = [(0, 10, 50), (3, 90, 50), (4, 70, 50), (22, 20, 50), (22, 60, 50)]
    level = Level.from_parts(tiles, np.array([(*record, 0, 0) for record in records]))
    teacher = Teacher([level], QUICK)
    env = rows_env([level])
    row, _ = env.reset(seed=0)
    for _ in range(6):
        row = env.step(2)[0]
    assert follow(env, teacher, row) is Outcome.WON


def test_the_same_questions_get_the_same_answers_on_any_number_of_threads():
    levels = "shipped:first_steps"
    rows = perturbed_rows(levels, Teacher(levels, QUICK), 5)
    configs = (QUICK, QUICK, TeacherConfig(solve_ticks=4_000_000, ticks_per_state=100_000, threads=3))
    first, again, threaded = (Teacher(levels, config).act_batch(rows).tolist() for config in configs)
    assert first == again == threaded


def test_it_tells_how_long_its_way_through_a_level_is():
    levels = ["shipped:first_steps/walk", "shipped:first_steps/jump"]
    teacher = Teacher(levels, QUICK)
    envs = NppVectorEnv(4, levels=levels, observation={"layout": "state"})
    rows = envs.reset(seed=0, options={"level": [1, 0, 1, 1]})[0]
    steps = teacher.way_steps(rows)
    played = {}
    env = rows_env(levels)
    for number in (0, 1):
        row, _ = env.reset(seed=0, options={"level": number})
        played[number], done = 0, False
        while not done:
            row, _, done, _, _ = env.step(teacher.act(row))
            played[number] += 1
    assert steps.tolist() == [played[1], played[0], played[1], played[1]]
    assert teacher.way_steps(rows[:0]).tolist() == []
    assert teacher.act_batch(rows[:0]).tolist() == []


def test_a_first_way_is_looked_for_once(monkeypatch):
    from npp_env.learning import teacher as module

    hopeless = read_text(PIT.format(rows="\n".join(["#" * 42] * 23)))
    env = rows_env(["generated:corridors?seeds=0-3", hopeless])
    rows = [env.reset(seed=0, options={"level": number})[0] for number in range(5)]
    asked, look = [], module._first_way
    monkeypatch.setattr(module, "_first_way", lambda level, config: asked.append(level.name) or look(level, config))
    monkeypatch.setattr(module, "_MOST_LEVELS", 2)
    teacher = Teacher(["generated:corridors?seeds=0-3", hopeless], QUICK)
    ways = [int(teacher.way_steps(row[None])[0]) for row in rows]
    assert min(ways[:4]) > 10
    assert ways[4] == 0
    again = Teacher(["generated:corridors?seeds=0-3", hopeless], QUICK)
    again.restore(again.arrays())  # a run may be killed before anyone was asked
    again.restore({name: array.copy() for name, array in teacher.arrays().items()})
    for known in (teacher, again):
        assert [int(known.way_steps(row[None])[0]) for row in rows] == ways
        env.reset(seed=0, options={"level": 0})
        assert follow(env, known, rows[0]) is Outcome.WON
    assert len(asked) == 5
    monkeypatch.setattr(module, "_MOST_WAYS", 2)
    forgetful = Teacher(["generated:corridors?seeds=0-3", hopeless], QUICK)
    for row in (*rows[:4], rows[0]):
        forgetful.way_steps(row[None])
    assert len(asked) == 10


def test_answers_go_to_the_callers_array():
    teacher, env = Teacher("shipped:first_steps/walk", QUICK), rows_env("shipped:first_steps/walk")
    rows = np.stack([env.reset(seed=0)[0]] * 3)
    out = np.full(3, 77)
    assert teacher.act_batch(rows, out) is out
    assert set(out.tolist()) <= set(range(6))
    assert len(set(out.tolist())) == 1
    # Asked again, nothing is simulated.
    ticks = teacher.statistics.ticks
    assert teacher.act_batch(rows).tolist() == out.tolist()
    assert teacher.statistics.ticks == ticks


PIT = """npp-level 1
name: pit
tiles:
{rows}
entities:
ninja 14 42
exit 90 42
exit-switch 80 42
"""


def pit() -> Level:
    """A corridor over a pit that nobody comes out of: its walls are mined."""
    rows = ["#" * 42] * 23
    rows[9] = "#" + "." * 24 + "#" * 17
    for row in range(10, 20):
        rows[row] = "#" * 8 + "......" + "#" * 28
    mines = "\n".join(f"mine {x} {y}" for x in (37, 59) for y in range(54, 76, 2))
    return read_text(PIT.format(rows="\n".join(rows)) + mines + "\n")


def test_there_is_no_answer_where_there_is_no_way():
    level = pit()
    teacher, env = Teacher([level], QUICK), rows_env([level])
    row, _ = env.reset(seed=0)
    assert teacher.act(row) != NO_ANSWER
    for _ in range(50):
        row, _, over, _, _ = env.step(2 if row[40:48].view("<f8")[0] < 175 else 0)
    assert not over
    assert row[48:56].view("<f8")[0] > 400
    assert teacher.act(row) == NO_ANSWER
    # Not finding anything is remembered as well.
    ticks = teacher.statistics.ticks
    assert teacher.act(row) == NO_ANSWER
    assert teacher.statistics.ticks == ticks
    assert teacher.statistics.unanswered == 1


def test_states_near_a_hopeless_one_get_less_time():
    level = pit()
    teacher, env = Teacher([level], QUICK), rows_env([level])
    row, _ = env.reset(seed=0)
    for _ in range(50):
        row = env.step(2 if row[40:48].view("<f8")[0] < 175 else 0)[0]
    spent = []
    for action in (1, 2, 1, 2, 1, 2):
        before = teacher.statistics.ticks
        assert teacher.act(row) == NO_ANSWER
        spent.append(teacher.statistics.ticks - before)
        row = env.step(action)[0]
    assert spent[-1] < spent[0] / 4


def test_ended_episodes_have_no_answer():
    teacher, env = Teacher("shipped:first_steps/walk", QUICK), rows_env("shipped:first_steps/walk")
    row, _ = env.reset(seed=0)
    over = False
    while not over:
        row, _, over, _, _ = env.step(teacher.act(row))
    assert teacher.act(row) == NO_ANSWER


def test_a_level_that_cannot_be_won_has_no_answer():
    level = read_text(PIT.format(rows="\n".join(["#" * 42] * 23)))
    teacher, env = Teacher([level], QUICK), rows_env([level])
    assert teacher.act(env.reset(seed=0)[0]) == NO_ANSWER


def test_rubbish_is_refused():
    teacher, env = Teacher("shipped:first_steps", QUICK), rows_env("shipped:first_steps")
    row, _ = env.reset(seed=0)
    for rows in (row, row[None].astype(np.int64), row[None, :30]):
        with pytest.raises(NppError, match="states are"):
            teacher.act_batch(rows)
    for out in (np.zeros(2, np.int64), np.zeros(1, np.int32)):
        with pytest.raises(NppError, match="out is"):
            teacher.act_batch(row[None], out)
    for offset, value, complaint in ((0, 9, "version"), (4, 99, "not in the teacher's set"), (17, 1, "another level")):
        bad = row.copy()
        bad[offset] ^= value
        with pytest.raises(StateError, match=complaint):
            teacher.act_batch(bad[None])
    damaged = row.copy()
    damaged[40:48].view("<f8")[:] = np.nan
    with pytest.raises(StateError, match="damaged"):
        teacher.act_batch(damaged[None])


@pytest.mark.parametrize(
    "wrong",
    [{"frame_skip": 0}, {"cached_states": 1000}, {"threads": 0}, {"ticks_per_state": -1}, {"branches_per_level": 0}],
)
def test_a_configuration_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        TeacherConfig(**wrong)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 5)), max_size=30), max_size=6))
def test_the_table_keeps_the_last_answer_of_every_key_that_it_has(rounds):
    table = AnswerTable(1 << 10)
    wanted: dict[int, int] = {}
    for pairs in rounds:
        wanted.update(pairs)
        keys = np.array([key for key, _ in pairs], np.uint64)
        table.put(keys, np.array([action for _, action in pairs], np.int8))
    keys = np.array(list(wanted), np.uint64)
    got = table.get(keys)
    known = got != NO_ANSWER
    assert [wanted[int(key)] for key in keys[known]] == got[known].tolist()
    # Four keys have room where their lowest bits lead them.
    places = np.unique(keys & np.uint64(255), return_counts=True)[1]
    assert known.sum() >= np.minimum(places, 4).sum()
    assert table.get(keys + np.uint64(1))[~np.isin(keys + np.uint64(1), keys)].max(initial=-1) == NO_ANSWER


def test_the_table_has_nearly_all_of_some_hundred_keys_in_a_thousand_places():
    table = AnswerTable(1 << 10)
    keys = np.random.default_rng(0).integers(0, 2**64, 250, np.uint64)
    table.put(keys, np.zeros(250, np.int8))
    assert (table.get(keys) == 0).mean() >= 0.97


def test_a_teacher_that_is_restored_answers_as_the_first_goes_on_to():
    levels = "shipped:doors"
    first = Teacher(levels, QUICK)
    rows = perturbed_rows(levels, first, 8)
    first.act_batch(rows[:20])
    second = Teacher(levels, QUICK)
    second.restore({name: array.copy() for name, array in first.arrays().items()})
    before = second.statistics.ticks
    assert second.act_batch(rows[:20]).tolist() == first.act_batch(rows[:20]).tolist()
    assert second.statistics.ticks == before
    more = perturbed_rows(levels, Teacher(levels, QUICK), 9)
    assert second.act_batch(more).tolist() == first.act_batch(more).tolist()
    third = Teacher("shipped:first_steps/walk", QUICK)
    with pytest.raises(StateError, match="not what a teacher"):
        third.restore(first.arrays())


def test_what_it_remembers_is_bounded():
    config = TeacherConfig(solve_ticks=2_000_000, ticks_per_state=20_000, cached_states=256, branches_per_level=2)
    levels = "shipped:first_steps"
    teacher = Teacher(levels, config)
    perturbed_rows(levels, teacher, 1, steps=30)
    size = teacher.nbytes
    perturbed_rows(levels, teacher, 2, steps=30)
    assert teacher.nbytes < 2 * size
    assert teacher.nbytes < 256 * 9 + 6 * 2 * 2 * 300 * 40
