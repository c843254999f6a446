"""Rewards, flags and infos of a step of many environments, in memory that is used again once nobody looks at it.

Whatever is handed out stays as it is for as long as anyone holds it. In a training loop, which lets go of a step's
results when it has those of the next, two blocks are used in turns and nothing is allocated.
"""

import numpy as np

from cpython.ref cimport Py_REFCNT

from npp_env.sim.structs import address_of

INFO_KEYS = ("frame", "outcome", "gold", "level", "phase", "episode_return", "episode_steps")
"""What `info` says of an episode."""

COLUMNS = (
    ("reward", np.float64),
    ("episode_return", np.float64),
    ("frame", np.int64),
    ("outcome", np.int64),
    ("gold", np.int64),
    ("level", np.int64),
    ("phase", np.int64),
    ("episode_steps", np.int64),
    ("terminated", np.bool_),
    ("truncated", np.bool_),
)
"""The arrays of a block, in the order of `ResultRows`."""

KEPT = 2
"""Blocks that are kept: one that the caller holds, and one to write to."""

cdef dict PLACES = {name: place for place, (name, _) in enumerate(COLUMNS)}


cdef class StepResults:
    """One block with the results of a step of all environments.

    Args:
        num_envs: Number of environments.

    Attributes:
        block: uint8, the memory behind all arrays.
    """

    def __init__(self, Py_ssize_t num_envs) -> None:
        self.block = np.zeros(num_envs * sum(np.dtype(dtype).itemsize for _, dtype in COLUMNS), np.uint8)
        self.arrays = []
        start = 0
        for _, dtype in COLUMNS:
            end = start + num_envs * np.dtype(dtype).itemsize
            self.arrays.append(self.block[start:end].view(dtype))
            start = end
        cdef list places = [address_of(array) for array in self.arrays]
        self.rows.reward = <double*><size_t>places[0]
        self.rows.episode_return = <double*><size_t>places[1]
        self.rows.frame = <long long*><size_t>places[2]
        self.rows.outcome = <long long*><size_t>places[3]
        self.rows.gold = <long long*><size_t>places[4]
        self.rows.level = <long long*><size_t>places[5]
        self.rows.phase = <long long*><size_t>places[6]
        self.rows.episode_steps = <long long*><size_t>places[7]
        self.rows.terminated = <unsigned char*><size_t>places[8]
        self.rows.truncated = <unsigned char*><size_t>places[9]
        # A view of an array refers to the block, and so does a view of such a view.
        self.references = Py_REFCNT(self.block)

    cdef bint is_free(self):
        """Whether nobody holds what was handed out."""
        return Py_REFCNT(self.block) == self.references

    cpdef tuple hand_out(self):
        """Rewards, terminated, truncated and a new info; the arrays are the caller's for as long as they are held."""
        cdef dict info = {}
        for key in INFO_KEYS:
            info[key] = self.arrays[<Py_ssize_t>PLACES[key]].view()
        return (
            self.arrays[<Py_ssize_t>PLACES["reward"]].view(),
            self.arrays[<Py_ssize_t>PLACES["terminated"]].view(),
            self.arrays[<Py_ssize_t>PLACES["truncated"]].view(),
            info,
        )


cdef class ResultMemory:
    """The blocks that results of steps are written to.

    Args:
        num_envs: Number of environments.
    """

    def __init__(self, Py_ssize_t num_envs) -> None:
        self.num_envs = num_envs
        self.kept = []

    cpdef StepResults free(self):
        """A block that nobody holds; a new one, instead of that kept for longest, if all are held."""
        cdef StepResults results
        for results in self.kept:
            if results.is_free():
                return results
        results = StepResults(self.num_envs)
        self.kept = [*self.kept[1:], results] if len(self.kept) == KEPT else [*self.kept, results]
        return results

    @property
    def nbytes(self) -> int:
        """Bytes of the blocks that are kept."""
        return sum(results.block.nbytes for results in self.kept)
