"""The teacher: from how many states beside winning runs it has an answer, whether answers win, and how fast it is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measuring import measure_speed
from npp_env import NppEnv, NppVectorEnv
from npp_env.learning.teacher import NO_ANSWER, Teacher, TeacherConfig
from npp_env.level.shipped import shipped_level_names
from npp_env.observe.state_row import STATE_ROW
from npp_env.sim.outcome import Outcome

TARGET_WINS, TARGET_FRESH, TARGET_CACHED = 0.9, 100, 100_000
STATE_LAYOUT = {"layout": "state"}
BURST_CHANCE, LONGEST_BURST = 0.1, 6
MOST_STEPS = 2000


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured of each group."""

    runs_per_level: int
    steps: int
    sample_every: int
    followed: int


def rows_of_all(envs: NppVectorEnv, levels: int, seed: int) -> NDArray[np.uint8]:
    """The states of environments that begin with the levels in turn."""
    rows, _ = envs.reset(seed=seed)
    for level in range(levels):
        chosen = np.arange(envs.num_envs) % levels == level
        rows, _ = envs.reset(options={"reset_mask": chosen, "level": level})
    return rows


def perturbed_rows(levels: str, teacher: Teacher, size: Size, seed: int) -> NDArray[np.uint8]:
    """States along runs that follow the teacher, with bursts of chance; dead ends among them, ended episodes not."""
    rng = np.random.default_rng(seed)
    count = size.runs_per_level * len(teacher.levels)
    envs = NppVectorEnv(count, levels=levels, observation=STATE_LAYOUT, max_episode_frames=None)
    rows = rows_of_all(envs, len(teacher.levels), seed)
    found = []
    burst, over = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    for step in range(size.steps):
        begins = (burst == 0) & (rng.random(count) < BURST_CHANCE)
        burst = np.where(begins, rng.integers(1, LONGEST_BURST, count), np.maximum(burst - 1, 0))
        if step % size.sample_every == size.sample_every - 1:
            found.append(rows[~over])
        answers = teacher.act_batch(rows)
        chance = rng.integers(0, 6, count)
        rows, _, over, _, _ = envs.step(np.where((burst > 0) | (answers == NO_ANSWER), chance, answers))
    envs.close()
    return np.concatenate(found)


def follow(env: NppEnv, teacher: Teacher, row: NDArray[np.uint8]) -> bool:
    """Whether whoever does what the teacher says wins from a state."""
    env.reset(seed=0, options={"level": int(row[: STATE_ROW.itemsize].view(STATE_ROW)["level_index"][0])})
    env.set_state(row)
    for _ in range(MOST_STEPS):
        action = teacher.act(row)
        if action == NO_ANSWER:
            return False
        row, _, terminated, _, info = env.step(action)
        if terminated:
            return bool(info["outcome"] == Outcome.WON)
    return False


def measure_group(group: str, size: Size, config: TeacherConfig) -> list[Any]:
    """One row of the table."""
    levels = f"shipped:{group}"
    rows = perturbed_rows(levels, Teacher(levels, config), size, 1)
    teacher = Teacher(levels, config)
    # The first way through each level is looked for, or loaded, before the clock runs.
    begin = NppVectorEnv(len(teacher.levels), levels=levels, observation=STATE_LAYOUT)
    teacher.act_batch(rows_of_all(begin, len(teacher.levels), 0))
    begin.close()
    cpu = time.process_time()
    answers = teacher.act_batch(rows)
    fresh = len(rows) / max(time.process_time() - cpu, 1e-3)
    many = np.tile(rows, (max(1, 20_000 // len(rows)), 1))
    cached = measure_speed(lambda: teacher.act_batch(many), len(many), 0.1).per_cpu_second
    answered = rows[answers != NO_ANSWER]
    chosen = answered[np.linspace(0, len(answered) - 1, min(size.followed, len(answered))).astype(int)]
    env = NppEnv(levels=levels, observation=STATE_LAYOUT, max_episode_frames=None)
    won = sum(follow(env, teacher, row) for row in chosen)
    env.close()
    return [group, len(rows), len(answered) / len(rows), won, len(chosen), round(fresh), round(cached)]


def run(quick: bool) -> dict[str, Any]:
    """Measure all groups, or two."""
    groups = sorted({name.split("/")[0] for name in shipped_level_names()})
    size = Size(2, 24, 8, 6) if quick else Size(3, 64, 8, 12)
    found = [measure_group(group, size, TeacherConfig()) for group in (groups[:2] if quick else groups)]
    asked, followed, won = (sum(row[k] for row in found) for k in (1, 4, 3))
    answered = sum(row[1] * row[2] for row in found) / asked
    fresh = asked / sum(row[1] / row[5] for row in found)
    rows = [[group, n, f"{share:.1%}", f"{won} of {of}", new, old] for group, n, share, won, of, new, old in found]
    return {
        "title": "Teacher: states along winning runs with bursts of chance, decisions of 4 ticks",
        "header": ["group", "states", "answered", "won by following", "fresh labels/CPU-s", "cached labels/CPU-s"],
        "rows": rows,
        "notes": [
            f"Answers for {answered:.1%} of {asked:,} states; following them wins from {won} of {followed} "
            f"({won / max(followed, 1):.1%}; target {TARGET_WINS:.0%}).",
            f"{fresh:,.0f} fresh labels per CPU-second over all groups (target {TARGET_FRESH}), cached ones at least "
            f"{min(row[6] for row in found):,} (target {TARGET_CACHED:,}).",
            f"A burst begins at {BURST_CHANCE:.0%} of the steps and lasts up to {LONGEST_BURST - 1}; "
            "states from which nothing wins any more are among those asked.",
        ],
    }
