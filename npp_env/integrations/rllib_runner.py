"""`StateEnvRunner`: samples for RLlib without a Python object of every step."""

from __future__ import annotations

import math
import sys
import uuid
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError, requires
from npp_env.vector import NppVectorEnv

with requires("RLlib", __name__, "pip install 'npp_env[rllib]'"):
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
    from ray.rllib.env.single_agent_episode import SingleAgentEpisode
    from ray.rllib.env.utils.infinite_lookback_buffer import InfiniteLookbackBuffer


class Piece:
    """What some steps of n environments gave, by environment and step, so that an episode is one slice.

    Args:
        rows: (n, T + 1, ...), memory for the observations.
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        num_envs, steps = len(rows), rows.shape[1] - 1
        self.rows = rows
        self.actions = np.empty((num_envs, steps), np.int64)
        self.rewards = np.empty((num_envs, steps), np.float32)
        self.terminated, self.truncated = (np.zeros((num_envs, steps), np.bool_) for _ in range(2))
        self.log_probabilities = np.empty((num_envs, steps), np.float32)
        self.logits = np.empty((num_envs, steps, 6), np.float32)
        self.last_rows: dict[tuple[int, int], NDArray[Any]] = {}  # by environment and step that ended the episode

    def episode(self, env: int, start: int, end: int, id_: str, age: int) -> SingleAgentEpisode:
        """The steps from `start` to before `end` of an environment, all of one episode that is `age` steps old then."""
        last = self.last_rows.get((env, end - 1))
        rows = self.rows[env, start : end + 1]
        if last is not None:
            # The environment shows the first state of the next episode already.
            rows = np.concatenate([rows[:-1], last[None]])
        columns = {Columns.ACTION_LOGP: self.log_probabilities, Columns.ACTION_DIST_INPUTS: self.logits}
        return SingleAgentEpisode(
            id_,
            observations=InfiniteLookbackBuffer(rows),
            infos=[{}] * len(rows),
            actions=InfiniteLookbackBuffer(self.actions[env, start:end]),
            rewards=InfiniteLookbackBuffer(self.rewards[env, start:end]),
            terminated=bool(self.terminated[env, end - 1]),
            truncated=bool(self.truncated[env, end - 1]),
            extra_model_outputs={
                name: InfiniteLookbackBuffer(column[env, start:end]) for name, column in columns.items()
            },
            t_started=age,
            len_lookback_buffer=0,
        )


class StateEnvRunner(SingleAgentEnvRunner):
    """RLlib's runner over `NppVectorEnv`: steps are written to arrays, and an episode is a slice of them.

    Actions are drawn here, by the logits of the module, with the runner's own seed. Observations go to the module and
    to the learner as the environment gives them: connectors from the environment to the module are not called, nor are
    callbacks of single steps and episodes. `env_config` holds `config`, that of the environment, and `shipment`, the
    levels as `pack_levels` sent them, or None.
    """

    def make_env(self) -> None:
        """See `EnvRunner`."""
        self.stop()
        config = dict(self.config.env_config["config"])
        shipment = self.config.env_config.get("shipment")
        if shipment is not None:
            config["levels"] = shipment.unpack(config.get("cache_directory")).task
        self.num_envs = self.config.num_envs_per_env_runner
        self.env: NppVectorEnv = NppVectorEnv(self.num_envs, config, autoreset_mode="SAME_STEP")
        self._needs_initial_reset = True
        self._random = np.random.default_rng(self._seed)
        self._rows: NDArray[Any] = np.empty(0)
        self._memory: NDArray[Any] = np.empty(0)
        self._ids: list[str] = []
        self._ages = np.zeros(self.num_envs, np.int64)
        self._ended: list[tuple[int, float]] = []  # lengths and returns that are not told yet

    def _sample(
        self,
        *,
        num_timesteps: int | None = None,
        num_episodes: int | None = None,
        explore: bool,
        random_actions: bool = False,
        force_reset: bool = False,
    ) -> list[SingleAgentEpisode]:
        if num_timesteps is None:
            raise NppError(
                "StateEnvRunner samples steps, not episodes; set batch_mode='truncate_episodes', and "
                "evaluation_duration_unit='timesteps' for evaluation"
            )
        if force_reset or self._needs_initial_reset:
            self._rows = self.env.reset(seed=self._seed if self._needs_initial_reset else None)[0]
            self._ids = [uuid.uuid4().hex for _ in range(self.num_envs)]
            self._ages[:] = 0
            self._needs_initial_reset = False
        steps = max(1, math.ceil(num_timesteps / self.num_envs))
        piece = Piece(self._free_rows(steps))
        for t in range(steps):
            self._step(piece, t, explore, random_actions)
        piece.rows[:, steps] = self._rows
        episodes = self._cut(piece)
        self._log_env_steps(metric=self._metrics_num_env_steps_sampled, num_steps=piece.actions.size)
        self._increase_sampled_metrics(piece.actions.size, len(piece.last_rows))
        return episodes

    def _free_rows(self, steps: int) -> NDArray[Any]:
        """Memory for observations: that of the last time, if nobody holds an episode of it any more.

        Fresh memory of this size costs as much as half of the sampling: the system clears it.
        """
        space: Any = self.env.single_observation_space
        shape = (self.num_envs, steps + 1, *space.shape)
        # Two references are the attribute and the argument; every episode has one more.
        if self._memory.shape != shape or sys.getrefcount(self._memory) > 2:
            self._memory = np.empty(shape, space.dtype)
        return self._memory

    def _step(self, piece: Piece, t: int, explore: bool, random_actions: bool) -> None:
        piece.rows[:, t] = self._rows
        forward = self.module.forward_exploration if explore else self.module.forward_inference
        logits = forward({Columns.OBS: torch.from_numpy(self._rows).to(self._device)})[Columns.ACTION_DIST_INPUTS]
        log_probabilities = torch.log_softmax(logits, 1).cpu().numpy()
        if random_actions:
            actions = self._random.integers(0, 6, self.num_envs)
        elif explore:
            shares = self._random.random(log_probabilities.shape, np.float32)
            actions = (log_probabilities - np.log(-np.log(shares + 1e-30) + 1e-30)).argmax(axis=1)
        else:
            actions = log_probabilities.argmax(axis=1)
        piece.logits[:, t], piece.actions[:, t] = logits.cpu().numpy(), actions
        piece.log_probabilities[:, t] = np.take_along_axis(log_probabilities, actions[:, None], 1)[:, 0]
        self._rows, piece.rewards[:, t], terminated, truncated, info = self.env.step(actions)
        # What died in its last frame did not run out of time.
        piece.terminated[:, t], piece.truncated[:, t] = terminated, truncated & ~terminated
        if "final_info" in info:
            final = info["final_info"]
            for env in np.flatnonzero(info["_final_info"]).tolist():
                piece.last_rows[env, t] = info["final_obs"][env]
                self._ended.append((int(final["episode_steps"][env]), float(final["episode_return"][env])))

    def _cut(self, piece: Piece) -> list[SingleAgentEpisode]:
        """Every episode, or the part of it that was played, by environment."""
        episodes = []
        ended = piece.terminated | piece.truncated
        steps = ended.shape[1]
        for env in range(self.num_envs):
            start = 0
            for end in (np.flatnonzero(ended[env]) + 1).tolist():
                episodes.append(piece.episode(env, start, end, self._ids[env], int(self._ages[env])))
                self._ids[env], self._ages[env] = uuid.uuid4().hex, 0
                start = end
            if start < steps:
                episodes.append(piece.episode(env, start, steps, self._ids[env], int(self._ages[env])))
                self._ages[env] += steps - start
        return episodes

    def get_metrics(self) -> Any:
        """See `EnvRunner`; of the episodes those that the window of the metrics holds."""
        for length, total in self._ended[-self.config.metrics_num_episodes_for_smoothing :]:
            self._log_episode_metrics(length, total, 0.0)
        self._ended.clear()
        return self.metrics.reduce()

    def assert_healthy(self) -> None:
        """See `EnvRunner`."""
        assert self.env is not None
        assert self.module is not None
