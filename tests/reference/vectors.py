"""The vectors and the action mask that a policy sees, read a second time from the class docstring of `NppEnv`.

Each function takes a `Scene` and gives plain Python floats, before they are rounded to float16. Sizes and speeds are
those of the physics; nothing here comes from the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from reference.scene import (
    CELEBRATING,
    DEAD,
    FALLING,
    RISING,
    RUNNING,
    SKIDDING,
    SLIDING,
    STANDING,
    Entity,
    Scene,
)
from reference.walls import Walls, unit

LEVEL_WIDTH, LEVEL_HEIGHT = 1056.0, 600.0
TILE, HALF_TILE = 24.0, 12.0
FASTEST = 12.0
LARGEST = 24.0
NORMAL_GRAVITY = float.fromhex("0x1.1111111111110p-4")
MOST_HOLD = 46
BUFFER_STEPS = 6
WINDOW = 5
MINE_RANGE = 132.0
MINES = 8
GROUPS = 5
MAX_ENTITIES = 16
DIAGONAL = math.sqrt(0.5)

STATE_NAMES = ["standing", "running", "skidding", "rising", "falling", "sliding", "dead", "celebrating"]
# Doomed is never seen at the end of a tick.
NAME_OF_STATE = {
    STANDING: "standing",
    RUNNING: "running",
    SKIDDING: "skidding",
    RISING: "rising",
    FALLING: "falling",
    SLIDING: "sliding",
    DEAD: "dead",
    CELEBRATING: "celebrating",
}
GAME_STATE_NAMES = [
    "x",
    "y",
    "x in tile",
    "y in tile",
    "vx",
    "vy",
    *STATE_NAMES,
    "airborne",
    "wall in reach",
    "wall normal",
    "floor normal x",
    "floor normal y",
    "ceiling normal x",
    "ceiling normal y",
    "jump buffer",
    "floor buffer",
    "wall buffer",
    "pad buffer",
    "hold",
    "gravity",
    "last horizontal input",
    "last jump input",
    "pad direction x",
    "pad direction y",
    "time left",
    "switch taken",
    "gold left",
]
TYPE_NAMES = [
    "mine",
    "gold",
    "exit switch",
    "door",
    "locked door switch",
    "trap door switch",
    "launch pad",
    "one-way",
    "zap drone",
    "floor guard",
    "bounce block",
    "thwump",
    "toggle mine",
    "laser turret",
    "boost pad",
    "death ball",
    "mini drone",
    "shove thwump",
    "open exit",
    "chaingun drone",
    "laser drone",
    "rocket turret",
    "gauss turret",
    "rocket",
    "chaser",
    "evil ninja",
]
ENTITY_NAMES = [
    "present",
    "dx",
    "dy",
    "vx",
    "vy",
    "direction x",
    "direction y",
    "mode",
    "radius",
    "phase",
    "timer",
    "aim dx",
    "aim dy",
    *TYPE_NAMES,
]
GROUP_NAMES = ["switch dx", "switch dy", "door dx", "door dy", "open"]
MINE_NAMES = ["present", "dx", "dy", "mode"]
ACTION_NAMES = ["idle", "left", "right", "jump", "jump+left", "jump+right"]

MINE, GOLD, EXIT, DOOR, LOCKED_DOOR, TRAP_DOOR = 1, 2, 3, 5, 6, 8
LAUNCH_PAD, ONE_WAY, ZAP_DRONE, FLOOR_GUARD, BOUNCE_BLOCK, THWUMP = 10, 11, 14, 16, 17, 20
TOGGLE_MINE, LASER, BOOST_PAD, DEATH_BALL, MINI_DRONE, SHOVE_THWUMP = 21, 23, 24, 25, 26, 28
CHAINGUN_DRONE, LASER_DRONE, ROCKET_TURRET, GAUSS_TURRET, CHASER, EVIL_NINJA = 12, 13, 18, 19, 15, 22
DRONES = (CHAINGUN_DRONE, LASER_DRONE, ZAP_DRONE, MINI_DRONE, CHASER)
SHOOTERS = (CHAINGUN_DRONE, LASER_DRONE, ROCKET_TURRET, GAUSS_TURRET)

TYPE_NAME_OF_KIND = {
    MINE: "mine",
    GOLD: "gold",
    EXIT: "exit switch",
    DOOR: "door",
    LOCKED_DOOR: "locked door switch",
    TRAP_DOOR: "trap door switch",
    LAUNCH_PAD: "launch pad",
    ONE_WAY: "one-way",
    ZAP_DRONE: "zap drone",
    FLOOR_GUARD: "floor guard",
    BOUNCE_BLOCK: "bounce block",
    THWUMP: "thwump",
    TOGGLE_MINE: "toggle mine",
    LASER: "laser turret",
    BOOST_PAD: "boost pad",
    DEATH_BALL: "death ball",
    MINI_DRONE: "mini drone",
    SHOVE_THWUMP: "shove thwump",
    CHAINGUN_DRONE: "chaingun drone",
    LASER_DRONE: "laser drone",
    ROCKET_TURRET: "rocket turret",
    GAUSS_TURRET: "gauss turret",
    CHASER: "chaser",
    EVIL_NINJA: "evil ninja",
}

# Of mines by mode: armed, idle, arming.
MINE_RADII = [4.0, 3.5, 4.5]
MINE_MODES = [1.0, 0.0, 0.5]
RADII = {
    "gold": 6.0,
    "exit switch": 6.0,
    "door": 10.0,
    "locked door switch": 5.0,
    "trap door switch": 5.0,
    "launch pad": 6.0,
    "one-way": 12.0,
    "zap drone": 7.5,
    "floor guard": 6.0,
    "bounce block": 9.0,
    "thwump": 9.0,
    "laser turret": 5.9,
    "boost pad": 6.0,
    "death ball": 5.0,
    "mini drone": 4.0,
    "shove thwump": 12.0,
    "open exit": 12.0,
    "chaingun drone": 7.5,
    "laser drone": 7.5,
    "rocket turret": 6.0,
    "gauss turret": 6.0,
    "rocket": 0.0,
    "chaser": 7.5,
    "evil ninja": 10.0,
}
FOLLOWING_RADIUS = 6.0
FOLLOWER_WAITING, FOLLOWING = 2, 3
FOLLOWER_DELAY = 120
# Ticks of the phases of shooters, by phase; a gauss turret's targeting is counted in half ticks.
PHASE_TICKS = {
    ROCKET_TURRET: {1: 15},
    GAUSS_TURRET: {1: 180, 2: 15, 3: 15},
    CHAINGUN_DRONE: {1: 52, 3: 90},
    LASER_DRONE: {1: 45, 2: 80, 3: 60},
}
BULLET_TICKS, BULLETS = 9, 7
ORIENTATIONS = [
    (1.0, 0.0),
    (DIAGONAL, DIAGONAL),
    (0.0, 1.0),
    (-DIAGONAL, DIAGONAL),
    (-1.0, 0.0),
    (-DIAGONAL, -DIAGONAL),
    (0.0, -1.0),
    (DIAGONAL, -DIAGONAL),
]
COMPASS = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)]
DRONE_SPEEDS = {ZAP_DRONE: 8 / 7, CHASER: 8 / 7, MINI_DRONE: 1.3, CHAINGUN_DRONE: 3 / 7, LASER_DRONE: 2 / 7}
GUARD_SPEED = 24 / 7
CHARGE_SPEED, RETREAT_SPEED = 20 / 7, 8 / 7
LAUNCH_SPEED, CREEP_SPEED = 4.0, 1.0


def cut(value: float) -> float:
    return max(-1.0, min(1.0, value))


def place_within(z: float, size: float) -> float:
    """-1 at the lower border of the piece of this size that z lies in, 1 at the upper."""
    return (z - size * math.floor(z / size)) / (size / 2) - 1.0


def game_state(scene: Scene) -> list[float]:
    n = scene.ninja
    state = NAME_OF_STATE[n.state]
    pieces = scene.of_kind(GOLD)
    left = [piece for piece in pieces if not piece.taken]
    return [
        cut(n.x / (LEVEL_WIDTH / 2) - 1.0),
        cut(n.y / (LEVEL_HEIGHT / 2) - 1.0),
        place_within(n.x, TILE),
        place_within(n.y, TILE),
        cut(n.vx / FASTEST),
        cut(n.vy / FASTEST),
        *(float(name == state) for name in STATE_NAMES),
        float(n.airborne),
        float(n.walled),
        n.wall_normal,
        n.floor_x,
        n.floor_y,
        n.ceiling_x,
        n.ceiling_y,
        *(buffer_age(age) for age in (n.jump_buffer, n.floor_buffer, n.wall_buffer, n.pad_buffer)),
        n.hold / MOST_HOLD,
        n.gravity / NORMAL_GRAVITY,
        float(n.last_h),
        float(n.last_jump),
        n.pad_x,
        n.pad_y,
        cut((scene.limit_frames - n.frame) / scene.limit_frames) if scene.limit_frames else 1.0,
        float(any(leaf.taken for leaf in scene.of_kind(EXIT))),
        len(left) / len(pieces) if pieces else 0.0,
    ]


def buffer_age(age: int) -> float:
    return 0.0 if age == -1 else (age + 1) / BUFFER_STEPS


def relative(scene: Scene, x: float, y: float) -> tuple[float, float]:
    return cut((x - scene.ninja.x) / LEVEL_WIDTH), cut((y - scene.ninja.y) / LEVEL_HEIGHT)


def matters(entity: Entity) -> bool:
    return not (entity.kind in (GOLD, EXIT, LOCKED_DOOR, TRAP_DOOR) and entity.taken)


def direction_of(entity: Entity) -> tuple[float, float]:
    if entity.kind in (LAUNCH_PAD, ONE_WAY):
        return ORIENTATIONS[entity.orientation]
    if entity.kind in DRONES:
        return COMPASS[entity.turn]
    if entity.kind == THWUMP:
        return charge_direction(entity.orientation)
    if entity.kind == LASER:
        return math.cos(entity.u), math.sin(entity.u)
    if entity.kind == SHOVE_THWUMP:
        return entity.u, entity.v
    return 0.0, 0.0


def charge_direction(orientation: int) -> tuple[float, float]:
    sense = 1.0 if orientation in (0, 2) else -1.0
    return (sense, 0.0) if orientation in (0, 4) else (0.0, sense)


def velocity_of(scene: Scene, entity: Entity) -> tuple[float, float]:
    dx, dy = direction_of(entity)
    speed = 0.0
    if entity.kind == EVIL_NINJA and entity.phase == FOLLOWING:
        # In the next tick it will be where the ninja was after the tick 120 n - 1 before that.
        x, y = scene.place_after(scene.ninja.frame + 1 - (FOLLOWER_DELAY * int(entity.u) - 1))
        return x - entity.x, y - entity.y
    if entity.kind == CHASER and entity.phase == 1:
        return 16 / 7 * dx, 16 / 7 * dy
    if entity.kind in DRONE_SPEEDS:
        speed = 0.0 if entity.kind in SHOOTERS and entity.phase != 0 else DRONE_SPEEDS[entity.kind]
    elif entity.kind == THWUMP:
        speed = {0: 0.0, 1: CHARGE_SPEED, -1: -RETREAT_SPEED}[entity.phase]
    elif entity.kind == SHOVE_THWUMP:
        # Its direction is that of the way back.
        speed = {0: 0.0, 1: 0.0, 2: -LAUNCH_SPEED, 3: CREEP_SPEED}[entity.phase]
    elif entity.kind == FLOOR_GUARD:
        return entity.phase * GUARD_SPEED, 0.0
    elif entity.kind in (BOUNCE_BLOCK, DEATH_BALL):
        return entity.u, entity.v
    return speed * dx, speed * dy


def mode_of(entity: Entity) -> float:
    if entity.kind in (MINE, TOGGLE_MINE):
        return MINE_MODES[entity.mine_mode]
    if entity.kind in (DOOR, LOCKED_DOOR, TRAP_DOOR):
        return float(entity.open)
    if entity.kind in DRONES:
        return entity.mode / 3
    if entity.kind in (FLOOR_GUARD, THWUMP, LASER):
        return float(entity.phase)
    if entity.kind == SHOVE_THWUMP:
        return entity.phase / 3
    if entity.kind == BOOST_PAD:
        return float(entity.flag == 1)
    return 0.0


def entity_row(scene: Scene, entity: Entity) -> list[float]:
    name = TYPE_NAME_OF_KIND[entity.kind]
    radius = MINE_RADII[entity.mine_mode] if entity.kind in (MINE, TOGGLE_MINE) else RADII[name]
    if entity.kind == EVIL_NINJA and entity.phase == FOLLOWING:
        radius = FOLLOWING_RADIUS
    shooting = (phase_of(entity), timer_of(scene, entity), *aim_of(scene, entity))
    place = (entity.x, entity.y)
    return row_of(
        scene, name, place, velocity_of(scene, entity), direction_of(entity), mode_of(entity), radius, shooting
    )


def phase_of(entity: Entity) -> float:
    if entity.kind == CHASER:
        return float(entity.phase)
    return entity.phase / 3 if entity.kind in (*SHOOTERS, EVIL_NINJA) else 0.0


def timer_of(scene: Scene, entity: Entity) -> float:
    if entity.kind == EVIL_NINJA and entity.phase == FOLLOWER_WAITING:
        whole = FOLLOWER_DELAY * entity.u
        return 1 - (scene.ninja.frame - (entity.v - whole)) / whole
    if entity.kind == CHAINGUN_DRONE and entity.phase == 2:
        return 1 - entity.ticks % BULLET_TICKS / BULLET_TICKS
    whole = PHASE_TICKS.get(entity.kind, {}).get(entity.phase)
    return 0.0 if whole is None else 1 - entity.ticks / whole


def aim_of(scene: Scene, entity: Entity) -> tuple[float, float]:
    """Relative to the ninja, cut; zeros if it aims nowhere."""
    point = aim_point(scene, entity)
    return (0.0, 0.0) if point is None else relative(scene, *point)


def aim_point(scene: Scene, entity: Entity) -> tuple[float, float] | None:
    if entity.kind == GAUSS_TURRET and entity.phase != 0:
        return entity.u, entity.v
    if entity.kind == EVIL_NINJA and entity.phase == FOLLOWER_WAITING:
        return scene.place_after(int(entity.v - FOLLOWER_DELAY * entity.u) + 1)
    if entity.kind == LASER:
        return beam_end(scene, entity, math.cos(entity.u), math.sin(entity.u))
    if entity.kind == LASER_DRONE and entity.phase in (1, 2):
        return beam_end(scene, entity, entity.line[0], entity.line[1])
    if entity.kind == CHAINGUN_DRONE and entity.phase == 2:
        bullet = entity.ticks // BULLET_TICKS + 1
        return bullet_end(scene, entity, bullet) if bullet <= BULLETS else None
    return None


def bullet_end(scene: Scene, entity: Entity, bullet: int) -> tuple[float, float]:
    """Where a bullet, from 1 on, ends: the seven go from -0.1 to 0.2 across the line of fire."""
    gx, gy, side = entity.line
    across = side * (bullet / 6 - 0.5) * 0.3
    return beam_end(scene, entity, *unit(gx - across * gy, gy + across * gx))


def beam_end(scene: Scene, entity: Entity, dx: float, dy: float) -> tuple[float, float]:
    length = walls_of(scene).ray(entity.x, entity.y, dx, dy)
    return entity.x + length * dx, entity.y + length * dy


@lru_cache(maxsize=64)
def _walls(tiles: bytes, doors: tuple[tuple[int, float, float, int], ...]) -> Walls:
    rows = [[tiles[25 * column + row] for column in range(44)] for row in range(25)]
    return Walls(rows, doors)


def walls_of(scene: Scene) -> Walls:
    """The walls of a scene, with its doors as they stand."""
    doors = scene.of_kind(DOOR, LOCKED_DOOR, TRAP_DOOR)
    walls = _walls(scene.tiles.tobytes(), tuple((e.kind, e.place_x, e.place_y, e.orientation) for e in doors))
    for door, entity in zip(walls.doors, doors, strict=True):
        door.open = entity.open
    return walls


def open_exit_row(scene: Scene, leaf: Entity) -> list[float]:
    place = (leaf.place_x, leaf.place_y)
    return row_of(scene, "open exit", place, (0.0, 0.0), (0.0, 0.0), 0.0, RADII["open exit"])


@lru_cache(maxsize=1)
def rocket_speeds() -> tuple[float, ...]:
    """Speed of a rocket by the ticks that it has flown, as physics 6.16 lets it grow."""
    speeds, accel = [0.0], 0.1 * 4 / 9
    while speeds[-1] < 16 / 7:
        accel *= 1.0656022367666107
        speeds.append(speeds[-1] + accel)
    return (*speeds, 16 / 7)


def rocket_row(scene: Scene, turret: Entity) -> list[float]:
    assert turret.rocket is not None
    x, y, nx, ny = turret.rocket
    speed = rocket_speeds()[turret.ticks]
    return row_of(scene, "rocket", (x, y), (speed * nx, speed * ny), (nx, ny), 0.0, RADII["rocket"])


def row_of(scene, name, place, velocity, direction, mode, radius, shooting=(0.0, 0.0, 0.0, 0.0)) -> list[float]:
    return [
        1.0,
        *relative(scene, *place),
        *(cut(speed / FASTEST) for speed in velocity),
        *direction,
        mode,
        radius / LARGEST,
        *shooting,
        *(float(name == other) for other in TYPE_NAMES),
    ]


def nearness(scene: Scene, x: float, y: float) -> float:
    """What the order of the nearest goes by; exact squares, so that equals are equal."""
    dx, dy = x - scene.ninja.x, y - scene.ninja.y
    return dx * dx + dy * dy


def entity_states(scene: Scene, max_entities: int = MAX_ENTITIES) -> list[float]:
    found = [(nearness(scene, e.x, e.y), entity_row, e) for e in scene.entities if matters(e)]
    for e in scene.of_kind(EXIT, ROCKET_TURRET):
        if e.kind == EXIT and e.taken:
            found.append((nearness(scene, e.place_x, e.place_y), open_exit_row, e))
        elif e.rocket is not None:
            found.append((nearness(scene, *e.rocket[:2]), rocket_row, e))
    # Python's sort keeps the order of equals.
    found.sort(key=lambda item: item[0])
    values: list[float] = []
    for _, write, entity in found[:max_entities]:
        values += write(scene, entity)
    return values + [0.0] * (len(ENTITY_NAMES) * max_entities - len(values))


def switch_states(scene: Scene) -> list[float]:
    listed = scene.of_kind(EXIT) + scene.of_kind(LOCKED_DOOR) + scene.of_kind(TRAP_DOOR)
    values: list[float] = []
    for entity in listed[:GROUPS]:
        values += relative(scene, entity.x, entity.y)
        values += relative(scene, entity.place_x, entity.place_y)
        values.append(float(entity.taken if entity.kind == EXIT else entity.open))
    return values + [0.0] * (len(GROUP_NAMES) * GROUPS - len(values))


def is_solid(tile: int, x: float, y: float) -> bool:
    """Whether a point, relative to the tile's top left corner, lies inside the solid part of a tile."""
    if tile in _WHOLE:
        x1, y1, x2, y2 = _WHOLE[tile]
        return x1 < x < x2 and y1 < y < y2
    if tile in _SLANTED:
        # The wall's outer side is on the right of its direction on the screen, where y grows downwards.
        (x1, y1), (x2, y2) = _SLANTED[tile]
        return (x2 - x1) * (y - y1) < (y2 - y1) * (x - x1)
    if tile in _MOONS:
        return math.dist(_MOONS[tile], (x, y)) < TILE
    if tile in _PIPES:
        return math.dist(_PIPES[tile], (x, y)) > TILE
    return False


