"""Drives environments through levels and hands out every moment, with what was seen in it.

    recorded(name)       the winning recording of a shipped level
    wander(level, seed)  keys held for a while, at random
    scripted(level, ...) keys given as (action, ticks)
    staged()             one small scene for each phase that wandering seldom meets

A `Moment` holds the level, the bytes of the state, the time limit, and what the environment said. `phases_of(scene)`
names what a scene shows, so that a test can tell what was compared and what never was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from npp_env import NppEnv
from npp_env.recording import load_shipped_recording
from reference.levels import STAND, crowded_room, crowded_rooms, hall, random_level, shipped_levels
from reference.scene import CELEBRATING, DEAD, Scene, scene_of, state_bytes

KEYS = ("game_state", "entity_states", "switch_states", "spatial_context", "action_mask")
IDLE, LEFT, RIGHT, JUMP, JUMP_LEFT, JUMP_RIGHT = range(6)
# By the bits of an input byte: jump 1, right 2, left 4; left wins.
ACTION_OF_BYTE = (IDLE, JUMP, RIGHT, JUMP_RIGHT, LEFT, JUMP_LEFT, LEFT, JUMP_LEFT)


@dataclass
class Moment:
    """What an environment said after a reset (reward None) or a step, and the state it was said of."""

    level: Any
    state: bytes
    limit_frames: int
    env: Any
    observation: dict[str, Any]
    info: dict[str, Any]
    reward: float | None = None
    terminated: bool = False
    truncated: bool = False
    _scene: Scene | None = field(default=None, repr=False)

    @property
    def scene(self) -> Scene:
        if self._scene is None:
            self._scene = scene_of(self.level, self.state, self.limit_frames)
        return self._scene

    def __str__(self) -> str:
        return f"level {self.level.name!r} frame {self.scene.ninja.frame}"


@cache
def environment(limit_frames: int = 0, frame_skip: int = 1, keys: tuple[str, ...] = KEYS) -> NppEnv:
    """One environment a configuration, for any level; it says nothing of paths."""
    return NppEnv(
        levels=[hall([])],
        frame_skip=frame_skip,
        max_episode_frames=limit_frames or None,
        observation={"keys": keys},
        reward={"shaping_weight": 0, "death_weight": -0.5, "time_weight": -1e-4},
    )


def state_of(env: NppEnv) -> bytes:
    """The bytes of the state, without what a snapshot puts before them."""
    return env.get_state()[-state_bytes(env.level) :]


def play(level: Any, actions: Iterable[int], limit_frames: int = 0, frame_skip: int = 1, beyond: int = 0):
    """The moments of an episode, from its start to its end, or some steps beyond it."""
    env = environment(limit_frames, frame_skip)
    observation, info = env.reset(seed=0, options={"level": level})
    yield Moment(level, state_of(env), limit_frames, env, observation, info)
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        yield Moment(level, state_of(env), limit_frames, env, observation, info, float(reward), terminated, truncated)
        if terminated or truncated:
            if beyond == 0:
                return
            beyond -= 1


def recorded_actions(name: str) -> list[int]:
    return [ACTION_OF_BYTE[byte & 7] for byte in load_shipped_recording(name).inputs.tolist()]


def recorded(name: str, level: Any) -> Iterator[Moment]:
    return play(level, recorded_actions(name))


def held(seed: int, ticks: int, hold: int = 24) -> list[int]:
    """Actions that are held for a while, as a player holds keys."""
    rng = np.random.default_rng([seed, 7])
    actions: list[int] = []
    while len(actions) < ticks:
        actions += [int(rng.choice(6, p=[0.1, 0.17, 0.2, 0.08, 0.2, 0.25]))] * int(rng.integers(1, hold))
    return actions[:ticks]


def wander(level: Any, seed: int, ticks: int, **options: Any) -> Iterator[Moment]:
    return play(level, held(seed, ticks), **options)


def scripted(level: Any, *keys: tuple[int, int], **options: Any) -> Iterator[Moment]:
    return play(level, [action for action, ticks in keys for _ in range(ticks)], **options)


def staged() -> Iterator[Moment]:
    """Scenes for what wandering seldom meets, the most telling first."""
    yield from scripted(crowded_room(21), (RIGHT, 60), (JUMP_RIGHT, 30))
    yield from scripted(crowded_room(1), (RIGHT, 60), beyond=1)
    for orientation in range(8):
        yield from scripted(hall([(10, 40, 50, orientation)], (40, 50)), (IDLE, 6), (JUMP_RIGHT, 10), (IDLE, 40))
    # Thwumps: the ninja passes before them on the floor, or falls past them; then they return.
    yield from scripted(hall([(20, 90, 77, 4)], (40, STAND), {(5, 18): 1}), (JUMP_RIGHT, 30), (IDLE, 150))
    for orientation, y, ninja in ((0, 70, (60, 50)), (4, 70, (20, 50)), (2, 50, (45, 70)), (6, 77, (45, 30))):
        walls = {(5, row): 1 for row in range(1, 20)} | {(22, row): 1 for row in range(1, 20)}
        level = hall([(20, 40, y, orientation)], ninja, {**walls, (10, 6): 1})
        yield from scripted(level, (IDLE, 200))
    # A shove thwump is pushed from each side, leaves, meets a wall and comes back.
    shoved = hall([(28, 60, 76)], (50, STAND), {(4, row): 1 for row in range(15, 20)})
    yield from scripted(shoved, (RIGHT, 60), (LEFT, 12), (IDLE, 120))
    yield from scripted(hall([(28, 40, 76)], (50, STAND), {(30, 19): 1}), (LEFT, 60), (RIGHT, 12), (IDLE, 120))
    yield from scripted(hall([(28, 40, 66)], (40, STAND), {(10, 12): 1}), (IDLE, 10), (JUMP, 30), (IDLE, 120))
    yield from scripted(hall([(28, 40, 70)], (40, 60)), (IDLE, 60), (LEFT, 40), (IDLE, 40))
    yield from scripted(crowded_room(24), (RIGHT, 60), (JUMP_RIGHT, 30))
    for kind in (5, 6, 8):
        yield from scripted(crowded_room(kind), (RIGHT, 60), (JUMP_RIGHT, 30), (LEFT, 60))
    yield from scripted(crowded_room(3), (RIGHT, 120))
    yield from scripted(crowded_room(16), (IDLE, 20), (LEFT, 60))
    yield from scripted(crowded_room(17), (RIGHT, 60), (JUMP_RIGHT, 40), (LEFT, 40))
    yield from scripted(crowded_room(25), (LEFT, 90))
    # Shooters: they see the ninja at once, and shoot at one that waits, walks or jumps away.
    for kind in (12, 13, 18, 19):
        for place, orientation in (((70, 60), 0), ((8, 40), 4), ((100, 76), 2)):
            shooter = hall([(kind, *place, orientation, 1)], (40, STAND))
            yield from scripted(shooter, (IDLE, 60), (RIGHT, 30), (JUMP_RIGHT, 40), (LEFT, 120))
    # Behind a wall it outlives them.
    shelter = {(column, row): 1 for column in (14, 15) for row in (18, 19)}
    for kind in (12, 13, 18, 19):
        level = hall([(kind, 20, STAND, 0, 0)], (46, STAND), shelter)
        yield from scripted(level, (IDLE, 5), (JUMP_RIGHT, 30), (RIGHT, 40), (IDLE, 200))
    # A chaser in each mode sees the ninja on its floor, misses it, and ends at a wall.
    for mode in range(4):
        for place, orientation in (((100, STAND), 4), ((60, 40), 2), ((4, STAND), 0), ((40, 40), 6)):
            level = hall([(15, *place, orientation, mode)], (40, STAND), {(30, 19): 1})
            yield from scripted(level, (IDLE, 30), (JUMP_RIGHT, 30), (RIGHT, 40), (JUMP_LEFT, 40), (IDLE, 60))
    yield from scripted(hall([(15, 40, 76, 0, 0)], (40, 30)), (IDLE, 60))
    # Evil ninjas wake one after the other and follow, in a room that is long enough to run from them.
    evil = [(22, 44, STAND), (22, 60, STAND), (22, 130, 60)]
    yield from scripted(
        hall(evil, (36, STAND)), (RIGHT, 120), (JUMP_RIGHT, 40), (IDLE, 10), (LEFT, 40), (JUMP_LEFT, 120)
    )
    yield from scripted(hall(evil, (36, STAND)), (RIGHT, 60), (IDLE, 200))
    for corner in ((8, 8), (168, 8), (8, STAND), (168, STAND), (100, 92)):
        outward = LEFT if corner[0] == 8 else RIGHT
        yield from scripted(hall([], corner, {(25, 22): 0}), (outward, 20))
    # A shaft to slide and jump in, a slanted ceiling to jump against, slopes to run and skid on.
    up = ((IDLE, 10), (JUMP_RIGHT, 30))
    shaft = {(column, row): 1 for row in range(8, 19) for column in (4, 8)}
    yield from scripted(hall([], (22, STAND), shaft), *up, (RIGHT, 60), (JUMP_RIGHT, 20), (LEFT, 60))
    slanted = {(6, 18): 8, (7, 18): 9, (8, 18): 10, (9, 18): 16, (12, 19): 6, (13, 19): 8, (14, 19): 9, (16, 19): 20}
    for ninja in ((28, STAND), (32, STAND), (36, STAND), (40, STAND), (60, 70)):
        yield from scripted(hall([], ninja, slanted), (IDLE, 10), (JUMP, 20), (RIGHT, 40), (LEFT, 20), (JUMP_LEFT, 30))
    # The time limit: just before, at, and beyond it; also where a step goes over it.
    yield from scripted(hall([(2, 24, STAND), (2, 60, STAND)]), (RIGHT, 20), limit_frames=10, beyond=15)
    yield from scripted(hall([(2, 24, STAND)]), (JUMP, 8), limit_frames=10, frame_skip=4, beyond=2)
    # Falling to death, and the steps after it.
    yield from scripted(hall([], (40, 10)), (RIGHT, 120), beyond=3)


@cache
def revealing(count: int = 700) -> tuple[Moment, ...]:
    """Moments that each show something that none before did, from staged scenes, rooms and random levels."""
    seen: set[Any] = set()
    chosen: list[Moment] = []
    for moment in revealing_candidates():
        shown = phases_of(moment.scene)
        if not shown <= seen:
            seen |= shown
            chosen.append(moment)
        if len(chosen) == count:
            break
    return tuple(chosen)


def revealing_candidates() -> Iterator[Moment]:
    yield from staged()
    for seed in range(20):
        yield from wander(random_level(seed), seed, 120, beyond=1)
    for level in crowded_rooms():
        yield from wander(level, 5, 60)
    for name, level in shipped_levels()[::2]:
        yield from recorded(name, level)


def every(moments: Iterable[Moment], step: int) -> Iterator[Moment]:
    """Every so many, and always the last."""
    last = None
    for number, moment in enumerate(moments):
        last = moment
        if number % step == 0:
            yield moment
            last = None
    if last is not None:
        yield last


def phases_of(scene: Scene) -> set[Any]:
    """Names of all that a scene shows."""
    n = scene.ninja
    shown: set[Any] = {
        ("state", n.state),
        ("airborne", n.airborne),
        ("walled", n.walled, n.wall_normal > 0),
        ("floor", *_sides(n.floor_x, n.floor_y)),
        ("ceiling", *_sides(n.ceiling_x, n.ceiling_y)),
        ("input", n.last_h, n.last_jump),
        ("moving", *_sides(n.vx, n.vy)),
        ("jump buffer", n.jump_buffer),
        ("floor buffer", n.floor_buffer),
        ("wall buffer", n.wall_buffer),
        ("pad buffer", n.pad_buffer),
        ("rising gravity", n.gravity < 0.05),
        ("held", min(n.hold // 15, 3)),
        ("pad", *_sides(n.pad_x, n.pad_y)),
        ("switches", min(n.switches, 2)),
        ("gold", len(scene.of_kind(2)) > 0, n.gold > 0),
        ("entities", len(scene.entities) > 16),
        ("mines", min(len(scene.of_kind(1, 21)), 9) // 3),
        ("time", _time(scene)),
        ("mask", n.last_jump, n.state in (DEAD, CELEBRATING), n.state == 3, n.jump_buffer >= 0),
    }
    if n.state not in (DEAD, CELEBRATING):
        shown.add(("held on", bool(n.last_jump and n.state != 3), n.jump_buffer))
    column, row = int(n.x // 24), int(n.y // 24)
    around = scene.tiles[max(column - 2, 0) : column + 3, max(row - 2, 0) : row + 3]
    shown |= {("tile", tile) for tile in set(around.ravel().tolist())}
    shown.add(("border", n.x < 60, n.x > 996, n.y < 60, n.y > 540))
    for e in scene.entities:
        shown |= {("entity", *what) for what in _entity_phases(e)}
    return shown


def _sides(x: float, y: float) -> tuple[int, int]:
    return (x > 1e-6) - (x < -1e-6), (y > 1e-6) - (y < -1e-6)


def _time(scene: Scene) -> str:
    if scene.limit_frames == 0:
        return "unlimited"
    left = scene.limit_frames - scene.ninja.frame
    return "over" if left < 0 else "out" if left == 0 else "last" if left == 1 else "left"


def _entity_phases(e: Any) -> Sequence[tuple[Any, ...]]:
    match e.kind:
        case 1 | 2 | 21 | 24:
            return [(e.kind, e.flag)]
        case 3:
            return [(3, e.taken)]
        case 5 | 6 | 8:
            return [(e.kind, "open", e.open), (e.kind, "orientation", e.orientation)]
        case 10 | 11:
            return [(e.kind, e.orientation)]
        case 14 | 26:
            return [(e.kind, "turn", e.turn), (e.kind, "mode", e.mode)]
        case 15:
            return [(15, "turn", e.turn, e.phase), (15, "mode", e.mode, e.phase)]
        case 22:
            return [(22, e.phase, int(e.u))]
        case 12 | 13:
            late = [(e.kind, "phase", e.phase, e.ticks // 30)]
            shots = [(e.kind, "line", *_sides(e.line[0], e.line[1]), e.line[2])]
            bullets = [(12, "bullet", e.ticks // 9)] if e.kind == 12 and e.phase == 2 else []
            return [(e.kind, "turn", e.turn), (e.kind, "mode", e.mode), *late, *shots, *bullets]
        case 18:
            flight = [] if e.rocket is None else [(18, "flies", *_sides(e.rocket[2], e.rocket[3]))]
            return [(18, e.phase, e.ticks // 8), *flight]
        case 19:
            return [(19, e.phase, min(e.ticks // 8, 2)), (19, "aim", *_sides(e.u - e.x, e.v - e.y))]
        case 16:
            return [(16, e.phase)]
        case 17 | 25:
            return [(e.kind, *_sides(e.u, e.v))]
        case 20:
            return [(20, e.orientation, e.phase)]
        case 23:
            return [(23, e.phase), (23, *_sides(math.cos(e.u), math.sin(e.u)))]
        case 28:
            return [(28, e.phase, *_sides(e.u, e.v))]
    raise AssertionError(f"kind {e.kind} has no phases here")
