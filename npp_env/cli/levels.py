"""`npp-env levels list|show|validate|convert|generate|sheet`."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npp_env.cli import levels_convert, levels_generate, levels_sheet
from npp_env.cli.arguments import (
    LEVEL_HELP,
    add_force,
    add_json,
    check_output,
    load_level_argument,
    parse_finite_levels,
    write_png,
)
from npp_env.cli.printing import complain, say, say_data, say_drawing, say_table
from npp_env.errors import LevelError, LevelWarning, NppError, printable

if TYPE_CHECKING:
    from npp_env.level.model import Level

INVALID = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `npp-env levels`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    listing = actions.add_parser("list", help="list the shipped levels and the level sets, or the levels of some")
    listing.add_argument("levels", nargs="*", metavar="LEVELS", help="files, folders, pack:FILE, level sets")
    listing.add_argument("--sets", action="store_true", help="list the level sets that `levels=` takes instead")
    add_json(listing, "a table")
    listing.set_defaults(act=list_levels)

    show = actions.add_parser("show", help="draw a level in the terminal or as PNG")
    show.add_argument("level", metavar="LEVEL", help=LEVEL_HELP)
    show.add_argument("-o", "--output", type=Path, metavar="OUT.png", help="draw a PNG instead")
    show.add_argument("--graph", action="store_true", help="draw the navigation graph over it (with -o)")
    show.add_argument(
        "--goal",
        choices=("switch", "exit", "end"),
        default="switch",
        help="what the distances of --graph lead to: the switch, which comes first (default), the exit, or both",
    )
    show.add_argument("--json", action="store_true", help="print what the level holds as data")
    add_force(show)
    show.set_defaults(act=show_level)

    validate = actions.add_parser("validate", help="check level files; exit code 2 if one is not playable")
    validate.add_argument("files", nargs="+", metavar="LEVELS", help="files, folders, pack:FILE, level sets")
    add_json(validate, "lines")
    validate.set_defaults(act=validate_levels)

    for tool in (levels_convert, levels_generate, levels_sheet):
        parser_of_tool = actions.add_parser(tool.NAME, help=tool.HELP, description=tool.HELP)
        tool.add_arguments(parser_of_tool)
        parser_of_tool.set_defaults(act=tool.run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    return int(args.act(args))


def describe(level: Level) -> dict[str, Any]:
    """What a level holds, as plain data."""
    from npp_env.level.entity_kinds import type_label

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
        if args.json:
            say_data(level_sets())
        else:
            say("\n".join(level_sets()))
        return 0
    if args.levels:
        return list_set(args)
    rows = [{"name": name, **describe(load_shipped(name))} for name in shipped_level_names()]
    if args.json:
        say_data(rows)
        return 0
    table = [("name", "difficulty", "entities", "teaches")]
    for row in rows:
        entities = str(sum(row["entities"].values()))
        metadata = row["metadata"]
        table.append((row["name"], metadata.get("difficulty", ""), entities, metadata.get("teaches", row["title"])))
    say_table(table, right=(1, 2))
    say("\nlevel sets, for levels=...:")
    say("\n".join(level_sets()))
    return 0


def list_set(args: argparse.Namespace) -> int:
    """`levels list LEVELS`: number (from 0), entities, title and name of each."""
    from npp_env.level.doubts import describe_doubts

    levels = parse_finite_levels(args.levels)
    rows = [{"name": levels.name_of(number), **describe(level)} for number, level in enumerate(levels)]
    if args.json:
        say_data(rows)
        return 0
    table = [("number", "entities", "title", "name")]
    for number, row in enumerate(rows):
        entities = str(sum(row["entities"].values()))
        table.append((str(number), entities, printable(row["title"]), printable(row["name"])))
    say_table(table, right=(0, 1))
    doubts = describe_doubts(levels.types())
    if doubts:
        complain(f"warning: {doubts}")
    return 0


def level_sets() -> list[str]:
    """Specifications of the level sets that come with the package: shipped groups and generated families."""
    from npp_env.level.generate import ANY, FAMILIES
    from npp_env.level.shipped import shipped_level_names

    groups = sorted({name.split("/")[0] for name in shipped_level_names()})
    generated = [f"generated:{family}?difficulty=0.3&seeds=0-999" for family in [*FAMILIES, ANY]]
    return ["shipped", "shipped:verified", *(f"shipped:{group}" for group in groups), *generated]


def show_level(args: argparse.Namespace) -> int:
    """`levels show`."""
    if args.graph and args.output is None:
        raise NppError("--graph draws into a picture; give one with -o OUT.png")
    level = load_level_argument(args.level)
    if args.output is not None:
        check_output(args.output, args.force)
        write_picture(level, args.output, args.goal if args.graph else None)
    if args.json:
        say_data(describe(level))
    elif args.output is not None:
        say(f"written: {args.output}")
    else:
        from npp_env.cli.terminal_level import draw_level

        say(f"{printable(level.name or args.level)}  {level.hash}")
        say_drawing(draw_level(level, color=sys.stdout.isatty(), ascii_only=not _speaks_unicode()))
        for warning in level.warnings:
            complain(f"warning: {warning}")
    return 0


def write_picture(level: Level, path: Path, goal: str | None) -> None:
    """Draw the start of a level into a PNG file, or its graph with the distances to a goal."""
    if path.suffix.lower() != ".png":
        raise NppError(f"{path}: the picture is a PNG; name it {path.with_suffix('.png')}")
    if goal is not None:
        from npp_env.graph.navigation import graph_of
        from npp_env.render.graph_legend import draw_graph_with_legend

        rgb = draw_graph_with_legend(level, graph_of(level), goal)
    else:
        rgb = levels_sheet.draw_start(level)
    write_png(rgb, path)


def validate_levels(args: argparse.Namespace) -> int:
    """`levels validate`."""
    rows = [row for text in args.files for row in validate(text)]
    if args.json:
        say_data(rows)
        return 0 if all(row["valid"] for row in rows) else INVALID
    for row in rows:
        name = printable(row["level"])
        if row["valid"]:
            say(f"{name}: valid, {row['records']} records, hash {row['hash']}")
        else:
            complain(f"npp-env levels: {row['error']}")
        for warning in row["warnings"]:
            say(f"{name}: warning: {warning}")
    return 0 if all(row["valid"] for row in rows) else INVALID


def validate(text: str) -> list[dict[str, Any]]:
    """What is to say of each level that an argument names, as plain data."""
    rows: list[dict[str, Any]] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LevelWarning)  # what is left out has rows of its own
            levels = parse_finite_levels([text])
    except LevelError as error:
        return [{"level": text, "valid": False, "error": str(error), "warnings": []}]
    for number, level in enumerate(levels):
        name = text if len(levels) == 1 else levels.name_of(number)
        facts = {"records": len(level.records), "hash": level.hash, "warnings": list(level.warnings)}
        rows.append({"level": name, "valid": True, **facts})
    rows.extend({"level": text, "valid": False, "error": reason, "warnings": []} for reason in levels.left_out)
    return rows


def _speaks_unicode() -> bool:
    try:
        "█".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