_WHOLE = {1: (0, 0, 24, 24), 2: (0, 0, 24, 12), 3: (12, 0, 24, 24), 4: (0, 12, 24, 24), 5: (0, 0, 12, 24)}
_MOONS = {10: (0, 0), 11: (24, 0), 12: (24, 24), 13: (0, 24)}
_PIPES = {14: (24, 24), 15: (0, 24), 16: (0, 0), 17: (24, 0)}
_SLANTED = {
    6: ((0, 24), (24, 0)),
    7: ((0, 0), (24, 24)),
    8: ((24, 0), (0, 24)),
    9: ((24, 24), (0, 0)),
    18: ((0, 12), (24, 0)),
    19: ((0, 0), (24, 12)),
    20: ((24, 12), (0, 24)),
    21: ((24, 24), (0, 12)),
    22: ((0, 24), (24, 12)),
    23: ((0, 12), (24, 24)),
    24: ((24, 0), (0, 12)),
    25: ((24, 12), (0, 0)),
    26: ((0, 24), (12, 0)),
    27: ((12, 0), (24, 24)),
    28: ((24, 0), (12, 24)),
    29: ((12, 24), (0, 0)),
    30: ((12, 24), (24, 0)),
    31: ((0, 0), (12, 24)),
    32: ((12, 0), (0, 24)),
    33: ((24, 24), (12, 0)),
}


