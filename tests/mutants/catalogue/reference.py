"""Faults in the references: if none of their tests noticed, they would compare nothing."""

from __future__ import annotations

from ..faults import Fault

GRAPH = "tests/reference/graph.py"
PATHS = "tests/reference/paths.py"
REWARDS = "tests/reference/rewards.py"
SCENE = "tests/reference/scene.py"
TILES = "tests/reference/tiles_geometry.py"
VECTORS = "tests/reference/vectors.py"

FAULTS = [
    Fault(
        "reference-mines-in-a-smaller-range",
        VECTORS,
        "MINE_RANGE = 132.0",
        "MINE_RANGE = 131.0",
        "observe",
        "neighbouring-constant",
    ),
    Fault("reference-laser-rounded", VECTORS, '"laser turret": 5.9', '"laser turret": 6.0', "observe", "wrong-radius"),
    Fault(
        "reference-floor-normal-swapped",
        VECTORS,
        "n.floor_x,\n        n.floor_y,",
        "n.floor_y,\n        n.floor_x,",
        "observe",
        "swapped-arguments",
    ),
    Fault("reference-pads-mirrored", VECTORS, "(-DIAGONAL, DIAGONAL),", "(-DIAGONAL, -DIAGONAL),", "observe", "sign"),
    Fault(
        "reference-switches-of-exits-a-record-early",
        SCENE,
        "exits if kind == 3 else 1",
        "exits - 1 if kind == 3 else 1",
        "observe",
        "off-by-one",
    ),
    Fault(
        "reference-floor-and-wall-buffer-exchanged",
        SCENE,
        '"floor_buffer",\n    "wall_buffer"',
        '"wall_buffer",\n    "floor_buffer"',
        "observe",
        "exchanged-fields",
    ),
    Fault(
        "reference-every-switch-pays",
        REWARDS,
        "taken(before, EXIT) == 0 and taken(after, EXIT) > 0",
        "taken(after, EXIT) > taken(before, EXIT)",
        "reward",
        "dropped-condition",
    ),
    Fault(
        "reference-way-by-a-switch-without-the-way-back",
        PATHS,
        '2 * edge["weight"]',
        'edge["weight"]',
        "paths",
        "neighbouring-constant",
    ),
    Fault(
        "reference-way-begins-at-the-node",
        PATHS,
        "way.length[hop] + straight",
        "way.length[node] + straight",
        "paths",
        "wrong-index",
    ),
    Fault(
        "reference-short-plans-count-less",
        PATHS,
        "SHORTEST_TOTAL = 48",
        "SHORTEST_TOTAL = 47",
        "shaping",
        "neighbouring-constant",
    ),
    Fault(
        "reference-exit-touched-from-nearer", GRAPH, "(2, 3, False, 22)", "(2, 3, False, 20)", "graph", "wrong-radius"
    ),
    Fault(
        "reference-ground-is-overhead",
        GRAPH,
        "label[:-1][free[:-1] & ~free[1:]]",
        "label[1:][free[1:] & ~free[:-1]]",
        "graph",
        "wrong-index",
    ),
    Fault(
        "reference-fits-only-at-full-radius", TILES, "FIT_RADIUS = 9.28", "FIT_RADIUS = 10.0", "graph", "wrong-radius"
    ),
]
