"""Notice a kernel that is uncompiled, or compiled from sources that have changed since."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
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


def warn_if_uncompiled(is_compiled: bool) -> None:
    """Say once that the kernel runs slowly; `NPP_UNCOMPILED=1` says that this is meant."""
    if is_compiled:
        check_freshness()
    elif os.environ.get("NPP_UNCOMPILED") != "1":
        warnings.warn(
            "npp_env runs uncompiled, about 500 times slower: no C compiler was found when it was installed. "
            "Install one and reinstall npp_env, or set NPP_UNCOMPILED=1 to silence this.",
            RuntimeWarning,
            stacklevel=3,
        )
