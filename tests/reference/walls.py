"""Walls, grid edges, sweeps and rays (physics 3 and 4) in plain Python, from the tile table and the doors alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .tiles_geometry import tile_table

_S = 0.7071067811865476
VECTORS = [(1, 0), (_S, _S), (0, 1), (-_S, _S), (-1, 0), (-_S, -_S), (0, -1), (_S, -_S)]


def clamp(n, low, high):
    return low if n < low else high if n > high else n


def norm(a, b):
    return math.sqrt(a * a + b * b)


def unit(a, b):
    n = norm(a, b)
    return a / n, b / n


# 4.4


def sweep_point(a, b, x, y, vx, vy, rho):
    dx, dy = x - a, y - b
    distance, speed, p = dx * dx + dy * dy, vx * vx + vy * vy, dx * vx + dy * vy
    if distance - rho * rho > 0:
        k = p * p - speed * (distance - rho * rho)
        return (-p - math.sqrt(k)) / speed if speed > 0.0001 and p < 0 and k >= 0 else 1.0
    return 0.0


def sweep_segment(wall, x, y, vx, vy, rho):
    x1, y1, x2, y2 = wall
    length = norm(x2 - x1, y2 - y1)
    nx, ny = (x2 - x1) / length, (y2 - y1) / length
    s = (x - x1) * ny - (y - y1) * nx
    t0 = (x - x1) * nx + (y - y1) * ny
    if abs(s) >= rho:
        r = vx * ny - vy * nx
        if r * s < 0:
            tau = min((abs(s) - rho) / abs(r), 1)
            t1 = t0 + tau * (vx * nx + vy * ny)
            if 0 <= t1 <= length:
                return tau
    elif 0 <= t0 <= length:
        return 0.0
    return 1.0


def sweep_arc(arc, x, y, vx, vy, rho):
    cx, cy, qx, qy = arc
    dx, dy = x - cx, y - cy
    distance, speed, p = dx * dx + dy * dy, vx * vx + vy * vy, dx * vx + dy * vy
    outer, inner, tau = 24 + rho, 24 - rho, 1.0
    if distance > outer * outer:
        k = p * p - speed * (distance - outer * outer)
        if speed > 0.0001 and p < 0 and k >= 0:
            tau = (-p - math.sqrt(k)) / speed
    elif distance < inner * inner:
        k = p * p - speed * (distance - inner * inner)
        if speed > 0.0001:
            tau = min((-p + math.sqrt(k)) / speed, 1)
    else:
        tau = 0.0
    return tau if (dx + tau * vx) * qx > 0 and (dy + tau * vy) * qy > 0 else 1.0


@dataclass
class Wall:
    """A line (x1, y1, x2, y2), or an arc (centre, quadrant); of a door, which one."""

    numbers: tuple
    is_arc: bool = False
    door: Door | None = None

    @property
    def active(self):
        return self.door is None or not self.door.open

    def sweep(self, x, y, vx, vy, rho):
        a, b, c, d = self.numbers
        if self.is_arc:
            ends, middle = ((a + 24 * c, b), (a, b + 24 * d)), sweep_arc
        else:
            ends, middle = ((a, b), (c, d)), sweep_segment
        return min(middle(self.numbers, x, y, vx, vy, rho), *(sweep_point(*end, x, y, vx, vy, rho) for end in ends))


@dataclass
class Door:
    """A door: its edges, and whether it is open; a regular one closes by itself."""

    edges: list
    regular: bool
    open: bool
    timer: int = 0


class Walls:
    """The walls of a level, with doors that open and close.

    Args:
        full: Tile ids by [row][column], with the solid ring around the map.
        doors: (type, x, y, orientation) in map order.
    """

    def __init__(self, full, doors) -> None:
        self.full = full
        self.walls = {(c, r): [] for c in range(44) for r in range(25)}
        self.edges = {"H": {}, "V": {}}
        self.doors = []
        self._lay_tiles()
        for door in doors:
            self._hang_door(*door)

    def close_doors(self):
        """Regular doors close five ticks after the last contact."""
        for door in self.doors:
            if door.regular and door.open:
                door.timer += 1
                if door.timer > 5:
                    door.open = False

    # Section 3.

    def _slots(self, c, r):
        return tile_table().get(self.full[r][c], ("......", "......", None))

    def _lay_tiles(self):
        facing = {"-": -1, "+": 1, ".": 0, "s": 0}
        value = {"-": 2, "+": 2, ".": 0, "s": 1}
        level = {(i, j): (1 if j == 0 else -1 if j == 50 else 0) for i in range(88) for j in range(51)}
        upright = {(i, j): (1 if i == 0 else -1 if i == 88 else 0) for i in range(89) for j in range(50)}
        for c in range(44):
            for r in range(25):
                horizontal, vertical, extra = self._slots(c, r)
                if extra is not None:
                    a, b, p, q = extra[1:]
                    x, y = 24 * c, 24 * r
                    line = extra[0] == "line"
                    numbers = (x + a, y + b, x + p, y + q) if line else (x + a, y + b, p, q)
                    self.walls[c, r].append(Wall(numbers, not line))
                for a in range(3):
                    for b in range(2):
                        level[2 * c + b, 2 * r + a] += facing[horizontal[2 * a + b]]
                        upright[2 * c + a, 2 * r + b] += facing[vertical[2 * a + b]]
        for (i, j), total in sorted(level.items()):
            if total:
                ends = (12 * i, 12 * j, 12 * i + 12, 12 * j)
                owner = (i // 2, j // 2 - 1 if total > 0 and j % 2 == 0 else j // 2)
                self.walls[owner].append(Wall(ends if total > 0 else (*ends[2:], *ends[:2])))
        for (i, j), total in sorted(upright.items()):
            if total:
                ends = (12 * i, 12 * j, 12 * i, 12 * j + 12)
                owner = (i // 2 - 1 if total > 0 and i % 2 == 0 else i // 2, j // 2)
                self.walls[owner].append(Wall((*ends[2:], *ends[:2]) if total > 0 else ends))
        for i in range(88):
            for j in range(1, 50):
                c, r, b = i // 2, j // 2, i % 2
                if j % 2:
                    self.edges["H"][i, j] = value[self._slots(c, r)[0][2 + b]]
                else:
                    self.edges["H"][i, j] = self._merged((c, r - 1, 0, 4 + b), (c, r, 0, b))
        for i in range(1, 88):
            for j in range(50):
                c, r, b = i // 2, j // 2, j % 2
                if i % 2:
                    self.edges["V"][i, j] = value[self._slots(c, r)[1][2 + b]]
                else:
                    self.edges["V"][i, j] = self._merged((c - 1, r, 1, 4 + b), (c, r, 1, b))

    def _merged(self, first, second):
        value = {"-": 2, "+": 2, ".": 0, "s": 1}
        one, other = (value[self._slots(c, r)[which][slot]] for c, r, which, slot in (first, second))
        return 0 if one and other else one or other

    def _hang_door(self, kind, x, y, orientation):
        ox, oy = VECTORS[orientation]
        c, r = clamp(math.floor((x - 12 * ox) / 24), 0, 43), clamp(math.floor((y - 12 * oy) / 24), 0, 24)
        if orientation in (0, 4):
            line = (x, y - 12, x, y + 12)
            edges = [("V", 2 * c + 2, 2 * r), ("V", 2 * c + 2, 2 * r + 1)]
        else:
            line = (x - 12, y, x + 12, y)
            edges = [("H", 2 * c, 2 * r + 2), ("H", 2 * c + 1, 2 * r + 2)]
        door = Door(edges, kind == 5, kind == 8)
        self.doors.append(door)
        self.walls[c, r].append(Wall(line, door=door))

    def blocks(self, which, i, j):
        if self.edges[which].get((i, j), 0):
            return True
        return any((which, i, j) in door.edges and not door.open for door in self.doors)

    def col_free(self, i, j1, j2, step):
        e = i + 1 if step > 0 else i
        return not any(self.blocks("V", clamp(e, 0, 88), clamp(j, 0, 50)) for j in range(j1, j2 + 1))

    def row_free(self, i1, i2, j, step):
        e = j + 1 if step > 0 else j
        return not any(self.blocks("H", clamp(i, 0, 88), clamp(e, 0, 50)) for i in range(i1, i2 + 1))

    # Section 4.

    def sweep(self, x, y, vx, vy, rho):
        m = rho + 1
        c1, c2 = (clamp(math.floor(z / 24), 0, 43) for z in (min(x, x + vx) - m, max(x, x + vx) + m))
        r1, r2 = (clamp(math.floor(z / 24), 0, 24) for z in (min(y, y + vy) - m, max(y, y + vy) + m))
        result = 1.0
        for c in range(c1, c2 + 1):
            for r in range(r1, r2 + 1):
                for wall in self.walls[c, r]:
                    if wall.active:
                        result = min(result, wall.sweep(x, y, vx, vy, rho))
        return result

    def ray(self, x, y, dx, dy):
        c, r = math.floor(x / 24), math.floor(y / 24)

        def axis(cell, position, d):
            if d > 0:
                return 1, 24 / d, ((cell + 1) * 24 - position) / d
            if d < 0:
                return -1, -24 / d, (cell * 24 - position) / d
            return 0, 0.0, 999999.0

        step_c, delta_x, next_x = axis(c, x, dx)
        step_r, delta_y, next_y = axis(r, y, dy)
        while True:
            best = 1.0
            for wall in self.walls[clamp(c, 0, 43), clamp(r, 0, 24)]:
                if wall.active:
                    best = min(best, wall.sweep(x, y, 2000 * dx, 2000 * dy, 0))
            if best < 1:
                return 2000 * best
            if next_x < next_y:
                c += step_c
                next_x += delta_x
                if not 0 <= c <= 43:
                    return 2000.0
            else:
                r += step_r
                next_y += delta_y
                if not 0 <= r <= 24:
                    return 2000.0
