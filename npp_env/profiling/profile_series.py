"""Growth of what `npp-env profile` wrote, as the analysis of saved snapshots reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from npp_env.level.files import read_json
from npp_env.profiling.compare import MAX_PROFILE_BYTES, load_profile
from npp_env.profiling.errors import ProfilingError, SnapshotError
from npp_env.profiling.snapshots import SnapshotRow, SnapshotSeries, is_count, read_snapshots

PROFILE_NAME = "memory.json"


def read_series(path: Path) -> list[SnapshotSeries]:
    """Read a folder of snapshots, or a profile: its `memory.json`, or the folder with that.

    Raises:
        SnapshotError: It is neither.
        ProfilingError: The profile cannot be read.
    """
    profile = path / PROFILE_NAME if path.is_dir() else path
    if not profile.is_file() or (path.is_dir() and any(path.glob("snapshot_step_*"))):
        return read_snapshots(path)
    load_profile(profile)  # what is no profile is refused
    samples = read_json(profile, MAX_PROFILE_BYTES, ProfilingError).get("samples")
    return [SnapshotSeries("process", tuple(_rows(profile, samples)), ())]


def _rows(path: Path, samples: Any) -> list[SnapshotRow]:
    columns = samples if isinstance(samples, dict) else {}
    steps = columns.get("step")
    if not isinstance(steps, list):
        raise SnapshotError(f"{path}: holds no samples of memory over steps")
    found = []
    for number, step in enumerate(steps):
        total = _value(columns, "uss_bytes", number) or _value(columns, "rss_bytes", number)
        blocks = _value(columns, "python_blocks", number) or 0
        if not (is_count(step) and is_count(total) and is_count(blocks)):
            raise SnapshotError(f"{path}: sample {number} holds no whole numbers of step, bytes and blocks")
        found.append(SnapshotRow(step, total, 0, 0, blocks))
    return found


def _value(columns: dict[str, Any], name: str, number: int) -> Any:
    column = columns.get(name)
    return column[number] if isinstance(column, list) and number < len(column) else None
