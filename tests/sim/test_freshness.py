from __future__ import annotations

import hashlib
import json

import pytest

from npp_env.errors import KernelError
from npp_env.sim import freshness


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one compiled module and a header that belongs to none."""
    package = tmp_path / "npp_env"
    package.mkdir()
    (tmp_path / "setup.py").touch()
    digests = {}
    for name in ("npp_env/kernel.pyx", "npp_env/kernel.pxd", "npp_env/layout.pxd"):
        (tmp_path / name).write_text(name)
        digests[name] = hashlib.sha256(name.encode()).hexdigest()
    (package / "_compiled.json").write_text(json.dumps(digests))
    monkeypatch.setattr(freshness, "_PACKAGE", package)
    return tmp_path


def test_fresh_binaries_are_accepted(checkout):
    freshness.check_freshness()


@pytest.mark.parametrize("name", ["npp_env/kernel.pyx", "npp_env/kernel.pxd", "npp_env/layout.pxd"])
def test_an_edited_source_is_named(checkout, name):
    (checkout / name).write_text("edited")
    with pytest.raises(KernelError, match=rf"compiled: {name}; run `make build`"):
        freshness.check_freshness()


def test_a_removed_source_is_named(checkout):
    (checkout / "npp_env/layout.pxd").unlink()
    with pytest.raises(KernelError, match=r"layout\.pxd"):
        freshness.check_freshness()


def test_an_installed_package_is_not_checked(checkout):
    (checkout / "setup.py").unlink()
    (checkout / "npp_env/kernel.pyx").write_text("edited")
    freshness.check_freshness()


def test_the_record_covers_every_source_and_header():
    recorded = json.loads((freshness._PACKAGE / "_compiled.json").read_text())
    root = freshness._PACKAGE.parent
    sources = {path.relative_to(root).as_posix() for path in freshness._PACKAGE.rglob("*.p[yx][xd]")}
    assert sources == recorded.keys()


def test_a_package_without_its_kernel_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(freshness.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(KernelError, match="not compiled: run `make build`"):
        freshness.require_kernel()
