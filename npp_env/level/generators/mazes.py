"""Mazes: chambers joined by doorways and shafts, some of them locked."""

from __future__ import annotations

import random

from npp_env.level.entity_kinds import EntityKind
from npp_env.level.generators.canvas import Canvas

_CHAMBER_WIDTH, _CHAMBER_HEIGHT = 9, 6
_COLUMNS, _ROWS = 4, 3
_LEFT, _TOP = 3, 4
_INNER_HEIGHT = 5

Place = tuple[int, int]


def draw(canvas: Canvas, difficulty: float) -> None:
    """Draw a level of this family; `difficulty` from 0 to 1."""
    rng = canvas.rng
    columns, rows = (2 + round(2 * difficulty), 2 + (difficulty > 0.5 or rng.random() < difficulty))
    parents = _spanning_tree(rng, columns, rows)
    for place in parents:
        left, top = _corner(place)
        canvas.carve(left, top, left + _CHAMBER_WIDTH - 2, top + _INNER_HEIGHT - 1)
    doorways: list[tuple[Place, Place]] = []
    for place, parent in parents.items():
        if parent is None:
            continue
        if place[1] == parent[1]:
            _open_doorway(canvas, place, parent)
            doorways.append((place, parent))
        else:
            _open_shaft(canvas, place, parent)
    start = next(place for place, parent in parents.items() if parent is None)
    end = max(parents, key=lambda place: (_depth(parents, place), place))
    canvas.spawn(*_spot(start, 4))
    others = [place for place in parents if place not in (start, end)] or [start]
    canvas.goal(_spot(end, 4), _spot(rng.choice(others), 3))
    _lock(canvas, parents, doorways, round(3 * difficulty))
    for place in parents:
        if place not in (start, end) and rng.random() < 0.6 * difficulty:
            spot = _spot(place, 5)
            if spot not in canvas.reserved and not canvas.is_open(spot[0], spot[1] + 1):
                canvas.add(EntityKind.MINE, *spot, drop=1)
    canvas.round_corners(0.3)
    canvas.scatter_gold(3 + int(5 * difficulty))


def _corner(place: Place) -> tuple[int, int]:
    return _LEFT + place[0] * _CHAMBER_WIDTH, _TOP + place[1] * _CHAMBER_HEIGHT


def _spot(place: Place, column: int) -> tuple[int, int]:
    left, top = _corner(place)
    return left + column, top + _INNER_HEIGHT - 1


def _spanning_tree(rng: random.Random, columns: int, rows: int) -> dict[Place, Place | None]:
    """Parent of every chamber, in the order of their discovery from a random one."""
    start = (rng.randrange(columns), rng.randrange(rows))
    parents: dict[Place, Place | None] = {start: None}
    stack = [start]
    while stack:
        c, r = stack[-1]
        around = [(c + 1, r), (c - 1, r), (c, r + 1), (c, r - 1)]
        fresh = [p for p in around if 0 <= p[0] < columns and 0 <= p[1] < rows and p not in parents]
        if not fresh:
            stack.pop()
            continue
        following = rng.choice(fresh)
        parents[following] = (c, r)
        stack.append(following)
    return parents


def _depth(parents: dict[Place, Place | None], place: Place) -> int:
    depth, parent = 0, parents[place]
    while parent is not None:
        depth, parent = depth + 1, parents[parent]
    return depth


def _open_doorway(canvas: Canvas, one: Place, other: Place) -> None:
    left, floor = _spot(max(one, other), 0)
    canvas.carve(left - 1, floor, left - 1, floor)
    canvas.reserved.update(((left - 1, floor), (left - 2, floor), (left, floor)))


def _open_shaft(canvas: Canvas, one: Place, other: Place) -> None:
    """A hole between chambers above each other, at alternating sides so that no fall gets too long."""
    upper = min(one, other, key=lambda place: place[1])
    column = 1 if (upper[0] + upper[1]) % 2 else _CHAMBER_WIDTH - 4
    left, floor = _spot(upper, column)
    canvas.carve(left, floor + 1, left + 1, floor + 1)
    # A ledge in the lower chamber, to climb from.
    side = left + 2 if column == 1 else left - 1
    canvas.fill(side, floor + 4, side, floor + 4)
    canvas.reserved.update({(left, floor), (left + 1, floor), (left, floor + 1), (left + 1, floor + 1)})


def _lock(canvas: Canvas, parents: dict[Place, Place | None], doorways: list[tuple[Place, Place]], count: int) -> None:
    """Lock some doorways; each switch lies in a chamber that was discovered before the doorway was passed."""
    order = list(parents)
    for place, parent in canvas.rng.sample(doorways, min(count, len(doorways))):
        before = order[: order.index(place)]
        switch = _spot(canvas.rng.choice(before), canvas.rng.choice((2, 6)))
        if switch in canvas.reserved or not canvas.is_open(*switch) or canvas.is_open(switch[0], switch[1] + 1):
            continue
        left, floor = _spot(max(place, parent), 0)
        canvas.lock_passage(left - 2, floor, switch)
