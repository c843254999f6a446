"""Where a tick goes, by kind of level: instructions, counted by valgrind; other work on the machine counts not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

KINDS = ("cave", "goal", "rooms", "slopes", "zoo")
STAGES = {
    "ninja": ("sim_5ninja", "sim_6decide"),
    "walls": ("sim_5walls", "sim_6sweeps"),
    "entities near the ninja": ("meet_entities",),
    "entities by themselves": ("sim_8entities", "sim_4grid", "sim_5sight"),
}
"""What the names of functions hold; the first stage that fits counts, and the rest is the loop over ticks."""
LOOP = "loop over ticks"
_NUMBERED = re.compile(r"\((\d+)\)(?: (.*))?")


def count_instructions(kind: str) -> tuple[int, Counter[str]]:
    """Ticks of a kind of golden levels, and the instructions of each function in them."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--toggle-collect=*advance_block*"]
        done = subprocess.run(
            [*command, sys.executable, "-m", "benchmarks._kind_of_ticks", kind],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
        return int(done.stdout.split()[-1]), read_costs(out)


def read_costs(path: Path) -> Counter[str]:
    """The instructions of each function by itself, from a file of callgrind."""
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    function, called = "", False
    for line in path.read_text().splitlines():
        tag, _, rest = line.partition("=")
        if tag in ("fn", "cfn"):
            found = _NUMBERED.match(rest)
            assert found is not None, line
            names.setdefault(found[1], found[2] or "")
            function = names[found[1]] if tag == "fn" else function
        elif tag == "calls":
            # The next line says what the called function took, which counts there.
            called = True
        elif line[:1].isdigit() or line.startswith(("+", "-", "*")):
            if not called:
                costs[function] += int(line.split()[1])
            called = False
    return costs


def stage_of(function: str) -> str:
    """The stage of a tick that a function belongs to."""
    if "meet_entities" in function:
        return "entities near the ninja"
    return next((stage for stage, parts in STAGES.items() if any(part in function for part in parts)), LOOP)


def run(quick: bool) -> dict[str, Any]:
    """Count the instructions of each kind; with `quick` of one."""
    stages = [*STAGES, LOOP]
    rows = []
    kinds = (KINDS[:1] if quick else KINDS) if shutil.which("valgrind") else ()
    for kind in kinds:
        ticks, costs = count_instructions(kind)
        shares: Counter[str] = Counter()
        for function, cost in costs.items():
            shares[stage_of(function)] += cost
        rows.append([kind, ticks, *(round(shares[stage] / ticks) for stage in stages), round(costs.total() / ticks)])
    return {
        "title": "Kernel: instructions per tick",
        "header": ["kind", "ticks", *stages, "all"],
        "rows": rows,
        "notes": [
            "Golden levels, one environment, counted by callgrind"
            + ("." if rows else ", which is not installed here (package valgrind).")
        ],
    }
