"""Sums over a CUDA memory snapshot of torch (`torch.cuda.memory._snapshot()`, saved as a pickle)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from npp_env.errors import printable
from npp_env.profiling.errors import SnapshotError

MAX_BLOCKS = 20_000_000
MAX_BYTES = 2**63 - 1
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


def summarise_cuda_snapshot(snapshot: Any, most_blocks: int = MAX_BLOCKS) -> CudaSummary:
    """Sum up a snapshot that was read as plain data.

    Args:
        snapshot: The data. Its lists may be shared, so that there are many more blocks in it than in the file.
        most_blocks: Refuse a snapshot with more blocks.

    Raises:
        SnapshotError: It does not have the form of a CUDA memory snapshot.
    """
    pools = {"small": 0, "large": 0}
    contexts: dict[str, int] = {}
    context_of_frames: dict[int, str] = {}
    count = visited = 0
    for segment in _segments(snapshot):
        pool = "small" if segment.get("segment_type") == "small" else "large"
        for block in _dicts(segment.get("blocks", []), "blocks"):
            visited += 1
            if visited > most_blocks:
                raise SnapshotError(f"more than {most_blocks:,} blocks")
            if not _text(block, "state").startswith("active"):
                continue
            size = _whole(block.get("size", 0), "size")
            pools[pool] += size
            count += 1
            frames = _frames(block)
            # Blocks share their stacks; the snapshot keeps them alive, so they can be told apart by their place.
            context = context_of_frames.get(id(frames))
            if context is None:
                context = context_of_frames[id(frames)] = _context(frames)
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
    if type(value) is not int or not 0 <= value <= MAX_BYTES:
        raise SnapshotError(f"not a CUDA memory snapshot: {name} is no whole number from 0 to {MAX_BYTES}")
    return value


def _text(values: dict[str, Any], name: str) -> str:
    """A field that should be text; anything else counts as empty, since to write it out may never end."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _frames(block: dict[str, Any]) -> Any:
    """The stack of an allocation, wherever this version of torch keeps it."""
    frames = block.get("frames")
    history = block.get("history")
    if not frames and isinstance(history, list) and history and isinstance(history[0], dict):
        frames = history[0].get("frames")
    return frames


def _context(frames: Any) -> str:
    """The innermost Python frames of a stack, in one line."""
    if not isinstance(frames, list):
        return UNKNOWN_CONTEXT
    known = [frame for frame in frames[:64] if isinstance(frame, dict)]
    python = [frame for frame in known if _text(frame, "filename").endswith(".py")] or known
    names = [
        f"{printable(_text(frame, 'name')[:80]) or '?'} ({printable(_text(frame, 'filename')[-60:]) or '?'}:"
        f"{frame.get('line', 0)!s:.10})"
        for frame in python[:CONTEXT_FRAMES]
        if type(frame.get("line", 0)) is int
    ]
    return " < ".join(names) or UNKNOWN_CONTEXT
