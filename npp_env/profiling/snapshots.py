"""A folder of saved snapshots: ours (`snapshot_step_N.json`) and torch's (`snapshot_step_N.pickle`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from npp_env.errors import printable
from npp_env.level.files import parse_json, read_bounded
from npp_env.level.whole_file import write_whole
from npp_env.profiling.errors import SnapshotError
from npp_env.profiling.growth import DEFAULT_THRESHOLD_BYTES_PER_1K, GrowthFit, fit_growth
from npp_env.profiling.safe_pickle import MAX_FILE_BYTES, load_plain_pickle
from npp_env.profiling.samples import Sample
from npp_env.profiling.torch_snapshot import MAX_BLOCKS, MAX_BYTES, summarise_cuda_snapshot

FORMAT = "npp_env.memory_snapshot"
_FILE_NAME = re.compile(r"snapshot_step_(\d{1,15})\.(json|pickle)")


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """One line of the growth table.

    Attributes:
        step: Step of the snapshot.
        total_active_bytes: Active CUDA bytes, or USS (RSS where USS was not read) of the process.
        small_pool_bytes: Active bytes in the small pool; 0 without CUDA.
        large_pool_bytes: Active bytes in the large pool; 0 without CUDA.
        block_count: Active CUDA blocks, or live Python blocks.
        contexts: Bytes by stack, where the snapshot has them.
    """

    step: int
    total_active_bytes: int
    small_pool_bytes: int
    large_pool_bytes: int
    block_count: int
    contexts: dict[str, int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ContextGrowth:
    """Growth of one stack from the first to the last snapshot, and its bytes in the last."""

    context: str
    growth_bytes: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SnapshotSeries:
    """Snapshots of one kind in order of their steps, and what was wrong with the folder.

    Attributes:
        kind: "process" for our snapshots, "cuda" for torch's.
        rows: Readable snapshots.
        problems: Files that could not be read, gaps, and files that do not belong here.
    """

    kind: str
    rows: tuple[SnapshotRow, ...]
    problems: tuple[str, ...]

    def growth(self, threshold_per_1k: float = DEFAULT_THRESHOLD_BYTES_PER_1K) -> GrowthFit:
        """Fitted growth of the active bytes."""
        steps = [row.step for row in self.rows]
        return fit_growth(steps, [row.total_active_bytes for row in self.rows], threshold_per_1k=threshold_per_1k)

    def top_contexts(self, limit: int = 10) -> list[ContextGrowth]:
        """Stacks by growth from first to last snapshot, the largest first."""
        if not self.rows:
            return []
        first, last = self.rows[0].contexts, self.rows[-1].contexts
        ranked = [ContextGrowth(name, size - first.get(name, 0), size) for name, size in last.items()]
        ranked.sort(key=lambda entry: (-entry.growth_bytes, -entry.bytes, entry.context))
        return ranked[:limit]

    def to_dict(self, threshold_per_1k: float = DEFAULT_THRESHOLD_BYTES_PER_1K) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "kind": self.kind,
            "rows": [{key: value for key, value in asdict(row).items() if key != "contexts"} for row in self.rows],
            "growth": self.growth(threshold_per_1k).to_dict(),
            "top_contexts": [asdict(entry) for entry in self.top_contexts()],
            "problems": list(self.problems),
        }


def write_snapshot(folder: Path, sample: Sample) -> Path:
    """Save a sample as `snapshot_step_N.json` and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"snapshot_step_{sample.step}.json"
    write_whole(path, json.dumps({"format": FORMAT, "version": 1, **sample.to_dict()}).encode("utf-8"))
    return path


