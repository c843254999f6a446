"""The tick, and the batch that advances many environments by one call.

A level is a C struct of pointers into its compiled arrays, a state is a row of bytes.
"""

import numpy as np

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport memcpy, memset
from npp_env.level.sections cimport Places
from npp_env.sim.entities.passes cimport advance_entities, place_entities, react_entities
from npp_env.sim.layout cimport (
    INPUT_JUMP, INPUT_LEFT, INPUT_RIGHT, MOST_CANDIDATES, OFF, Door, Entity, Level, Mover, Ninja, Place, Wall, World,
    is_over,
)
from npp_env.sim.ninja cimport ninja_pass
from npp_env.sim.turn cimport Turn

from npp_env.errors import NppError, StateError
from npp_env.sim.structs import DOOR, ENTITY, MOVER, NINJA, PLACE, WALL

cdef int MAX_TICKS_PER_CALL = 1_000_000


cdef inline void remember(World* w) noexcept nogil:
    """Keep where the ninja is, for those that follow it (physics 6.20)."""
    cdef Place* place = &w.history[w.ninja.frame % w.level.history_ticks]
    place.x = w.ninja.x
    place.y = w.ninja.y


cdef int run_ticks(World* w, int byte, int ticks, int stop) noexcept nogil:
    """Advance by some ticks under one input (physics 1.2); with stop, no further than death or victory.

    Returns:
        The number of ticks carried out.
    """
    cdef int k
    w.jump = byte & INPUT_JUMP
    cdef int h = 0
    if byte & INPUT_LEFT:
        h = -1
    elif byte & INPUT_RIGHT:
        h = 1
    for k in range(ticks):
        if stop and is_over(w.ninja):
            return k
        w.ninja.frame += 1
        w.ninja.h = h
        if w.level.n_advance:
            advance_entities(w)
        if w.level.n_react:
            react_entities(w)
        if w.ninja.state != OFF:
            ninja_pass(w)
        if w.ninja.followers:
            remember(w)
    return ticks


cdef void bind(World* w, Level* level, unsigned char* block, unsigned short* candidates) noexcept nogil:
    """Point the views of a world into a level and a state."""
    w.level = level
    w.ninja = <Ninja*>block
    w.movers = <Mover*>(block + sizeof(Ninja))
    w.flags = block + sizeof(Ninja) + level.n_movers * sizeof(Mover)
    w.history = <Place*>(block + level.history_start)
    w.candidates = candidates
    w.n_candidates = 0
    w.candidates_cell = -1
    w.watched_cell = -1


cdef int advance_block(Level* level, unsigned char* block, int byte, int ticks, int stop) noexcept nogil:
    """Advance the state in a block of bytes; returns the number of ticks carried out."""
    cdef World world
    cdef unsigned short[MOST_CANDIDATES] candidates
    bind(&world, level, block, candidates)
    return run_ticks(&world, byte, ticks, stop)


cdef void restart_block(Level* level, unsigned char* block, Py_ssize_t stride) noexcept nogil:
    """Put the initial state of a level into a block of bytes; what lies beyond it becomes zero."""
    memcpy(block, level.initial, level.state_bytes)
    if stride > level.state_bytes:
        memset(block + level.state_bytes, 0, stride - level.state_bytes)


