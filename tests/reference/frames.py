"""The two grey frames of a scene, as docs/frames.md describes them: slow, plain, one shape after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .scene import DEAD, Entity, Scene
from .tile_shapes import PIPE_CENTRES, TILE, solid_at, tile_shares
from .vectors import beam_end, bullet_end

EMPTY, WALL = 128, 72
SAMPLES = 16
MIN_RADIUS, MIN_HALF = 0.8, 0.75
MOVERS = (12, 13, 14, 15, 16, 17, 19, 20, 22, 23, 25, 26, 28)
# By phase: idle, about to fire, ... as docs/frames.md has them.
TURRET_GREYS = {18: (44, 0, 92), 19: (44, 44, 0, 92)}
DRONE_GREYS = {12: 8, 13: 36}
EYES = (72, 176, 176, 72)
BEAM_STEP = 0.05


@dataclass
class Disc:
    x: float
    y: float
    radius: float
    grey: int

    def share(self, camera: Camera):
        r = max(self.radius * camera.scale, MIN_RADIUS)
        cx, cy = camera.place(self.x, self.y)
        d_sq = (camera.columns + 0.5 - cx) ** 2 + (camera.rows + 0.5 - cy) ** 2
        # (r + 1/2)^2 - (r - 1/2)^2 is 2 r.
        return np.clip(((r + 0.5) ** 2 - d_sq) / (2 * r), 0, 1)


@dataclass
class Box:
    x: float
    y: float
    half_width: float
    half_height: float
    grey: int

    def share(self, camera: Camera):
        cx, cy = camera.place(self.x, self.y)
        w, h = (max(half * camera.scale, MIN_HALF) for half in (self.half_width, self.half_height))
        return _within(camera.columns, cx - w, cx + w) * _within(camera.rows, cy - h, cy + h)


@dataclass
class Bar:
    x1: float
    y1: float
    x2: float
    y2: float
    half_width: float
    grey: int

    def share(self, camera: Camera):
        (x1, y1), (x2, y2) = camera.place(self.x1, self.y1), camera.place(self.x2, self.y2)
        along, across = camera.columns, camera.rows
        if abs(y2 - y1) - abs(x2 - x1) > 1e-6:
            x1, y1, x2, y2 = y1, x1, y2, x2
            along, across = across, along
        slope = (y2 - y1) / (x2 - x1) if x2 != x1 else 0.0
        half = max(self.half_width * camera.scale, MIN_HALF) * math.hypot(1, slope)
        middle = y1 + slope * (along + 0.5 - x1)
        return _within(along, min(x1, x2), max(x1, x2)) * _within(across, middle - half, middle + half)


def _within(k, low, high):
    """Share of the pixels k..k+1 between low and high."""
    return np.clip(np.minimum(k + 1, high) - np.maximum(k, low), 0, 1)


@dataclass
class Camera:
    """Where a frame looks: columns (1, width) and rows (height, 1) are numbers of pixels."""

    scale: float
    left: float
    top: float
    width: int
    height: int

    def __post_init__(self) -> None:
        self.columns = np.arange(self.width, dtype=float)[None, :]
        self.rows = np.arange(self.height, dtype=float)[:, None]

    def place(self, x: float, y: float) -> tuple[float, float]:
        return x * self.scale - self.left, y * self.scale - self.top


def player_camera(scene: Scene) -> Camera:
    left, top = (math.floor(value / 2 + 0.5) - 42 for value in (scene.ninja.x, scene.ninja.y))
    return Camera(0.5, left, top, 84, 84)


def whole_camera() -> Camera:
    return Camera(1 / 6, 0, 0, 176, 100)


def wall_shares(scene: Scene, camera: Camera):
    """How much of each pixel is wall, float; beyond the level all of it."""
    side = round(TILE * camera.scale)
    # A point of a tile falls as dense in either frame: 8 to the world pixel.
    shares = tile_shares(side, SAMPLES * 12 // side)
    columns = (camera.columns + camera.left).astype(int)
    rows = (camera.rows + camera.top).astype(int)
    inside = (columns >= 0) & (columns < 44 * side) & (rows >= 0) & (rows < 25 * side)
    tiles = scene.tiles[np.clip(columns // side, 0, 43), np.clip(rows // side, 0, 24)]
    return np.where(inside, shares[tiles, rows % side, columns % side], 1.0)


def direction(orientation: int) -> tuple[float, float]:
    """Unit vector of an orientation: eighths of a turn, clockwise from the right."""
    s = math.sqrt(0.5)
    return ((1, 0), (s, s), (0, 1), (-s, s), (-1, 0), (-s, -s), (0, -1), (s, -s))[orientation]


def door_shape(e: Entity, grey: int) -> Box:
    upright = e.orientation in (0, 4)
    return Box(e.place_x, e.place_y, *((2, 12) if upright else (12, 2)), grey)


def plate_shapes(e: Entity, half_length: float, grey: int, detail: bool) -> list:
    nx, ny = direction(e.orientation)
    x, y = e.x - 2 * nx, e.y - 2 * ny
    bars = [Bar(x + half_length * ny, y - half_length * nx, x - half_length * ny, y + half_length * nx, 2, grey)]
    if detail:
        bars.append(Bar(e.x, e.y, e.x + 4 * nx, e.y + 4 * ny, 1.5, grey))
    return bars


def thwump_shapes(e: Entity) -> list:
    face = {0: Box(e.x + 9, e.y, 2, 8, 0), 4: Box(e.x - 9, e.y, 2, 8, 0), 2: Box(e.x, e.y + 9, 8, 2, 0)}
    return [Box(e.x, e.y, 9, 9, 156), face.get(e.orientation, Box(e.x, e.y - 9, 8, 2, 0))]


def laser_shapes(scene: Scene, e: Entity, detail: bool) -> list:
    length = beam_length(scene, e.x, e.y, e.u)
    beam = Bar(e.x, e.y, e.x + length * math.cos(e.u), e.y + length * math.sin(e.u), 1, 16)
    return [beam, Disc(e.x, e.y, 6, 0)] + [Disc(e.x, e.y, 2.5, 160)] * detail


def gauss_shapes(scene: Scene, e: Entity, detail: bool) -> list:
    shapes: list = []
    if e.phase == 3 and e.ticks == 0:
        d = math.hypot(e.u - e.x, e.v - e.y)
        way = ((e.u - e.x) / d, (e.v - e.y) / d) if d else (1.0, 0.0)
        shapes.append(Bar(e.x, e.y, *beam_end(scene, e, *way), 1.5, 8))
    shapes += [Box(e.x, e.y, 6, 6, TURRET_GREYS[19][e.phase])] + [Box(e.x, e.y, 3, 3, 160)] * detail
    if e.phase in (1, 2):
        grey = {1: 60, 2: 0}[e.phase]
        shapes += [Bar(e.u - 8, e.v, e.u + 8, e.v, 1, grey), Bar(e.u, e.v - 8, e.u, e.v + 8, 1, grey)]
    return shapes


def gun_shapes(scene: Scene, e: Entity, detail: bool) -> list:
    shapes: list = []
    if e.kind == 13 and e.phase in (1, 2):
        shapes.append(Bar(e.x, e.y, *beam_end(scene, e, e.line[0], e.line[1]), *((1, 104) if e.phase == 1 else (2, 8))))
    if e.kind == 12 and e.phase == 2 and e.ticks > 0 and e.ticks % 9 == 0:
        shapes.append(Bar(e.x, e.y, *bullet_end(scene, e, e.ticks // 9), 1, 0))
    return shapes + [Disc(e.x, e.y, 7.5, DRONE_GREYS[e.kind])] + [Disc(e.x, e.y, 3, EYES[e.phase])] * detail


def evil_shapes(scene: Scene, e: Entity) -> list:
    body = Disc(e.x, e.y, 10, 104)
    if e.phase == 2:
        x, y = scene.place_after(int(e.v) - 120 * int(e.u) + 1)
        return [body, Bar(x - 8, y, x + 8, y, 1, 60), Bar(x, y - 8, x, y + 8, 1, 60)]
    return [body, *{0: [Disc(e.x, e.y, 6, 28)], 3: [Disc(e.x, e.y, 6, 4)]}.get(e.phase, [])]


def rocket_shapes(e: Entity) -> list:
    if e.rocket is None:
        return []
    x, y, nx, ny = e.rocket
    return [Bar(x - 12 * nx, y - 12 * ny, x, y, 1, 100), Disc(x, y, 4, 0)]


def shapes_of(scene: Scene, e: Entity, detail: bool) -> list:
    """What is drawn of an entity, the lowest first; `detail` in the player frame."""
    x, y = e.x, e.y
    if e.kind in (1, 21):
        armed = Disc(x, y, 5, 0 if e.kind == 1 else 12)
        return [(armed, Disc(x, y, 3.5, 96), Disc(x, y, 5, 52))[e.mine_mode]]
    if e.kind == 2:
        return [] if e.taken else [Disc(x, y, 4, 200)]
    if e.kind == 3:
        if e.open:
            return [Disc(e.place_x, e.place_y, 12, 230), Disc(e.place_x, e.place_y, 6, 180)]
        return [Disc(e.place_x, e.place_y, 12, 192), Disc(e.place_x, e.place_y, 8, 96), Box(x, y, 6, 4, 230)]
    if e.kind == 5:
        return [] if e.open else [door_shape(e, 160)]
    if e.kind == 6:
        return [] if e.open else [door_shape(e, 28), Box(x, y, 4, 4, 190)]
    if e.kind == 8:
        return [Box(x, y, 4, 4, 88)] if e.open else [door_shape(e, 36)]
    if e.kind == 10:
        return plate_shapes(e, 6, 214, detail)
    if e.kind == 11:
        return plate_shapes(e, 12, 176, detail)
    if e.kind == 20:
        return thwump_shapes(e)
    if e.kind == 23:
        return laser_shapes(scene, e, detail)
    if e.kind == 18:
        return [Disc(x, y, 6, TURRET_GREYS[18][e.phase])] + [Disc(x, y, 3, 160)] * detail
    if e.kind == 19:
        return gauss_shapes(scene, e, detail)
    if e.kind in (12, 13):
        return gun_shapes(scene, e, detail)
    if e.kind == 15:
        return [Disc(x, y, 7.5, 2 if e.phase else 26)] + [Disc(x, y, 3, 160)] * detail
    if e.kind == 22:
        return evil_shapes(scene, e)
    return {
        14: [Disc(x, y, 7.5, 20)] + [Disc(x, y, 3, 160)] * detail,
        16: [Box(x, y, 6, 6, 20)],
        17: [Box(x, y, 9, 9, 184), Box(x, y, 6, 6, 156)],
        24: [Disc(x, y, 7, 172)] + [Disc(x, y, 4, 136)] * detail,
        25: [Disc(x, y, 8, 44), Disc(x, y, 5, 0)],
        26: [Disc(x, y, 4.5, 20)] + [Disc(x, y, 1.5, 160)] * detail,
        28: [Box(x, y, 12, 12, 156), Disc(x, y, 8, 0)],
    }[e.kind]


def all_shapes(scene: Scene, detail: bool) -> list:
    """Everything above the tiles, the lowest first."""
    still = [e for e in scene.entities if e.kind not in MOVERS]
    shapes = [shape for e in still for shape in shapes_of(scene, e, detail)]
    for e in scene.entities:
        shapes += shapes_of(scene, e, detail) if e.kind in MOVERS else rocket_shapes(e)
    shapes.append(Disc(scene.ninja.x, scene.ninja.y, 10, 255))
    if scene.ninja.state == DEAD:
        shapes.append(Disc(scene.ninja.x, scene.ninja.y, 5, 0))
    return shapes


def draw(scene: Scene, camera: Camera):
    """The frame as float64 whole numbers, and where it rests on a tile that covers a pixel in part."""
    walls = wall_shares(scene, camera)
    picture = np.rint(EMPTY + (WALL - EMPTY) * walls)
    for shape in all_shapes(scene, camera.scale == 0.5):
        share = np.floor(256 * shape.share(camera)) / 256
        picture = np.floor(picture * (1 - share) + shape.grey * share + 0.5)
    return picture, (walls > 0) & (walls < 1)


def player_frame(scene: Scene):
    return draw(scene, player_camera(scene))


def global_view(scene: Scene):
    return draw(scene, whole_camera())


def beam_length(scene: Scene, x: float, y: float, angle: float) -> float:
    """How far a beam goes: to where solid changes to empty or back, to an edge without a body, or to a closed door."""
    dx, dy = math.cos(angle), math.sin(angle)
    # A beam along the border of tiles is stopped by those on either side.
    length = min(_free_way(scene, x + side * dy, y - side * dx, dx, dy) for side in (-1e-7, 1e-7))
    for e in scene.of_kind(5, 6, 8):
        if not e.open:
            length = min(length, _door_distance(e, x, y, dx, dy))
    return length


def _free_way(scene: Scene, x: float, y: float, dx: float, dy: float) -> float:
    at = np.arange(0, 2000, BEAM_STEP)
    stops = _wall_between(scene, (x, y), x + at * dx, y + at * dy)
    if not stops.any():
        return 2000.0
    low = at[np.argmax(stops)]
    high = low + BEAM_STEP
    for _ in range(30):
        middle = (low + high) / 2
        ends = np.array([low, middle])
        if _wall_between(scene, (x, y), x + ends * dx, y + ends * dy)[0]:
            high = middle
        else:
            low = middle
    return float(high)


def _door_distance(e: Entity, x: float, y: float, dx: float, dy: float) -> float:
    ahead, speed, aside, drift = e.place_x - x, dx, y - e.place_y, dy
    if e.orientation not in (0, 4):
        ahead, speed, aside, drift = e.place_y - y, dy, x - e.place_x, dx
    if speed == 0 or ahead / speed <= 0 or abs(aside + drift * ahead / speed) > 12:
        return 2000.0
    return ahead / speed


def _wall_between(scene: Scene, start: tuple[float, float], x, y):
    """For points along a beam, whether a wall lies between each and the next one."""
    solid = solid_at(scene.tiles, x, y)
    column, row = np.floor(x / TILE).astype(int), np.floor(y / TILE).astype(int)
    ids = scene.tiles[np.clip(column, 0, 43), np.clip(row, 0, 24)]
    wall = solid[1:] != solid[:-1]
    # Two edges in the same place, or an edge on a solid tile, cancel each other.
    for step, first, second in ((np.diff(column), 35, 37), (np.diff(row), 36, 34)):
        ahead = (step > 0) & ((ids[:-1] == first) != (ids[1:] == second))
        back = (step < 0) & ((ids[:-1] == second) != (ids[1:] == first))
        wall ^= ahead | back
    same_tile = (np.diff(column) == 0) & (np.diff(row) == 0)
    for k in np.flatnonzero(wall & same_tile & np.isin(ids[:-1], list(PIPE_CENTRES))):
        cx, cy = PIPE_CENTRES[int(ids[k])]
        distance = math.hypot(start[0] - TILE * column[k] - cx, start[1] - TILE * row[k] - cy)
        wall[k] = distance < TILE
    return wall
