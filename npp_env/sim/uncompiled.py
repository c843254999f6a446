"""How the uncompiled kernel reads and writes the arrays that the compiled one points into."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.sim.structs import DOOR, ENTITY, MOVER, NINJA, WALL, Door, Entity, Mover, Ninja, Wall, World

_RECORDS = {WALL: Wall, ENTITY: Entity, DOOR: Door}


def address_of(array: NDArray[Any]) -> int:
    """Address of the first byte of a contiguous array; the caller keeps the array alive."""
    if not array.flags.c_contiguous:
        raise ValueError("the array is not contiguous")
    return int(array.__array_interface__["data"][0])


def unpack_level(sections: Mapping[str, NDArray[Any]]) -> SimpleNamespace:
    """A compiled level as lists of plain objects."""
    fields: dict[str, Any] = {}
    for name, array in sections.items():
        record = _RECORDS.get(array.dtype)
        fields[name] = array.tolist() if record is None else [record(row) for row in array.tolist()]
    return SimpleNamespace(
        **fields,
        n_entities=len(fields["entities"]),
        n_movers=len(fields["mover_entity"]),
        n_flags=fields["scalars"][1],
        n_doors=len(fields["doors"]),
        n_advance=len(fields["advance_order"]),
        n_react=len(fields["react_order"]),
        n_mines=len(fields["mines"]),
        n_balls=len(fields["balls"]),
        ball_count=fields["scalars"][0],
        state_bytes=len(fields["initial"]),
    )


def _parts(level: Any, block: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint8]]:
    flags = NINJA.itemsize + level.n_movers * MOVER.itemsize
    return (
        block[: NINJA.itemsize].view(NINJA),
        block[NINJA.itemsize : flags].view(MOVER),
        block[flags : flags + level.n_flags],
    )


def unpack_world(level: Any, block: NDArray[np.uint8]) -> Any:
    """A state as plain objects, with scratch."""
    ninja, movers, flags = _parts(level, block)
    world: Any = World()
    world.level = level
    world.ninja = Ninja(ninja[0].item())
    world.movers = [Mover(row) for row in movers.tolist()]
    world.flags = flags.tolist()
    world.candidates = [0] * level.n_movers
    world.n_candidates = 0
    world.candidates_cell = -1
    return world


def pack_state(world: Any, block: NDArray[np.uint8]) -> None:
    """Write the objects back into the bytes that they came from."""
    ninja, movers, flags = _parts(world.level, block)
    ninja[0] = world.ninja.values()
    for k, mover in enumerate(world.movers):
        movers[k] = mover.values()
    flags[:] = world.flags
