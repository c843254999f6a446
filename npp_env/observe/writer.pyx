"""One entry to all observations: write the one with a given number into a row of bytes.

What writes a key is looked up by name, once, when this module is imported: a row of the table without a writer, or
with one of another width, is an error then.
"""

from importlib import import_module

from npp_env.observe.view cimport HalvesWriter, OctetsWriter, View, octets
from npp_env.render.frames cimport draw_global_view, draw_player_frame

from npp_env.errors import NppError
from npp_env.observe.spec import TABLE

cdef HalvesWriter[MAX_KEYS] halves_writers
cdef OctetsWriter[MAX_KEYS] octets_writers


cdef void write_player_frame(View* view, unsigned char* out) noexcept nogil:
    """What is around the ninja."""
    draw_player_frame(&view.world, view.background, out)


cdef void write_global_view(View* view, unsigned char* out) noexcept nogil:
    """The whole level."""
    draw_global_view(&view.world, view.background, out)


WRITERS = {
    "player_frame": octets(write_player_frame),
    "global_view": octets(write_global_view),
}


cdef void write_observation(View* view, int number, unsigned char* out) noexcept nogil:
    """Write the observation of row `number` of the table."""
    if halves_writers[number] != NULL:
        halves_writers[number](view, <unsigned short*>out)
    else:
        octets_writers[number](view, out)


def find_writers(table) -> None:
    """Look up what writes each row of a table of observations.

    Raises:
        NppError: A row has no writer, or one for numbers of another width.
    """
    if len(table) > MAX_KEYS:
        raise NppError(f"{len(table)} observations, at most {MAX_KEYS}")
    for number, row in enumerate(table):
        known = WRITERS if row.writer == "writer" else import_module(f"npp_env.observe.{row.writer}").WRITERS
        if row.key not in known:
            raise NppError(f"observation {row.key!r} has no writer among the WRITERS of npp_env.observe.{row.writer}")
        itemsize, address = known[row.key]
        if itemsize != row.dtype.itemsize:
            raise NppError(f"observation {row.key!r} is {row.dtype}, but its writer writes {itemsize}-byte numbers")
        halves_writers[number] = <HalvesWriter><size_t>(address if itemsize == 2 else 0)
        octets_writers[number] = <OctetsWriter><size_t>(address if itemsize == 1 else 0)


find_writers(TABLE)
