"""One entry to all observations: write the one with a given number into a row of bytes."""

from npp_env.observe.entity_features cimport write_entity_states, write_spatial_context, write_switch_states
from npp_env.observe.graph_features cimport (
    edge_count, node_count, write_edge_feats, write_edge_index, write_mask, write_node_feats,
)
from npp_env.observe.ninja_features cimport write_action_mask, write_game_state
from npp_env.observe.path_features cimport write_reachability
from npp_env.observe.view cimport View
from npp_env.render.frames cimport draw_global_view, draw_player_frame


cdef inline unsigned short* halves(unsigned char* out) noexcept nogil:
    """A row of bytes as 16-bit numbers."""
    return <unsigned short*>out


cdef inline unsigned char* state_bytes(View* view) noexcept nogil:
    """The bytes of the state that the view looks at."""
    return <unsigned char*>view.world.ninja


cdef inline unsigned char* pixels(unsigned char* row) noexcept nogil:
    """A row of bytes as the frames take it."""
    return row


cdef void write_observation(View* view, int key, unsigned char* out) noexcept nogil:
    """Write observation `OBSERVATION_KEYS[key]`."""
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
        write_mask(out, node_count(view), view.max_nodes)
    elif key == 11:
        write_mask(out, edge_count(view), view.max_edges)
    elif key == 12:
        write_action_mask(view, out)
