"""Play a policy on every level of a set, many episodes in one vector environment, and measure what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from npp_env.evaluation.options import EvaluationOptions
from npp_env.evaluation.policy import Policy, checked_actions
from npp_env.evaluation.record_episodes import rank_of
from npp_env.evaluation.scores import EPISODE, Evaluation, EvaluationError, LevelInfo
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.level_set import LevelSet
from npp_env.recording import Recording
from npp_env.vector import NppVectorEnv

__all__ = ["EvaluationOptions", "KeptEpisodes", "evaluate"]

_IDLE = 0


@dataclass(slots=True)
class KeptEpisodes:
    """The best and the worst episode of a level, as recordings."""

    best: Recording | None = None
    worst: Recording | None = None
    _best_rank: tuple[bool, float] = (False, 0.0)
    _worst_rank: tuple[bool, float] = (False, 0.0)

    def offer(self, recording: Recording, episode_return: float) -> None:
        """Keep an episode that is better or worse than all before."""
        rank = rank_of(recording, episode_return)
        if self.best is None or rank > self._best_rank:
            self.best, self._best_rank = recording, rank
        if self.worst is None or rank < self._worst_rank:
            self.worst, self._worst_rank = recording, rank

    def by_name(self) -> dict[str, Recording]:
        """What was kept, as `best` and `worst`; only `best` where both are the same."""
        kept = {} if self.best is None else {"best": self.best}
        return kept if self.worst is None or self.worst == self.best else {**kept, "worst": self.worst}


class _Schedule:
    """Which episode each environment plays; the sampling of the vector environment."""

    def __init__(self, num_levels: int, episodes: int, num_envs: int) -> None:
        self._num_levels = num_levels
        self._count = num_levels * episodes
        self._next = 0
        self.present = np.full(num_envs, -1)

    def choose(self, environment: int, key: int, episode: int, count: int) -> int:
        """Give the environment the next episode; without one it plays on, and nobody looks."""
        job = self._next if self._next < self._count else -1
        self._next += 1
        self.present[environment] = job
        return job % self._num_levels if job >= 0 else 0


def evaluate(
    policy: Policy,
    levels: Any,
    options: EvaluationOptions | None = None,
    *,
    name: str = "policy",
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Evaluation, list[KeptEpisodes]]:
    """Play a policy on every level.

    The same policy, levels and options give the same result, to the last bit.

    Args:
        policy: Who plays; its configuration says what it sees and what its return is made of.
        levels: A finite set of levels, as environments take it.
        options: How much is played.
        name: What to call the policy.
        progress: Called with the episodes that are done, and with how many there are.

    Returns:
        What was measured, and for each level its best and worst episode (empty without `options.record`).

    Raises:
        EvaluationError: The set has no end.
        PolicyError: The policy gives something else than actions.

    Example:
        >>> from npp_env.evaluation.baselines import baseline_policy
        >>> options = EvaluationOptions(episodes=5)
        >>> result, kept = evaluate(baseline_policy("path"), "shipped:first_steps/walk", options)
        >>> result.total.won, kept[0].best.outcome
        (5, 'won')
    """
    options = options or EvaluationOptions()
    level_set = LevelSet.parse(levels)
    if not level_set.is_finite:
        raise EvaluationError("this set of levels has no end; evaluate a finite one, such as shipped:first_steps")
    each = 1 if policy.deterministic and not options.idle_steps else options.episodes
    run = _Run(policy, level_set, options, each)
    while run.done < run.total:
        run.step()
        if progress is not None:
            progress(run.done, run.total)
    settings = {
        "episodes_per_level": each,
        "seed": options.seed,
        "idle_steps": options.idle_steps,
        "deterministic": policy.deterministic,
        "num_envs": run.env.num_envs,
        "config": {key: value for key, value in policy.config.to_dict().items() if key != "levels"},
    }
    infos = tuple(_info(level_set, number) for number in range(len(level_set)))
    order = np.lexsort((run.rows["number"], run.rows["level"]))
    return Evaluation(name, infos, run.rows[order], settings), run.kept


def _info(levels: LevelSet, number: int) -> LevelInfo:
    level, name = levels[number], levels.name_of(number)
    group = level.metadata.get("group") or name.rpartition("/")[0].rpartition("/")[2]
    gold = int((level.records[:, 0] == EntityKind.GOLD).sum())
    return LevelInfo(name, str(group), level.hash, gold)


class _Run:
    """An evaluation under way."""

    def __init__(self, policy: Policy, levels: LevelSet, options: EvaluationOptions, each: int) -> None:
        self.total = len(levels) * each
        self.done = 0
        self.rows: NDArray[Any] = np.zeros(self.total, EPISODE)
        self.kept = [KeptEpisodes() for _ in range(len(levels))] if options.record else []
        num_envs = min(options.num_envs, self.total)
        self._policy, self._options, self._levels = policy, options, len(levels)
        self._schedule = _Schedule(len(levels), each, num_envs)
        # An episode without a limit might never end.
        limit = policy.config.max_episode_frames or "auto"
        self.env = NppVectorEnv(
            num_envs,
            policy.config.with_overrides({"copy": False, "max_episode_frames": limit}),
            levels=levels,
            autoreset_mode=AutoresetMode.SAME_STEP,
            num_threads=options.threads,
            sampling=self._schedule,
        )
        if options.record:
            self.env.start_recording()
        if hasattr(policy, "use_levels"):
            policy.use_levels(levels, self.env.single_observation_space)
        policy.begin(num_envs, options.seed)
        self._observations, _ = self.env.reset(seed=options.seed % 2**32)
        self._idle = np.array([self._idle_steps(job) for job in self._schedule.present.tolist()])

    def _idle_steps(self, job: int) -> int:
        most = self._options.idle_steps
        return int(np.random.default_rng([self._options.seed, job]).integers(most + 1)) if most and job >= 0 else 0

    def step(self) -> None:
        """One step of all environments."""
        env = self.env
        masks = env.action_masks().view(np.uint8)
        actions = checked_actions(self._policy.act(self._observations, masks), env.num_envs)
        actions = np.where(self._idle > 0, _IDLE, actions)
        self._idle -= self._idle > 0
        played = self._schedule.present.copy()
        self._observations, _, terminated, truncated, info = env.step(actions)
        ended = terminated | truncated
        if not ended.any():
            return
        final = info["final_info"]
        for i in np.flatnonzero(ended).tolist():
            self._idle[i] = self._idle_steps(int(self._schedule.present[i]))
            if played[i] >= 0:
                self._note(i, int(played[i]), final)
        self._policy.restart(ended)

    def _note(self, i: int, job: int, final: dict[str, Any]) -> None:
        number, level = divmod(job, self._levels)
        total = float(final["episode_return"][i])
        self.rows[job] = (level, number, final["outcome"][i], final["frame"][i], final["gold"][i], total)
        self.done += 1
        if self.kept:
            self.kept[level].offer(self.env.final_recording(i), total)
