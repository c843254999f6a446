"""`make fuzz`: run entrances for as long as told, print executions, new paths and findings.

Each entrance runs in a process of its own, compiled with the sanitizers and with coverage. When it dies, hangs or takes
too much memory, the input that it was busy with is a finding, and a new process goes on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.board import Board
from tests.fuzz.build import ROOT, environment_of, sanitized_build
from tests.fuzz.table import entrances

CORPUS = Path(__file__).with_name("corpus")
HANG_SECONDS = 20.0
"""CPU time without an end: more than an input may take, as the sanitizers slow everything down."""
MAX_DEATHS = 25
FOREVER = 2**62


@dataclass
class Outcome:
    """What fuzzing one entrance came to."""

    name: str
    executions: int
    accepted: int
    new_paths: int
    slowest_ms: float
    seconds: float
    findings: list[Path]

    def line(self) -> str:
        return (
            f"| {self.name} | {self.executions:,} | {self.accepted:,} | {self.new_paths:,} | "
            f"{self.slowest_ms:,.0f} | {self.seconds:,.0f} | {len(self.findings)} |"
        )


HEAD = "| entrance | executions | accepted | new paths | slowest ms | seconds | findings |\n" + "|---" * 7 + "|"


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(process: subprocess.Popen[bytes], board: Board) -> str | None:
    """Wait for a worker; kills one that hangs and says so."""
    seen, since = -1, 0.0
    while True:
        try:
            process.wait(1.0)
            return None
        except subprocess.TimeoutExpired:
            pass
        used = cpu_seconds(process.pid)
        if board.executions != seen or not board.busy:
            seen, since = board.executions, used
        elif used - since > HANG_SECONDS:
            process.kill()
            process.wait()
            return f"hangs: more than {HANG_SECONDS:.0f} CPU seconds"


def fuzz(name: str, build: Path | None, args: argparse.Namespace, results: Path) -> Outcome:
    """Fuzz one entrance."""
    findings: list[Path] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="npp_fuzz_", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as made:
        folder = Path(made)
        board = Board(folder / "board")
        deaths = 0
        while deaths <= MAX_DEATHS:
            left = args.seconds - (time.monotonic() - began)
            if board.executions >= args.executions or left <= 0:
                break
            command = [sys.executable, "-m", args.worker, name, "--folder", str(folder)]
            command += ["--executions", str(args.executions), "--seconds", str(left), "--seed", str(args.seed + deaths)]
            for corpus in (CORPUS / name, args.corpus):
                command += ["--corpus", str(corpus)] if corpus is not None else []
            command += ["--keep", str(args.keep / name)] if args.keep is not None else []
            variables = environment_of(build)
            variables["PYTHONPATH"] += f"{os.pathsep}{ROOT}"
            variables["NPP_ENV_CACHE"] = str(folder / "cache")
            with open(folder / "stderr", "wb") as errors:
                process = subprocess.Popen(command, cwd=build or ROOT, env=variables, stderr=errors)
                hangs = watch(process, board)
            if process.returncode == 0:
                break
            deaths += 1
            text = hangs or (folder / "stderr").read_text(errors="replace")
            if not board.busy and hangs is None:
                raise SystemExit(f"fuzz {name}: the worker failed outside an input\n{text[-3000:]}")
            summary = next((line for line in text.splitlines() if "SUMMARY" in line or "runtime error" in line), "died")
            words = "".join(c if c.isalnum() else "-" for c in (hangs or summary.rpartition("/")[2]))[:60]
            path = folder / "findings" / f"{name}.death-{words}.bin"
            path.write_bytes(board.input())
            path.with_suffix(".txt").write_text(text[-6000:])
            board.executions += 1
            board.busy = 0
        for path in sorted((folder / "findings").glob("*")) if (folder / "findings").exists() else []:
            results.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, results)
            if path.suffix == ".bin":
                findings.append(results / path.name)
        return Outcome(
            name,
            board.executions,
            board.accepted,
            board.new_paths,
            board.slowest_us / 1000,
            time.monotonic() - began,
            findings,
        )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz every entrance.")
    add = parser.add_argument
    add("--entrance", default="all", help="names, separated by commas (default: all)")
    add("--seconds", type=float, help="for each entrance")
    add("--executions", type=int, help="for each entrance")
    add("--seed", type=int, default=int(time.time()))
    add("--plain", action="store_true", help="this tree as it is compiled, without sanitizers")
    add("--corpus", type=Path, help="further inputs to begin with")
    add("--keep", type=Path, help="write inputs that reached something new into a folder here")
    add("--results", type=Path, default=ROOT / "build" / "findings", help="where findings go (default %(default)s)")
    add("--worker", default="tests.fuzz.worker", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.seconds is None and args.executions is None:
        args.seconds = 20.0
    args.seconds = FOREVER if args.seconds is None else args.seconds
    args.executions = FOREVER if args.executions is None else args.executions
    names = list(entrances()) if args.entrance == "all" else args.entrance.split(",")
    unknown = set(names) - set(entrances())
    if unknown:
        parser.error(f"no entrance {', '.join(sorted(unknown))}; there are {', '.join(entrances())}")
    build = None if args.plain else sanitized_build()
    print(HEAD, flush=True)
    found: list[Path] = []
    for name in names:
        outcome = fuzz(name, build, args, args.results)
        print(outcome.line(), flush=True)
        found += outcome.findings
    for path in found:
        print(f"finding: {path}")
    print(f"fuzz: {len(names)} entrances, {len(found)} findings, seed {args.seed}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
