"""Files of up to a megabyte that are accepted, or refused late: long, deep, full of names, full of nothing."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np

from npp_env.level import write_map, write_text
from npp_env.level.pack import write_pack
from npp_env.level.shipped import load_shipped, shipped_level_names
from npp_env.profiling.profile import PROFILE_FORMAT, PROFILE_VERSION
from npp_env.recording import Recording, write_attract, write_recording
from tests.fuzz.tools import record, scalar_event, snapshot_seeds

MOST_BYTES = 1_000_000
LEVEL = load_shipped("first_steps/walk")


def full_text() -> bytes:
    """Comments up to the limit, and a level behind them."""
    text = write_text(LEVEL)
    head, rest = text.split("\n", 1)
    return (head + "\n" + "# nothing\n" * ((MOST_BYTES - len(text)) // 10) + rest).encode()


def text_of_tiles() -> bytes:
    """Single tiles set over and over."""
    lines = write_text(LEVEL).rstrip("\n") + "\n"
    return (lines + "tile 1 1 1\n" * ((MOST_BYTES - len(lines)) // 11)).encode()


def full_pack() -> bytes:
    """As many levels as fit."""
    lines = [write_pack([load_shipped(name)], as_game=True) for name in shipped_level_names()]
    found, size = [], 0
    while size < MOST_BYTES - 50_000:
        found.append(lines[len(found) % len(lines)])
        size += len(found[-1])
    return b"".join(found)


def pack_of_nothing() -> bytes:
    """Lines that are no levels."""
    return b"$a#00#\n" * (MOST_BYTES // 7)


def long_inputs() -> np.ndarray:
    """Walk to and fro as long as a recording may be, without winning or dying."""
    return np.where(np.arange(MOST_BYTES) // 3 % 2, 2, 4).astype(np.uint8)


def long_recording() -> bytes:
    """The longest recording of an ordinary level."""
    return write_recording(Recording.of_level(LEVEL, long_inputs()))


def long_attract() -> bytes:
    """The same as the game would write it."""
    return write_attract(Recording.of_level(LEVEL, long_inputs()[: MOST_BYTES - 20_000]))


def raw_inputs() -> bytes:
    return long_inputs().tobytes()


def snapshot(content: Callable[[], bytes]) -> Callable[[Path], None]:
    """A folder of snapshots, one of them this one."""

    def write(folder: Path) -> None:
        folder.mkdir()
        good = snapshot_seeds()[0]
        for step in (1, 2, 3):
            (folder / f"snapshot_step_{step}.json").write_bytes(good)
        data = content()
        (folder / f"snapshot_step_4.{'json' if data[:1] in b'{[' else 'pickle'}").write_bytes(data)

    return write


def deep_json() -> bytes:
    return b'{"a":' + b"[" * 400_000 + b"]" * 400_000 + b"}"


def wide_json() -> bytes:
    good = json.loads(snapshot_seeds()[0])
    return json.dumps({**good, **{f"key{number}": number for number in range(50_000)}}).encode()[:MOST_BYTES]


def long_number() -> bytes:
    return b'{"format": "npp_env.memory_snapshot", "rss_bytes": ' + b"9" * 900_000 + b"}"


def shared_lists() -> bytes:
    """Lists within lists, each twice: 2 to the power of 60 if somebody wrote them out."""
    value: object = [1]
    for _ in range(60):
        value = [value, value]
    return pickle.dumps({"segments": value, "device_traces": [[]]})


def shared_stacks() -> bytes:
    """One stack of a thousand frames that a hundred thousand blocks share."""
    frames = [{"name": f"f{k}" * 20, "filename": "g.py", "line": k} for k in range(1000)]
    blocks = [{"size": 512, "state": "active_allocated", "frames": frames} for _ in range(9_000)]
    return pickle.dumps({"segments": [{"segment_type": "small", "blocks": blocks}], "device_traces": [[]]})


def many_stacks() -> bytes:
    """Every block with a stack of its own."""
    blocks = [
        {"size": 1, "state": "active_allocated", "frames": [{"name": f"f{k}", "filename": "g", "line": k}]}
        for k in range(15_000)
    ]
    return pickle.dumps({"segments": [{"segment_type": "small", "blocks": blocks}], "device_traces": [[]]})


def deep_pickle() -> bytes:
    return b"\x80\x04" + b"]" * 400_000 + b"a" * 399_999 + b"."


def events(lines: Callable[[int], bytes]) -> Callable[[Path], None]:
    """A folder of snapshots with a folder of events beside it."""

    def write(folder: Path) -> None:
        snapshot(lambda: snapshot_seeds()[0])(folder)
        (folder / "events").mkdir()
        made, size, number = [], 0, 0
        while size < MOST_BYTES - 1000:
            made.append(record(lines(number)))
            size += len(made[-1])
            number += 1
        (folder / "events" / "events.out.tfevents.1").write_bytes(b"".join(made))

    return write


def one_tag(number: int) -> bytes:
    return scalar_event(number, "loss", number / 7)


def many_tags(number: int) -> bytes:
    return scalar_event(number % 9, f"tag{number % 9_990}", 1.0)


def wide_profile() -> bytes:
    owners = {f"owner{number}": {"private_bytes": number, "shared_bytes": 1} for number in range(18_000)}
    summary = {"final_bytes": 1e6, "slope_per_1k": 0.5, "steps_per_second": 3.0}
    full = {"format": PROFILE_FORMAT, "version": PROFILE_VERSION, "summary": summary}
    return json.dumps({**full, "owners": {"total_bytes": 30, "owners": owners}}).encode()


FILES: dict[str, Callable[[], bytes]] = {
    "long.txt": full_text,
    "tiles.txt": text_of_tiles,
    "full.pack": full_pack,
    "nothing.pack": pack_of_nothing,
    "long.npprec": long_recording,
    "long.attract": long_attract,
    "inputs": raw_inputs,
    "profile.json": wide_profile,
    "deep.json": deep_json,
    "walk.nppmap": lambda: write_map(LEVEL),
}
FOLDERS: dict[str, Callable[[Path], None]] = {
    "deep-json": snapshot(deep_json),
    "wide-json": snapshot(wide_json),
    "long-number": snapshot(long_number),
    "shared-lists": snapshot(shared_lists),
    "shared-stacks": snapshot(shared_stacks),
    "many-stacks": snapshot(many_stacks),
    "deep-pickle": snapshot(deep_pickle),
    "one-tag": events(one_tag),
    "many-tags": events(many_tags),
}
