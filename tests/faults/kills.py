"""kill -9 at random moments."""

from __future__ import annotations

import random
import shutil
import signal
import tempfile
import time
from pathlib import Path

from tests.faults.scenes import Scene
from tests.faults.tally import Tally
from tests.faults.victims import DONE, Victim, require

FRESH_EVERY = 25
"""After so many kills a scene begins with an empty folder again."""


def kill(scene: Scene, times: int, tally: Tally, seed: int, deadline: float = float("inf")) -> None:
    """Kill the victim of a scene so many times, and check its folder after each."""
    rng = random.Random(f"{scene.name} {seed}")
    # What is right is worked out once, here, not in every victim.
    for name in ("right", "contents", "texts"):
        getattr(scene, name, None)
    folder = Path(tempfile.mkdtemp(prefix="npp_faults_"))
    try:
        for number in range(times):
            if time.monotonic() > deadline:
                return
            if number % FRESH_EVERY == 0:
                shutil.rmtree(folder)
                folder.mkdir()
            with tally.fault(f"kill -9: {scene.name}"):
                strike(scene, folder, rng)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def strike(scene: Scene, folder: Path, rng: random.Random) -> None:
    """One kill."""
    seed = rng.randrange(2**32)
    victim = Victim(lambda: scene.work(folder, random.Random(seed)))
    time.sleep(rng.random() * scene.longest_seconds)
    victim.send(signal.SIGKILL)
    end = victim.wait()
    require(end.code in (-signal.SIGKILL, DONE), f"the victim ended by itself with {end.code}\n{end.said}")
    scene.check(folder)
