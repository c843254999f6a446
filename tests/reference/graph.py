"""The navigation graph of a level, built from tiles and records by the rules of `docs/graph.md`, and its arrays."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reference.tiles_geometry import FIT_RADIUS, HEIGHT, WIDTH, distance_to_line, matter_pixels, tight_pixels

HALF, COLUMNS, ROWS = 12, 88, 50
SLANT = 0.7071067811865476
NORMALS = [(1, 0), (SLANT, SLANT), (0, 1), (-SLANT, SLANT), (-1, 0), (-SLANT, -SLANT), (0, -1), (SLANT, -SLANT)]

WALK, FALL, JUMP, WALL, AIR, TOUCH = range(6)
JUMP_HEIGHT = 76.9
# Kind of the node, type of the record, whether it stands at the switch, and how near the ninja's centre touches it.
ENDS = [
    (1, 3, True, 16),
    (2, 3, False, 22),
    (3, 6, True, 15),
    (4, 8, True, 15),
    (5, 5, False, 20),
    (6, 6, False, 20),
    (7, 8, False, 20),
]
EXIT_SWITCH, EXIT = 1, 2

# Pixels of a half cell as the bits of a number, in reading order.
_ALL = (1 << 144) - 1
_FIRST_COLUMN = sum(1 << 12 * row for row in range(12))
_NOT_FIRST, _NOT_LAST = _ALL & ~_FIRST_COLUMN, _ALL & ~(_FIRST_COLUMN << 11)


@dataclass
class Place:
    """A thing of the map: its own place, that of its switch, and the row of its record."""

    kind: int
    x: float
    y: float
    switch_x: float
    switch_y: float
    orientation: int


@dataclass
class Graph:
    """Nodes and edges; the first `lattice` nodes are pieces of free space."""

    x: list[float]
    y: list[float]
    kind: list[int]
    lattice: int
    half: list[int]  # of the lattice nodes: row * 88 + column
    label: Any  # (600, 1056) node of every pixel, -1 where the ninja does not fit
    edges: list[tuple[int, int]]
    lengths: list[float]  # of the edges, as they are stored
    edge_kind: list[int]
    gates: dict[tuple[int, int], tuple[int, ...]]  # edge -> doors that close it
    doors: list[Place]  # locked and trap doors in map order
    door_switch: list[int]  # their switches' nodes
    spawn: tuple[float, float]
    fields: dict[Any, Any] = field(default_factory=dict)  # what was searched already

    def nodes_of(self, kind):
        return [node for node in range(len(self.kind)) if self.kind[node] == kind]


_graphs: dict[str, Graph] = {}


def graph_of(level) -> Graph:
    """The graph of a level, built once."""
    if level.hash not in _graphs:
        _graphs[level.hash] = build(level)
    return _graphs[level.hash]


def places_of(level):
    """The records that the graph knows of, in map order."""
    records = level.records.tolist()
    exits = int(level.counts[3]) & 0xFF
    places = []
    for number, (kind, xc, yc, orientation, _) in enumerate(records):
        if kind not in (3, 5, 6, 8, 11):
            continue
        further = {3: exits, 6: 1, 8: 1}.get(kind, 0)
        _, switch_x, switch_y, _, _ = records[number + further]
        places.append(Place(kind, 6.0 * xc, 6.0 * yc, 6.0 * switch_x, 6.0 * switch_y, orientation))
    return places


def build(level) -> Graph:
    places = places_of(level)
    spawn = (6.0 * int(level.records[0][1]), 6.0 * int(level.records[0][2]))
    surfaces = [surface_of(place) for place in places if place.kind == 11]
    free = free_pixels(level, spawn)
    label, half, x, y = lattice_of(free, surfaces)
    lattice = len(half)
    ends = [
        (kind, place, (place.switch_x, place.switch_y) if at_switch else (place.x, place.y), touch)
        for kind, record, at_switch, touch in ENDS
        for place in places
        if place.kind == record
    ]
    doors = [place for place in places if place.kind in (6, 8)]
    switch_of = {id(end[1]): lattice + k for k, end in enumerate(ends) if end[0] in (3, 4)}
    contacts = contacts_of(label, surfaces) + touches_of(label, ends, lattice)
    edges, gates = edges_of(contacts, doors)
    graph = Graph(
        x=x + [end[2][0] for end in ends],
        y=y + [end[2][1] for end in ends],
        kind=[0] * lattice + [end[0] for end in ends],
        lattice=lattice,
        half=half,
        label=label,
        edges=edges,
        lengths=[],
        edge_kind=[],
        gates=gates,
        doors=doors,
        door_switch=[switch_of[id(door)] for door in doors],
        spawn=spawn,
    )
    ground, wall, height = footing(graph, surfaces)
    graph.lengths = [
        float(length)
        for length in np.array([math.dist((graph.x[a], graph.y[a]), (graph.x[b], graph.y[b])) for a, b in edges], "f2")
    ]
    graph.edge_kind = [kind_of_edge(graph, source, target, ground, wall, height) for source, target in edges]
    return graph


@dataclass
class Surface:
    """Masks of the pixels over and under a one-way platform, in a window of the world."""

    x: int  # of the window
    y: int
    over: Any
    under: Any
    holds_up: bool

    def pixels(self, mask):
        """Coordinates in the world of the pixels of a mask."""
        y, x = np.nonzero(mask)
        y, x = y + self.y, x + self.x
        inside = (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
        return y[inside], x[inside]


def surface_of(place):
    nx, ny = NORMALS[place.orientation]
    left, top = int(place.x) - 40, int(place.y) - 40
    y, x = np.mgrid[top : top + 81, left : left + 81]
    along = (x - place.x) * nx + (y - place.y) * ny
    beside = np.abs((y - place.y) * nx - (x - place.x) * ny) < 17.1
    return Surface(left, top, beside & (along >= 9.5), beside & (along > -8) & (along < 9.5), ny < 0)


def pieces_of(bits):
    """Pieces of touching pixels of a half cell, by their first pixels."""
    if bits == _ALL:
        return [bits]
    found = []
    while bits:
        piece, grown = 0, bits & -bits
        while grown != piece:
            piece = grown
            wide = piece | (piece & _NOT_LAST) << 1 | (piece & _NOT_FIRST) >> 1
            grown = (wide | wide << 12 | wide >> 12) & bits
        found.append(piece)
        bits &= ~piece
    return found


def half_cells(mask, where=None):
    """The pixels of each half cell as a number, for those that have any (there)."""
    blocks, wanted = (
        image.reshape(ROWS, HALF, COLUMNS, HALF).transpose(0, 2, 1, 3).reshape(ROWS * COLUMNS, 144)
        for image in (mask, mask if where is None else where)
    )
    for half in np.flatnonzero(wanted.any(axis=1)).tolist():
        packed = np.packbits(blocks[half], bitorder="little").tobytes()
        yield half, int.from_bytes(packed, "little")


def pixels_of(half, piece):
    """Coordinates of the pixels of a piece, in reading order."""
    unpacked = np.unpackbits(np.frombuffer(piece.to_bytes(18, "little"), np.uint8), bitorder="little")
    dy, dx = np.divmod(np.flatnonzero(unpacked), HALF)
    row, column = divmod(half, COLUMNS)
    return HALF * column + dx, HALF * row + dy


def free_pixels(level, spawn):
    """Where the ninja's centre fits, without the cavities in matter."""
    fits = ~tight_pixels(level.tiles)
    fresh = fits & ~matter_pixels(level.tiles)
    start = min(int(spawn[1]), HEIGHT - 1), min(int(spawn[0]), WIDTH - 1)
    fresh[start] = fits[start]
    free = np.zeros(fits.shape, bool)
    while fresh.any():
        for half, bits in half_cells(fits, fresh):
            for piece in pieces_of(bits):
                x, y = pixels_of(half, piece)
                if fresh[y, x].any():
                    free[y, x] = True
        fresh = touching(free) & fits & ~free
    return free


