# A row of the state layout: this header, and the bytes of a state behind it. `state_row.py` has it as a dtype.

cdef enum:
    STATE_ROW_VERSION = 1

cdef struct StateRow:
    unsigned int version
    int level_index
    int limit_frames
    int episode_steps
    unsigned char level[16]

cdef inline unsigned char* state_of(StateRow* row) noexcept nogil:
    # The bytes of the state in a row.
    return <unsigned char*>(row + 1)
