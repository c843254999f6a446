from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from . import campaign as campaigns
from . import plant, table
from .__main__ import choose, main, parse
from .build import SETUP, Dependencies
from .campaign import Campaign, CampaignError, Journal, Result
from .catalogue import load
from .faults import KINDS, Fault, FaultError
from .groups import GROUPS

ROOT = Path(__file__).resolve().parent.parent.parent
AREAS = {"observe", "reward", "graph", "frames", "episodes", "decoder", "packing", "entities", "ninja"}
CATALOGUE = load()


@pytest.mark.parametrize("fault", [fault for _, fault in CATALOGUE], ids=lambda fault: fault.name)
def test_anchor_occurs_exactly_once(fault):
    plant.place_of(fault, plant.read_source(fault, ROOT))


def test_names_are_unique():
    names = Counter(fault.name for _, fault in CATALOGUE)
    assert [name for name, count in names.items() if count > 1] == []


def test_no_two_faults_are_the_same():
    edits = Counter((fault.source, fault.within, fault.old, fault.new) for _, fault in CATALOGUE)
    assert [edit for edit, count in edits.items() if count > 1] == []


def test_every_kind_and_area_is_there():
    assert {fault.kind for _, fault in CATALOGUE} == set(KINDS)
    assert {area for area, _ in CATALOGUE} >= AREAS


def test_there_are_many_and_few_are_invisible():
    invisible = [fault.name for _, fault in CATALOGUE if fault.invisible]
    assert len(CATALOGUE) >= 200
    assert len(invisible) <= 0.02 * len(CATALOGUE)


def test_every_fault_has_tests_that_exist():
    assert {fault.tests for _, fault in CATALOGUE} <= set(GROUPS)
    paths = {
        argument for steps in GROUPS.values() for step in steps for argument in step if argument.startswith("tests")
    }
    assert [path for path in paths if not (ROOT / path.partition("::")[0]).exists()] == []


RULES = """\
LIMIT = 3


def double(x):
    y = 2 * x
    return y


def fall(n):
    while n > 0:
        n -= 1
    return n


def unwatched(x):
    y = 3 * x
    return y
"""

KERNEL = """\
from toy_rules.shared cimport scale

def scaled(int x):
    return scale(x) + 1
"""

SHARED = """\
cdef inline int scale(int x) noexcept:
    return 5 * x
"""

TOY_SETUP = """\
from setuptools import Extension, setup

names = ["kernel", "apart"]
modules = [Extension(f"toy_rules.{n}", [f"toy_rules/{n}.pyx"], extra_compile_args=["-O3"]) for n in names]
setup(name="toy", packages=["toy_rules"], ext_modules=modules)
"""

TOY_TESTS = """\
from toy_rules import rules

def test_double():
    assert rules.double(4) == 8

def test_fall():
    assert rules.fall(2) == 0
"""

KERNEL_TESTS = """\
from toy_rules import kernel

def test_scaled():
    assert kernel.scaled(2) == 11
"""

TOY_GROUPS = {"rules": (("tests/test_rules.py",),), "kernel": (("tests/test_kernel.py",),)}


def write_tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def toy(tmp_path):
    files = {"toy_rules/__init__.py": "", "toy_rules/rules.py": RULES, "tests/test_rules.py": TOY_TESTS}
    return write_tree(tmp_path / "toy", files)


def in_rules(name, old, new, **more):
    return Fault(name, "toy_rules/rules.py", old, new, "rules", "sign", **more)


CAUGHT = in_rules("caught", "y = 2 * x", "y = 4 * x")
SURVIVES = in_rules("survives", "y = 3 * x", "y = 4 * x")