def touching(mask):
    """The pixels of a mask and those that touch them."""
    rows = mask.copy()
    rows[1:] |= mask[:-1]
    rows[:-1] |= mask[1:]
    both = rows.copy()
    both[:, 1:] |= rows[:, :-1]
    both[:, :-1] |= rows[:, 1:]
    return both


def lattice_of(free, surfaces):
    """Label of every pixel, and half cell and place of every node, in order."""
    under = np.zeros(free.shape, np.int64)
    known: dict[tuple[int, int], int] = {}
    for number, surface in enumerate(surfaces):
        # Equal numbers for equal sets of surfaces.
        for y, x in zip(*(part.tolist() for part in surface.pixels(surface.under)), strict=True):
            under[y, x] = known.setdefault((int(under[y, x]), number), len(known) + 1)
    label = np.full(free.shape, -1)
    half, place_x, place_y = [], [], []
    for cell, bits in half_cells(free):
        nodes = []
        for piece in pieces_of(bits):
            x, y = pixels_of(cell, piece)
            sets = under[y, x]
            if not sets.any():
                nodes.append((x, y))
                continue
            for value in np.unique(sets).tolist():
                own = sets == value
                nodes.append((x[own], y[own]))
        nodes.sort(key=lambda pixels: (pixels[1][0], pixels[0][0]))
        for x, y in nodes:
            row, column = divmod(cell, COLUMNS)
            squared = (x - (HALF * column + 6)) ** 2 + (y - (HALF * row + 6)) ** 2
            best = np.flatnonzero(squared == squared.min())[-1]
            label[y, x] = len(half)
            half.append(cell)
            place_x.append(float(x[best]))
            place_y.append(float(y[best]))
    return label, half, place_x, place_y


