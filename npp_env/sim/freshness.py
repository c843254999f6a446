"""Notice a kernel that was not compiled, or was compiled from sources that have changed since."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

from npp_env.errors import KernelError

_PACKAGE = Path(__file__).parent.parent


def stale_sources() -> list[str]:
    """Compiled sources edited since; Python would import the old binary beside them without a word."""
    record = _PACKAGE / "_compiled.json"
    if not record.exists():
        return []
    digests: dict[str, str] = json.loads(record.read_text())
    return [name for name, digest in digests.items() if _digest_of(_PACKAGE.parent / name) != digest]


def _digest_of(source: Path) -> str | None:
    return hashlib.sha256(source.read_bytes()).hexdigest() if source.exists() else None


def check_freshness() -> None:
    """In a source checkout, refuse to run binaries that do not fit their sources.

    Raises:
        KernelError: A source was edited after it was compiled.
    """
    if not (_PACKAGE.parent / "setup.py").exists():
        return
    stale = stale_sources()
    if stale:
        raise KernelError(f"edited since they were compiled: {', '.join(stale)}; run `make build`")


def require_kernel() -> None:
    """Refuse to go on without compiled modules, or with some that do not fit their sources.

    Raises:
        KernelError: The kernel was not compiled, or a source was edited since.
    """
    if importlib.util.find_spec("npp_env.sim.kernel") is None:
        raise KernelError("npp_env is not compiled: run `make build` in a checkout, or install the package again")
    check_freshness()
