"""`python -m benchmarks._kind_of_ticks KIND`: play the golden levels of a kind once, for a profiler; prints ticks."""

from __future__ import annotations

import sys

from benchmarks.kernel import load_golden, play_singly
from npp_env.sim import Batch


def main() -> None:
    """Play one environment a level, one call a tick."""
    ticks = 0
    for golden in load_golden():
        if golden.kind == sys.argv[1]:
            batch = Batch(1, golden.handle.state_bytes)
            batch.set_level(0, golden.handle)
            play_singly(batch, golden)
            ticks += len(golden.inputs)
    print(ticks)


if __name__ == "__main__":
    main()
