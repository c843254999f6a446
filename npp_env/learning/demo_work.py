"""Demonstrating a level as a piece of work: its episodes as bytes, which another process or a file can hold."""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from npp_env.learning.demonstrations import DemoMaker, Demonstration
from npp_env.sim.outcome import Outcome


@dataclass(frozen=True, slots=True)
class DemoWork:
    """Demonstrates levels of a maker by their numbers.

    Args:
        maker: What is demonstrated; its levels should be carried along (see `DemoMaker.carrying_levels`).
    """

    maker: DemoMaker

    def __call__(self, index: int) -> bytes:
        """All episodes of a level, none if it has no way; `decoded` reads them."""
        episodes = self.maker.of_level(index)
        arrays: dict[str, Any] = {}
        for k, d in enumerate(episodes):
            arrays |= {f"rows{k}": d.rows, f"actions{k}": d.actions, f"rewards{k}": d.rewards}
        told = json.dumps([[d.outcome.name, d.kind] for d in episodes])
        stream = io.BytesIO()
        np.savez_compressed(stream, told=np.array(told), **arrays)
        return stream.getvalue()

    def content(self, index: int) -> list[Any]:
        """What the result depends on."""
        maker = self.maker
        level = [index, maker.levels.name_of(index), maker.levels[index].hash, maker.row_bytes]
        return [level, asdict(maker.options), asdict(maker.teacher_config) | {"threads": 1}]


def decoded(result: bytes) -> list[Demonstration]:
    """What `DemoWork` gave for a level, in fresh arrays."""
    with np.load(io.BytesIO(result), allow_pickle=False) as arrays:
        return [
            Demonstration(arrays[f"rows{k}"], arrays[f"actions{k}"], arrays[f"rewards{k}"], Outcome[outcome], kind)
            for k, (outcome, kind) in enumerate(json.loads(str(arrays["told"])))
        ]
