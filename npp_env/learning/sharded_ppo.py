"""PPO whose rollouts are played in shards, here or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.learning.model_file import part_of
from npp_env.learning.ppo import PPO
from npp_env.learning.settings import TrainSettings
from npp_env.learning.shards import (
    EPISODE_KEYS,
    ITERATIONS_BETWEEN_RETURNS,
    Order,
    PlayersHere,
    ShardedStates,
    ShardPlayers,
    ShardRollout,
    ShardState,
    flat_weights,
)
from npp_env.level.heap import return_free_memory
from npp_env.runtime.success_sampling import SuccessSampling
from npp_env.sim.outcome import Outcome


class ShardedPPO(PPO):
    """Learns as PPO does; the same seed and shards give the same weights, whoever plays; see `Algorithm`.

    Args:
        settings: The run, with `shards`; `algo_options` are fields of `PPOOptions`.
        players: Who plays; this process by default.

    Attributes:
        rollouts: Of the shards of the present iteration, as the players gave them.
    """

    def __init__(self, settings: TrainSettings, players: ShardPlayers | None = None) -> None:
        # One environment, which nobody plays, knows the levels and keeps the statistics of their sampling.
        super().__init__(settings, envs_here=1)
        self._players = PlayersHere(settings) if players is None else players
        self._states: list[ShardState] = [{} for _ in range(settings.shards)]
        self._iteration = 0
        self._shard_envs = settings.num_envs // settings.shards
        self.rollouts: Sequence[ShardRollout] = ()
        self._hold(())

    def collect(self) -> None:
        """Let a rollout be played."""
        bench = self.bench
        sampling = bench.envs.sampling
        learned = sampling.get_state() if isinstance(sampling, SuccessSampling) else None
        counts = None if self.novelty is None else self.novelty.counts
        order = Order(self._iteration, flat_weights(bench.network), self.scale.numbers, learned, counts)
        # Whoever holds the last rollout for us may use its memory again.
        self._hold(())
        # What learning and the copies below left, which else adds up over hours.
        if self._iteration % ITERATIONS_BETWEEN_RETURNS == 0:
            return_free_memory()
        with bench.profile.measure("collect"):
            self._hold(self._players.play(order, self._states))
        size = self._shard_envs
        for shard, rollout in enumerate(self.rollouts):
            columns = slice(shard * size, (shard + 1) * size)
            for name in ("actions", "rewards", "ended", "log_probabilities", "values", "advantages"):
                getattr(self, name)[:, columns] = rollout[name]
            self._count({name: rollout[f"episodes/{name}"] for name in EPISODE_KEYS})
            if self.novelty is not None:
                self.novelty.counts[rollout["novelty/places"]] += rollout["novelty/times"]
        # Copies: a view would keep all of the rollout.
        self._states = [
            {name: array.copy() for name, array in part_of(rollout, "state/").items()} for rollout in self.rollouts
        ]
        self._iteration += 1
        bench.steps += self.actions.size

    def _hold(self, rollouts: Sequence[ShardRollout]) -> None:
        self.rollouts = rollouts
        self.store = ShardedStates(rollouts, self._shard_envs, self.bench.decoder.row_bytes)

    def _count(self, episodes: dict[str, NDArray[Any]]) -> None:
        """Count the episodes of a shard, in their order."""
        sampling = self.bench.envs.sampling
        self.bench.statistics.add(episodes, np.ones(len(episodes["level"]), np.bool_))
        if isinstance(sampling, SuccessSampling):
            for level, outcome in zip(episodes["level"].tolist(), episodes["outcome"].tolist(), strict=True):
                sampling.record(0, level, outcome == Outcome.WON)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Algorithm`."""
        shards = {
            f"shards/{shard}/{name}": array for shard, state in enumerate(self._states) for name, array in state.items()
        }
        return {**super().arrays(), **shards}

    def header(self) -> dict[str, Any]:
        """See `Algorithm`."""
        return {**super().header(), "rollouts": self._iteration}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `Algorithm`."""
        super().restore(header, arrays)
        self._states = [part_of(arrays, f"shards/{shard}/") for shard in range(len(self._states))]
        self._iteration = int(header["rollouts"])
