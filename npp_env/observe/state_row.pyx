"""A row of the state layout: what is in it, and the check that every row passes before it is used."""

import numpy as np

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport memcmp
from npp_env.sim.kernel cimport LevelHandle
from npp_env.sim.validity cimport describe, is_valid

from npp_env.errors import NppError, StateError

STATE_ROW = np.dtype(
    [
        ("version", "<u4"),
        ("level_index", "<i4"),
        ("limit_frames", "<i4"),
        ("episode_steps", "<i4"),
        ("level", "u1", 16),  # its hash
        ("checksum", "<u8"),  # of all before it, and of the state; `npp_env/sim/checksum.pxd` says how
    ]
)
"""The header."""

if sizeof(StateRow) != STATE_ROW.itemsize or SUMMED_HEADER_BYTES != STATE_ROW.fields["checksum"][1]:
    raise NppError("the header of a state row is compiled otherwise than its dtype says")


cdef bint is_sound(StateRow* row, Py_ssize_t row_bytes, Level* level, Check* check) noexcept nogil:
    """Whether a row of this version is undamaged and holds a valid state of a level; if not, the check says why."""
    cdef unsigned char* rest = state_of(row) + level.state_bytes
    cdef Py_ssize_t rest_bytes = row_bytes - sizeof(StateRow) - level.state_bytes
    check.field = NULL
    if rest_bytes < 0 or checksum_of_row(row, level) != row.checksum:
        return False
    # All bytes are zero if the first is, and each is as the one before it.
    if rest_bytes > 0 and (rest[0] != 0 or memcmp(rest, rest + 1, rest_bytes - 1) != 0):
        return False
    return is_valid(level, state_of(row), check)


def check_row(LevelHandle handle not None, row) -> None:
    """Refuse a row that is damaged, or that holds no valid state of a level.

    Args:
        handle: The level.
        row: uint8 (n,), contiguous; a row of this version that names the level.

    Raises:
        StateError: It is refused; the message says why.
    """
    cdef Check check
    cdef Py_buffer view
    cdef bint sound
    PyObject_GetBuffer(row, &view, PyBUF_SIMPLE)
    try:
        if view.len < <Py_ssize_t>sizeof(StateRow) + handle.state_bytes:
            room = view.len - sizeof(StateRow)
            raise StateError(f"the row has room for a state of {room} bytes, its level needs {handle.state_bytes}")
        if <size_t>view.buf % 8:
            return check_row(handle, row.copy())
        sound = is_sound(<StateRow*>view.buf, view.len, &handle.level, &check)
    finally:
        PyBuffer_Release(&view)
    if sound:
        return
    if check.field == NULL:
        raise StateError("the state is damaged: its checksum does not fit its bytes")
    raise StateError(describe(handle.geometry, &check))