def solid_share(tile: int, right: bool, lower: bool) -> float:
    left, top = 12 * right, 12 * lower
    pixels = [(left + i + 0.5, top + j + 0.5) for i in range(12) for j in range(12)]
    return sum(is_solid(tile, x, y) for x, y in pixels) / 144


SOLID_SHARES = {
    (tile, right, lower): solid_share(tile, bool(right), bool(lower))
    for tile in range(38)
    for right in (0, 1)
    for lower in (0, 1)
}


def solidity(scene: Scene, i: int, j: int) -> float:
    """Of the half tile in column i and row j of the level."""
    if not (0 <= i < 88 and 0 <= j < 50):
        return 1.0
    return SOLID_SHARES.get((int(scene.tiles[i // 2, j // 2]), i % 2, j % 2), 0.0)


def spatial_context(scene: Scene) -> list[float]:
    n = scene.ninja
    i0, j0 = math.floor(n.x / HALF_TILE), math.floor(n.y / HALF_TILE)
    around = range(-WINDOW, WINDOW + 1)
    values = [solidity(scene, i0 + i, j0 + j) for j in around for i in around]
    values += [place_within(n.x, HALF_TILE), place_within(n.y, HALF_TILE)]
    mines = sorted(scene.of_kind(MINE, TOGGLE_MINE), key=lambda mine: nearness(scene, mine.x, mine.y))
    for mine in mines[:MINES]:
        dx, dy = (mine.x - n.x) / MINE_RANGE, (mine.y - n.y) / MINE_RANGE
        values += [1.0, cut(dx), cut(dy), MINE_MODES[mine.mine_mode]]
    return values + [0.0] * (len(MINE_NAMES) * MINES - len(MINE_NAMES) * len(mines[:MINES]))


def action_mask(scene: Scene) -> list[float]:
    n = scene.ninja
    if n.state in (DEAD, CELEBRATING):
        return [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    idle_press = bool(n.last_jump) and n.state != RISING and n.jump_buffer == -1
    return [float(not (idle_press and "jump" in action)) for action in ACTION_NAMES]


VECTORS: dict[str, Callable[[Scene], list[float]]] = {
    "game_state": game_state,
    "entity_states": entity_states,
    "switch_states": switch_states,
    "spatial_context": spatial_context,
    "action_mask": action_mask,
}


def field_name(key: str, index: int) -> str:
    """What stands at an index of the flattened vector."""
    if key == "game_state":
        return GAME_STATE_NAMES[index]
    if key == "entity_states":
        return f"row {index // len(ENTITY_NAMES)} {ENTITY_NAMES[index % len(ENTITY_NAMES)]}"
    if key == "switch_states":
        return f"group {index // len(GROUP_NAMES)} {GROUP_NAMES[index % len(GROUP_NAMES)]}"
    if key == "action_mask":
        return ACTION_NAMES[index]
    if index < 121:
        return f"half tile ({index % 11 - 5:+d}, {index // 11 - 5:+d})"
    if index < 123:
        return "xy"[index - 121] + " in half tile"
    return f"mine {(index - 123) // 4} {MINE_NAMES[(index - 123) % 4]}"