def judge(toy, tmp_path, faults, journal=None, groups=TOY_GROUPS):
    folder = tmp_path / f"scratch{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    campaign = Campaign(toy, folder, groups, 2, lambda line: None)
    results = campaign.run([("toy", fault) for fault in faults], Journal(journal))
    return {result.name: result for result in results}


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_each_verdict(toy, tmp_path):
    before = contents(toy)
    results = judge(
        toy,
        tmp_path,
        [
            CAUGHT,
            SURVIVES,
            in_rules("explained", "y = 3 * x", "y = 5 * x", invisible="nobody calls it"),
            in_rules("seen after all", "y = 2 * x", "y = 5 * x", invisible="nobody calls it"),
            in_rules("stale", "y = 9 * x", "y = 8 * x"),
            in_rules("twice", "return y", "return -y"),
            in_rules("no python", "y = 2 * x", "y = = x"),
            in_rules("no import", "LIMIT = 3", "LIMIT = 3 / 0"),
            Fault("no file", "toy_rules/gone.py", "a", "b", "rules", "sign"),
            Fault("in a test", "tests/test_rules.py", "== 8", "== 9", "rules", "off-by-one"),
            in_rules("one function", "return y", "return -y", within="double"),
        ],
    )
    assert {name: result.verdict for name, result in results.items()} == {
        "caught": "caught",
        "survives": "survived",
        "explained": "survived",
        "seen after all": "caught",
        "stale": "invalid",
        "twice": "invalid",
        "no python": "invalid",
        "no import": "caught",
        "no file": "invalid",
        "in a test": "caught",
        "one function": "caught",
    }
    assert results["caught"].by == results["one function"].by == "tests/test_rules.py::test_double"
    assert results["no import"].by == "tests/test_rules.py"
    assert "occurs 0 times" in results["stale"].by
    assert "occurs 2 times" in results["twice"].by
    assert "does not compile" in results["no python"].by
    assert results["caught"].line == 5
    assert contents(toy) == before


