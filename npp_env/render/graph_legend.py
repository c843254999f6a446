"""The legend of a graph's picture; see `npp_env.render.graph_picture.draw_graph`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npp_env.graph.distances import fields_of
from npp_env.graph.layout import NodeKind
from npp_env.graph.navigation import NavigationGraph
from npp_env.level.model import Level
from npp_env.render.graph_picture import END_COLOURS, SPAWN, UNREACHABLE, draw_graph, field_colours, goal_field
from npp_env.render.legend import Legend

_NAMES = {"switch": "to the switch", "exit": "to the exit", "end": "over the switch to the exit"}


def draw_graph_with_legend(level: Level, graph: NavigationGraph, goal: str = "switch") -> NDArray[np.uint8]:
    """Draw a level with its graph, and say what the colours mean.

    Args:
        level: The level.
        graph: Its graph.
        goal: What distances lead to: `switch`, the present objective at the start; `exit`; or `end`, over the switch to
            the exit.

    Returns:
        RGB, uint8 (600 + LEGEND_PX, 1056, 3), a fresh array.
    """
    picture = draw_graph(level, graph, goal=goal)
    distance = goal_field(fields_of(level, 0), goal)[0][: graph.lattice_count]
    known = distance[np.isfinite(distance)]
    legend = Legend(picture, f"{level.name}: path length {_NAMES[goal]}")
    if len(known):
        ramp = field_colours(np.linspace(0, 1, 256))
        legend.ramp(ramp, "px", "0", f"{known.max():,.0f}")
    kinds = (("switch", NodeKind.EXIT_SWITCH), ("exit", NodeKind.EXIT), ("key", NodeKind.LOCKED_DOOR_SWITCH))
    present = {int(kind) for kind in graph.node_kind}
    legend.marks([(name, END_COLOURS[kind]) for name, kind in kinds if kind in present], filled=True)
    legend.marks([("start", SPAWN)])
    legend.marks([("no way", UNREACHABLE)], filled=True)
    return legend.finish("arrows: next hop; paler: behind a locked door")