cdef class LevelHandle:
    """A compiled level as the kernel sees it; keeps the arrays alive.

    Attributes:
        geometry: The compiled level.
        address: Identifies the level in the `addresses` of a batch.
        state_bytes: Size of a state of this level.
    """

    def __init__(self, geometry, bint guarded=False) -> None:
        """Take hold of a compiled level.

        Args:
            geometry: A `Geometry`.
            guarded: Copy each section into an allocation of its own, so that a memory checker sees every
                access beyond its end.
        """
        self.geometry = geometry
        sections = geometry.sections
        if guarded:
            sections = {name: sections[name].copy() for name in sections}
        self.arrays = sections
        self.state_bytes = count_in(sections, "initial")
        cdef Level* level = &self.level
        level.n_entities = count_in(sections, "entities")
        level.n_movers = count_in(sections, "mover_entity")
        level.n_doors = count_in(sections, "doors")
        level.n_advance = count_in(sections, "advance_order")
        level.n_react = count_in(sections, "react_order")
        level.n_mines = count_in(sections, "mines")
        level.n_balls = count_in(sections, "balls")
        level.n_cover = count_in(sections, "cover")
        cdef int* scalars = <int*>pointer_in(sections, "scalars")
        level.ball_count = scalars[0]
        level.n_flags = scalars[1]
        level.history_ticks = scalars[2]
        level.state_bytes = self.state_bytes
        level.history_start = self.state_bytes - level.history_ticks * sizeof(Place)
        level.wall_start = <unsigned short*>pointer_in(sections, "wall_start")
        level.walls = <Wall*>pointer_in(sections, "walls")
        level.listed_start = <unsigned short*>pointer_in(sections, "listed_start")
        level.listed = <unsigned short*>pointer_in(sections, "listed")
        level.near = <unsigned char*>pointer_in(sections, "near")
        level.around = <unsigned int*>pointer_in(sections, "around")
        level.lines = <unsigned long long*>pointer_in(sections, "lines")
        level.edges_h = <unsigned char*>pointer_in(sections, "edges_h")
        level.edges_v = <unsigned char*>pointer_in(sections, "edges_v")
        level.doors = <Door*>pointer_in(sections, "doors")
        level.entities = <Entity*>pointer_in(sections, "entities")
        level.mover_entity = <unsigned short*>pointer_in(sections, "mover_entity")
        level.advance_order = <unsigned short*>pointer_in(sections, "advance_order")
        level.react_order = <unsigned short*>pointer_in(sections, "react_order")
        level.mines = <unsigned short*>pointer_in(sections, "mines")
        level.balls = <unsigned short*>pointer_in(sections, "balls")
        level.cover = <unsigned char*>pointer_in(sections, "cover")
        level.outlooks = <unsigned char*>pointer_in(sections, "outlooks")
        level.solid = <unsigned char*>pointer_in(sections, "solid")
        level.initial = <unsigned char*>pointer_in(sections, "initial")
        level.digest = <unsigned char*>pointer_in(sections, "digest")
        self.address = <size_t>level


cdef Py_ssize_t count_in(sections, name) except -1:
    """Number of elements of a section."""
    return (<Places>sections).count(name) if isinstance(sections, Places) else len(sections[name])


cdef void* pointer_in(sections, name) except? NULL:
    """Address of a section, which is kept alive with all the others."""
    return (<Places>sections).address(name) if isinstance(sections, Places) else pointer_to(sections[name])


