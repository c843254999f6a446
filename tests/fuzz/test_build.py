"""The sanitized copy follows the sources: compiled anew when a compiled one changes, Python taken over always."""

from __future__ import annotations

import pytest
import sanitize

from tests.fuzz import build


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one module of each kind, and a build that only counts."""
    root = tmp_path / "checkout"
    (root / "npp_env").mkdir(parents=True)
    (root / "levels").mkdir()
    (root / "npp_env" / "kernel.pyx").write_text("1")
    (root / "npp_env" / "reader.py").write_text("1")
    for name in ("setup.py", "build_backend.py", "setup.cfg", "pyproject.toml", "README.md"):
        (root / name).touch()
    compiled = []
    for module in (build, sanitize):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(build, "BUILDS", root / "build" / "fuzz")
    monkeypatch.setattr(build, "_MAP", root / "map.c")
    (root / "map.c").write_text("int npp_map;")
    monkeypatch.setattr(build.sanitize, "build", compiled.append)
    return root, compiled


def test_python_is_taken_over_without_compiling(checkout):
    root, compiled = checkout
    first = build.sanitized_build()
    (root / "npp_env" / "reader.py").write_text("2")
    (root / "npp_env" / "later.py").write_text("3")
    assert build.sanitized_build() == first
    assert (first / "npp_env" / "reader.py").read_text() == "2"
    (root / "npp_env" / "later.py").unlink()
    build.sanitized_build()
    assert not (first / "npp_env" / "later.py").exists()
    assert len(compiled) == 1


def test_an_edited_kernel_is_compiled(checkout):
    root, compiled = checkout
    first = build.sanitized_build()
    (root / "npp_env" / "kernel.pyx").write_text("2")
    second = build.sanitized_build()
    assert second != first
    assert (second / "npp_env" / "kernel.pyx").read_text() == "2"
    assert (len(compiled), first.exists()) == (2, False)
