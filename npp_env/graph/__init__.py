"""Navigation graph, distances and reachability of a level, built on first need and shared."""

from __future__ import annotations

from npp_env.graph.distances import DistanceFields, fields_of
from npp_env.graph.layout import NO_NODE, EdgeKind, NodeKind
from npp_env.graph.navigation import GRAPH, NavigationGraph, graph_of

__all__ = ["GRAPH", "NO_NODE", "DistanceFields", "EdgeKind", "NavigationGraph", "NodeKind", "fields_of", "graph_of"]
