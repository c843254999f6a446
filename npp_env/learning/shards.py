"""Rollouts by shard: a part of a run's environments that anyone can play, with the same result.

A shard is played from its saved states, with chance that its number and that of the iteration give, by whoever is at
hand: `ShardPlayer` plays one in this process, `npp_env.integrations.ray_players` many on other machines.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import requires
from npp_env.learning.model_file import part_of
from npp_env.learning.ppo import PPO
from npp_env.learning.settings import TrainSettings
from npp_env.level.sorted_sets import sorted_unique
from npp_env.rollouts.state_store import StateStore
from npp_env.runtime.success_sampling import SuccessSampling

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch
    from torch.nn.utils import parameters_to_vector, vector_to_parameters

ITERATIONS_BETWEEN_RETURNS = 16
"""After so many, players and learner give free memory back to the system."""
EPISODE_KEYS = ("level", "outcome", "episode_return", "episode_steps")
ShardState = Mapping[str, NDArray[Any]]
"""Where a shard stands: what `Workbench.env_states` gives of its environments; empty before its beginning."""
ShardRollout = Mapping[str, NDArray[Any]]
"""What a shard of n environments gave in T steps.

    actions             uint8   (T, n)
    rewards             float32 (T, n)      of truncated episodes with the value of what would have come
    ended               bool    (T, n)
    log_probabilities   float32 (T, n)
    values              float32 (T + 1, n)  the last row is that of the states after the last step
    advantages          float32 (T, n)
    rows/...            the states, as `StateStore.arrays` gives them
    episodes/...        level, outcome, episode_return, episode_steps of each episode that ended, in order
    novelty/...         places that were entered, and times, how often each; left out where these are not paid for
    state/...           the `ShardState` after the last step
"""


class Order(NamedTuple):
    """What all shards of an iteration are played with.

    Attributes:
        iteration: Its number.
        weights: float32, all parameters of the network one behind the other.
        scale: float64 (3,), the numbers of the `ValueScale`.
        sampling: State of the sampling, if it is one that learns.
        counts: uint32, how often each place was entered so far, as `Novelty` counts, if that is paid for.
    """

    iteration: int
    weights: NDArray[np.float32]
    scale: NDArray[np.float64]
    sampling: dict[str, Any] | None
    counts: NDArray[np.uint32] | None


class ShardPlayers(Protocol):
    """Whoever plays shards."""

    def play(self, order: Order, states: Sequence[ShardState]) -> list[ShardRollout]:
        """Play every shard once, from these states; the rollouts in the order of the shards."""

    def close(self) -> None:
        """Give back what they hold."""


class ShardPlayer:
    """Plays shards, one after the other.

    Args:
        settings: The run; its `shards` say how large each is.
    """

    def __init__(self, settings: TrainSettings) -> None:
        size = settings.num_envs // settings.shards
        self._settings = settings
        self._ppo = PPO(dataclasses.replace(settings, num_envs=size, shards=0))
        self._episodes: list[list[NDArray[Any]]] = []
        self._ppo.bench.on_episodes = self._note_episodes
        # The environments after the shard and iteration that were played last, so that they need not be restored.
        self._at: tuple[int, int] | None = None

    def play(self, order: Order, shard: int, state: ShardState) -> ShardRollout:
        """Play a shard; some of the arrays are this object's own, and change with the next call."""
        ppo, bench = self._ppo, self._ppo.bench
        load_flat_weights(bench.network, order.weights)
        ppo.scale.numbers = order.scale
        bench.random = np.random.default_rng(
            np.random.SeedSequence(self._settings.seed, spawn_key=(shard, order.iteration))
        )
        self._place(order, shard, state)
        self._episodes.clear()
        if ppo.novelty is not None and order.counts is not None:
            ppo.novelty.counts[...] = order.counts
        ppo.collect()
        assert isinstance(ppo.store, StateStore)
        self._at = (shard, order.iteration)
        names = ("rewards", "ended", "log_probabilities", "values", "advantages")
        return {
            "actions": ppo.actions.astype(np.uint8),
            **{name: getattr(ppo, name) for name in names},
            **{f"rows/{name}": array for name, array in ppo.store.arrays().items()},
            **{f"episodes/{name}": array for name, array in zip(EPISODE_KEYS, self._ended(), strict=True)},
            **{f"novelty/{name}": array for name, array in self._entered(order).items()},
            **{f"state/{name}": array for name, array in bench.env_states().items()},
        }

    def _entered(self, order: Order) -> dict[str, NDArray[Any]]:
        """The places that were entered since the order, and how often each."""
        if self._ppo.novelty is None or order.counts is None:
            return {}
        more = self._ppo.novelty.counts - order.counts
        places = np.flatnonzero(more)
        return {"places": places, "times": more[places]}

    def _place(self, order: Order, shard: int, state: ShardState) -> None:
        """Put the environments where the shard stands."""
        envs, at = self._ppo.bench.envs, self._at
        self._at = None  # if this is cut off, they stand nowhere
        if not state:
            # Together the shards begin as one whole of so many environments would.
            first = int(np.random.SeedSequence(self._settings.seed).generate_state(3)[2] % 2**31)
            self._ppo.bench.repeated[:] = False
            self._ppo.bench.rows = envs.reset(seed=first + shard * envs.num_envs)[0]
        elif at != (shard, order.iteration - 1):
            self._ppo.bench.set_env_states(state)
            self._ppo.bench.rows = envs.observe()[0]
        if isinstance(envs.sampling, SuccessSampling) and order.sampling is not None:
            envs.sampling.set_state(order.sampling)

    def _note_episodes(self, final_info: dict[str, NDArray[Any]], ended: NDArray[np.bool_]) -> None:
        self._episodes.append([final_info[name][ended] for name in EPISODE_KEYS])

    def _ended(self) -> list[NDArray[Any]]:
        if not self._episodes:
            return [np.zeros(0, np.int32) for _ in EPISODE_KEYS]
        return [np.concatenate(column) for column in zip(*self._episodes, strict=True)]

    def close(self) -> None:
        """Give threads and environments back."""
        self._ppo.bench.close()