cdef void* pointer_to(array):
    """Address of the first element of a contiguous array; the caller keeps the array alive."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_SIMPLE)
    cdef void* place = view.buf
    PyBuffer_Release(&view)
    return place


cdef inline bint check_ticks(int ticks):
    """Refuse a number of ticks that one call should not carry out."""
    if ticks < 0 or ticks > MAX_TICKS_PER_CALL:
        raise NppError(f"ticks is {ticks}; one call takes 0 to {MAX_TICKS_PER_CALL}")
    return True


cdef class Batch:
    """States of many environments in one block of bytes, each on a level of its own; for one thread at a time.

    Args:
        num_envs: Number of environments.
        stride: Bytes per state; at least the state size of every level used, and a multiple of 8.

    Attributes:
        states: uint8 (num_envs, stride), the batch's own memory; the bytes of a row are a snapshot of it.
        addresses: uintp (num_envs,), the `address` of each environment's level, 0 before `set_level`.
    """

    def __init__(self, Py_ssize_t num_envs, Py_ssize_t stride) -> None:
        if num_envs < 1 or stride < NINJA.itemsize or stride % 8:
            raise NppError(
                f"num_envs must be at least 1 and stride a multiple of 8, at least {NINJA.itemsize}: "
                f"got {num_envs} and {stride}"
            )
        self.num_envs = num_envs
        self.stride = stride
        self.states = np.zeros((num_envs, stride), np.uint8)
        self.addresses = np.zeros(num_envs, np.uintp)
        self.handles = [None] * num_envs
        self.turn = Turn("this simulation", "make a new one")
        self.base = <unsigned char*>pointer_to(self.states)
        self.levels = <size_t*>pointer_to(self.addresses)

    def set_level(self, Py_ssize_t i, LevelHandle handle not None) -> None:
        """Put environment i at the start of a level.

        Raises:
            StateError: The level's states are larger than this batch's.
            IndexError: There is no environment i.
        """
        if i < 0 or i >= self.num_envs:
            raise IndexError(f"environment {i} of {self.num_envs}")
        if handle.state_bytes > self.stride:
            raise StateError(f"a state of this level takes {handle.state_bytes} bytes, the batch has {self.stride}")
        self.handles[i] = handle
        self.addresses[i] = handle.address
        self.restart(i)

    def set_levels(self, LevelHandle handle not None) -> None:
        """Put every environment at the start of one level.

        Raises:
            StateError: The level's states are larger than this batch's.
        """
        cdef Py_ssize_t i
        if handle.state_bytes > self.stride:
            raise StateError(f"a state of this level takes {handle.state_bytes} bytes, the batch has {self.stride}")
        self.handles = [handle] * self.num_envs
        self.addresses[:] = handle.address
        self.turn.enter()
        for i in range(self.num_envs):
            restart_block(&handle.level, self.base + i * self.stride, self.stride)
        self.turn.leave()

    def restart(self, Py_ssize_t i) -> None:
        """Put environment i back to the start of its level."""
        if i < 0 or i >= self.num_envs or self.handles[i] is None:
            raise IndexError(f"environment {i} of {self.num_envs} has no level")
        cdef LevelHandle handle = self.handles[i]
        self.turn.enter()
        restart_block(&handle.level, self.base + i * self.stride, self.stride)
        self.turn.leave()

    def advance_one(self, Py_ssize_t i, int byte, int ticks=1, bint stop=True) -> int:
        """Advance environment i as `npp_env.sim.Simulation.advance` does; the number of ticks carried out.

        Raises:
            IndexError: There is no environment i, or it has no level.
            NppError: ticks is negative, or too large for a call that cannot be interrupted; or another call is under
                way.
        """
        check_ticks(ticks)
        if i < 0 or i >= self.num_envs or self.levels_missing(i):
            raise IndexError(f"environment {i} of {self.num_envs} has no level")
        cdef int done
        self.turn.enter()
        with nogil:
            done = advance_block(<Level*>self.levels[i], self.base + i * self.stride, byte, ticks, stop)
        self.turn.leave()
        return done

    def advance(self, inputs, int ticks=1, bint stop=True) -> None:
        """Advance every environment, each under its own input byte, without the GIL."""
        self.advance_range(inputs, 0, self.num_envs, ticks, stop)

    cpdef advance_range(self, inputs, Py_ssize_t first, Py_ssize_t last, int ticks=1, bint stop=True):
        """Advance environments first..last-1, without the GIL.

        Args:
            inputs: Contiguous uint8 (num_envs,).
            first: The first of them.
            last: Where they end.
            ticks: How many ticks.
            stop: Go no further than the tick of death or victory.
        """
        cdef Py_ssize_t i
        cdef Py_buffer view
        cdef const unsigned char* bytes_in
        # A typed memoryview would take longer than some ticks.
        PyObject_GetBuffer(inputs, &view, PyBUF_SIMPLE | PyBUF_FORMAT)
        try:
            if view.itemsize != 1 or view.format == NULL or view.format[0] != b"B":
                raise NppError(f"inputs must be uint8 ({self.num_envs},)")
            self.check(view.len, first, last, ticks)
            self.turn.enter()
            bytes_in = <const unsigned char*>view.buf
            with nogil:
                for i in range(first, last):
                    advance_block(<Level*>self.levels[i], self.base + i * self.stride, bytes_in[i], ticks, stop)
            self.turn.leave()
        finally:
            PyBuffer_Release(&view)

    cdef int check(self, Py_ssize_t n_inputs, Py_ssize_t first, Py_ssize_t last, int ticks) except -1:
        """Refuse what cannot be advanced."""
        cdef Py_ssize_t i
        check_ticks(ticks)
        if n_inputs != self.num_envs:
            raise NppError(f"{n_inputs} inputs for {self.num_envs} environments")
        if first < 0 or last > self.num_envs:
            raise IndexError(f"environments {first}..{last} of {self.num_envs}")
        for i in range(first, last):
            if self.levels_missing(i):
                raise IndexError(f"environment {i} of {self.num_envs} has no level")
        return 0

    cdef bint levels_missing(self, Py_ssize_t i):
        """Whether environment i has no level yet."""
        return self.levels[i] == 0


def complete_initial_state(geometry) -> None:
    """Let the kinds that need it complete their part of the initial state, in place; for a level just compiled."""
    cdef LevelHandle handle = LevelHandle(geometry)
    cdef World world
    bind(&world, &handle.level, handle.level.initial, NULL)
    place_entities(&world)


def check_layout() -> None:
    """Make sure that the C structs have the size of the dtypes that describe them."""
    sizes = (
        (NINJA, sizeof(Ninja)),
        (MOVER, sizeof(Mover)),
        (WALL, sizeof(Wall)),
        (ENTITY, sizeof(Entity)),
        (DOOR, sizeof(Door)),
        (PLACE, sizeof(Place)),
    )
    for dtype, size in sizes:
        if dtype.itemsize != size:
            raise NppError(f"compiled struct of {size} bytes for a dtype of {dtype.itemsize}: {dtype}")


check_layout()
