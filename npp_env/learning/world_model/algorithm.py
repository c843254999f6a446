"""`WorldModel`: collects without gradients, learns a model from replayed states, and an actor inside the model."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import ConfigError, requires
from npp_env.learning.model_file import part_of
from npp_env.learning.ppo import optimizer_arrays, restore_optimizer
from npp_env.learning.settings import TrainSettings, options_of
from npp_env.learning.workbench import Workbench
from npp_env.learning.world_model.imagination import ReturnRange, actor_critic_losses, imagine
from npp_env.learning.world_model.model_losses import model_losses, targets_of
from npp_env.learning.world_model.network import ModelState, one_hot_actions
from npp_env.learning.world_model.options import WorldModelOptions
from npp_env.learning.world_model.replay import SequenceReplay

with requires("PyTorch", __name__, "pip install 'npp_env[learning]'"):
    import torch

_MOST_GRADIENT = 100.0
_SLOW_SHARE = 0.02
CURVE = ("decoder", "motion", "reward", "continue", "kl", "actor", "critic", "entropy", "imagined_return")


class WorldModel:
    """See `npp_env.learning.algorithms.Algorithm`.

    What collection carries from step to step is made without gradients and has no `grad_fn`; with `keep_graphs` it
    has one that reaches back to the first step, and memory grows: the leak that this layout avoids.

    Args:
        settings: The run; `algo_options` are fields of `WorldModelOptions`.
    """

    checkpoint_seconds = 300.0

    def __init__(self, settings: TrainSettings) -> None:
        self.options = options = options_of(WorldModelOptions, settings.algo_options, "the options of world-model")
        if settings.policy != "world-model":
            raise ConfigError(f"the policy is {settings.policy!r}; the algorithm world-model needs 'world-model'")
        if options.replay_steps < settings.num_envs * options.sequence_length:
            raise ConfigError(
                f"replay_steps is {options.replay_steps}; {settings.num_envs} environments with sequences of "
                f"{options.sequence_length} need at least {settings.num_envs * options.sequence_length}"
            )
        self.bench = Workbench(settings, options.discount, options.batch * options.sequence_length)
        self.network = network = self.bench.network
        self._folder = tempfile.TemporaryDirectory(prefix="npp-replay-") if options.replay_on_disk else None
        self.replay = SequenceReplay(
            options.replay_steps // settings.num_envs,
            settings.num_envs,
            self.bench.decoder.row_bytes,
            None if self._folder is None else Path(self._folder.name),
        )
        self._rows = np.empty((options.batch * options.sequence_length, self.bench.decoder.row_bytes), np.uint8)
        self.optimizers = {
            "model": torch.optim.Adam(network.model_parameters(), lr=options.learning_rate, eps=1e-8),
            "actor": torch.optim.Adam(network.actor.parameters(), lr=options.actor_rate, eps=1e-5),
            "critic": torch.optim.Adam(network.critic.parameters(), lr=options.actor_rate, eps=1e-5),
        }
        self.spread = ReturnRange()
        self.generator = torch.Generator()
        self.carried = network.initial(settings.num_envs)
        self._before = torch.zeros(settings.num_envs, 6)
        self._first = np.ones(settings.num_envs, np.bool_)

    def iterate(self) -> dict[str, float]:
        """Collect for a while, then learn; during warm-up only the former."""
        bench = self.bench
        bench.tracker.iteration()
        bench.statistics.begin_iteration()
        # Drawn anew for each iteration: the generator itself need not be saved.
        self.generator.manual_seed(int(bench.random.integers(2**62)))
        with bench.tracker.phase("collect"):
            for _ in range(self.options.collect_steps):
                self.collect()
        sums = dict.fromkeys(CURVE, 0.0)
        kept = min(self.replay.count, self.options.replay_steps // bench.settings.num_envs)
        if bench.steps < self.options.warm_up or kept < self.options.sequence_length:
            return dict.fromkeys(CURVE, float("nan"))
        for _ in range(self.options.updates):
            for name, value in self.learn().items():
                sums[name] += value / self.options.updates
        return sums

    def collect(self) -> None:
        """One step of all environments."""
        bench, network = self.bench, self.network
        observations = bench.observe(bench.rows)
        with nullcontext() if self.options.keep_graphs else torch.no_grad():
            stays = torch.from_numpy(~self._first).float().unsqueeze(1)
            state = ModelState(self.carried.memory * stays, self.carried.latent * stays)
            encoded = network.encoder(network.flatten(observations))
            self.carried = network.observe(state, self._before * stays, encoded, self.generator)
            logits = network.actor(self.carried.features())
        assert self.options.keep_graphs or self.carried.memory.grad_fn is None
        # Masked actions too, which are harmless: in imagination, where nothing is masked, the model must know them.
        scores = torch.log_softmax(logits.detach(), dim=-1).numpy()
        if bench.steps < self.options.warm_up:
            scores = np.zeros_like(scores)
        actions = bench.draw(scores)
        rows, first = bench.rows, self._first
        step = bench.step(actions)
        self.replay.add(rows, actions, step.rewards, step.terminated, first)
        self._before = one_hot_actions(torch.from_numpy(actions))
        self._first = step.terminated | step.truncated

    def learn(self) -> dict[str, float]:
        """One gradient step of the model, then one of actor and critic in it; the losses."""
        bench, network, options = self.bench, self.network, self.options
        phase, measure = bench.tracker.phase, bench.profile.measure
        with phase("sample"):
            sequences = self.replay.draw(options.sequence_length, options.batch, bench.random, self._rows)
            vectors = network.flatten(bench.observe(sequences.rows))
            targets = targets_of(sequences, vectors)
            actions = one_hot_actions(torch.from_numpy(sequences.actions))
            first = torch.from_numpy(sequences.first)
        with phase("encode"), measure("encode"):
            encoded = network.encoder(targets.observations)
        with phase("rssm"), measure("rssm"):
            belief = network.follow(encoded, actions, first, self.generator)
        with phase("decode"), measure("heads"):
            losses = model_losses(network, belief, actions, targets, options)
        with phase("backward"), measure("backward"):
            if losses:
                sum(losses.values()).backward()
        with phase("optimise"), measure("optimise"):
            self._step("model", network.model_parameters())
        with phase("imagine"), measure("imagine"):
            chosen = torch.randperm(sequences.actions.size, generator=self.generator)[: options.imagined]
            start = ModelState(*(part.detach().flatten(0, 1)[chosen] for part in belief.states))
            imagined = imagine(network, start, options.horizon, self.generator)
            losses |= actor_critic_losses(network, imagined, self.spread, options)
            (losses["actor"] + losses["critic"]).backward()
            self._step("actor", list(network.actor.parameters()))
            self._step("critic", list(network.critic.parameters()))
            with torch.no_grad():
                for slow, fast in zip(network.slow_critic.parameters(), network.critic.parameters(), strict=True):
                    slow.lerp_(fast, _SLOW_SHARE)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def _step(self, name: str, parameters: list[Any]) -> None:
        torch.nn.utils.clip_grad_norm_(parameters, _MOST_GRADIENT if name == "model" else 1.0)
        self.optimizers[name].step()
        self.optimizers[name].zero_grad(set_to_none=True)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """See `Algorithm`."""
        found = self.bench.arrays()
        for name, optimizer in self.optimizers.items():
            found |= {f"{name}/{key}": array for key, array in optimizer_arrays(optimizer).items()}
        found |= {f"replay/{name}": array for name, array in self.replay.arrays().items()}
        carried = {"memory": self.carried.memory, "latent": self.carried.latent, "before": self._before}
        found |= {f"carried/{name}": value.detach().numpy() for name, value in carried.items()}
        return {**found, "carried/first": self._first}

    def header(self) -> dict[str, Any]:
        """See `Algorithm`."""
        return {**self.bench.header(), "spread": self.spread.value}

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """See `Algorithm`."""
        self.bench.restore(header, arrays)
        for name, optimizer in self.optimizers.items():
            restore_optimizer(optimizer, part_of(arrays, f"{name}/"))
        self.replay.restore(part_of(arrays, "replay/"))
        carried = {name: torch.from_numpy(array) for name, array in part_of(arrays, "carried/").items()}
        self.carried = ModelState(carried["memory"], carried["latent"])
        self._before, self._first = carried["before"], carried["first"].numpy()
        self.spread.value = float(header["spread"])
