"""Look for races between the threads inside the compiled code with ThreadSanitizer; the second half of `make sanitize`.

Environments, decoders and batches are used with many threads, from one Python thread and from several, in a process of
its own. Then the same with a counter that is no longer atomic, which must be found: else nothing is checked.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent
FOUND = "WARNING: ThreadSanitizer"
NUM_ENVS = 64
LAYER = "npp_env/runtime/native_threads.pxd"
ATOMIC = "return __atomic_fetch_add(number, more, __ATOMIC_ACQ_REL);"
NOT_ATOMIC = "*number += more; return *number - more;"


def play(seed: int, threads: int, steps: int) -> None:
    """Use everything that shares work."""
    import numpy as np

    import npp_env
    from npp_env.level.level_set import LevelSet
    from npp_env.rollouts.decoder import ObservationDecoder
    from npp_env.runtime.batch_work import advance_batch
    from npp_env.runtime.thread_pool import ThreadPool
    from npp_env.sim import Batch, LevelHandle, compile_level

    levels = ["shipped:doors", "shipped:mines"]
    keys = ["game_state", "reachability_features", "player_frame"]
    env = npp_env.NppVectorEnv(
        NUM_ENVS, levels=levels, num_threads=threads, max_episode_frames=100, observation={"keys": keys}
    )
    compact = npp_env.NppVectorEnv(NUM_ENVS, levels=levels, num_threads=threads, observation={"layout": "state"})
    decoder = ObservationDecoder(compact.config, num_threads=threads)
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    compact.reset(seed=seed)
    for _ in range(steps):
        actions = rng.integers(0, 6, NUM_ENVS)
        env.step(actions)
        decoder.decode(compact.step(actions)[0])
    handle = LevelHandle(compile_level(LevelSet.parse(levels)[0]))
    batch, pool = Batch(NUM_ENVS, handle.state_bytes), ThreadPool(threads)
    for i in range(NUM_ENVS):
        batch.set_level(i, handle)
    for _ in range(steps):
        advance_batch(batch, pool, rng.integers(0, 6, NUM_ENVS).astype(np.uint8), NUM_ENVS, 4, True)
    for user in (env, compact, decoder, pool):
        user.close()


def check_here(steps: int) -> str:
    """The work of one process; returns what it did."""
    play(0, 2, steps)
    play(1, 8, steps)
    several = [threading.Thread(target=play, args=(k, 2 + k, steps)) for k in range(3)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    return f"threads: {5 * 3 * steps} shared calls"


def run_child(folder: Path, steps: int) -> subprocess.CompletedProcess[str]:
    """Run the check against a copy."""
    compiler = os.environ.get("CC", "gcc").split()[-1]
    library = subprocess.check_output([compiler, "-print-file-name=libtsan.so"], text=True).strip()
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "LD_PRELOAD": library,
        "TSAN_OPTIONS": "exitcode=66",
        "NPP_ENV_CACHE": str(folder / "cache"),
    }
    command = [sys.executable, str(TESTS / "sanitize_threads.py"), "--child", "--steps", str(steps)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def main() -> int:
    """Build, run both checks and print a summary."""
    parser = argparse.ArgumentParser(description="Look for races between threads.")
    parser.add_argument("--steps", type=int, default=40, help="of each environment (default %(default)s)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(check_here(args.steps))
        return 0
    sys.path.insert(0, str(TESTS))
    from sanitize import build, copy_sources

    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="npp_sanitize_") as name:
        folder = Path(name)
        copy_sources(folder)
        build(folder, "thread")
        run = run_child(folder, args.steps)
        layer = folder / LAYER
        text = layer.read_text(encoding="utf-8")
        assert text.count(ATOMIC) == 1
        layer.write_text(text.replace(ATOMIC, NOT_ATOMIC), encoding="utf-8")
        build(folder, "thread")
        canary = run_child(folder, args.steps)
    faults = 0
    if run.returncode or FOUND in run.stderr:
        faults += 1
        print(run.stdout + run.stderr, file=sys.stderr)
    caught = FOUND in canary.stderr
    if not caught:
        faults += 1
        print(f"the canary was not caught:\n{canary.stdout}{canary.stderr}", file=sys.stderr)
    parts = [run.stdout.strip() or "failed", "canary caught" if caught else "canary missed"]
    print(f"sanitize: {'; '.join(parts)}; {faults} faults in {time.perf_counter() - started:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
