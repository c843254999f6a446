# Which switches of a level are taken in a state: its door configuration. `doors.py` reads the same rule for Python.
from npp_env.sim.layout cimport Level

cdef inline int switch_taken(Level* level, int door, unsigned char* flags) noexcept nogil:
    # Bit 1 of the flag of a locked or trap door, bit 0 of that of an exit.
    return flags[level.doors[door].flag] >> (2 - level.doors[door].switched) & 1

cdef inline unsigned long long door_digest(Level* level, unsigned char* flags) noexcept nogil:
    # Two configurations of one level have different digests: in practice, not by proof.
    cdef unsigned long long digest = 1
    cdef int d
    for d in range(level.n_doors):
        if level.doors[d].switched:
            digest = digest * 0x9E3779B97F4A7C15ULL + switch_taken(level, d, flags) + 1
    return digest

cdef inline bint same_doors(Level* level, unsigned char* flags, unsigned char* taken) noexcept nogil:
    # Whether exactly the given switches are taken, a byte for each as `switches_taken` gives them.
    cdef int d
    cdef int k = 0
    for d in range(level.n_doors):
        if level.doors[d].switched:
            if switch_taken(level, d, flags) != taken[k]:
                return False
            k += 1
    return True
