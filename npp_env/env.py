"""`NppEnv`: one N++ environment behind the Gymnasium interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsFloat

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from npp_env.config import TICKS_PER_SECOND, EnvironmentConfig, resolve_config
from npp_env.errors import ConfigError, NppError
from npp_env.level.model import Level
from npp_env.level.validation import shorten
from npp_env.observe.buffers import Observation
from npp_env.observe.spec import OBSERVATION_KEYS
from npp_env.recording.model import MAX_FRAMES, Recording
from npp_env.runtime.arguments import checked_action, checked_options
from npp_env.runtime.copies import contents_of, restore_contents
from npp_env.runtime.episodes import Episodes, split_levels
from npp_env.runtime.input_log import recording_of
from npp_env.runtime.level_choice import LevelChoice
from npp_env.runtime.memory import MemoryReport, memory_report
from npp_env.runtime.saved_state import SavedState, carry_out, read_saved_state, write_saved_state
from npp_env.runtime.step_results import INFO_KEYS
from npp_env.runtime.thread_pool import ThreadPool
from npp_env.sim.outcome import outcome_of
from npp_env.sim.turn import Turn

_CALLER_ALONE = ThreadPool(1)
_FIRST = np.zeros(1, np.int64)


class NppEnv(LevelChoice, gym.Env[Any, Any]):
    """The platformer N++: reach the switch, then the exit, alive.

    **Actions**, `Discrete(6)`: 0 idle, 1 left, 2 right, 3 jump, 4 jump+left, 5 jump+right, held for `frame_skip` ticks
    of 1/60 s.

    **Observations**, selected by `config.observation.keys`; each is a pure function of the level, the exact state and
    the time limit. float16 values are cut to [-1, 1] and rounded to the nearest; flags are 0 or 1. x grows to the
    right, y downwards; directions are unit vectors in the same sense.

    - `game_state` (34,) float16. 0 x / 528 - 1; 1 y / 300 - 1; 2, 3 place within the 24 px tile, from -1 at its left or
      top to 1; 4, 5 velocity / 12 px per tick; 6-13 one-hot state: standing, running, skidding, rising, falling,
      sliding, dead, celebrating; 14 airborne; 15 wall in reach; 16 last wall normal; 17, 18 last floor normal; 19, 20
      last ceiling normal; 21-24 buffers jump, floor, wall, launch pad: 0 idle, else (age + 1) / 6, with age 0 in the
      tick that set it; 25 ticks of the present or last jump / 46; 26 gravity / normal gravity; 27 last horizontal input
      -1, 0, 1; 28 last jump input; 29, 30 direction of the last launch pad, 0 before the first; 31 share of the time
      that is left, 1 without a limit, below 0 beyond it; 32 an exit switch was taken; 33 share of the gold that is
      left, 0 where there is none at all.
    - `entity_states` (max_entities, 39) float16: the nearest entities that still matter, nearest first (ties: in map
      order, open exits and rockets last), then rows of zeros. Collected gold and touched switches do not matter any
      more; an exit does once its switch was taken, a rocket while it flies; a door or exit stands where its switch is.
      0 present; 1, 2 position relative to the ninja / (1056, 600); 3, 4 velocity / 12, that of drones, floor guards,
      thwumps and shove thwumps being the speed of their phase even where something blocks them, that of chaingun and
      laser drones 0 unless they are idle, that of an evil ninja that follows its next move; 5, 6 direction: of pads and
      one-ways their normal, of drones that of travel, of thwumps that of the charge, of shove thwumps that of the way
      back, of laser turrets the beam, of rockets that of flight; 7 mode (mines: 1 armed, 0.5 arming, 0 idle; doors:
      open; drones: turning rule / 3; floor guards: -1 running left, 0, 1 right; thwumps: -1 returning, 0, 1 charging;
      laser turrets: -1 or 1, the sense of turning; boost pads: the ninja is inside; shove thwumps: rest, triggered,
      launched, returning / 3); 8 radius / 24; 9 phase (rocket turrets: idle, about to fire, rocket in flight / 3; gauss
      turrets: idle, targeting, about to fire, recovering / 3; chaingun and laser drones: idle, about to fire, firing,
      recovering / 3; chasers: 1 while they chase; evil ninjas: asleep, touched, waiting, following / 3); 10 share of
      the phase that is left, 0 where it has no end: 1 - t / T, with T ticks of 15 for turrets, 90 while a gauss turret
      targets (t counts slower the farther its aim is from the ninja), 52 and 45 for chaingun and laser drones about to
      fire, 80 for a beam, 90 and 60 while they recover; while a chaingun fires, 1 - t / 9 up to its next bullet; while
      the n-th evil ninja waits, t since its touch and T = 120 n; 11, 12 where it aims, relative to the ninja / (1056,
      600), 0 if nowhere: a gauss turret, unless idle, at its aim point; a laser turret, and a laser drone that is about
      to fire or fires, where the beam ends or would end; a chaingun that fires where its next bullet would end, if
      there is one; an evil ninja that waits at the place where it will start. 13-38 one-hot type: mine, gold, exit
      switch, door, locked door switch, trap door switch, launch pad, one-way, zap drone, floor guard, bounce block,
      thwump, toggle mine, laser turret, boost pad, death ball, mini drone, shove thwump, open exit, chaingun drone,
      laser drone, rocket turret, gauss turret, rocket, chaser, evil ninja.
      Radii: mines 4 armed, 4.5 arming, 3.5 idle; doors 10; their switches 5; mini drones 4, all other drones 7.5; laser
      turrets 5.9; death balls 5 (what kills); rockets 0 (a point); evil ninjas 10, 6 while they follow; open exits 12;
      half the side of bounce blocks and thwumps 9, of shove thwumps 12, half the length of one-ways 12; all else 6.
    - `switch_states` (25,) float16: five groups of 5, exits first, then locked doors, then trap doors, each in map
      order, as many as there are: switch relative to the ninja / (1056, 600), door or exit likewise, 1 if the exit's
      switch was taken or the door is open (a trap door is until its switch is touched).
    - `reachability_features` (10,) float16: 0 path length to the nearest switch / 4000 px, cut to 1 (1 if unreachable,
      0 once one is taken); 1, 2 unit direction of the next hop to it (0 if unreachable or taken); 3-5 the same for the
      exit; 6 path length over the switch, once it is taken straight to the exit, / 4000, cut to 1 (1 if unreachable); 7
      share of the free space that can be reached from the spawn; 8 switch reachable (0 once taken); 9 exit reachable. A
      path begins at the ninja's true position: straight to the next hop of its node, then on from there. In a level
      without any node 0, 3 and 6 are 1 and all else 0. `docs/graph.md` defines nodes, hops and lengths.
    - `spatial_context` (155,) float16: 0-120 how solid the 11 x 11 half tiles (12 px) around the ninja's own are, row
      by row from the top left: the share of the 144 pixels whose centre lies inside the solid part of the tile, not on
      its border; 1 beyond the map; doors do not count; 121, 122 place within the middle one, from -1 at its left or top
      to 1; then the 8 nearest mines of both types (ties: in map order): present, dx / 132, dy / 132, mode (1 armed, 0.5
      arming, 0 idle).
    - `player_frame` (84, 84, 1) uint8: 168 x 168 px around the ninja at half size, grey: the ninja 255, walls 72, empty
      space 128, what harms darker and what helps brighter. `docs/frames.md` has the shape and grey of every entity.
    - `global_view` (100, 176, 1) uint8: the whole level at a sixth of its size, likewise.
    - `graph_node_feats` (max_nodes, 8) float16: 0, 1 position as in `game_state`; 2, 3 relative to the ninja / (1056,
      600), cut to [-1, 1]; 4 kind / 8; 5 path length to the end, over the switch until it is taken, / 4000, cut to 1 (1
      if unreachable); 6 reachable from the spawn (0.5: once doors are opened); 7 the ninja is here.
      `graph_edge_index` (2, max_edges) uint16: source and target nodes. `graph_edge_feats` (max_edges, 4) float16:
      offset and length / 24 px, cut to [-1, 1], kind / 8. `graph_node_mask` (max_nodes,) and `graph_edge_mask`
      (max_edges,) uint8: 1 where there is one, and zeros in all arrays behind the last. Order and kinds are those of
      `docs/graph.md`; edges that a door closes stay. Of a graph that is larger, the first nodes are kept, and of the
      edges between them the first.
    - `action_mask` (6,) uint8: as `action_masks()`.

    With `layout="flat"` all keys form one float16 vector in the order of the keys, uint8 ones as the same numbers; with
    `layout="packed"` one uint8 vector of their bytes, first all float16 and uint16 keys in the order of the keys, then
    all uint8 keys; with `layout="state"` one uint8 vector of the exact state, which `set_state` takes back: 40 bytes
    with version 2, number of the level, time limit (0: none), steps of the episode (4 bytes each, little-endian),
    the 16 bytes of the level's hash and a checksum (8 bytes), then the state, then zeros.

    **Reward**: see `RewardConfig`. **Termination** on winning or dying, in that very tick; **truncation** at the end of
    the first step that reaches `max_episode_frames` alive. A step after winning or dying carries out no tick and pays
    nothing; one after truncation goes on.

    **info**: `frame` ticks since the start, `outcome` (see `Outcome`), `gold` collected, `level` its number in the
    level set (-1 for a level from outside), `level_name` what it is called there, `phase` 0 on the way to the switch
    and 1 to the exit, `episode_return`, `episode_steps`, both with this step.

    **Arrays**: with `copy=True` every observation is a fresh array. With `copy=False` it is a view of a double buffer:
    what `step` returned stays valid through the next `step` and is overwritten by the one after. Views of graphs
    are read-only, because a step rewrites only what changed of them. With `buffers=` it is the caller's own arrays
    (each with a leading axis of length 1), written in place by every step.

    **Threads**: one at a time; a call while another is under way raises `NppError`. **Interrupts** are delivered when
    the compiled work of a call is done; the environment then stands before or after the call, or says that it wants a
    `reset`.

    Args:
        config: An `EnvironmentConfig`, or a (nested) dictionary of its fields.
        preset: Name of a preset: training, parallel_training, evaluation, visual_testing.
        render_mode: None, `rgb_array` or `human`.
        buffers: The caller's own arrays for the observations.
        sampling: Which level an episode is played on: `uniform`, `success` for a curriculum that makes itself (see
            `npp_env.runtime.success_sampling.SuccessSampling`), a list of weights, or a function.
        **overrides: Single fields of the configuration, such as `frame_skip=1` or `levels="shipped:mines"`.

    Example:
        >>> import gymnasium as gym
        >>> env = gym.make("npp_env:Npp-v0", preset="training", levels="shipped:first_steps")
        >>> observation, info = env.reset(seed=1)
        >>> observation["game_state"].dtype
        dtype('float16')
        >>> observation, reward, terminated, truncated, info = env.step(2)
        >>> info["frame"]
        4
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": ["rgb_array", "human"],
        "render_fps": 60,
    }

    def __init__(
        self,
        config: EnvironmentConfig | Mapping[str, Any] | None = None,
        preset: str | None = None,
        render_mode: str | None = None,
        buffers: Observation | None = None,
        sampling: Any = None,
        **overrides: Any,
    ) -> None:
        if not (render_mode is None or (isinstance(render_mode, str) and render_mode in self.metadata["render_modes"])):
            raise ConfigError(f"render_mode is {shorten(render_mode)}; it must be None, 'rgb_array' or 'human'")
        levels, overrides = split_levels(overrides)
        self.config = resolve_config(config, preset, overrides)
        self.render_mode = render_mode
        # A picture a step: at this rate a video or window runs at the speed of the game.
        self.metadata = {**self.metadata, "render_fps": TICKS_PER_SECOND / self.config.frame_skip}
        self._window: Any = None
        self._episodes = Episodes(self.config, 1, levels, sampling)
        self._engine = self._episodes.engine
        self._layout = self._episodes.layout
        self.action_space = gym.spaces.Discrete(6)
        self.observation_space = self._layout.space()
        self._turn = Turn("this environment", "call reset()")
        self._buffers = self._episodes.buffers(buffers, single=True)
        self._was_reset = False
        self._actions = bytearray()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seeds the choice of levels; the same seed gives the same levels in any vectorisation.
            options: `{"level": ...}` chooses the level of this episode: its number in the level set, a specification of
                one level, or a `Level`.

        Returns:
            Observation (see the class for who owns it) and info.
        """
        return self._turn.renew(self._reset, seed, options)

    def _reset(self, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, dict[str, Any]]:
        level = checked_options(options, "level").get("level")
        super().reset(seed=seed)
        random = self.np_random if seed is not None or not self._was_reset else None
        self._episodes.reset(_FIRST, [random], level, [] if seed is None else [0])
        self._was_reset, self._turn.torn = True, False
        self._actions = bytearray()
        if self.render_mode == "human":
            self._render()
        return self._observe()

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """Observation and info of the present state, as `reset` gives them: what `set_state` has led to.

        Raises:
            NppError: The environment was not reset.
        """
        return self._turn.run(self._observe)

    def _observe(self) -> tuple[Any, dict[str, Any]]:
        if not self._was_reset:
            raise NppError("observe() before reset(): call env.reset() first")
        self._episodes.finish()
        buffer = self._buffers.following
        self._engine.observe(_CALLER_ALONE, buffer, _FIRST)
        self._buffers.current = buffer
        return self._buffers.observation(), self._info(self._engine.result(0)[-1])

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Hold an action for `frame_skip` ticks, or until the episode ends.

        Raises:
            NppError: The action is not one of 0..5, or the environment was not reset.
        """
        return self._turn.run(self._step, action)

    def _step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        if not self._was_reset:
            raise NppError("step() before reset(): call env.reset() first")
        engine, buffer = self._engine, self._buffers.following
        chosen = checked_action(action)
        self._episodes.finish()
        if engine.play_first(chosen, buffer):
            self._episodes.finish()
        if len(self._actions) < MAX_FRAMES:
            self._actions.append(chosen)
        self._buffers.current = buffer
        if self.render_mode == "human":
            self._render()
        reward, terminated, truncated = engine.result(0)
        return self._buffers.observation(), reward, terminated, truncated, self._info(truncated)

    def _info(self, truncated: bool) -> dict[str, Any]:
        frame, state, gold, switches, level, total, steps = self._engine.status(0)
        values = (frame, int(outcome_of(state, truncated)), gold, level, 1 if switches else 0, total, steps)
        info: dict[str, Any] = dict(zip(INFO_KEYS, values, strict=True))
        info["level_name"] = self._episodes.level_name(0)
        return info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions can make a difference to the ninja's motion in the present state; a fresh array (6,).

        When the ninja is dead or has won only idle does. A jump that is held on since the last tick does nothing unless
        the ninja is rising or the jump buffer is not idle: the three actions with a jump are 0 then. All else is 1.
        """
        return self._turn.run(self._action_masks)

    def _action_masks(self) -> NDArray[np.bool_]:
        mask = np.zeros((1, 6), np.uint8)
        self._engine.write_key(OBSERVATION_KEYS.index("action_mask"), mask)
        allowed: NDArray[np.bool_] = mask[0].astype(np.bool_)
        return allowed

    @property
    def level(self) -> Level:
        """The level of the present episode."""
        return self._episodes.resources_of(0).level

    def get_state(self) -> bytes:
        """A snapshot of the episode: exact state, level, time limit, return so far."""
        return self._turn.run(self._get_state)

    def _get_state(self) -> bytes:
        self._episodes.finish()
        return write_saved_state(SavedState.of(self._episodes, 0))

    def set_state(self, state: bytes | NDArray[np.uint8]) -> None:
        """Restore a snapshot, or a row of the `state` layout, of the present level or of one in the level set.

        `observe()` then gives the observation.

        Raises:
            StateError: It is foreign, truncated, damaged, of another version, no valid state, or of a level that this
                environment does not have. Nothing has changed then.
        """
        self._turn.run(self._set_state, state)

    def _set_state(self, state: bytes | NDArray[np.uint8]) -> None:
        carry_out([read_saved_state(state).prepare(self._episodes, 0)])
        self._was_reset = True
        self._actions = bytearray()

    def recording(self) -> Recording:
        """The episode so far as a recording, which `npp_env.recording.save_recording` keeps and `npp-env replay` plays.

        Raises:
            RecordingError: There was no reset, or the episode was restored with `set_state` from its midst.
        """
        return self._turn.run(recording_of, self._episodes, 0, self._actions)

    def memory_report(self) -> MemoryReport:
        """Every array and cache that this environment holds, its bytes, and whether others share it."""
        return self._turn.run(memory_report, self, self._episodes, self._buffers.arrays)

    def render(self) -> Any:
        """A fresh uint8 (600, 1056, 3) picture, or None after drawing it in the window of `render_mode="human"`."""
        return self._turn.run(self._render)

    def _render(self) -> Any:
        if self.render_mode is None:
            gym.logger.warn("render() without a render_mode; use gym.make(..., render_mode='rgb_array')")
            return None
        from npp_env.render.picture import draw_rgb

        item = self._episodes.resources_of(0)
        picture = draw_rgb(item.level, item.handle.geometry, self._engine.states[0], hud=self.config.render.show_status)
        if self.render_mode == "rgb_array":
            return picture
        if self._window is None:
            from npp_env.render.window import Window

            self._window = Window(frames_per_second=self.metadata["render_fps"])
        self._window.answer()
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window, if there is one, and give the worker back that makes levels ahead."""
        self._turn.renew(self._close)

    def _close(self) -> None:
        self._episodes.close()
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return self._turn.run(contents_of, self, self._episodes, {}, "_actions")

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__init__(**saved["arguments"])  # type: ignore[misc]
        restore_contents(self, self._episodes, saved)


def create_environment(
    config: EnvironmentConfig | Mapping[str, Any] | None = None, *, render_mode: str | None = None
) -> NppEnv:
    """The environment of a configuration, without wrappers.

    Example:
        >>> env = create_environment(EnvironmentConfig.for_evaluation(levels="shipped:first_steps"))
        >>> observation, info = env.reset(seed=0)
        >>> info["frame"]
        0
    """
    return NppEnv(config, render_mode=render_mode)
