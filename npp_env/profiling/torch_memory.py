"""Readings of torch's memory, taken only where the program has loaded torch by itself."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from typing import Any


@dataclass(frozen=True, slots=True)
class TorchMemory:
    """Live tensors and the CUDA allocator's counters; the CUDA fields are 0 without a CUDA device in use.

    Tensors that only an autograd graph keeps are not Python objects and are not counted here; they show in
    USS.
    """

    cpu_tensors: int = 0
    cpu_bytes: int = 0
    cuda_tensors: int = 0
    cuda_tensor_bytes: int = 0
    cuda_allocated_bytes: int = 0
    cuda_reserved_bytes: int = 0
    cuda_small_pool_bytes: int = 0
    cuda_large_pool_bytes: int = 0
    cuda_active_blocks: int = 0


def torch_is_loaded() -> bool:
    """Whether the program has imported torch (completely)."""
    return hasattr(sys.modules.get("torch"), "Tensor")


def read_torch_memory() -> TorchMemory | None:
    """Count live tensors and ask the CUDA allocator; None where torch is not loaded.

    Walks every object that the garbage collector tracks: tens of milliseconds in a large program.
    """
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "Tensor"):
        return None
    counts = {"cpu": 0, "cuda": 0}
    sizes = {"cpu": 0, "cuda": 0}
    seen_storages: set[int] = set()
    for tensor in _live_instances(torch.Tensor):
        device = tensor.device.type
        if device not in counts:
            continue
        counts[device] += 1
        sizes[device] += _new_storage_bytes(tensor, seen_storages)
    return TorchMemory(
        cpu_tensors=counts["cpu"],
        cpu_bytes=sizes["cpu"],
        cuda_tensors=counts["cuda"],
        cuda_tensor_bytes=sizes["cuda"],
        **_cuda_counters(torch),
    )


def _live_instances(base: type) -> Iterator[Any]:
    """Objects of a type and its subclasses among all that the garbage collector tracks.

    Compares types, where isinstance() would run code of proxies, and leaves the loop to C: under tracemalloc
    that takes a seventh of the time.
    """
    wanted: set[type] = set()
    found = [base]
    while found:
        kind = found.pop()
        if kind not in wanted:
            wanted.add(kind)
            found += type.__subclasses__(kind)
    objects = gc.get_objects()
    return compress(objects, map(wanted.__contains__, map(type, objects)))


def _new_storage_bytes(tensor: Any, seen_storages: set[int]) -> int:
    """Bytes of the tensor's storage; 0 if it was counted already or there is none (sparse, meta)."""
    try:
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0
    if address == 0 or address in seen_storages:
        return 0
    seen_storages.add(address)
    return int(storage.nbytes())


def _cuda_counters(torch: Any) -> dict[str, int]:
    """Counters of the CUDA allocator, summed over the devices; empty unless CUDA is already initialised."""
    if not torch.cuda.is_initialized():
        return {}
    totals: dict[str, int] = {}
    names = {
        "cuda_allocated_bytes": "allocated_bytes.all.current",
        "cuda_reserved_bytes": "reserved_bytes.all.current",
        "cuda_small_pool_bytes": "active_bytes.small_pool.current",
        "cuda_large_pool_bytes": "active_bytes.large_pool.current",
        "cuda_active_blocks": "active.all.current",
    }
    for device in range(torch.cuda.device_count()):
        statistics = torch.cuda.memory_stats(device)
        for field, key in names.items():
            totals[field] = totals.get(field, 0) + int(statistics.get(key, 0))
    return totals
