# A row of the state layout: this header, the bytes of a state behind it, and zeros behind those where the largest state
# of the level set is larger. `state_row.pyx` has the header as a dtype.
from libc.string cimport memset
from npp_env.sim.checksum cimport checksum_and_copy, checksum_of
from npp_env.sim.layout cimport Check, Level

cpdef enum:
    STATE_ROW_VERSION = 2

cdef enum:
    SUMMED_HEADER_BYTES = 32    # all before the checksum

cdef struct StateRow:
    unsigned int version
    int level_index
    int limit_frames
    int episode_steps
    unsigned char level[16]
    unsigned long long checksum     # of all before it, and of the state

cdef inline unsigned char* state_of(StateRow* row) noexcept nogil:
    # The bytes of the state in a row.
    return <unsigned char*>(row + 1)

cdef inline unsigned long long checksum_of_row(StateRow* row, Level* level) noexcept nogil:
    return checksum_of(<unsigned char*>row, SUMMED_HEADER_BYTES, state_of(row), level.state_bytes)

cdef inline void put_state(StateRow* row, Level* level, unsigned char* state, Py_ssize_t room) noexcept nogil:
    # Put a state behind a header that is complete but for the checksum, and zeros behind it; the room is for both.
    row.checksum = checksum_and_copy(
        <unsigned char*>row, SUMMED_HEADER_BYTES, state, level.state_bytes, state_of(row)
    )
    if room > level.state_bytes:
        memset(state_of(row) + level.state_bytes, 0, room - level.state_bytes)

cdef bint is_sound(StateRow* row, Py_ssize_t row_bytes, Level* level, Check* check) noexcept nogil
