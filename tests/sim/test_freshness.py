from __future__ import annotations

import hashlib
import json

import pytest

from npp_env.errors import KernelError
from npp_env.sim import IS_COMPILED, freshness


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one compiled module and a header that belongs to none."""
    package = tmp_path / "npp_env"
    package.mkdir()
    (tmp_path / "setup.py").touch()
    digests = {}
    for name in ("npp_env/kernel.py", "npp_env/kernel.pxd", "npp_env/layout.pxd"):
        (tmp_path / name).write_text(name)
        digests[name] = hashlib.sha256(name.encode()).hexdigest()
    (package / "_compiled.json").write_text(json.dumps(digests))
    monkeypatch.setattr(freshness, "_PACKAGE", package)
    return tmp_path


def test_fresh_binaries_are_accepted(checkout):
    freshness.check_freshness()


@pytest.mark.parametrize("name", ["npp_env/kernel.py", "npp_env/kernel.pxd", "npp_env/layout.pxd"])
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
    (checkout / "npp_env/kernel.py").write_text("edited")
    freshness.check_freshness()


@pytest.mark.skipif(not IS_COMPILED, reason="the kernel is not compiled")
def test_the_record_covers_every_header():
    recorded = json.loads((freshness._PACKAGE / "_compiled.json").read_text())
    headers = {path.relative_to(freshness._PACKAGE.parent).as_posix() for path in freshness._PACKAGE.rglob("*.pxd")}
    assert headers <= recorded.keys()