def read_snapshots(folder: Path, *, max_file_bytes: int = MAX_FILE_BYTES) -> list[SnapshotSeries]:
    """Read all snapshots of a folder, one series for each kind that is there.

    Nothing in the files is executed. A file that cannot be read, a missing step and a foreign file end up in
    `problems`.

    Raises:
        SnapshotError: The folder does not exist or holds no snapshot at all.
    """
    if not folder.is_dir():
        raise SnapshotError(f"{folder} is not a folder")
    rows: dict[str, list[SnapshotRow]] = {"process": [], "cuda": []}
    problems: dict[str, list[str]] = {"process": [], "cuda": []}
    foreign = []
    for path in sorted(folder.iterdir()):
        match = _FILE_NAME.fullmatch(path.name)
        if match is None or not path.is_file():
            foreign.append(printable(path.name))
            continue
        kind = "process" if match[2] == "json" else "cuda"
        try:
            rows[kind].append(_READERS[kind](path, int(match[1]), max_file_bytes))
        except (SnapshotError, OSError) as error:
            problems[kind].append(str(error))
    found = [kind for kind in rows if rows[kind] or problems[kind]]
    if not found:
        raise SnapshotError(f"{folder} holds no snapshot_step_N.json and no snapshot_step_N.pickle")
    notes = []
    if foreign:
        notes.append(f"{len(foreign)} other files left aside: {', '.join(foreign[:5])}{' ...' * (len(foreign) > 5)}")
    if len(found) > 1:
        notes.append("a mixed folder: process and CUDA snapshots are analysed apart")
    return [_series(kind, rows[kind], problems[kind] + notes) for kind in found]


def _series(kind: str, rows: list[SnapshotRow], problems: list[str]) -> SnapshotSeries:
    rows = sorted(rows, key=lambda row: row.step)
    return SnapshotSeries(kind, tuple(rows), (*problems, *_gaps([row.step for row in rows])))


def _gaps(steps: list[int]) -> list[str]:
    """Missing steps, where the usual distance is clear."""
    if len(steps) < 3:
        return []
    distances = np.diff(steps)
    usual = int(np.median(distances))
    wide = [index for index, distance in enumerate(distances) if usual > 0 and distance >= 1.9 * usual]
    return [f"nothing between step {steps[i]} and {steps[i + 1]} (usual distance {usual})" for i in wide]


def _read_process_snapshot(path: Path, step: int, max_file_bytes: int) -> SnapshotRow:
    data = parse_json(read_bounded(path, max_file_bytes, SnapshotError), path.name, SnapshotError)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SnapshotError(f"{path.name}: not a snapshot of npp_env")
    total = data.get("uss_bytes") or data.get("rss_bytes")
    if total is None or not is_count(total):
        raise SnapshotError(f"{path.name}: holds neither uss_bytes nor rss_bytes, as a whole number up to {MAX_BYTES}")
    torch: Any = data.get("torch")
    torch = torch if isinstance(torch, dict) else {}
    counts = {
        "small_pool_bytes": torch.get("cuda_small_pool_bytes", 0),
        "large_pool_bytes": torch.get("cuda_large_pool_bytes", 0),
        "block_count": torch.get("cuda_active_blocks") or data.get("python_blocks") or 0,
    }
    if not all(map(is_count, counts.values())):
        raise SnapshotError(f"{path.name}: a count is not a whole number up to {MAX_BYTES}")
    return SnapshotRow(step=step, total_active_bytes=total, **counts)


def is_count(value: Any) -> bool:
    """Whether something can be a number of bytes or blocks."""
    return type(value) is int and 0 <= value <= MAX_BYTES


def _read_cuda_snapshot(path: Path, step: int, max_file_bytes: int) -> SnapshotRow:
    try:
        # A block takes at least a byte, unless lists are shared to make one look like many.
        most_blocks = min(MAX_BLOCKS, path.stat().st_size)
        summary = summarise_cuda_snapshot(load_plain_pickle(path, max_bytes=max_file_bytes), most_blocks)
    except SnapshotError as error:
        text = str(error)
        raise SnapshotError(text if text.startswith(path.name) else f"{path.name}: {text}") from None
    return SnapshotRow(
        step=step,
        total_active_bytes=summary.active_bytes,
        small_pool_bytes=summary.small_pool_bytes,
        large_pool_bytes=summary.large_pool_bytes,
        block_count=summary.block_count,
        contexts=summary.contexts,
    )


_READERS: dict[str, Callable[[Path, int, int], SnapshotRow]] = {
    "process": _read_process_snapshot,
    "cuda": _read_cuda_snapshot,
}
