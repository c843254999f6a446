"""Grid edges: what stops drones, floor guards and thwumps; and the cell in which a mover is listed."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.npp_env.sim.layout import World, column_of, row_of
else:
    from npp_env.sim.structs import column_of, row_of


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def clamp(n: cython.int, high: cython.int) -> cython.int:
    """The number in 0..high that is nearest to n."""
    if n < 0:
        return 0
    if n > high:
        return high
    return n


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def door_closes(w: cython.pointer(World), edge: cython.int, vertical: cython.int) -> cython.int:
    """Whether a closed door lies on this edge."""
    d: cython.int
    on_edge: cython.int
    for d in range(w.level.n_doors):
        if w.level.doors[d].vertical != vertical:
            continue
        on_edge = w.level.doors[d].edge_a == edge or w.level.doors[d].edge_b == edge
        if on_edge and (w.flags[w.level.doors[d].flag] & 1) == 0:
            return 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def col_free(w: cython.pointer(World), i: cython.int, j1: cython.int, j2: cython.int, step: cython.int) -> cython.int:
    """Whether one may leave half column i in direction step over half rows j1..j2."""
    e: cython.int = clamp(i + 1 if step > 0 else i, 88)
    j: cython.int
    value: cython.int
    edge: cython.int
    for j in range(j1, j2 + 1):
        edge = e * 51 + clamp(j, 50)
        value = w.level.edges_v[edge]
        if value & 3:
            return 0
        if value != 0 and door_closes(w, edge, 1):
            return 0
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def row_free(w: cython.pointer(World), i1: cython.int, i2: cython.int, j: cython.int, step: cython.int) -> cython.int:
    """Whether one may leave half row j in direction step over half columns i1..i2."""
    e: cython.int = clamp(j + 1 if step > 0 else j, 50)
    i: cython.int
    value: cython.int
    edge: cython.int
    for i in range(i1, i2 + 1):
        edge = e * 89 + clamp(i, 88)
        value = w.level.edges_h[edge]
        if value & 3:
            return 0
        if value != 0 and door_closes(w, edge, 0):
            return 0
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def floor_value(w: cython.pointer(World), i: cython.int, j: cython.int) -> cython.int:
    """Tile value of a horizontal edge, doors left aside."""
    return w.level.edges_h[clamp(j, 50) * 89 + clamp(i, 88)] & 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def relist(w: cython.pointer(World), m: cython.int) -> cython.void:
    """Move a mover to the end of the list of the cell that it has entered."""
    cell: cython.int = column_of(w.movers[m].x) * 25 + row_of(w.movers[m].y)
    if cell != w.movers[m].cell:
        w.movers[m].cell = cell
        w.movers[m].stamp = w.level.n_entities + w.ninja.stamp
        w.ninja.stamp += 1
