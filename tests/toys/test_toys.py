"""How many files a new entity, observation or reward term touches, and that nothing else needs an edit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.build import Dependencies, rebuild
from tests.mutants.plant import copy_tree
from tests.toys.edits import ENTITY, OBSERVATION, REWARD, TOYS

ROOT = Path(__file__).parent.parent.parent
STATED = re.compile(r"^\| (entity|observation|reward term) \| (\d) \| (\d) \|", re.MULTILINE)


@pytest.fixture(scope="module", params=TOYS, ids=lambda toy: toy.name)
def changed(request, tmp_path_factory):
    """A toy, and a copy of the tree with it, built."""
    toy = request.param
    tree = tmp_path_factory.mktemp(toy.name) / "tree"
    copy_tree(ROOT, tree)
    for edit in toy.edits:
        edit.apply(tree)
    dependencies = Dependencies(tree)
    for source in sorted(toy.compiled):
        assert rebuild(tree, source, dependencies) >= 1
    return toy, tree


def run_tests(tree, *paths):
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--rootdir", str(tree), *paths]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def test_the_toy_works_and_its_tests_can_fail(changed):
    toy, tree = changed
    done = run_tests(tree, *toy.test_files)
    assert done.returncode == 0, done.stdout[-3000:]
    assert run_tests(ROOT, *(str(tree / path) for path in toy.test_files)).returncode != 0


def test_tests_that_were_there_do_not_mind(changed):
    toy, tree = changed
    done = run_tests(tree, *toy.unconcerned)
    assert done.returncode == 0, done.stdout[-3000:]


def test_few_files_are_touched():
    assert len(ENTITY.package_files | ENTITY.test_files) <= 4
    assert len(OBSERVATION.package_files) <= 3
    assert len(REWARD.package_files) <= 2
    assert all(len(toy.test_files) == 1 for toy in TOYS)


def test_contributors_are_told_these_numbers():
    stated = {
        name: (int(package), int(tests))
        for name, package, tests in STATED.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    }
    measured = (len(toy.package_files) for toy in TOYS), (len(toy.test_files) for toy in TOYS)
    assert stated == dict(zip(("entity", "observation", "reward term"), zip(*measured, strict=True), strict=True))
