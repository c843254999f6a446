from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import npp_env
from npp_env.level.entity_kinds import ENTITY_COLUMNS, ENTITY_TABLE, SIMULATED_ROWS, EntityKind, Shape
from npp_env.level.layout import UNIT_PX
from npp_env.observe.spec import ENTITY_FIELDS
from npp_env.sim import structs
from npp_env.sim.outcome import NinjaState

PACKAGE = Path(npp_env.__file__).parent
ENUM = re.compile(r"^cdef enum ?(\w*):\n((?:    .+\n)+)", re.MULTILINE)


def enums_of(source: str) -> list[tuple[str, dict[str, int]]]:
    """The C enums of a Cython source, with their numbers."""
    found = []
    for name, body in ENUM.findall(source):
        numbers: dict[str, int] = {}
        for item in re.split(r"[,\n]", body.strip()):
            word, _, value = (part.strip() for part in item.partition("="))
            number, _, shift = value.partition("<<")
            numbers[word] = int(number) << int(shift or 0) if value else max(numbers.values(), default=-1) + 1
        found.append((name, numbers))
    return found


def test_the_kernel_and_python_number_alike():
    enums = enums_of((PACKAGE / "sim" / "layout.pxd").read_text())
    kinds = next(numbers for _, numbers in enums if "LAUNCH_PAD" in numbers)
    assert kinds == {kind.name: kind.value for kind in EntityKind}
    assert dict(enums)["NinjaState"] == {state.name: state.value for state in NinjaState}
    others = {k: v for name, numbers in enums if name != "NinjaState" and numbers != kinds for k, v in numbers.items()}
    # What only compiled code reads and writes.
    own = [name for name in others if name.startswith(("AROUND_", "LINES_"))]
    assert len(own) == 6
    for name in own:
        del others[name]
    assert (others.pop("CELL_PX"), others.pop("HALF_PX")) == (4 * UNIT_PX, 2 * UNIT_PX)
    assert len(others) > 30
    assert others == {name: getattr(structs, name) for name in others}


def test_the_frames_and_the_table_name_shapes_alike():
    enums = dict(enums_of((PACKAGE / "render" / "frames.pyx").read_text()))
    assert enums["ShapeNumber"] == {shape.name: shape.value for shape in Shape}


def test_every_kind_has_a_row_and_every_row_of_the_physics_a_column():
    assert set(ENTITY_TABLE) == set(EntityKind)
    assert ENTITY_FIELDS[-len(ENTITY_COLUMNS) :] == ENTITY_COLUMNS
    assert {row.family for row in SIMULATED_ROWS.values()} == {
        path.stem for path in (PACKAGE / "sim" / "entities").glob("*.pyx") if path.stem != "passes"
    }


def run_with_row(kind: str, change: str) -> str:
    """What importing the kernel says if a row were different."""
    script = (
        "import dataclasses; from types import MappingProxyType as view\n"
        "from npp_env.level import entity_kinds as table\n"
        f"kind = table.EntityKind.{kind}\n"
        f"row = dataclasses.replace(table.ENTITY_TABLE[kind], {change})\n"
        "table.ENTITY_TABLE = view({**table.ENTITY_TABLE, kind: row})\n"
        "table.SIMULATED_ROWS = view({k: r for k, r in table.ENTITY_TABLE.items() if r.family})\n"
        "import npp_env.render.picture\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


@pytest.mark.parametrize(
    ("kind", "change", "complaint"),
    [
        ("GOLD", "rules=('touch', 'react', 'check')", "the row of gold claims the rules ['check', 'react', 'touch']"),
        ("GOLD", "rules=('touch',)", "its family has ['check', 'touch']"),
        ("LAUNCH_PAD", "movers=1", "launch-pad needs the rule 'check'"),
        ("LAUNCH_PAD", "flag=0", "launch-pad needs the rule 'check'"),
        ("BOOST_PAD", "flag=None", "boost-pad needs the rule 'check' exactly if"),
        ("ZAP_DRONE", "rules=('place', 'advance', 'pose')", "the row of zap-drone claims"),
        (
            "TRAP_DOOR_SWITCH",
            "family='drones', rules=('touch',)",
            "the row of trap-door-switch claims the rules ['touch']",
        ),
        ("TRAP_DOOR_SWITCH", "family='drones'", "kinds without a drawing"),
        ("TRAP_DOOR_SWITCH", "family='ghosts'", "No module named 'npp_env.sim.entities.ghosts'"),
    ],
)
def test_a_row_that_does_not_fit_is_an_error_at_import(kind, change, complaint):
    assert run_with_row("GOLD", "speed_px=0.0") == ""
    assert complaint in run_with_row(kind, change)
