"""PPO over rollouts of states: observations are decoded once to act and once for each minibatch, and never stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError, requires
from npp_env.learning.networks import entropy_of, masked_log_probabilities
from npp_env.learning.novelty import MOST_LEVELS, Novelty
from npp_env.learning.settings import TrainSettings, options_of
from npp_env.learning.value_scale import ValueScale
from npp_env.learning.workbench import Workbench
from npp_env.rollouts.state_store import StateRows, StateStore

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch


@dataclass(frozen=True, slots=True)
class PPOOptions:
    """How PPO learns.

    Attributes:
        num_steps: Steps of each environment in a rollout.
        minibatch: States of a minibatch.
        epochs: Passes over a rollout.
        learning_rate: At the start; it falls in a line to `final_rate` times as much.
        final_rate: Share of the learning rate that is left at the end of the schedule.
        entropy: Weight of the entropy bonus at the start; it falls likewise.
        final_entropy: Share of it that is left.
        discount: Per step; the shaping of the reward gets the same.
        gae_lambda: Of the generalised advantage estimation.
        clip: How far the ratio of probabilities may move.
        value_weight: Weight of the value loss.
        most_gradient: Largest norm of a gradient.
        second_tries: Share of the deaths after which the episode goes on from a moment before, of the same rollout.
        novelty: Reward for entering a place for the first time in the run, on sets of few levels; see
            `npp_env.learning.novelty`.
    """

    num_steps: int = 64
    minibatch: int = 512
    epochs: int = 3
    learning_rate: float = 2e-3
    final_rate: float = 0.1
    entropy: float = 0.003
    final_entropy: float = 0.1
    discount: float = 0.995
    gae_lambda: float = 0.95
    clip: float = 0.2
    value_weight: float = 0.5
    most_gradient: float = 0.5
    second_tries: float = 0.5
    novelty: float = 0.05

    def __post_init__(self) -> None:
        for name in ("num_steps", "minibatch", "epochs"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("discount", "gae_lambda", "final_rate", "final_entropy", "second_tries"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must lie between 0 and 1")
        if not self.novelty >= 0:
            raise ConfigError(f"novelty is {self.novelty}; it must not be negative")


class PPO:
    """Collects a rollout, then learns from it, in every iteration; see `npp_env.learning.algorithms.Algorithm`.

    Args:
        settings: The run; `algo_options` are fields of `PPOOptions`.
        options: Given by algorithms that are more than PPO, instead.
        most_rows: The largest batch that these decode beside the minibatches.
        envs_here: Environments that are played in this process; those of the run by default.

    Attributes:
        only_value: Whether the value alone is learned, and the policy stays as it is.
        store: The states of the present rollout.
        novelty: What is known of places, if they are paid for.
    """

    def __init__(
        self,
        settings: TrainSettings,
        options: PPOOptions | None = None,
        most_rows: int = 1,
        envs_here: int | None = None,
    ) -> None:
        if options is None:
            options = options_of(PPOOptions, settings.algo_options, "the options of ppo")
        self.options = options
        self.only_value = False
        size = options.num_steps * settings.num_envs
        most_rows = max(min(options.minibatch, size), most_rows)
        self.bench = Workbench(settings, options.discount, most_rows, envs_here)
        self.optimizer = torch.optim.Adam(
            self.bench.network.parameters(), lr=options.learning_rate, eps=1e-5, fused=True
        )
        self.scale = ValueScale()
        levels = self.bench.envs.num_levels
        self.novelty = Novelty(options.novelty, levels) if options.novelty and levels <= MOST_LEVELS else None
        shape = (options.num_steps, settings.num_envs)
        self.store: StateRows = StateStore(*shape, self.bench.decoder.row_bytes)
        self._rows = np.empty((min(options.minibatch, size), self.bench.decoder.row_bytes), np.uint8)
        self.actions = np.zeros(shape, np.int64)
        self.log_probabilities, self.rewards, self.advantages = (np.zeros(shape, np.float32) for _ in range(3))
        self.values = np.zeros((options.num_steps + 1, settings.num_envs), np.float32)
        self.ended = np.zeros(shape, np.bool_)

    def iterate(self) -> dict[str, float]:
        """One rollout and what is learned from it."""
        bench = self.bench
        bench.tracker.iteration()
        bench.statistics.begin_iteration()
        with bench.tracker.phase("collect"):
            self.collect()
        with bench.tracker.phase("learn"):
            return self.learn()

    def collect(self) -> None:
        """Play a rollout."""
        bench, store = self.bench, self.store
        assert isinstance(store, StateStore)
        store.clear()
        begun = np.zeros(self.actions.shape[1], np.int64)  # since which step of the rollout each episode goes on
        for t in range(self.options.num_steps):
            rows = bench.rows  # which the step leaves as they are
            store[t] = rows
            output, masks = bench.judge(rows)
            log_probabilities = masked_log_probabilities(output.logits, masks).numpy()
            self.actions[t] = self.choose(t, log_probabilities)
            self.log_probabilities[t] = np.take_along_axis(log_probabilities, self.actions[t][:, None], 1)[:, 0]
            self.values[t] = self.scale.to_returns(output.values.numpy())
            step = bench.step(self.actions[t])
            self.rewards[t] = step.rewards
            self.ended[t] = step.terminated | step.truncated
            if self.novelty is not None:
                before = self.novelty.places(rows)
                # Rows of episodes that ended are the first of the next; nobody walked there.
                after = np.where(self.ended[t], before, self.novelty.places(bench.rows))
                self.rewards[t] += self.novelty.entered(before, after)
            if step.last_rows is not None:
                # Time is no end of the world: what would have come is what the value says.
                self.rewards[t, step.truncated] += self.options.discount * self._values_of(step.last_rows)
            if self.options.second_tries:
                self._try_again(store, t, np.flatnonzero(step.died), begun)
            begun[self.ended[t]] = t + 1
        self.values[-1] = self._values_of(bench.rows)
        advantages_of(
            self.rewards, self.values, self.ended, self.options.discount, self.options.gae_lambda, self.advantages
        )

    def _try_again(self, store: StateStore, t: int, died: NDArray[np.int64], begun: NDArray[np.int64]) -> None:
        """Let some of the episodes that ended in step t go on from an earlier moment of this rollout."""
        chances = self.bench.random.random((2, len(died)))
        played = t + 1 - begun[died]
        again = chances[0] < self.options.second_tries
        moments = t - (chances[1] * played).astype(np.int64)
        envs = died[again]
        if len(envs):
            self.bench.go_back(envs, store.take(moments[again], envs))

    def choose(self, t: int, log_probabilities: NDArray[np.float32]) -> NDArray[np.int64]:
        """What is done in step t of a rollout; the policy's own choice."""
        return self.bench.draw(log_probabilities)

    def learnable(self) -> NDArray[np.int64]:
        """Which places of the rollout, counted row by row, are learned from: all."""
        return np.arange(self.actions.size)

    def _values_of(self, rows: NDArray[np.uint8]) -> NDArray[np.float32]:
        values: NDArray[np.float32] = self.scale.to_returns(self.bench.judge(rows)[0].values.numpy())
        return values

    def ratios(self) -> NDArray[np.float32]:
        """Probability of every action of the present rollout now, relative to when it was taken; a fresh array."""
        found = np.empty_like(self.log_probabilities)
        for t in range(len(found)):
            output, masks = self.bench.judge(self.store[t])
            now = masked_log_probabilities(output.logits, masks).numpy()
            found[t] = np.exp(np.take_along_axis(now, self.actions[t][:, None], 1)[:, 0] - self.log_probabilities[t])
        return found

    def learn(self) -> dict[str, float]:
        """Improve the network with the present rollout; the mean of each loss."""
        options, bench = self.options, self.bench
        done = min(bench.steps / bench.settings.total_steps, 1.0)
        rate = options.learning_rate * (1 - done * (1 - options.final_rate))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        returns = self.advantages + self.values[:-1]
        self.scale.update(returns, bench.network.critic)
        entropy_weight = options.entropy * (1 - done * (1 - options.final_entropy))
        sums: dict[str, float] = {}
        count = 0
        for _ in range(options.epochs):
            order = bench.random.permutation(self.learnable())
            for start in range(0, len(order), options.minibatch):
                losses = self._improve(order[start : start + options.minibatch], returns, entropy_weight)
                sums = {name: sums.get(name, 0.0) + value for name, value in losses.items()}
                count += 1
        spread = float(returns.var())
        explained = 1 - float((returns - self.values[:-1]).var()) / spread if spread > 0 else 0.0
        means = {name: value / count for name, value in sums.items()}
        return {**means, "explained": explained, "learning_rate": rate, "entropy_weight": entropy_weight}

    def _improve(self, chosen: NDArray[np.int64], returns: Any, entropy_weight: float) -> dict[str, float]:
        bench, options = self.bench, self.options
        steps, envs = np.divmod(chosen, self.actions.shape[1])
        with bench.profile.measure("decode"):
            rows = self.store.take(steps, envs, out=self._rows[: len(chosen)])
        observations = bench.observe(rows)
        with bench.profile.measure("forward"):
            output = bench.network(observations)
            log_probabilities = masked_log_probabilities(output.logits, observations["action_mask"])
            taken = torch.from_numpy(self.actions.reshape(-1)[chosen])
            new = log_probabilities.gather(1, taken[:, None]).squeeze(1)
            difference = new - torch.from_numpy(self.log_probabilities.reshape(-1)[chosen])
            ratio = difference.exp()
            advantages = torch.from_numpy(self.advantages.reshape(-1)[chosen])
            advantages = (advantages - advantages.mean()) / (advantages.std(unbiased=False) + 1e-8)
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            policy_loss = -torch.min(ratio * advantages, clipped * advantages).mean()
            targets = torch.from_numpy(self.scale.to_units(returns.reshape(-1)[chosen]).astype(np.float32))
            value_loss = 0.5 * (output.values - targets).square().mean()
            entropy = entropy_of(log_probabilities).mean()
            bonus = entropy if output.bonus is None else entropy + output.bonus.mean()
            loss = policy_loss + options.value_weight * value_loss - entropy_weight * bonus
        with bench.profile.measure("backward"):
            self.optimizer.zero_grad()
            loss.backward()
            if self.only_value:
                forget_gradients(bench.network, but=bench.network.critic)
            norm = torch.nn.utils.clip_grad_norm_(bench.network.parameters(), options.most_gradient)
            self.optimizer.step()
        with torch.no_grad():
            values = {
                "policy_loss": policy_loss,
                "value_loss": value_loss,
                "entropy": entropy,
                "bonus": bonus,
                "kl": (ratio - 1 - difference).mean(),
                "clipped": ((ratio - 1).abs() > options.clip).float().mean(),
                "gradient": norm,
            }
            return {name: float(value) for name, value in values.items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Algorithm`."""
        novelty = {} if self.novelty is None else {"novelty": self.novelty.counts}
        return {**self.bench.arrays(), **optimizer_arrays(self.optimizer), **novelty, "scale": self.scale.numbers}

    def header(self) -> dict[str, Any]:
        """See `Algorithm`."""
        return self.bench.header()

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `Algorithm`."""
        self.bench.restore(header, arrays)
        restore_optimizer(self.optimizer, arrays)
        self.scale.numbers = arrays["scale"].astype(np.float64)
        if self.novelty is not None:
            self.novelty.counts[...] = arrays["novelty"]


def forget_gradients(network: Any, but: Any) -> None:
    """Drop the gradients of all parameters of a network but those of one of its parts."""
    kept = {id(parameter) for parameter in but.parameters()}
    for parameter in network.parameters():
        if id(parameter) not in kept:
            parameter.grad = None


def advantages_of(
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    ended: NDArray[np.bool_],
    discount: float,
    gae_lambda: float,
    out: NDArray[np.float32],
) -> None:
    """Generalised advantage estimation (steps, environments); `values` has one row more, `out` is written."""
    running = np.zeros(rewards.shape[1], np.float32)
    for t in reversed(range(len(rewards))):
        goes_on = (~ended[t]).astype(np.float32)
        surprise = rewards[t] + discount * values[t + 1] * goes_on - values[t]
        running = surprise + discount * gae_lambda * goes_on * running
        out[t] = running


def optimizer_arrays(optimizer: Any) -> dict[str, NDArray[Any]]:
    """The state of an optimiser as arrays."""
    state = optimizer.state_dict()["state"]
    return {f"optimizer/{k}/{name}": value.numpy() for k, entry in state.items() for name, value in entry.items()}


def restore_optimizer(optimizer: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give an optimiser the state that `optimizer_arrays` found."""
    state: dict[int, dict[str, Any]] = {}
    for name, array in arrays.items():
        if name.startswith("optimizer/"):
            _, number, entry = name.split("/")
            state.setdefault(int(number), {})[entry] = torch.from_numpy(array)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
