"""One entry to all observations: write the one with a given number into a row of bytes."""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.npp_env.observe.entity_features import (
        write_entity_states,
        write_spatial_context,
        write_switch_states,
    )
    from cython.cimports.npp_env.observe.graph_features import (
        write_edge_feats,
        write_edge_index,
        write_mask,
        write_node_feats,
    )
    from cython.cimports.npp_env.observe.ninja_features import write_action_mask, write_game_state
    from cython.cimports.npp_env.observe.path_features import write_reachability
    from cython.cimports.npp_env.observe.view import View
    from cython.cimports.npp_env.render.frames import draw_global_view, draw_player_frame
else:
    from npp_env.observe.entity_features import (
        write_entity_states,
        write_spatial_context,
        write_switch_states,
    )
    from npp_env.observe.graph_features import (
        write_edge_feats,
        write_edge_index,
        write_mask,
        write_node_feats,
    )
    from npp_env.observe.ninja_features import write_action_mask, write_game_state
    from npp_env.observe.path_features import write_reachability
    from npp_env.render.frames import draw_global_view, draw_player_frame


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def halves(out: cython.pointer(cython.uchar)) -> cython.pointer(cython.ushort):
    """A row of bytes as 16-bit numbers."""
    if cython.compiled:
        return cython.cast(cython.pointer(cython.ushort), out)
    else:
        return out.view("uint16")


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def state_bytes(view: cython.pointer(View)) -> cython.pointer(cython.uchar):
    """The bytes of the state that the view looks at."""
    if cython.compiled:
        return cython.cast(cython.pointer(cython.uchar), view.world.ninja)
    else:
        return view.state


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def pixels(row: cython.pointer(cython.uchar)) -> cython.pointer(cython.uchar):
    """A row of bytes as the frames take it."""
    if cython.compiled:
        return row
    else:
        return memoryview(row)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_observation(view: cython.pointer(View), key: cython.int, out: cython.pointer(cython.uchar)) -> cython.void:
    """Write observation `OBSERVATION_KEYS[key]`."""
    valid: cython.int
    if key == 0:
        write_game_state(view, halves(out))
    elif key == 1:
        write_entity_states(view, halves(out))
    elif key == 2:
        write_switch_states(view, halves(out))
    elif key == 3:
        write_reachability(view, halves(out))
    elif key == 4:
        write_spatial_context(view, halves(out))
    elif key == 5:
        draw_player_frame(view.world.level, state_bytes(view), pixels(view.background), pixels(out))
    elif key == 6:
        draw_global_view(view.world.level, state_bytes(view), pixels(view.background), pixels(out))
    elif key == 7:
        write_node_feats(view, halves(out))
    elif key == 8:
        write_edge_index(view, halves(out))
    elif key == 9:
        write_edge_feats(view, halves(out))
    elif key == 10:
        valid = view.paths.n_nodes
        write_mask(out, valid if valid < view.max_nodes else view.max_nodes, view.max_nodes)
    elif key == 11:
        valid = view.paths.n_edges
        write_mask(out, valid if valid < view.max_edges else view.max_edges, view.max_edges)
    elif key == 12:
        write_action_mask(view, out)