class PlayersHere:
    """Plays all shards in this process, one after the other.

    Args:
        settings: The run.
    """

    def __init__(self, settings: TrainSettings) -> None:
        self._player = ShardPlayer(settings)

    def play(self, order: Order, states: Sequence[ShardState]) -> list[ShardRollout]:
        """See `ShardPlayers`."""
        return [
            {name: array.copy() for name, array in self._player.play(order, shard, state).items()}
            for shard, state in enumerate(states)
        ]

    def close(self) -> None:
        """See `ShardPlayers`."""
        self._player.close()


class ShardedStates:
    """The state rows of several shards as those of one whole; they stay where they are.

    Args:
        rollouts: Of the shards, in order.
        size: Environments of each.
        length: Bytes of a row.
    """

    def __init__(self, rollouts: Sequence[ShardRollout], size: int, length: int) -> None:
        self.stores = [StateStore.over(part_of(rollout, "rows/"), length) for rollout in rollouts]
        self._size = size
        self._length = length

    def __getitem__(self, step: int) -> NDArray[np.uint8]:
        """All rows of a step; a fresh array."""
        return np.concatenate([store[step] for store in self.stores])

    def take(
        self, steps: NDArray[np.int64], envs: NDArray[np.int64], out: NDArray[np.uint8] | None = None
    ) -> NDArray[np.uint8]:
        """See `StateStore.take`; here `steps` and `envs` have one dimension."""
        if out is None:
            out = np.empty((len(steps), self._length), np.uint8)
        shards, places = np.divmod(envs, self._size)
        for shard in sorted_unique(shards).tolist():
            chosen = np.flatnonzero(shards == shard)
            out[chosen] = self.stores[shard].take(steps[chosen], places[chosen])
        return out


def flat_weights(network: Any) -> NDArray[np.float32]:
    """All parameters of a network one behind the other; a fresh array."""
    weights: NDArray[np.float32] = parameters_to_vector(network.parameters()).detach().numpy()
    return weights


def load_flat_weights(network: Any, weights: NDArray[np.float32]) -> None:
    """Give a network the parameters that `flat_weights` gave."""
    vector_to_parameters(torch.from_numpy(weights.copy()), network.parameters())
