"""A second reading of chasers and evil ninjas (physics 6.7, 6.19 and 6.20) in plain Python.

It follows the ninja and the doors from outside, tick by tick. Nothing here comes from the package; numbers are compared
with it bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reference.tiles_geometry import ringed
from reference.walls import Walls, norm

from sim.shooters_reading import COMPASS, TURNS, Ninja

CHASER, EVIL = 15, 22


@dataclass
class Chaser:
    x: float
    y: float
    direction: int
    mode: int
    goal: tuple
    chasing: bool = False


@dataclass
class Evil:
    x: float
    y: float
    touched: int | None = None
    number: int = 0
    active: bool = False

    @property
    def starts(self):
        return self.touched + 120 * self.number


class World(Walls):
    """A level as its hunters know it: grid edges, doors, and the whole past of the ninja."""

    def __init__(self, tiles, records) -> None:
        placed = [(kind, 6.0 * xc, 6.0 * yc, orientation, mode) for kind, xc, yc, orientation, mode in records]
        super().__init__(ringed(tiles), [record[:4] for record in placed if record[0] in (5, 6, 8)])
        self.ninja = Ninja()
        self.frame = 0
        self.numbers = 0
        self.past = {}
        self.chasers = [Chaser(x, y, o // 2, mode, (x, y)) for kind, x, y, o, mode in placed if kind == CHASER]
        self.evil = [Evil(x, y) for kind, x, y, _, _ in placed if kind == EVIL]

    def advance_pass(self):
        self.frame += 1
        for chaser in self.chasers:
            self.fly(chaser)

    def react_pass(self):
        self.close_doors()
        for evil in self.evil:
            if evil.touched is not None and not evil.number:
                self.numbers += 1
                evil.number = self.numbers
            if evil.number and self.frame >= evil.starts:
                evil.active = True
                evil.x, evil.y = self.past[self.frame - (120 * evil.number - 1)]

    def touch(self, x, y):
        """The touch rules, at the place where the ninja's pass evaluates its contacts."""
        for chaser in self.chasers:
            if self.ninja.target and norm(chaser.x - x, chaser.y - y) < 17.5:
                self.ninja.kill()
        for evil in self.evil:
            if not self.ninja.target:
                continue
            if evil.active:
                if norm(evil.x - x, evil.y - y) < 16:
                    self.ninja.kill()
            elif evil.touched is None and norm(evil.x - x, evil.y - y) < 20:
                evil.touched = self.frame

    def end(self, x, y):
        self.past[self.frame] = (x, y)

    def fly(self, c):
        speed = 16 / 7 if c.chasing else 8 / 7
        ux, uy = COMPASS[c.direction]
        dx, dy = c.goal[0] - c.x, c.goal[1] - c.y
        left = norm(dx, dy)
        over = dx * (c.goal[0] - (c.x + speed * ux)) + dy * (c.goal[1] - (c.y + speed * uy))
        if not (left < 0.000001 or over < 0):
            c.x += speed * ux
            c.y += speed * uy
            return
        c.x, c.y = c.goal
        if self.choose(c):
            ux, uy = COMPASS[c.direction]
            rest = max(0.0, (16 / 7 if c.chasing else 8 / 7) - left)
            c.x += rest * ux
            c.y += rest * uy

    def choose(self, c):
        base = c.direction
        if c.chasing:
            if self.take(c, c.direction):
                return True
            c.chasing = False
            c.direction = (c.direction - TURNS[c.mode][0]) % 4
        for j in (-1, 0, 1):
            direction = (base + j) % 4
            if self.ahead(c, direction) and self.take(c, direction):
                c.chasing = True
                return True
        return any(self.take(c, (c.direction + k) % 4) for k in TURNS[c.mode])

    def ahead(self, c, direction):
        n = self.ninja
        ux, uy = COMPASS[direction]
        along, aside = (n.x - c.x) * ux + (n.y - c.y) * uy, (n.y - c.y) * abs(ux) + (n.x - c.x) * abs(uy)
        if not n.target or along <= 0 or abs(aside) > 12:
            return False
        i, j = math.floor(c.x / 12), math.floor(c.y / 12)
        if ux:
            return all(self.col_free(k, j, j, ux) for k in range(i, math.floor(n.x / 12), ux))
        return all(self.row_free(i, i, k, uy) for k in range(j, math.floor(n.y / 12), uy))

    def take(self, c, direction, r=7.5):
        ux, uy = COMPASS[direction]
        gx, gy = c.x + 24 * ux, c.y + 24 * uy
        if ux:
            low, high = math.floor((c.y - r) / 12), math.floor((c.y + r) / 12)
            way = range(math.floor((c.x + ux * r) / 12), math.floor((gx + ux * r) / 12), ux)
            free = all(self.col_free(k, low, high, ux) for k in way)
        else:
            low, high = math.floor((c.x - r) / 12), math.floor((c.x + r) / 12)
            way = range(math.floor((c.y + uy * r) / 12), math.floor((gy + uy * r) / 12), uy)
            free = all(self.row_free(low, high, k, uy) for k in way)
        if free:
            c.goal, c.direction = (gx, gy), direction
        return free
