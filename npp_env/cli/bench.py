"""`npp-env bench [NAME ...]`: run the benchmarks of a source checkout."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import npp_env
from npp_env.cli.arguments import check_output
from npp_env.errors import NppError

FOLDER = "benchmarks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env bench`."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="which benchmarks, such as kernel or memory; all if left out"
    )
    parser.add_argument("--quick", action="store_true", help="shorter and less precise")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results as data")


def run(args: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        NppError: The package was installed without its source checkout.
    """
    root = checkout_root()
    arguments = [*args.names, *(["--quick"] if args.quick else [])]
    if args.json is not None:
        check_output(args.json, force=True)
        arguments += ["--json", str(args.json)]
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return int(importlib.import_module(f"{FOLDER}.__main__").main(arguments))


def checkout_root(package: Path | None = None) -> Path:
    """The folder of the source checkout that the package was imported from.

    Args:
        package: The folder of the package; that of the running one if left out.

    Raises:
        NppError: There are no benchmarks beside the package.
    """
    root = (Path(npp_env.__file__).parent if package is None else package).resolve().parent
    if not (root / FOLDER / "__main__.py").is_file():
        raise NppError(
            f"there is no {FOLDER} folder in {root}: benchmarks are not installed with the package; "
            "run the command in a source checkout (pip install -e .)"
        )
    return root
