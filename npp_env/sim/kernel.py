"""The tick, and the batch that advances many environments by one call.

Compiled, a level is a C struct of pointers into its compiled arrays and a state is a row of bytes.
Uncompiled, the same functions run on Python objects with the same attributes, unpacked from those arrays and
packed back.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.string import memcpy, memset
    from cython.cimports.npp_env.sim.laser import place_laser
    from cython.cimports.npp_env.sim.layout import Door, Entity, Level, Mover, Ninja, Wall, World
    from cython.cimports.npp_env.sim.movers import advance_entities, react_entities
    from cython.cimports.npp_env.sim.ninja import ninja_pass
else:
    from npp_env.sim.laser import place_laser
    from npp_env.sim.movers import advance_entities, react_entities
    from npp_env.sim.ninja import ninja_pass

from npp_env.errors import NppError, StateError
from npp_env.sim.structs import DOOR, ENTITY, MOVER, NINJA, WALL
from npp_env.sim.uncompiled import address_of, pack_state, unpack_level, unpack_world

IS_COMPILED: bool = cython.compiled
MAX_TICKS_PER_CALL = cython.declare(cython.int, 1_000_000)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def run_ticks(w: cython.pointer(World), byte: cython.int, ticks: cython.int, stop: cython.int) -> cython.int:
    """Advance by some ticks under one input; with stop, no further than the tick of death or victory.

    Returns:
        The number of ticks carried out.
    """
    k: cython.int
    w.jump = byte & 1
    h: cython.int = 0
    if byte & 4:
        h = -1
    elif byte & 2:
        h = 1
    for k in range(ticks):
        if stop and (w.ninja.state == 6 or w.ninja.state == 8):
            return k
        w.ninja.frame += 1
        w.ninja.h = h
        if w.level.n_advance:
            advance_entities(w)
        if w.level.n_react or w.level.n_mines:
            react_entities(w)
        if w.ninja.state != 9:
            ninja_pass(w)
    return ticks


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def bind(
    w: cython.pointer(World),
    level: cython.pointer(Level),
    block: cython.pointer(cython.uchar),
    candidates: cython.pointer(cython.ushort),
) -> cython.void:
    """Point the views of a world into a level and a state."""
    if cython.compiled:
        w.level = level
        w.ninja = cython.cast(cython.pointer(Ninja), block)
        w.movers = cython.cast(cython.pointer(Mover), block + cython.sizeof(Ninja))
        w.flags = block + cython.sizeof(Ninja) + level.n_movers * cython.sizeof(Mover)
        w.candidates = candidates
        w.n_candidates = 0
        w.candidates_cell = -1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance_block(
    level: cython.pointer(Level),
    block: cython.pointer(cython.uchar),
    byte: cython.int,
    ticks: cython.int,
    stop: cython.int,
) -> cython.int:
    """Advance the state in a block of bytes; returns the number of ticks carried out."""
    if cython.compiled:
        world: World
        candidates: cython.ushort[8192]
        bind(cython.address(world), level, block, candidates)
        return run_ticks(cython.address(world), byte, ticks, stop)
    else:
        w = unpack_world(level, block)
        done = run_ticks(w, byte, ticks, stop)
        pack_state(w, block)
        return done


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def restart_block(
    level: cython.pointer(Level), block: cython.pointer(cython.uchar), stride: cython.Py_ssize_t
) -> cython.void:
    """Put the initial state of a level into a block of bytes; what lies beyond it becomes zero."""
    if cython.compiled:
        memcpy(block, level.initial, level.state_bytes)
        if stride > level.state_bytes:
            memset(block + level.state_bytes, 0, stride - level.state_bytes)
    else:
        block[: level.state_bytes] = level.initial
        block[level.state_bytes :] = 0


@cython.cclass
class LevelHandle:
    """A compiled level as the kernel sees it; keeps the arrays alive.

    Attributes:
        geometry: The compiled level.
        address: Identifies the level in the `addresses` of a batch.
        state_bytes: Size of a state of this level.
    """

    def __init__(self, geometry: Any, guarded: cython.bint = False) -> None:
        """Take hold of a compiled level.

        Args:
            geometry: A `Geometry`.
            guarded: Copy each section into an allocation of its own, so that a memory checker sees every
                access beyond its end.
        """
        self.geometry = geometry
        sections = {name: geometry[name].copy() if guarded else geometry[name] for name, _ in geometry.sections.items()}
        self.arrays = sections
        self.state_bytes = len(sections["initial"])
        if cython.compiled:
            level: cython.pointer(Level) = cython.address(self.level)
            level.n_entities = len(sections["entities"])
            level.n_movers = len(sections["mover_entity"])
            level.n_flags = int(sections["scalars"][1])
            level.n_doors = len(sections["doors"])
            level.n_advance = len(sections["advance_order"])
            level.n_react = len(sections["react_order"])
            level.n_mines = len(sections["mines"])
            level.n_balls = len(sections["balls"])
            level.ball_count = int(sections["scalars"][0])
            level.state_bytes = self.state_bytes
            level.wall_start = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["wall_start"]))
            level.walls = cython.cast(cython.pointer(Wall), pointer_to(sections["walls"]))
            level.listed_start = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["listed_start"]))
            level.listed = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["listed"]))
            level.near = cython.cast(cython.pointer(cython.uchar), pointer_to(sections["near"]))
            level.edges_h = cython.cast(cython.pointer(cython.uchar), pointer_to(sections["edges_h"]))
            level.edges_v = cython.cast(cython.pointer(cython.uchar), pointer_to(sections["edges_v"]))
            level.doors = cython.cast(cython.pointer(Door), pointer_to(sections["doors"]))
            level.entities = cython.cast(cython.pointer(Entity), pointer_to(sections["entities"]))
            level.mover_entity = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["mover_entity"]))
            level.advance_order = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["advance_order"]))
            level.react_order = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["react_order"]))
            level.mines = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["mines"]))
            level.balls = cython.cast(cython.pointer(cython.ushort), pointer_to(sections["balls"]))
            level.solid = cython.cast(cython.pointer(cython.uchar), pointer_to(sections["solid"]))
            level.initial = cython.cast(cython.pointer(cython.uchar), pointer_to(sections["initial"]))
            level.digest = cython.cast(cython.pointer(cython.uchar), pointer_to(sections["digest"]))
            self.address = cython.cast(cython.size_t, level)
        else:
            self.level = unpack_level(sections)
            self.address = id(self)


@cython.cfunc
def pointer_to(array: Any) -> cython.p_void:
    """Address of the first element; the caller keeps the array alive."""
    return cython.cast(cython.p_void, cython.cast(cython.size_t, address_of(array)))


@cython.cfunc
@cython.inline
def check_ticks(ticks: cython.int) -> cython.bint:
    """Refuse a number of ticks that one call should not carry out."""
    if ticks < 0 or ticks > MAX_TICKS_PER_CALL:
        raise NppError(f"ticks is {ticks}; one call takes 0 to {MAX_TICKS_PER_CALL}")
    return True


@cython.cclass
class Batch:
    """States of many environments in one block of bytes, each on a level of its own.

    Args:
        num_envs: Number of environments.
        stride: Bytes per state; at least the state size of every level used, and a multiple of 8.

    Attributes:
        states: uint8 (num_envs, stride), the batch's own memory; the bytes of a row are a snapshot of it.
        addresses: uintp (num_envs,), the `address` of each environment's level, 0 before `set_level`.
    """

    def __init__(self, num_envs: cython.Py_ssize_t, stride: cython.Py_ssize_t) -> None:
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
        if cython.compiled:
            self.base = cython.cast(cython.pointer(cython.uchar), pointer_to(self.states))
            self.levels = cython.cast(cython.pointer(cython.size_t), pointer_to(self.addresses))

    def set_level(self, i: cython.Py_ssize_t, handle: LevelHandle) -> None:
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

    def level_of(self, i: cython.Py_ssize_t) -> Any:
        """The `LevelHandle` of environment i, or None."""
        if i < 0 or i >= self.num_envs:
            raise IndexError(f"environment {i} of {self.num_envs}")
        return self.handles[i]

    def restart(self, i: cython.Py_ssize_t) -> None:
        """Put environment i back to the start of its level."""
        if i < 0 or i >= self.num_envs or self.handles[i] is None:
            raise IndexError(f"environment {i} of {self.num_envs} has no level")
        handle: LevelHandle = self.handles[i]
        if cython.compiled:
            restart_block(cython.address(handle.level), self.base + i * self.stride, self.stride)
        else:
            restart_block(handle.level, self.states[i], self.stride)

    def advance_one(
        self, i: cython.Py_ssize_t, byte: cython.int, ticks: cython.int = 1, stop: cython.bint = True
    ) -> int:
        """Advance environment i under one input byte (bit 0 jump, bit 1 right, bit 2 left).

        Args:
            i: The environment.
            byte: The input.
            ticks: How many ticks.
            stop: Go no further than the tick of death or victory.

        Returns:
            The number of ticks carried out.

        Raises:
            IndexError: There is no environment i, or it has no level.
            NppError: ticks is negative, or too large for a call that cannot be interrupted.
        """
        check_ticks(ticks)
        if i < 0 or i >= self.num_envs or self.levels_missing(i):
            raise IndexError(f"environment {i} of {self.num_envs} has no level")
        done: cython.int
        if cython.compiled:
            with cython.nogil:
                done = advance_block(
                    cython.cast(cython.pointer(Level), self.levels[i]),
                    self.base + i * self.stride,
                    byte,
                    ticks,
                    stop,
                )
        else:
            done = advance_block(self.handles[i].level, self.states[i], byte, ticks, stop)
        return done

    def advance(self, inputs: cython.uchar[::1], ticks: cython.int = 1, stop: cython.bint = True) -> None:
        """Advance every environment, each under its own input byte, without the GIL."""
        self.advance_range(inputs, 0, self.num_envs, ticks, stop)

    def advance_range(
        self,
        inputs: cython.uchar[::1],
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        ticks: cython.int = 1,
        stop: cython.bint = True,
    ) -> None:
        """Advance environments first..last-1; safe to call from several threads on separate ranges."""
        i: cython.Py_ssize_t
        check_ticks(ticks)
        if inputs.shape[0] != self.num_envs:
            raise NppError(f"{inputs.shape[0]} inputs for {self.num_envs} environments")
        if first < 0 or last > self.num_envs:
            raise IndexError(f"environments {first}..{last} of {self.num_envs}")
        for i in range(first, last):
            if self.levels_missing(i):
                raise IndexError(f"environment {i} of {self.num_envs} has no level")
        if cython.compiled:
            with cython.nogil:
                for i in range(first, last):
                    advance_block(
                        cython.cast(cython.pointer(Level), self.levels[i]),
                        self.base + i * self.stride,
                        inputs[i],
                        ticks,
                        stop,
                    )
        else:
            for i in range(first, last):
                advance_block(self.handles[i].level, self.states[i], int(inputs[i]), ticks, stop)

    @cython.cfunc
    def levels_missing(self, i: cython.Py_ssize_t) -> cython.bint:
        """Whether environment i has no level yet."""
        if cython.compiled:
            return self.levels[i] == 0
        else:
            return self.handles[i] is None


def place_lasers(geometry: Any) -> Any:
    """The initial state of a level with its laser turrets put on their walls; a fresh array."""
    handle: LevelHandle = LevelHandle(geometry)
    block = geometry["initial"].copy()
    e: cython.int
    if cython.compiled:
        world: World
        bind(
            cython.address(world),
            cython.address(handle.level),
            cython.cast(cython.pointer(cython.uchar), pointer_to(block)),
            cython.NULL,
        )
        for e in range(handle.level.n_entities):
            if handle.level.entities[e].kind == 23:
                place_laser(cython.address(world), e)
    else:
        w = unpack_world(handle.level, block)
        for e in range(handle.level.n_entities):
            if handle.level.entities[e].kind == 23:
                place_laser(w, e)
        pack_state(w, block)
    return block


def check_layout() -> None:
    """Make sure that the C structs have the size of the dtypes that describe them."""
    if cython.compiled:
        sizes = (
            (NINJA, cython.sizeof(Ninja)),
            (MOVER, cython.sizeof(Mover)),
            (WALL, cython.sizeof(Wall)),
            (ENTITY, cython.sizeof(Entity)),
            (DOOR, cython.sizeof(Door)),
        )
        for dtype, size in sizes:
            if dtype.itemsize != size:
                raise NppError(f"compiled struct of {size} bytes for a dtype of {dtype.itemsize}: {dtype}")


check_layout()
