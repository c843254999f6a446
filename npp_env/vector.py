"""`NppVectorEnv`: thousands of environments in one process, stepped by one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig, resolve_config
from npp_env.errors import ConfigError, NppError
from npp_env.observe.buffers import Observation, batch_space
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.runtime.episodes import INFO_KEYS, Episodes, split_levels
from npp_env.runtime.memory import MemoryReport, memory_report
from npp_env.runtime.sampling import parse_sampling
from npp_env.runtime.saved_state import SavedState, read_saved_state, write_saved_state
from npp_env.runtime.thread_pool import RangePool
from npp_env.sim.outcome import outcomes_of


class NppVectorEnv(gym.vector.VectorEnv[Any, Any, Any]):
    """Many N++ environments as one; each behaves, to the last bit, as an `NppEnv` with the same configuration.

    All states lie in one block of memory, all observations in one set of arrays; physics, rewards, masks, observations
    and restarts run in compiled code without the GIL.

    `info` holds arrays (num_envs,) under the keys of `NppEnv`, the statistics of the episodes among them:
    `episode_return`, `episode_steps` and `outcome`.

    Args:
        num_envs: Number of environments.
        config: An `EnvironmentConfig`, or a (nested) dictionary of its fields.
        preset: Name of a preset: training, parallel_training, evaluation, visual_testing.
        render_mode: None or `rgb_array`.
        max_episode_steps: Truncates episodes after so many steps, in addition to `max_episode_frames`.
        autoreset_mode: When an ended environment begins its next episode: `AutoresetMode.NEXT_STEP`, `SAME_STEP` (with
            `final_obs` and `final_info` in info) or `DISABLED` (by `reset(options={"reset_mask": ...})`).
        num_threads: Threads that share the work; the results do not depend on their number.
        sampling: Which level an episode is played on: `uniform`, a list of weights, or a function for curricula.
        buffers: The caller's own arrays for the observations, written in place by every step.
        **overrides: Single fields of the configuration, such as `frame_skip=1` or `levels="shipped:mines"`.

    With `copy=True` every observation is a fresh array; with `copy=False` a view of a double buffer: what `step`
    returned stays valid through the next `step`. `final_obs` is always fresh. Rewards and flags are always fresh.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array"],
        "render_fps": 60,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    # Gymnasium also closes what could not be made.
    _pool = RangePool(1)

    def __init__(
        self,
        num_envs: int = 1,
        config: EnvironmentConfig | Mapping[str, Any] | None = None,
        preset: str | None = None,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        sampling: Any = None,
        buffers: Observation | None = None,
        **overrides: Any,
    ) -> None:
        for name, value in (("num_envs", num_envs), ("num_threads", num_threads)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise ConfigError(f"{name} is {value!r}; it must be a whole number, at least 1")
        if render_mode not in (None, "rgb_array"):
            raise ConfigError(f"render_mode is {render_mode!r}; it must be None or 'rgb_array'")
        if max_episode_steps is not None and (not isinstance(max_episode_steps, int) or max_episode_steps < 1):
            raise ConfigError(f"max_episode_steps is {max_episode_steps!r}; it must be None or at least 1")
        levels, overrides = split_levels(overrides)
        self.config = resolve_config(config, preset, overrides)
        self.num_envs = int(num_envs)
        self.render_mode = render_mode
        self.autoreset_mode = parse_autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.num_threads = int(num_threads)
        max_frames = None if max_episode_steps is None else max_episode_steps * self.config.frame_skip
        self._episodes = Episodes(self.config, self.num_envs, levels, parse_sampling(sampling), max_frames=max_frames)
        self._engine = self._episodes.engine
        self._layout = self._episodes.layout
        self.single_action_space = gym.spaces.Discrete(6)
        self.action_space = gym.spaces.MultiDiscrete(np.full(self.num_envs, 6))
        self.single_observation_space = self._layout.space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._pool = RangePool(self.num_threads)
        self._actions = np.zeros(self.num_envs, np.uint8)
        self._all = np.arange(self.num_envs)
        self._everywhere = np.ones(self.num_envs, np.bool_)
        self._everywhere.setflags(write=False)
        self._everyone = {f"_{key}": self._everywhere for key in INFO_KEYS}
        self._ended = self._engine.slots["ended"]
        self._masks = np.zeros((self.num_envs, 6), np.uint8)
        self._was_reset = False
        self._buffers = self._episodes.buffers(buffers)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes in all environments, or in those of a mask.

        Args:
            seed: None, one int (environment i gets seed + i), or one seed per environment.
            options: `{"reset_mask": bool array}` restarts only those; `{"level": ...}` as in `NppEnv.reset`.

        Returns:
            Observations (see the class for who owns them) and info; with a mask, info covers the masked ones.
        """
        seeds = self._parse_seeds(seed)
        options = dict(options or {})
        mask = self._parse_mask(options.pop("reset_mask", None))
        chosen = np.flatnonzero(mask)
        self._episodes.reset(chosen, (self._random(seeds[i]) for i in chosen.tolist()), options)
        self._engine.observe(self._buffers.turn(), self._all)
        self._was_reset = True
        return self._buffers.observation(), self._info(mask if not mask.all() else None)

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One step of every environment.

        Args:
            actions: Integers (num_envs,), each one of 0..5.

        Raises:
            NppError: Wrong actions, or an ended environment with autoreset disabled; nothing was stepped then.
        """
        self._take_actions(actions)
        engine, episodes = self._engine, self._episodes
        if np.count_nonzero(self._ended):
            self._restart_ended()
        self._pool.run(self._advance, self.num_envs)
        episodes.follow_doors()
        self._buffers.turn()
        self._pool.run(self._finish, self.num_envs)
        rewards, terminated, truncated = (
            engine.rewards.copy(),
            engine.terminated.copy(),
            engine.truncated.copy(),
        )
        info: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            done = np.flatnonzero(terminated | truncated)
            if len(done):
                info = self._final(done, terminated | truncated)
                episodes.begin(done, fresh=False)
                engine.observe(self._buffers.current, done)
        info.update(self._info(None))
        return self._buffers.observation(), rewards, terminated, truncated, info

    def _restart_ended(self) -> None:
        ended = np.flatnonzero(self._ended)
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            raise NppError(f"environments {ended[:8].tolist()} have ended; reset them with options['reset_mask'] first")
        self._episodes.begin(ended)

    def _advance(self, first: int, last: int) -> None:
        self._engine.advance(self._actions, first, last)

    def _finish(self, first: int, last: int) -> None:
        self._engine.finish(self._buffers.current, first, last)

    def _take_actions(self, actions: Any) -> None:
        if not self._was_reset:
            raise NppError("step() before reset(): call env.reset() first")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise NppError(
                f"actions are {given.dtype} {given.shape}; they must be integers of shape ({self.num_envs},)"
            )
        # Negative ones become huge.
        wrong = given.astype(np.uint64) > 5
        if wrong.any():
            worst = int(np.flatnonzero(wrong)[0])
            raise NppError(f"action {given[worst]} of environment {worst}; an action is one of 0..5")
        self._actions[:] = given

    def _parse_seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [int(seed) + i for i in range(self.num_envs)]
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ConfigError(f"{len(seeds)} seeds for {self.num_envs} environments")
        return seeds

    def _parse_mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return self._everywhere
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            found = f"{mask.dtype} {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
            raise ConfigError(f"options['reset_mask'] is {found}; it must be a bool array of shape ({self.num_envs},)")
        if not mask.any():
            raise ConfigError("options['reset_mask'] must have at least one True value")
        if not self._was_reset and not mask.all():
            raise NppError("the first reset must cover all environments")
        return mask

    def _random(self, seed: int | None) -> np.random.Generator | None:
        """What the levels of an environment are drawn from; None if it goes on as before."""
        if seed is not None:
            return seeding.np_random(seed)[0]
        return None if self._was_reset else self.np_random

    def _info(self, mask: NDArray[np.bool_] | None) -> dict[str, Any]:
        ninjas, slots = self._episodes.ninjas, self._engine.slots
        values = (
            ninjas["frame"].astype(np.int64),
            outcomes_of(ninjas["state"], self._engine.truncated),
            ninjas["gold"].astype(np.int64),
            slots["level_index"].astype(np.int64),
            (ninjas["switches"] > 0).astype(np.int64),
            slots["episode_return"].copy(),
            slots["episode_steps"].astype(np.int64),
        )
        info: dict[str, Any] = dict(zip(INFO_KEYS, values, strict=True))
        if mask is None:
            info.update(self._everyone)
            return info
        for key, value in zip(INFO_KEYS, values, strict=True):
            value[~mask] = 0
            info[f"_{key}"] = mask.copy()
        return info

    def _final(self, done: NDArray[np.int64], mask: NDArray[np.bool_]) -> dict[str, Any]:
        arrays = self._buffers.arrays[self._buffers.current]
        final_obs = np.full(self.num_envs, None, dtype=object)
        for i in done.tolist():
            if isinstance(arrays, dict):
                final_obs[i] = {key: array[i].copy() for key, array in arrays.items()}
            else:
                final_obs[i] = arrays[i].copy()
        return {
            "final_obs": final_obs,
            "_final_obs": mask.copy(),
            "final_info": self._info(mask),
            "_final_info": mask.copy(),
        }

    @property
    def num_levels(self) -> int:
        """Number of levels in the level set; an endless set offers as many as an int32 can number."""
        return self._episodes.num_levels

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions can make a difference, bool (num_envs, 6); the environment's own array."""
        self._engine.write_key(OBSERVATION_KEYS.index("action_mask"), self._masks)
        return self._masks.view(np.bool_)

    def get_state(self, indices: Sequence[int] | None = None) -> list[bytes]:
        """Snapshots of all or some environments."""
        return [write_saved_state(SavedState.of(self._episodes, i)) for i in self._indices(indices)]

    def set_state(self, states: Sequence[bytes | NDArray[np.uint8]], indices: Sequence[int] | None = None) -> None:
        """Restore snapshots of all or some environments; all are checked before any is restored.

        Raises:
            StateError: One is foreign, truncated, of another version, or of a level that is not in the set.
        """
        chosen = self._indices(indices)
        if len(states) != len(chosen):
            raise NppError(f"{len(states)} states for {len(chosen)} environments")
        saved = [read_saved_state(state) for state in states]
        items = [one.resources(self._episodes, i) for one, i in zip(saved, chosen, strict=True)]
        for one, i, item in zip(saved, chosen, items, strict=True):
            one.restore(self._episodes, i, item)
        self._was_reset = self._was_reset or len(set(chosen)) == self.num_envs

    def _indices(self, indices: Sequence[int] | None) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        chosen = [int(i) for i in indices]
        for i in chosen:
            if not 0 <= i < self.num_envs:
                raise NppError(f"there is no environment {i}; they have numbers 0 to {self.num_envs - 1}")
        return chosen

    def memory_report(self) -> MemoryReport:
        """Every array and cache that these environments hold, its bytes, and whether others share it."""
        return memory_report(self, self._episodes, self._buffers.arrays)

    def render(self, indices: Sequence[int] | None = None) -> tuple[NDArray[np.uint8], ...] | None:
        """Fresh uint8 (600, 1056, 3) pictures of all or some environments."""
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode; use gym.make_vec(..., render_mode='rgb_array')")
            return None
        from npp_env.render.picture import draw_rgb

        pictures = []
        for i in self._indices(indices):
            item = self._episodes.resources_of(i)
            state = self._engine.states[i]
            pictures.append(draw_rgb(item.level, item.handle.geometry, state, hud=self.config.render.show_status))
        return tuple(pictures)

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self._pool.close()


def parse_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """An autoreset mode by itself, its name (`NEXT_STEP`) or its value (`NextStep`)."""
    if isinstance(mode, AutoresetMode):
        return mode
    for candidate in AutoresetMode:
        if mode in (candidate.name, candidate.value):
            return candidate
    names = ", ".join(candidate.name for candidate in AutoresetMode)
    raise ConfigError(f"autoreset_mode is {mode!r}; it must be one of {names}")
