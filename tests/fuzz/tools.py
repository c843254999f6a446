"""Entrances for what the profiler reads, and for configurations."""

from __future__ import annotations

import json
import pickle
import struct
from pathlib import Path

from npp_env.config import PRESETS, EnvironmentConfig, resolve_config
from npp_env.errors import ConfigError
from npp_env.observe.spec import LAYOUTS, OBSERVATION_KEYS
from npp_env.profiling.analysis import analyse_series, format_series
from npp_env.profiling.compare import compare, load_profile
from npp_env.profiling.safe_pickle import loads_plain_pickle
from npp_env.profiling.snapshots import read_snapshots
from npp_env.profiling.tensorboard_scalars import read_scalars
from npp_env.profiling.torch_snapshot import summarise_cuda_snapshot
from npp_env.profiling.tracker import MemoryTracker
from tests.fuzz.entrance import Entrance, Run, chance, require
from tests.fuzz.mutate import TEXT
from tests.profiling.event_writer import message, varint


def cuda_snapshot(blocks: int) -> dict[str, object]:
    frames = [{"name": "step", "filename": "train.py", "line": 3}, {"name": "main", "filename": "c.cpp", "line": 9}]
    states = ("active_allocated", "inactive", "active_awaiting_free")
    listed = [{"size": 512 * (k + 1), "state": states[k % 3], "frames": frames[: k % 3]} for k in range(blocks)]
    history = [{"size": 8, "state": "active_allocated", "history": [{"frames": frames, "real_size": 8}]}]
    segments = [{"segment_type": "small", "blocks": listed}, {"segment_type": "large", "blocks": history}]
    return {"segments": segments, "device_traces": [[]], "allocator_settings": {"x": 1.5, "y": None, "z": True}}


def pickle_seeds() -> list[bytes]:
    values = [cuda_snapshot(4), cuda_snapshot(0)["segments"], {"a": (1, 2, 3), "b": b"bytes", "c": 2**100, "d": -1}]
    return [pickle.dumps(value, protocol) for value in values for protocol in range(6)]


def open_pickles(folder: Path) -> Run:
    def run(data: bytes) -> None:
        summarise_cuda_snapshot(loads_plain_pickle(data))

    return run


def snapshot_seeds() -> list[bytes]:
    sample = MemoryTracker(budget_fraction=None).sample(1).to_dict()
    full = {"format": "npp_env.memory_snapshot", "version": 1, **sample}
    cuda = {"cuda_small_pool_bytes": 5, "cuda_large_pool_bytes": 7, "cuda_active_blocks": 3}
    short = {"format": "npp_env.memory_snapshot", "rss_bytes": 10}
    return [json.dumps(one).encode() for one in (full, {**full, "torch": cuda}, short)]


def open_snapshots(folder: Path) -> Run:
    """A whole folder, as `npp-env analyze` reads and prints it."""
    paths = [folder / f"snapshot_step_{step}.json" for step in (1, 10, 20, 30)]
    for path in paths:
        path.write_bytes(snapshot_seeds()[1])

    def run(data: bytes) -> None:
        paths[1].write_bytes(data)
        for series in read_snapshots(folder):
            if chance(data, 8):
                require(len(format_series(series, [], 1024.0)) < 100_000, "an endless report")
                json.dumps(analyse_series(series, [], 1024.0))

    return run


def profile_seeds() -> list[bytes]:
    from npp_env.profiling.profile import PROFILE_FORMAT, PROFILE_VERSION

    owners = {"total_bytes": 30, "owners": {"env": {"private_bytes": 10, "shared_bytes": 20}}}
    summary = {"final_bytes": 1e6, "slope_per_1k": -3.5, "steps_per_second": None}
    full = {"format": PROFILE_FORMAT, "version": PROFILE_VERSION, "summary": summary, "owners": owners}
    return [json.dumps(full).encode(), json.dumps({**full, "owners": None}).encode()]


def open_profiles(folder: Path) -> Run:
    """A `memory.json` to compare with."""
    path = folder / "memory.json"

    def run(data: bytes) -> None:
        path.write_bytes(data)
        figures = load_profile(path)
        result = compare(figures, figures)
        json.dumps(result.to_dict())
        require(len(result.to_text()) < 1_000_000, "an endless report")

    return run


def config_seeds() -> list[bytes]:
    full = [make().to_dict() for make in PRESETS.values()]
    parts = [{}, {"observation": {"layout": "flat"}, "frame_skip": 1}, {"levels": ["shipped:mines"], "copy": False}]
    return [json.dumps(value).encode() for value in (*full, *parts)]


def open_configs(folder: Path) -> Run:
    def run(data: bytes) -> None:
        try:
            values = json.loads(data)
        except (ValueError, RecursionError):
            # Not ours to read: a configuration comes as a mapping.
            raise ConfigError("no JSON") from None
        config = resolve_config(values, None, None)
        again = EnvironmentConfig.from_dict(json.loads(json.dumps(config.to_dict())))
        require(again == config, "the configuration does not come back as it was")
        if isinstance(values, dict):
            resolve_config(None, "training", values)

    return run


def scalar_event(step: int, tag: str, value: float) -> bytes:
    """A TensorBoard event with one scalar: wall time, step, summary."""
    summary = message(1, message(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
    return b"\x09" + struct.pack("<d", 1e9 + step) + b"\x10" + varint(step) + message(5, summary)


def masked_crc(data: bytes) -> bytes:
    """CRC-32C, masked as TFRecord files have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_CRC_TABLE = _crc_table()


def record(content: bytes) -> bytes:
    length = struct.pack("<Q", len(content))
    return length + masked_crc(length) + content + masked_crc(content)


def event_seeds() -> list[bytes]:
    version = b"\x09" + struct.pack("<d", 1e9) + message(3, b"brain.Event:2")
    events = [version, *(scalar_event(step, "loss", step / 3) for step in range(6))]
    return [b"".join(map(record, events)), b"".join(map(record, events[:2])), b""]


def open_events(folder: Path) -> Run:
    path = folder / "events.out.tfevents.1"

    def run(data: bytes) -> None:
        if data and not chance(data, 3):
            # Content with the right checksums, or nothing gets past them.
            data = b"".join(record(part) for part in data.split(b"\x09", 8) if part)
        path.write_bytes(data)
        read_scalars(folder)

    return run


_JSON = [b"null", b"true", b"[]", b"{}", b"1e400", b"NaN", b"-1", b'"', b"[" * 40, b'"\\u0000"', b"9" * 400, b'"\x1b"']
_NAMES = [f'"{name}"'.encode() for name in (*OBSERVATION_KEYS, *LAYOUTS, "auto", "levels", "reward", "graph")]
_OPCODES = [b"(", b"]", b"e", b"h\0", b"\x94", b"}", b"u", b"t", b"\x8c"]
ENTRANCES = (
    Entrance(
        "pickle", pickle_seeds, open_pickles, tokens=[b"(", b"]", b"e", b"h\0", b"\x94", b"}", b"u", b"t", b"\x8c"]
    ),
    Entrance("snapshot", snapshot_seeds, open_snapshots, TEXT, _JSON),
    Entrance("profile", profile_seeds, open_profiles, TEXT, _JSON),
    Entrance("config", config_seeds, open_configs, TEXT, [*_JSON, *_NAMES]),
    Entrance("events", event_seeds, open_events),
)
