"""A second reading of the shooters (physics 6.15 to 6.18) in plain Python.

It follows the ninja and the doors from outside, tick by tick, and says what rocket turrets, gauss turrets, chaingun and
laser drones do. Nothing here comes from the package; numbers are compared with it bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from reference.tiles_geometry import ringed
from reference.walls import Walls, norm, unit

CHAINGUN, LASER_DRONE, ROCKET, GAUSS = 12, 13, 18, 19
DEAD, DOOMED, CELEBRATING = 6, 7, 8
TURNS = [[1, 0, 3, 2], [3, 0, 1, 2], [0, 1, 3, 2], [0, 3, 1, 2]]
COMPASS = [(1, 0), (0, 1), (-1, 0), (0, -1)]


@dataclass
class Ninja:
    x: float = 0.0
    y: float = 0.0
    vx: float = 0.0
    vy: float = 0.0
    state: int = 0

    @property
    def target(self):
        return self.state not in (DEAD, CELEBRATING, 9)

    def kill(self):
        if self.state < DEAD:
            self.state = DOOMED


@dataclass
class Shooter:
    """One shooter; its fields are those of its section."""

    kind: int
    x: float
    y: float
    phase: str = "idle"
    t: float = 0.0
    # gauss turret
    aim: tuple = (0.0, 0.0)
    # drones
    direction: int = 0
    mode: int = 0
    goal: tuple = (0.0, 0.0)
    g: tuple = (0.0, 0.0)
    s: tuple = (0.0, 0.0)
    count: int = 0
    # rocket
    rocket: tuple | None = None
    way: tuple = (0.0, 0.0)
    speed: float = 0.0
    accel: float = 0.0


class World(Walls):
    """A level as its shooters know it: walls, doors, boost pads, and the ninja."""

    def __init__(self, tiles, records) -> None:
        placed = [(kind, 6.0 * xc, 6.0 * yc, orientation, mode) for kind, xc, yc, orientation, mode in records]
        super().__init__(ringed(tiles), [record[:4] for record in placed if record[0] in (5, 6, 8)])
        self.ninja = Ninja()
        self.pads = [[x, y, False] for kind, x, y, _, _ in placed if kind == 24]
        self.shooters = [
            Shooter(kind, x, y, aim=(x, y), direction=orientation // 2, mode=mode, goal=(x, y))
            for kind, x, y, orientation, mode in placed
            if kind in (CHAINGUN, LASER_DRONE, ROCKET, GAUSS)
        ]

    # 6.15

    def sight(self, x, y):
        n = self.ninja
        if not n.target:
            return False
        d = norm(n.x - x, n.y - y)
        return d < 10 or self.ray(x, y, (n.x - x) / d, (n.y - y) / d) > d - 10

    def beam_kill(self, x, y, dx, dy):
        n = self.ninja
        length = self.ray(x, y, dx, dy)
        ex, ey = x + length * dx - x, y + length * dy - y
        u = ((n.x - x) * ex + (n.y - y) * ey) / (ex * ex + ey * ey) if ex * ex + ey * ey else 0
        u = min(max(u, 0), 1)
        a, b = x + u * ex, y + u * ey
        if (n.x - a) * (n.x - a) + (n.y - b) * (n.y - b) < 100:
            n.kill()

    def towards_ninja(self, x, y):
        dx, dy = self.ninja.x - x, self.ninja.y - y
        return unit(dx, dy) if dx or dy else (1.0, 0.0)

    # The passes of a tick, up to the ninja's.

    def advance_pass(self):
        for kind in (CHAINGUN, LASER_DRONE):
            for shooter in self.shooters:
                if shooter.kind == kind and shooter.phase == "idle":
                    self.fly(shooter, 3 / 7 if kind == CHAINGUN else 2 / 7)
        self.boost()

    def boost(self):
        """6.11; type 24 comes after the drones."""
        n = self.ninja
        for pad in self.pads:
            x, y, inside = pad
            if not n.target or not norm(x - n.x, y - n.y) < 16:
                pad[2] = False
                continue
            if not inside:
                speed = norm(n.vx, n.vy)
                if speed > 0:
                    n.vx, n.vy = n.vx + 2 * n.vx / speed, n.vy + 2 * n.vy / speed
            pad[2] = True

    def react_pass(self):
        self.close_doors()
        rules = {CHAINGUN: self.react_drone, LASER_DRONE: self.react_drone, ROCKET: self.react_rocket}
        for kind in (CHAINGUN, LASER_DRONE, ROCKET, GAUSS):
            for shooter in self.shooters:
                if shooter.kind == kind:
                    rules.get(kind, self.react_gauss)(shooter)

    def touch(self, x, y):
        """The touch rules, at the place where the ninja's pass evaluates its contacts."""
        for shooter in self.shooters:
            if shooter.rocket is None or not self.ninja.target:
                continue
            if norm(shooter.rocket[0] - x, shooter.rocket[1] - y) < 10:
                shooter.rocket, shooter.phase = None, "idle"
                self.ninja.kill()

    # 6.7

    def fly(self, d, speed):
        ux, uy = COMPASS[d.direction]
        dx, dy = d.goal[0] - d.x, d.goal[1] - d.y
        left = norm(dx, dy)
        over = dx * (d.goal[0] - (d.x + speed * ux)) + dy * (d.goal[1] - (d.y + speed * uy))
        if left < 0.000001 or over < 0:
            d.x, d.y = d.goal
            for k in TURNS[d.mode]:
                direction = (d.direction + k) % 4
                if self.possible(d, *COMPASS[direction]):
                    ux, uy = COMPASS[direction]
                    d.goal = (d.x + 24 * ux, d.y + 24 * uy)
                    d.direction = direction
                    rest = speed - left
                    d.x += rest * ux
                    d.y += rest * uy
                    return
        else:
            d.x += speed * ux
            d.y += speed * uy

    def possible(self, d, ux, uy, r=7.5):
        gx, gy = d.x + 24 * ux, d.y + 24 * uy
        if ux:
            i, end = math.floor((d.x + ux * r) / 12), math.floor((gx + ux * r) / 12)
            low, high = math.floor((d.y - r) / 12), math.floor((d.y + r) / 12)
            return all(self.col_free(k, low, high, ux) for k in range(i, end, ux))
        j, end = math.floor((d.y + uy * r) / 12), math.floor((gy + uy * r) / 12)
        low, high = math.floor((d.x - r) / 12), math.floor((d.x + r) / 12)
        return all(self.row_free(low, high, k, uy) for k in range(j, end, uy))

    # 6.16

    def react_rocket(self, r):
        n = self.ninja
        if r.phase == "idle":
            if self.sight(r.x, r.y):
                r.phase, r.t = "prefire", 0
        elif r.phase == "prefire":
            if not n.target:
                r.phase = "idle"
                return
            r.t += 1
            if r.t >= 15:
                r.rocket, r.speed, r.accel, r.phase = (r.x, r.y), 0.0, 0.1 * 4 / 9, "homing"
                r.way = self.towards_ninja(r.x, r.y)
        else:
            if r.speed < 16 / 7:
                r.accel = r.accel * 1.0656022367666107
                r.speed += r.accel
            else:
                r.speed = 16 / 7
            vx, vy = r.speed * r.way[0], r.speed * r.way[1]
            (x, y), r.rocket = r.rocket, (r.rocket[0] + vx, r.rocket[1] + vy)
            if self.sweep(x, y, vx, vy, 0) < 1:
                r.rocket, r.phase = None, "idle"
                return
            if n.target:
                wx = n.x + 1.5 * n.vx - (r.rocket[0] + 1.5 * vx)
                wy = n.y + 1.5 * n.vy - (r.rocket[1] + 1.5 * vy)
                if wx == 0 and wy == 0:
                    return
                wx, wy = unit(wx, wy)
                dx, dy = r.way
                if dx * wx + dy * wy <= 0:
                    return
                p = -dy * wx + dx * wy
                r.way = unit(dx + (0.1 * 2 / 3) * p * -dy, dy + (0.1 * 2 / 3) * p * dx)

    # 6.17

    def react_gauss(self, g):
        n = self.ninja
        if g.phase == "idle":
            if self.sight(g.x, g.y):
                g.aim, g.t, g.phase = (g.x, g.y), 0.0, "targeting"
        elif g.phase == "targeting":
            if not self.sight(g.x, g.y):
                g.phase = "idle"
                return
            ex, ey = n.x + 1.5 * n.vx - g.aim[0], n.y + 1.5 * n.vy - g.aim[1]
            q = ex * ex + ey * ey
            region = 0 if q > 9216 else 1 if q > 1764 else 2 if q > 576 else 3
            g.t += (0, 0.5, 1.5, 3.5)[region]
            share = (0.03, 0.035, 0.05, 0.05)[region] * 2 / 3
            g.aim = (g.aim[0] + ex * share, g.aim[1] + ey * share)
            if g.t > 90:
                g.phase, g.t = "prefire", 0.0
        elif g.phase == "prefire":
            g.t += 1
            if g.t >= 15:
                if n.target:
                    dx, dy = g.aim[0] - g.x, g.aim[1] - g.y
                    self.beam_kill(g.x, g.y, *(unit(dx, dy) if dx or dy else (1.0, 0.0)))
                g.phase, g.t = "postfire", 0.0
        else:
            g.t += 1
            if g.t >= 15:
                if self.sight(g.x, g.y):
                    g.phase, g.t = "targeting", 0.0
                else:
                    g.phase = "idle"

    # 6.18

    def react_drone(self, d):
        n = self.ninja
        prefire, postfire = (52, 90) if d.kind == CHAINGUN else (45, 60)
        if d.phase == "idle":
            if self.sight(d.x, d.y):
                self.begin_prefire(d)
        elif d.phase == "prefire":
            if not n.target:
                d.phase, d.t = "postfire", 0
                return
            d.t += 1
            if d.t >= prefire:
                d.phase, d.t, d.count = "firing", 0, 0
                if d.kind == CHAINGUN:
                    self.take_side(d)
        elif d.phase == "postfire":
            d.t += 1
            if d.t >= postfire:
                if self.sight(d.x, d.y):
                    self.begin_prefire(d)
                else:
                    d.phase = "idle"
        elif d.kind == LASER_DRONE:
            self.beam_kill(d.x, d.y, *d.g)
            d.t += 1
            if d.t >= 80:
                d.phase, d.t = "postfire", 0
        else:
            d.t += 1
            if d.t % 9 == 0:
                if d.count > 6:
                    d.phase, d.t = "postfire", 0
                    return
                d.count += 1
                across = (d.count / 6 - 0.5) * 0.3
                self.beam_kill(d.x, d.y, *unit(d.g[0] + across * d.s[0], d.g[1] + across * d.s[1]))

    def begin_prefire(self, d):
        d.phase, d.t = "prefire", 0
        if d.kind == LASER_DRONE:
            d.g = self.towards_ninja(d.x, d.y)

    def take_side(self, d):
        n = self.ninja
        d.g = gx, gy = self.towards_ninja(d.x, d.y)
        d.s = (gy, -gx) if -gy * n.vx + gx * n.vy < 0 else (-gy, gx)
        if n.x == d.x and n.y == d.y:
            d.s = (0.0, 0.0)