def test_a_hang_is_caught_and_names_the_test(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(campaigns, "PATIENCE_S", 2.0)
    monkeypatch.setattr(campaigns, "PATIENCE", 1.0)
    hangs = judge(toy, tmp_path, [in_rules("hangs", "n -= 1", "n -= 0")])["hangs"]
    assert hangs.verdict == "caught"
    assert hangs.by.startswith("timeout")
    assert hangs.by.endswith("tests/test_rules.py::test_fall")


def test_property_tests_end_at_the_first_failure(toy, tmp_path):
    counted = """\
from hypothesis import given, strategies
from toy_rules import rules

FAILURES = []

@given(strategies.integers())
def test_double(x):
    if rules.double(x) != 2 * x:
        FAILURES.append(x)
        if len(FAILURES) > 3:
            import os; os.abort()
        assert False
"""
    (toy / "tests/test_rules.py").write_text(counted)
    assert judge(toy, tmp_path, [CAUGHT])["caught"].by == "tests/test_rules.py::test_double"


def test_a_crash_is_caught_and_names_the_test(toy, tmp_path):
    crash = in_rules("crashes", "y = 2 * x", "import os; os.abort()")
    assert judge(toy, tmp_path, [crash])["crashes"].by == "crash by SIGABRT: tests/test_rules.py::test_double"


def test_a_tree_that_fails_without_a_fault_is_refused(toy, tmp_path):
    (toy / "tests/test_rules.py").write_text(TOY_TESTS.replace("== 8", "== 9"))
    with pytest.raises(CampaignError, match=r"a test fails without any fault: tests/test_rules\.py::test_double"):
        judge(toy, tmp_path, [SURVIVES])


def test_a_group_without_tests_is_refused(toy, tmp_path):
    with pytest.raises(CampaignError, match=r"pytest tests/gone\.py ended with code 4"):
        judge(toy, tmp_path, [SURVIVES], groups={"rules": (("tests/gone.py",),)})


def test_a_package_from_elsewhere_is_refused(toy, tmp_path):
    # Python has this one before it looks into the tree.
    write_tree(toy, {"os/__init__.py": ""})
    with pytest.raises(CampaignError, match="would import os from"):
        judge(toy, tmp_path, [replace(SURVIVES, source="os/__init__.py")])


def test_the_journal_skips_what_has_not_changed(toy, tmp_path, monkeypatch):
    journal = tmp_path / "journal"
    first = judge(toy, tmp_path, [CAUGHT, SURVIVES], journal)
    with monkeypatch.context() as patch:
        patch.setattr(Campaign, "_judge", lambda *_: pytest.fail("was in the journal"))
        assert judge(toy, tmp_path, [CAUGHT, SURVIVES], journal) == first
    assert len(journal.read_text().splitlines()) == 2
    watched = TOY_TESTS + "\ndef test_unwatched():\n    assert rules.unwatched(1) == 3\n"
    (toy / "tests/test_rules.py").write_text(watched)
    assert judge(toy, tmp_path, [SURVIVES], journal)["survives"].by == "tests/test_rules.py::test_unwatched"


@pytest.fixture(scope="module")
def compiled_toy(tmp_path_factory):
    files = {
        "setup.py": TOY_SETUP,
        "toy_rules/__init__.py": "",
        "toy_rules/kernel.pyx": KERNEL,
        "toy_rules/shared.pxd": SHARED,
        "toy_rules/alone.pxd": SHARED,
        "toy_rules/apart.pyx": "def nothing():\n    return None\n",
        "tests/test_kernel.py": KERNEL_TESTS,
    }
    tree = write_tree(tmp_path_factory.mktemp("compiled") / "toy", files)
    subprocess.run([sys.executable, SETUP, "build", "toy_rules.kernel"], cwd=tree, check=True, capture_output=True)
    return tree


def test_only_what_contains_the_fault_is_rebuilt(compiled_toy, tmp_path):
    assert sorted(os.listdir(compiled_toy / "toy_rules"))[-2].startswith("kernel.")
    kernel, shared = "toy_rules/kernel.pyx", "toy_rules/shared.pxd"
    results = judge(
        compiled_toy,
        tmp_path,
        [
            Fault("source", kernel, "scale(x) + 1", "scale(x) + 2", "kernel", "off-by-one"),
            Fault("header", shared, "5 * x", "6 * x", "kernel", "neighbouring-constant"),
            Fault("equal", shared, "5 * x", "x * 5", "kernel", "swapped-arguments"),
            Fault("no cython", kernel, "scale(x) + 1", "scale(x) + unknown(", "kernel", "sign"),
            Fault("unused header", "toy_rules/alone.pxd", "5 * x", "6 * x", "kernel", "sign"),
        ],
    )
    assert {name: (result.verdict, result.modules) for name, result in results.items()} == {
        "source": ("caught", 1),
        "header": ("caught", 1),
        "equal": ("survived", 1),
        "no cython": ("invalid", 0),
        "unused header": ("invalid", 0),
    }
    assert results["no cython"].by.startswith("does not compile: ")
    assert results["unused header"].by == "no extension module is built from toy_rules/alone.pxd"


def test_headers_reach_every_module_that_imports_them():
    dependencies = Dependencies(ROOT)
    compiled = [source for source in {fault.source for _, fault in CATALOGUE} if dependencies.affected_by(source)]
    headers = [source for source in compiled if source.endswith(".pxd")]
    # A header may serve a single module; most serve several.
    assert max(len(dependencies.affected_by(source)) for source in headers) > 5
    assert all(len(dependencies.affected_by(source)) == 1 for source in compiled if source not in headers)


NATIVE = """\
cdef int area(
    int width,
    int height,
) noexcept nogil:
    cdef int result = 0

    result = width
    return result

cdef class Box:
    cdef int side(self) noexcept:
        result = 1
        return result

    def other(self):
        result = 2
"""


@pytest.mark.parametrize(("name", "last"), [("area", "return result"), ("side", "return result"), ("other", "= 2\n")])
def test_functions_are_found_in_cython_too(name, last):
    start, end = plant.span_of(name, NATIVE)
    assert name in NATIVE[start:end].splitlines()[0]
    assert NATIVE[start:end].rstrip(" ").endswith(last) or NATIVE[start:end].rstrip().endswith(last)


def test_a_function_that_is_not_there_is_an_error():
    with pytest.raises(FaultError, match="0 functions or classes are named 'length'"):
        plant.span_of("length", NATIVE)


def test_exit_codes():
    caught = Result("name", "toy", "sign", "toy_rules/rules.py", 5, "caught", "test_double", "", 0, 0.0, 1.0, "")
    survived = replace(caught, verdict="survived", by="")
    explained = replace(survived, invisible="reason")
    assert table.is_good([caught], whole=True)
    assert not table.is_good([caught] * 99 + [survived], whole=True)
    assert not table.is_good([caught, replace(caught, verdict="invalid")], whole=False)
    assert table.is_good([caught] * 98 + [explained] * 2, whole=True)
    assert not table.is_good([caught] * 97 + [explained] * 3, whole=True)
    assert table.is_good([caught, explained], whole=False)
    text = table.format_table([caught, survived, explained]) + table.format_summary([replace(caught, invisible="x")])
    assert "toy_rules/rules.py:5" in text
    assert "SURVIVED" in text
    assert "survived: reason" in text
    assert "called invisible, but caught by test_double: name" in text


def test_a_sample_is_drawn_by_its_seed(capsys):
    args = parse(["--sample", "10"])
    assert choose(args, 1) == choose(args, 1) != choose(args, 2)
    assert len(choose(args, 1)) == 10
    assert main(["--list", "--area", "observe", "--only", "*-doubled"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["observe", "mine-scale-doubled"]
    assert main(["--only", "no-such-fault"]) == 2
