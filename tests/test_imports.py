"""What `import npp_env` costs."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("pygame", "cv2", "networkx", "matplotlib", "torch", "imageio", "tqdm")
LIMIT_BYTES = 5_000_000


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_brings_nothing_heavy():
    program = f"import sys, npp_env; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(program) == "[]"


def test_the_simulator_brings_nothing_heavy_either():
    modules = "npp_env.sim, npp_env.level.shipped, npp_env.recording, npp_env.recording.replay, npp_env.cli"
    program = f"import sys, {modules}; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(program) == "[]"


def test_import_adds_little_memory_to_a_process_with_gymnasium():
    program = (
        "import gymnasium, psutil; process = psutil.Process(); before = process.memory_info().rss;"
        "import npp_env; print(process.memory_info().rss - before)"
    )
    assert min(int(run(program)) for _ in range(3)) < LIMIT_BYTES


def test_the_simulator_adds_little_memory_too():
    program = (
        "import gymnasium, psutil; process = psutil.Process(); before = process.memory_info().rss;"
        "import npp_env.sim, npp_env.level.shipped; print(process.memory_info().rss - before)"
    )
    assert min(int(run(program)) for _ in range(3)) < LIMIT_BYTES
