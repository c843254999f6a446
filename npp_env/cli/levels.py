"""`npp-env levels list|show|validate|convert|generate|sheet`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from npp_env.cli import levels_generate, levels_sheet
from npp_env.cli.arguments import add_force, check_output, load_level_argument, write_png
from npp_env.errors import LevelError, NppError
from npp_env.level.entity_kinds import type_label
from npp_env.level.files import load_level, save_level
from npp_env.level.model import Level

INVALID = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env levels`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    listing = actions.add_parser("list", help="list the shipped levels and the level sets")
    listing.add_argument("--sets", action="store_true", help="list the level sets that `levels=` takes instead")
    listing.add_argument("--json", action="store_true", help="print data instead of a table")
    listing.set_defaults(act=list_levels)

    show = actions.add_parser("show", help="draw a level in the terminal or as PNG")
    show.add_argument("level", metavar="LEVEL", help="a level file or the name of a shipped level")
    show.add_argument("-o", "--output", type=Path, metavar="OUT.png", help="draw a PNG instead")
    show.add_argument("--graph", action="store_true", help="draw the navigation graph over it (with -o)")
    show.add_argument("--json", action="store_true", help="print what the level holds as data")
    add_force(show)
    show.set_defaults(act=show_level)

    validate = actions.add_parser("validate", help="check level files; exit code 2 if one is not playable")
    validate.add_argument("files", nargs="+", metavar="LEVEL", help="level files or names of shipped levels")
    validate.add_argument("--json", action="store_true", help="print data instead of lines")
    validate.set_defaults(act=validate_levels)

    convert = actions.add_parser("convert", help="convert between text and binary maps")
    convert.add_argument("level", metavar="LEVEL", help="a level file or the name of a shipped level")
    convert.add_argument("output", type=Path, metavar="OUT", help="a .txt (text) or .nppmap (binary map)")
    convert.add_argument("--json", action="store_true", help="print data instead of a line")
    add_force(convert)
    convert.set_defaults(act=convert_level)

    for tool in (levels_generate, levels_sheet):
        parser_of_tool = actions.add_parser(tool.NAME, help=tool.HELP, description=tool.HELP)
        tool.add_arguments(parser_of_tool)
        parser_of_tool.set_defaults(act=tool.run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    return int(args.act(args))


def describe(level: Level) -> dict[str, Any]:
    """What a level holds, as plain data."""
    kinds = sorted({int(kind) for kind in level.records[1:, 0]} - {0})
    return {
        "title": level.name,
        "hash": level.hash,
        "spawn": list(level.spawn),
        "metadata": dict(level.metadata),
        "records": len(level.records),
        "entities": {type_label(kind): level.count(kind) for kind in kinds},
        "warnings": list(level.warnings),
    }


def list_levels(args: argparse.Namespace) -> int:
    """`levels list`."""
    from npp_env.level.shipped import load_shipped, shipped_level_names

    if args.sets:
        print(json.dumps(level_sets(), indent=1) if args.json else "\n".join(level_sets()))
        return 0
    rows = [{"name": name, **describe(load_shipped(name))} for name in shipped_level_names()]
    if args.json:
        print(json.dumps(rows, indent=1))
        return 0
    width = max([len(row["name"]) for row in rows], default=4)
    print(f"{'name':{width}}  difficulty  entities  teaches")
    for row in rows:
        metadata = row["metadata"]
        difficulty = metadata.get("difficulty", "")
        print(
            f"{row['name']:{width}}  {difficulty:>10}  {sum(row['entities'].values()):>8}  "
            f"{metadata.get('teaches', row['title'])}"
        )
    print("\nlevel sets, for levels=...:")
    print("\n".join(level_sets()))
    return 0


def level_sets() -> list[str]:
    """Specifications of the level sets that come with the package: shipped groups and generated families."""
    from npp_env.level.generate import ANY, FAMILIES
    from npp_env.level.shipped import shipped_level_names

    groups = sorted({name.split("/")[0] for name in shipped_level_names()})
    generated = [f"generated:{family}?difficulty=0.3&seeds=0-999" for family in [*FAMILIES, ANY]]
    return ["shipped", *(f"shipped:{group}" for group in groups), *generated]


def show_level(args: argparse.Namespace) -> int:
    """`levels show`."""
    if args.graph and args.output is None:
        raise NppError("--graph draws into a picture; give one with -o OUT.png")
    level = load_level_argument(args.level)
    if args.output is not None:
        check_output(args.output, args.force)
        write_picture(level, args.output, args.graph)
    if args.json:
        print(json.dumps(describe(level), indent=1))
    elif args.output is not None:
        print(f"written: {args.output}")
    else:
        from npp_env.cli.terminal_level import draw_level

        print(f"{level.name or args.level}  {level.hash}")
        print(draw_level(level, color=sys.stdout.isatty(), ascii_only=not _speaks_unicode()))
        for warning in level.warnings:
            print(f"warning: {warning}", file=sys.stderr)
    return 0


def write_picture(level: Level, path: Path, with_graph: bool) -> None:
    """Draw the start of a level into a PNG file."""
    if path.suffix.lower() != ".png":
        raise NppError(f"{path}: the picture is a PNG; name it {path.with_suffix('.png')}")
    if with_graph:
        from npp_env.graph.navigation import graph_of
        from npp_env.graph.picture import draw_graph

        rgb = draw_graph(level, graph_of(level))
    else:
        rgb = levels_sheet.draw_start(level)
    write_png(rgb, path)


def validate_levels(args: argparse.Namespace) -> int:
    """`levels validate`."""
    rows: list[dict[str, Any]] = []
    for text in args.files:
        try:
            level = load_level_argument(text)
        except LevelError as error:
            rows.append({"level": text, "valid": False, "error": str(error), "warnings": []})
            print(f"npp-env levels: {error}", file=sys.stderr)
            continue
        rows.append({"level": text, "valid": True, "hash": level.hash, "warnings": list(level.warnings)})
        if not args.json:
            print(f"{text}: valid, {len(level.records)} records, hash {level.hash}")
            for warning in level.warnings:
                print(f"{text}: warning: {warning}")
    if args.json:
        print(json.dumps(rows, indent=1))
    return 0 if all(row["valid"] for row in rows) else INVALID


def convert_level(args: argparse.Namespace) -> int:
    """`levels convert`."""
    level = load_level_argument(args.level)
    check_output(args.output, args.force)
    save_level(level, args.output, overwrite=args.force)
    back = load_level(args.output)
    size = args.output.stat().st_size
    if args.json:
        print(json.dumps({"output": str(args.output), "bytes": size, "hash": back.hash}, indent=1))
    else:
        print(f"written: {args.output}, {size} bytes, hash {back.hash}")
    return 0


def _speaks_unicode() -> bool:
    try:
        "█".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
