"""Access to the golden trajectories."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path(__file__).parent / "golden"


class Golden(NamedTuple):
    id: str
    kind: str
    map: bytes
    inputs: np.ndarray
    ninja: np.ndarray
    flags: np.ndarray
    mover_types: np.ndarray
    movers: np.ndarray


@lru_cache(maxsize=1)
def golden() -> list[Golden]:
    index = json.loads((FOLDER / "index.json").read_text())
    with np.load(FOLDER / "trajectories.npz") as data:
        return [
            Golden(
                row["id"],
                row["kind"],
                data[f"{row['id']}_map"].tobytes(),
                *(data[f"{row['id']}_{name}"] for name in ("inputs", "ninja", "flags", "mover_types", "movers")),
            )
            for row in index
        ]
