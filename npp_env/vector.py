"""`NppVectorEnv`: thousands of environments in one process, stepped by one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from npp_env.config import TICKS_PER_SECOND, EnvironmentConfig, resolve_config
from npp_env.errors import ConfigError, NppError, RecordingError, StateError
from npp_env.level.heap import return_free_memory
from npp_env.level.validation import shorten
from npp_env.observe.buffers import Observation, batch_actions, batch_space
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.recording.model import Recording
from npp_env.runtime.arguments import (
    check_counts,
    check_states,
    checked_indices,
    checked_mask,
    checked_options,
    checked_seeds,
    parse_autoreset_mode,
)
from npp_env.runtime.copies import contents_of, restore_contents
from npp_env.runtime.episodes import MAX_LIMIT_FRAMES, Episodes, split_levels
from npp_env.runtime.input_log import InputLog
from npp_env.runtime.level_choice import LevelChoice
from npp_env.runtime.memory import MemoryReport, memory_report
from npp_env.runtime.saved_state import SavedState, carry_out, read_saved_state, write_saved_state
from npp_env.runtime.step_results import INFO_KEYS, ResultMemory
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.runtime.vector_infos import final_infos, masked
from npp_env.sim.turn import Turn


class NppVectorEnv(LevelChoice, gym.vector.VectorEnv[Any, Any, Any]):
    """Many N++ environments as one; each behaves, to the last bit, as an `NppEnv` with the same configuration.

    All states lie in one block of memory, all observations in one set of arrays; physics, rewards, masks, observations
    and restarts run in compiled code without the GIL.

    `info` holds arrays (num_envs,) under the keys of `NppEnv` that are numbers, the statistics of the episodes among
    them: `episode_return`, `episode_steps` and `outcome`. In place of `level_name` there are `present_level_names` and
    `level_names`.

    Args:
        num_envs: Number of environments.
        config: An `EnvironmentConfig`, or a (nested) dictionary of its fields.
        preset: Name of a preset: training, parallel_training, evaluation, visual_testing.
        render_mode: None or `rgb_array`.
        max_episode_steps: Truncates episodes after so many steps, in addition to `max_episode_frames`.
        autoreset_mode: When an ended environment begins its next episode: `AutoresetMode.NEXT_STEP`, `SAME_STEP` (with
            `final_obs` and `final_info` in info) or `DISABLED` (by `reset(options={"reset_mask": ...})`).
        num_threads: Threads that share the work; the results do not depend on their number. On Windows there is one.
        sampling: Which level an episode is played on: `uniform`, `success` for a curriculum that makes itself (see
            `npp_env.runtime.success_sampling.SuccessSampling`), a list of weights, or a function.
        buffers: The caller's own arrays for the observations, written in place by every step.
        **overrides: Single fields of the configuration, such as `frame_skip=1` or `levels="shipped:mines"`.

    With `copy=True` every observation is a fresh array; with `copy=False` a view of a double buffer: what `step`
    returned stays valid through the next `step`. Views of graphs are read-only, and a step rewrites only what
    changed of them. Rewards, flags, infos and `final_obs` are always fresh: their memory is used again only when nobody
    holds it any more.

    One thread at a time: a call while another is under way raises `NppError`. An interrupt (Ctrl-C) is delivered when
    the compiled work of a call is done; the environment then stands before or after the call, or says that it wants a
    `reset`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array"],
        "render_fps": 60,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }
    # Gymnasium also closes what could not be made.
    _pool = ThreadPool(1)
    _turn = Turn("an environment that was not made", "make it again")

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
        check_counts(num_envs, num_threads, max_episode_steps)
        if render_mode is not None and not (isinstance(render_mode, str) and render_mode == "rgb_array"):
            raise ConfigError(f"render_mode is {shorten(render_mode)}; it must be None or 'rgb_array'")
        levels, overrides = split_levels(overrides)
        self.config = resolve_config(config, preset, overrides)
        self.num_envs = int(num_envs)
        self.render_mode = render_mode
        self.autoreset_mode = parse_autoreset_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.metadata["render_fps"] = TICKS_PER_SECOND / self.config.frame_skip
        self.num_threads = int(num_threads)
        max_frames = None if max_episode_steps is None else max_episode_steps * self.config.frame_skip
        if max_frames is not None and max_frames > MAX_LIMIT_FRAMES:
            raise ConfigError(
                f"max_episode_steps is {shorten(max_episode_steps)}: with frame_skip {self.config.frame_skip} more "
                f"than the {MAX_LIMIT_FRAMES} ticks that an episode may have; make it smaller, or None"
            )
        self._max_episode_steps = max_episode_steps
        self._episodes = Episodes(self.config, self.num_envs, levels, sampling, max_frames=max_frames)
        self._engine = self._episodes.engine
        self._layout = self._episodes.layout
        self.single_action_space = gym.spaces.Discrete(6)
        self.action_space = batch_actions(self.single_action_space, self.num_envs)
        self.single_observation_space = self._layout.space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._pool = ThreadPool(self.num_threads)
        self._turn = Turn("this vector environment", "call reset()")
        self._results = ResultMemory(self.num_envs)
        self._everywhere = np.ones(self.num_envs, np.bool_)
        self._everywhere.setflags(write=False)
        self._everyone = {f"_{key}": self._everywhere for key in INFO_KEYS}
        self._masks: NDArray[np.uint8] | None = None  # as long as nobody asked for them
        self._was_reset = False
        self._buffers = self._episodes.buffers(buffers)
        self._log: InputLog | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes in all environments, or in those of a mask.

        Args:
            seed: None, one int (environment i gets seed + i), or one seed per environment.
            options: `{"reset_mask": bool array}` restarts only those; `{"level": ...}` as in `NppEnv.reset`, or a list
                with a level, or None, for each environment.

        Returns:
            Observations (see the class for who owns them) and info; with a mask, info covers the masked ones.
        """
        return self._turn.renew(self._reset, seed, options)

    def _reset(self, seed: Any, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        seeds = checked_seeds(seed, self.num_envs)
        options = checked_options(options, "level", "reset_mask")
        mask = self._chosen(options.get("reset_mask"))
        chosen = np.flatnonzero(mask)
        if not mask.all():
            self._episodes.finish()
        seeded = [i for i in chosen.tolist() if seeds[i] is not None]
        self._episodes.reset(chosen, (self._random(seeds[i]) for i in chosen.tolist()), options.get("level"), seeded)
        first = not self._was_reset
        self._was_reset, self._turn.torn = True, False
        if self._log is not None:
            self._log.begin(chosen)
        found = self._observe(None if mask.all() else mask)
        if first:
            # Levels were loaded, and states prepared one by one.
            return_free_memory()
        return found

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """Observations and info of the present states, as `reset` gives them: what `set_state` has led to.

        Raises:
            NppError: Some environments were not reset.
        """
        return self._turn.run(self._observe, None)

    def _observe(self, mask: NDArray[np.bool_] | None) -> tuple[Any, dict[str, Any]]:
        self._episodes.finish()
        buffer = self._buffers.following
        self._engine.observe(self._pool, buffer, np.arange(self.num_envs))
        self._buffers.current = buffer
        return self._buffers.observation(), self._info(mask)

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One step of every environment.

        Args:
            actions: Integers (num_envs,), each one of 0..5.

        Raises:
            NppError: Wrong actions, or an ended environment with autoreset disabled; nothing was stepped then.
        """
        return self._turn.run(self._step, actions)

    def _step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        if not self._was_reset:
            raise NppError("step() before reset(): call env.reset() first")
        engine, episodes = self._engine, self._episodes
        engine.take_actions(actions)
        if engine.n_unfinished:
            episodes.finish()
        ended = engine.to_restart()
        if ended is not None:
            self._restart_ended(ended)
        buffer, results = self._buffers.following, self._results.free()
        if engine.play(self._pool, buffer, results):
            episodes.finish()
        if self._log is not None:
            self._log.note(ended)
        self._buffers.current = buffer
        rewards, terminated, truncated, info = results.hand_out()
        info.update(self._everyone)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            ended = engine.to_restart()
            if ended is not None:
                final = final_infos(self._buffers.arrays[buffer], ended, terminated | truncated, info)
                episodes.begin(ended, fresh=False)
                if self._log is not None:
                    self._log.begin(ended)
                engine.observe(self._pool, buffer, ended)
                engine.report(results)
                info = {**final, **info}
        return self._buffers.observation(), rewards, terminated, truncated, info

    def _restart_ended(self, ended: NDArray[np.int64]) -> None:
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            raise NppError(f"environments {ended[:8].tolist()} have ended; reset them with options['reset_mask'] first")
        self._episodes.begin(ended)

    def _chosen(self, mask: Any) -> NDArray[np.bool_]:
        """The environments that a reset is for."""
        if mask is None:
            return self._everywhere
        chosen = checked_mask(mask, self.num_envs)
        if not self._was_reset and not chosen.all():
            raise NppError("the first reset must cover all environments")
        if self._turn.torn and not chosen.all():
            raise NppError("a change of these environments was cut off in the middle; reset them all, without a mask")
        return chosen

    def _random(self, seed: int | None) -> np.random.Generator | None:
        """What the levels of an environment are drawn from; None if it goes on as before."""
        if seed is not None:
            return seeding.np_random(seed)[0]
        return None if self._was_reset else self.np_random

    def _info(self, mask: NDArray[np.bool_] | None) -> dict[str, Any]:
        results = self._results.free()
        self._engine.report(results)
        info = results.hand_out()[-1]
        if mask is None:
            info.update(self._everyone)
            return info
        return masked(info, mask)

    @property
    def present_level_names(self) -> list[str]:
        """Names of the levels that are being played, by environment; infos have their numbers. A fresh list."""
        return [self._episodes.level_name(i) for i in range(self.num_envs)]

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions can make a difference, bool (num_envs, 6); the environment's own array."""
        return self._turn.run(self._action_masks)

    def _action_masks(self) -> NDArray[np.bool_]:
        if self._masks is None:
            self._masks = np.zeros((self.num_envs, 6), np.uint8)
        self._engine.write_key(OBSERVATION_KEYS.index("action_mask"), self._masks)
        return self._masks.view(np.bool_)

    def get_state(self, indices: Sequence[int] | None = None) -> list[bytes]:
        """Snapshots of all or some environments."""
        return self._turn.run(self._get_state, indices)

    def _get_state(self, indices: Sequence[int] | None) -> list[bytes]:
        self._episodes.finish()
        return [write_saved_state(SavedState.of(self._episodes, i)) for i in self._indices(indices)]

    def set_state(self, states: Sequence[bytes | NDArray[np.uint8]], indices: Sequence[int] | None = None) -> None:
        """Restore snapshots, or rows of the `state` layout, of all or some environments; all of them, or none.

        `observe()` then gives the observations.

        Raises:
            StateError: One is foreign, truncated, damaged, of another version, no valid state, or of a level that is
                not in the set. Nothing has changed then.
        """
        self._turn.run(self._set_state, states, indices)

    def _set_state(self, states: Sequence[bytes | NDArray[np.uint8]], indices: Sequence[int] | None) -> None:
        chosen = self._indices(indices)
        check_states(states, chosen)
        self._episodes.finish()
        prepared = []
        for state, i in zip(states, chosen, strict=True):
            try:
                prepared.append(read_saved_state(state).prepare(self._episodes, i))
            except StateError as error:
                raise StateError(f"the state for environment {i}: {error}") from error
        carry_out(prepared)
        if self._log is not None:
            self._log.begin(chosen)
        self._was_reset = self._was_reset or len(set(chosen)) == self.num_envs

    def _indices(self, indices: Sequence[int] | None) -> list[int]:
        return checked_indices(indices, self.num_envs)

    def start_recording(self) -> None:
        """Keep the inputs of every episode that begins from now on: a byte for each step of the longest one.

        `recording` and `final_recording` need it; what a single environment takes for it is not worth asking for.
        """
        if self._log is None:
            self._log = InputLog(self._episodes)

    def recording(self, index: int) -> Recording:
        """The present episode of an environment as a recording; needs `start_recording`.

        Raises:
            RecordingError: Inputs are not kept, or the episode was restored with `set_state` from its midst.
        """
        return self._turn.run(self._inputs().recording, self._indices([index])[0])

    def final_recording(self, index: int) -> Recording:
        """The last episode of an environment that ended, also when its next one has begun; needs `start_recording`.

        Raises:
            RecordingError: Inputs are not kept, or no episode that began at its reset has ended.
        """
        return self._turn.run(self._inputs().final, self._indices([index])[0])

    def _inputs(self) -> InputLog:
        if self._log is None:
            raise RecordingError("this environment keeps no inputs; call start_recording() first")
        return self._log

    def memory_report(self) -> MemoryReport:
        """Every array and cache that these environments hold, its bytes, and whether others share it."""
        return self._turn.run(memory_report, self, self._episodes, self._buffers.arrays, self._results)

    def render(self, indices: Sequence[int] | None = None) -> tuple[NDArray[np.uint8], ...] | None:
        """Fresh uint8 (600, 1056, 3) pictures of all or some environments."""
        return self._turn.run(self._render, indices)

    def _render(self, indices: Sequence[int] | None) -> tuple[NDArray[np.uint8], ...] | None:
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

    def __getstate__(self) -> dict[str, Any]:
        arguments = {
            "num_envs": self.num_envs,
            "max_episode_steps": self._max_episode_steps,
            "autoreset_mode": self.autoreset_mode,
            "num_threads": self.num_threads,
        }
        contents = self._turn.run(contents_of, self, self._episodes, arguments, "single_action_space", "closed")
        return {**contents, "log": None if self._log is None else self._log.contents()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(**saved["arguments"])  # type: ignore[misc]
        restore_contents(self, self._episodes, saved)
        if saved["log"] is not None:
            self._log = InputLog(self._episodes, saved["log"])

    def close_extras(self, **kwargs: Any) -> None:
        """Give the threads back, and the worker that makes levels ahead."""
        self._turn.renew(self._close)

    def _close(self) -> None:
        self._pool.close()
        if "_episodes" in self.__dict__:
            self._episodes.close()