def contacts_of(label, surfaces):
    """Pairs of touching pixels of different nodes: number of the step, nodes, and pixels as y * width + x."""
    found = []
    index = np.arange(HEIGHT * WIDTH).reshape(HEIGHT, WIDTH)
    ys, xs = np.flatnonzero((label >= 0).any(axis=1)), np.flatnonzero((label >= 0).any(axis=0))
    top, bottom, left, right = (ys[0], ys[-1] + 1, xs[0], xs[-1] + 1) if len(ys) else (1, 2, 1, 2)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dx == dy == 0:
                continue
            here = (slice(top + max(0, -dy), bottom - max(0, dy)), slice(left + max(0, -dx), right - max(0, dx)))
            there = (slice(top + max(0, dy), bottom - max(0, -dy)), slice(left + max(0, dx), right - max(0, -dx)))
            a, b = label[here], label[there]
            passing = (a >= 0) & (b >= 0) & (a != b)
            if surfaces:
                stopped = np.zeros(label.shape, bool)
                for surface in surfaces:
                    # What is under lies far from the border of the window, so nothing wraps around.
                    step = surface.over & np.roll(surface.under, (-dy, -dx), (0, 1))
                    stopped[surface.pixels(step)] = True
                passing &= ~stopped[here]
            found.append(((dx, dy), a[passing], b[passing], index[here][passing], index[there][passing]))
    return found


def touches_of(label, ends, lattice):
    """The same for nodes that have a pixel in touch of an end."""
    found = []
    for number, (_, _, (x, y), touch) in enumerate(ends):
        top, left = max(0, int(y) - 30), max(0, int(x) - 30)
        window = label[top : int(y) + 31, left : int(x) + 31]
        py, px = np.nonzero(window >= 0)
        near = (px + left - x) ** 2 + (py + top - y) ** 2 < touch**2
        py, px = py[near], px[near]
        pixels = (py + top) * WIDTH + px + left
        found.append((None, window[py, px], np.full(len(px), lattice + number), pixels, pixels))
    return found


def edges_of(contacts, doors):
    """Edges in order, and the doors that close each."""
    source, target, first, second = (np.concatenate([c[k] for c in contacts] or [[]]).astype(int) for k in (1, 2, 3, 4))
    keys, which, total = np.unique(source * 100_000 + target, return_inverse=True, return_counts=True)
    edges = [divmod(key, 100_000) for key in keys.tolist()]
    gates: dict[tuple[int, int], tuple[int, ...]] = {}
    for number, door in enumerate(doors):
        dx, dy = (0, 12) if door.orientation in (0, 4) else (12, 0)
        line = (door.x - dx, door.y - dy, door.x + dx, door.y + dy)
        covered = np.zeros(len(source), bool)
        for pixel in (first, second):
            covered |= distance_to_line(pixel % WIDTH, pixel // WIDTH, *line) < FIT_RADIUS
        lost = np.bincount(which[covered], minlength=len(keys)) == total
        for edge in np.flatnonzero(lost).tolist():
            gates[edges[edge]] = (*gates.get(edges[edge], ()), number)
    return edges, gates


def footing(graph, surfaces):
    """Lattice nodes with ground, lattice nodes with a wall, and the height over the ground of half cells."""
    label = graph.label
    free = label >= 0
    ground = set(label[:-1][free[:-1] & ~free[1:]].tolist())
    for surface in surfaces:
        if surface.holds_up:
            ground |= set(label[surface.pixels(surface.over & np.roll(surface.under, -1, 0))].tolist()) - {-1}
    wall = set(label[:, :-1][free[:, :-1] & ~free[:, 1:]].tolist())
    wall |= set(label[:, 1:][free[:, 1:] & ~free[:, :-1]].tolist())
    height: dict[int, float] = {}
    grounded = {graph.half[node] for node in ground}
    for half in sorted(set(graph.half), reverse=True):
        height[half] = 0.0 if half in grounded else height.get(half + COLUMNS, float("inf")) + HALF
    return ground, wall, height


def kind_of_edge(graph, source, target, ground, wall, height):
    if target >= graph.lattice:
        return TOUCH
    if source in ground and target in ground:
        return WALK
    if graph.y[target] > graph.y[source]:
        return FALL
    if height[graph.half[target]] <= JUMP_HEIGHT:
        return JUMP
    return WALL if source in wall or target in wall else AIR


def cut(value):
    return max(-1.0, min(1.0, value))


def static_node_rows(graph):
    """Columns 0, 1 and 4 of `graph_node_feats`, without padding."""
    return [
        (cut(x / 528 - 1), cut(y / 300 - 1), kind / 8) for x, y, kind in zip(graph.x, graph.y, graph.kind, strict=True)
    ]


def edge_pairs(graph, max_nodes, max_edges):
    """Numbers of the edges that fit."""
    fitting = (k for k, edge in enumerate(graph.edges) if max(edge) < max_nodes)
    return list(itertools.islice(fitting, max_edges))


def edge_rows(graph, chosen):
    """The rows of `graph_edge_feats` for some edges."""
    source, target = np.array([graph.edges[k] for k in chosen], int).reshape(-1, 2).T
    x, y = np.array(graph.x), np.array(graph.y)
    dx, dy = x[target] - x[source], y[target] - y[source]
    kind = np.array([graph.edge_kind[k] for k in chosen])
    parts = [dx / 24, dy / 24, np.sqrt(dx * dx + dy * dy) / 24, kind / 8]
    return np.clip(np.stack(parts, axis=1), -1, 1)
