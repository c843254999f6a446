"""A picture of a level with its graph: tiles, nodes, a distance field as a heat map, next hops as arrows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.errors import NppError
from npp_env.graph.distances import DistanceFields, fields_of
from npp_env.graph.free_space import HEIGHT_PX, WIDTH_PX, solid_image
from npp_env.graph.layout import NO_NODE, EdgeKind, NodeKind
from npp_env.graph.navigation import NavigationGraph
from npp_env.level.cache import LevelCache
from npp_env.level.entity_kinds import EntityKind
from npp_env.level.model import Level
from npp_env.render.opencv import load_cv2
from npp_env.sim.geometry import full_tiles, geometry_of
from npp_env.sim.structs import ORIENTATION_VECTORS

_SOLID = (70, 70, 78)
_EMPTY = (205, 205, 212)
UNREACHABLE = (150, 150, 160)
_ARROW = (25, 25, 30)
_DOOR_COLOUR: dict[int, tuple[int, int, int]] = {
    EntityKind.DOOR: (90, 90, 200),
    EntityKind.LOCKED_DOOR: (200, 60, 60),
    EntityKind.TRAP_DOOR: (220, 140, 30),
}
_ONE_WAY = (90, 90, 90)
END_COLOURS = {
    NodeKind.EXIT_SWITCH: (30, 150, 240),
    NodeKind.EXIT: (240, 60, 200),
    NodeKind.LOCKED_DOOR_SWITCH: (200, 60, 60),
    NodeKind.TRAP_DOOR_SWITCH: (220, 140, 30),
}
_END_RADIUS_PX = {
    NodeKind.EXIT_SWITCH: 6,
    NodeKind.EXIT: 12,
    NodeKind.LOCKED_DOOR_SWITCH: 5,
    NodeKind.TRAP_DOOR_SWITCH: 5,
}
SPAWN = (20, 20, 20)


def draw_graph(
    level: Level,
    graph: NavigationGraph,
    *,
    goal: str = "switch",
    config: bytes | int = 0,
    cache: LevelCache | None = None,
) -> NDArray[np.uint8]:
    """Draw a level with its graph.

    Half cells are coloured by their distance to the goal, from blue (near) over green and yellow to red (far), grey
    where there is no way; ways that need a locked door opened first are paler. Arrows point to the next hop.

    Args:
        level: The level.
        graph: Its graph.
        goal: `switch`, the objective at the start; `exit`; or `end`, over the switch to the exit.
        config: Door configuration.
        cache: Where the distances are kept; the process's own by default.

    Returns:
        RGB, uint8 (600, 1056, 3), a fresh array.
    """
    fields = fields_of(level, config, cache)
    distance, following, bit = goal_field(fields, goal)
    image = np.empty((HEIGHT_PX, WIDTH_PX, 3), np.uint8)
    image[:] = _EMPTY
    _paint_field(image, graph, distance, fields, bit)
    image[solid_image(full_tiles(level))] = _SOLID
    _draw_entities(image, level, cache)
    _draw_nodes(image, graph, following)
    _draw_ends(image, level, graph)
    return image


def goal_field(fields: DistanceFields, goal: str) -> tuple[NDArray[np.float32], NDArray[np.uint16], int]:
    """Distances to a goal, the next hops there, and which bit of `blocked` says that a locked door is on the way.

    Raises:
        NppError: There is no such goal.
    """
    if goal == "switch":
        return fields.switch_distance, fields.switch_next, 0
    if goal == "exit":
        return fields.exit_distance, fields.exit_next, 1
    if goal == "end":
        return fields.plan_distance, fields.plan_next, 2
    raise NppError(f"the goal is {goal!r}; it must be switch, exit or end")


def field_colours(shares: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Colours of distances, as shares 0..1 of the farthest; a fresh array (n, 3)."""
    cv2 = load_cv2()
    places = (255 * shares).astype(np.uint8).reshape(-1, 1)
    # The map runs from blue to red in OpenCV's order of channels.
    colours = cv2.applyColorMap(places, cv2.COLORMAP_JET)[:, 0, ::-1].astype(np.int64)
    paler: NDArray[np.uint8] = ((colours + 255) // 2).astype(np.uint8)
    return paler


def _paint_field(
    image: NDArray[np.uint8], graph: NavigationGraph, distance: NDArray[np.float32], fields: DistanceFields, bit: int
) -> None:
    cv2 = load_cv2()
    lattice = distance[: graph.lattice_count]
    if len(lattice) == 0:
        return
    finite = np.isfinite(lattice)
    farthest = float(lattice[finite].max()) if finite.any() else 1.0
    colours = field_colours(np.where(finite, lattice, 0) / max(farthest, 1.0)).astype(np.int64)
    paler = (fields.blocked[: graph.lattice_count] >> bit & 1).astype(np.bool_)
    colours[paler] = (colours[paler] + 2 * 255) // 3
    colours[~finite] = UNREACHABLE
    for node, colour in enumerate(colours.tolist()):
        x, y = 12 * int(graph.node_x[node] // 12), 12 * int(graph.node_y[node] // 12)
        cv2.rectangle(image, (x, y), (x + 11, y + 11), colour, cv2.FILLED)


def _draw_nodes(image: NDArray[np.uint8], graph: NavigationGraph, following: NDArray[np.uint16]) -> None:
    cv2 = load_cv2()
    standing = np.zeros(graph.node_count, np.bool_)
    standing[graph.edge_sources()[graph.edge_kind == EdgeKind.WALK]] = True
    for node in range(graph.lattice_count):
        x, y = float(graph.node_x[node]), float(graph.node_y[node])
        cv2.circle(image, (round(x), round(y)), 2 if standing[node] else 1, _ARROW, cv2.FILLED, cv2.LINE_AA)
        hop = int(following[node])
        if hop == NO_NODE:
            continue
        dx, dy = float(graph.node_x[hop]) - x, float(graph.node_y[hop]) - y
        length = float(np.hypot(dx, dy))
        if length > 0:
            tip = (round(x + 8 * dx / length), round(y + 8 * dy / length))
            cv2.arrowedLine(image, (round(x), round(y)), tip, _ARROW, 1, cv2.LINE_AA, tipLength=0.4)


def _draw_entities(image: NDArray[np.uint8], level: Level, cache: LevelCache | None) -> None:
    """Door lines and one-way platforms with their normals."""
    cv2 = load_cv2()
    geometry = geometry_of(level, cache)
    kind_of_slot = {
        int(row["slot"]): int(row["kind"]) for row in geometry["entities"] if int(row["kind"]) in _DOOR_COLOUR
    }
    for wall in geometry["walls"][geometry["walls"]["door"] >= 0]:
        ends = [(round(float(wall[f"x{k}"])), round(float(wall[f"y{k}"]))) for k in (1, 2)]
        cv2.line(image, ends[0], ends[1], _DOOR_COLOUR[kind_of_slot[int(wall["door"])]], 4)
    for row in geometry["entities"][geometry["entities"]["kind"] == EntityKind.ONE_WAY]:
        x, y = float(row["x"]), float(row["y"])
        nx, ny = ORIENTATION_VECTORS[int(row["orientation"])]
        sides = [(round(x + s * 12 * ny), round(y - s * 12 * nx)) for s in (-1, 1)]
        cv2.line(image, sides[0], sides[1], _ONE_WAY, 3)
        cv2.line(image, (round(x), round(y)), (round(x + 8 * nx), round(y + 8 * ny)), _ONE_WAY, 2)


def _draw_ends(image: NDArray[np.uint8], level: Level, graph: NavigationGraph) -> None:
    cv2 = load_cv2()
    for node in range(graph.lattice_count, graph.node_count):
        kind = NodeKind(int(graph.node_kind[node]))
        if kind in END_COLOURS:
            place = (round(float(graph.node_x[node])), round(float(graph.node_y[node])))
            cv2.circle(image, place, _END_RADIUS_PX[kind], END_COLOURS[kind], cv2.FILLED, cv2.LINE_AA)
            cv2.circle(image, place, _END_RADIUS_PX[kind], _ARROW, 1, cv2.LINE_AA)
    x, y = level.spawn
    cv2.circle(image, (round(x), round(y)), 10, SPAWN, 2, cv2.LINE_AA)
