"""`python -m benchmarks [NAMES] [--quick] [--json FILE]`: run the benchmarks and print Markdown.

A benchmark is a module of this folder with a function `run(quick) -> dict` that returns

    title    a line
    header   names of the columns
    rows     one list of cells a row; numbers are printed as they are, so round them
    notes    lines of text below the table (may be left out)

or {"tables": [...]} with several of these. Times are CPU time of the process: other work on the machine does
not count.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LEFT_OUT_WHEN_QUICK = frozenset(
    {
        "cache",
        "endless",
        "graphs",
        "imitation",
        "instructions",
        "learning",
        "ray",
        "rollouts",
        "scaling",
        "solver",
        "teacher",
        "threads",
        "world_model",
    }
)
"""Without names, `--quick` is for a look within a minute: these are run when they are named."""


def benchmark_names() -> list[str]:
    """Modules of this folder that are benchmarks, by name."""
    return sorted(m.name for m in pkgutil.iter_modules([str(FOLDER)]) if not m.name.startswith("_"))


def describe_machine() -> dict[str, Any]:
    """Processor, system and the versions that matter."""
    versions = {"python": platform.python_version()}
    for package in ("npp_env", "numpy", "gymnasium"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "processor": _processor_name(),
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "versions": versions,
    }


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def format_table(table: dict[str, Any]) -> str:
    """A result as Markdown."""
    rows = [[_cell(value) for value in row] for row in table["rows"]]
    header = [str(name) for name in table["header"]]
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    lines = [f"## {table['title']}", ""]
    for number, row in enumerate([header, *rows]):
        cells = [
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            rules = [("-" * w if k == 0 else "-" * (w - 1) + ":") for k, w in enumerate(widths)]
            lines.append("| " + " | ".join(rules) + " |")
    if table.get("notes"):
        lines += ["", *table["notes"]]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def main(argv: list[str] | None = None) -> int:
    """Run the benchmarks asked for; 2 for an unknown name."""
    names = benchmark_names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure npp_env.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all if left out")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"shorter and less precise; unless named, without {', '.join(sorted(LEFT_OUT_WHEN_QUICK))}",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results as data")
    args = parser.parse_args(argv)
    unknown = [name for name in args.names if name not in names]
    if unknown:
        print(f"benchmarks: no benchmark {', '.join(unknown)}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    machine = describe_machine()
    print("# Benchmarks of npp_env\n")
    print(f"{machine['processor']}, {machine['cores']} cores, load {machine['load']}, {machine['system']}  ")
    print(", ".join(f"{name} {value}" for name, value in machine["versions"].items()))
    results: dict[str, Any] = {}
    usual = [name for name in names if not (args.quick and name in LEFT_OUT_WHEN_QUICK)]
    for name in args.names or usual:
        result = importlib.import_module(f"benchmarks.{name}").run(args.quick)
        results[name] = result
        for table in result.get("tables", [result]):
            print(f"\n{format_table(table)}", flush=True)
    if args.json is not None:
        args.json.write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")
        print(f"\nwritten: {args.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
