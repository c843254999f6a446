"""Sums over a CUDA memory snapshot of torch (`torch.cuda.memory._snapshot()`, saved as a pickle)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from npp_env.profiling.errors import SnapshotError

MAX_BLOCKS = 20_000_000
CONTEXT_FRAMES = 4
UNKNOWN_CONTEXT = "(no stack recorded)"


@dataclass(frozen=True, slots=True)
class CudaSummary:
    """What a CUDA snapshot holds.

    Attributes:
        active_bytes: Bytes of active blocks, all pools.
        small_pool_bytes: Active bytes in segments of the small pool.
        large_pool_bytes: Active bytes in segments of the large pool.
        block_count: Active blocks.
        contexts: Active bytes by stack (innermost frames first), the largest first.
    """

    active_bytes: int
    small_pool_bytes: int
    large_pool_bytes: int
    block_count: int
    contexts: dict[str, int]


def summarise_cuda_snapshot(snapshot: Any) -> CudaSummary:
    """Sum up a snapshot that was read as plain data.

    Raises:
        SnapshotError: It does not have the form of a CUDA memory snapshot.
    """
    pools = {"small": 0, "large": 0}
    contexts: dict[str, int] = {}
    count = visited = 0
    for segment in _segments(snapshot):
        pool = "small" if segment.get("segment_type") == "small" else "large"
        for block in _dicts(segment.get("blocks", []), "blocks"):
            visited += 1
            if visited > MAX_BLOCKS:
                raise SnapshotError(f"more than {MAX_BLOCKS:,} blocks")
            if not str(block.get("state", "")).startswith("active"):
                continue
            size = _whole(block.get("size", 0), "size")
            pools[pool] += size
            count += 1
            context = _context(block)
            contexts[context] = contexts.get(context, 0) + size
    ranked = dict(sorted(contexts.items(), key=lambda item: (-item[1], item[0])))
    return CudaSummary(pools["small"] + pools["large"], pools["small"], pools["large"], count, ranked)


def _segments(snapshot: Any) -> Iterator[dict[str, Any]]:
    """Segments of both forms: a dict with "segments" (torch 2), or the bare list (torch 1)."""
    segments = snapshot.get("segments") if isinstance(snapshot, dict) else snapshot
    if not isinstance(segments, list):
        raise SnapshotError("not a CUDA memory snapshot: it has no list of segments")
    return _dicts(segments, "segments")


def _dicts(values: Any, name: str) -> Iterator[dict[str, Any]]:
    if not isinstance(values, (list, tuple)):
        raise SnapshotError(f"not a CUDA memory snapshot: {name} is a {type(values).__name__}")
    for value in values:
        if not isinstance(value, dict):
            raise SnapshotError(f"not a CUDA memory snapshot: {name} holds a {type(value).__name__}")
        yield value


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or value < 0:
        raise SnapshotError(f"not a CUDA memory snapshot: {name} is {type(value).__name__}")
    return value


def _context(block: dict[str, Any]) -> str:
    """The innermost Python frames of the allocation, in one line."""
    frames = block.get("frames")
    history = block.get("history")
    if not frames and isinstance(history, list) and history and isinstance(history[0], dict):
        frames = history[0].get("frames")
    if not isinstance(frames, list):
        return UNKNOWN_CONTEXT
    known = [frame for frame in frames[:64] if isinstance(frame, dict)]
    python = [frame for frame in known if str(frame.get("filename", ""))[-3:] == ".py"] or known
    names = [
        f"{str(frame.get('name', '?'))[:80]} ({str(frame.get('filename', '?'))[-60:]}:{frame.get('line', 0)!s:.10})"
        for frame in python[:CONTEXT_FRAMES]
        if isinstance(frame.get("line", 0), int)
    ]
    return " < ".join(names) or UNKNOWN_CONTEXT
