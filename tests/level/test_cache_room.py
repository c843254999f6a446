"""The disk limit of the cache: it holds for all processes together, at every moment, whoever is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from npp_env.level import cache_room
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.cache_room import DiskRoom
from npp_env.level.cache_store import ArtifactStore

ROOT = Path(__file__).parent.parent.parent
LIMIT = 60_000
needs_locks = pytest.mark.skipif(cache_room.fcntl is None, reason="needs file locks")

WRITER = """
import sys
import numpy as np
from npp_env.level.cache_file import ArtifactKey
from npp_env.level.cache_store import ArtifactStore
store, first, count = ArtifactStore(sys.argv[1], int(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
for k in range(first, first + count):
    store.write(ArtifactKey(f"{k:032x}", "small", "", 1), np.full(1000, k % 251, np.uint8))
"""


def key(k: int) -> ArtifactKey:
    return ArtifactKey(f"{k:032x}", "small", "", 1)


def used(folder: Path) -> int:
    """What all files take, but for the few bytes that count them."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.lstat().st_size if path.is_file() and path.name != ".bytes" else 0
    return total


def start_writer(folder: Path, first: int, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(folder), str(LIMIT), str(first), str(count)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdout.close()
    return process


def test_the_limit_holds_after_every_write_and_the_newest_stay(tmp_path):
    store = ArtifactStore(tmp_path, LIMIT)
    for k in range(200):
        store.write(key(k), np.zeros(1000, np.uint8))
        assert used(tmp_path) <= LIMIT
    assert used(tmp_path) > LIMIT // 2
    assert store.read(key(199)) is not None
    assert store.read(key(0)) is None


@needs_locks
def test_the_limit_holds_while_several_processes_write(tmp_path):
    writers = [start_writer(tmp_path, 10_000 * n, 300) for n in range(3)]
    most = 0
    while any(writer.poll() is None for writer in writers):
        most = max(most, used(tmp_path))
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    # The files of one reading are not of one moment: what was counted may have gone before the next was made.
    assert LIMIT // 2 < most <= 1.3 * LIMIT
    assert used(tmp_path) <= LIMIT
    store = ArtifactStore(tmp_path, LIMIT)
    assert sum(store.read(key(10_000 * n + 299)) is not None for n in range(3)) >= 1


@needs_locks
def test_killed_writers_neither_block_nor_count(tmp_path):
    for n in range(6):
        process = start_writer(tmp_path, 10_000 * n, 100_000)
        time.sleep(0.05 + 0.03 * n)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert used(tmp_path) <= LIMIT
    store = ArtifactStore(tmp_path, LIMIT)
    store.make_room()
    assert list(tmp_path.rglob(".tmp-*")) == []
    for k in range(100):
        store.write(key(k), np.zeros(1000, np.uint8))
        assert used(tmp_path) <= LIMIT
    assert len(list(store.files())) > 30


def counted(folder: Path) -> int:
    (path,) = folder.rglob(".bytes")
    return int.from_bytes(path.read_bytes()[8:16], "little")


@needs_locks
def test_a_file_that_is_being_written_counts_and_stays(tmp_path):
    room = DiskRoom(str(tmp_path), LIMIT)
    folder = str(tmp_path / "ab")
    with room.temporary(folder, 20_000) as (path, _):
        assert used(tmp_path) == counted(tmp_path) == 20_000
        room.make_room()
        assert os.path.getsize(path) == 20_000
        with pytest.raises(OSError, match="more pass the limit"), room.temporary(folder, 50_000):
            pass
        # A process that was killed leaves a file that nobody has locked.
        (tmp_path / "ab" / ".tmp-1-left").write_bytes(bytes(5000))
        room.make_room()
        assert used(tmp_path) == counted(tmp_path) == 20_000
    assert used(tmp_path) == 0
    room.make_room()
    assert counted(tmp_path) == 0


@pytest.mark.parametrize("content", [b"", b"NPPBYTES", bytes(32), b"x" * 500])
def test_a_count_that_cannot_be_right_is_counted_anew(tmp_path, content):
    store = ArtifactStore(tmp_path, LIMIT)
    for k in range(20):
        store.write(key(k), np.zeros(1000, np.uint8))
    (path,) = tmp_path.rglob(".bytes")
    path.write_bytes(content)
    store.write(key(99), np.zeros(1000, np.uint8))
    assert counted(tmp_path) == used(tmp_path)


def test_every_bit_of_the_count_file(tmp_path):
    store = ArtifactStore(tmp_path, LIMIT)
    store.write(key(0), np.zeros(1000, np.uint8))
    (path,) = tmp_path.rglob(".bytes")
    good = path.read_bytes()
    for bit in range(8 * len(good)):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        store.write(key(1), np.zeros(1000, np.uint8))
        assert counted(tmp_path) == used(tmp_path)
        store.path_of(key(1).level_hash).unlink()


def test_what_is_larger_than_the_limit_is_not_written(tmp_path):
    store = ArtifactStore(tmp_path, LIMIT)
    store.write(key(0), np.zeros(1000, np.uint8))
    with pytest.raises(OSError, match="too much for a limit of 60000"):
        store.write(key(1), np.zeros(LIMIT, np.uint8))
    assert store.read(key(0)) is not None


@needs_locks
def test_nobody_waits_forever_for_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_room, "_LOCK_SECONDS", 0.05)
    room = DiskRoom(str(tmp_path), LIMIT)
    with room._locked(), pytest.raises(OSError, match=r"was locked for"):
        room.make_room()
    room.make_room()


@needs_locks
def test_the_lock_is_taken_again_when_its_file_was_removed(tmp_path):
    room = DiskRoom(str(tmp_path), LIMIT)
    entered = []
    with room._locked():
        thread = threading.Thread(target=lambda: (room.make_room(), entered.append(counted(tmp_path))))
        thread.start()
        time.sleep(0.05)
        (tmp_path / ".bytes").unlink()
        with room._locked():  # the lock of the new file is what counts
            pass
    thread.join(20)
    assert entered == [0]


@needs_locks
def test_a_forked_child_does_not_keep_the_lock(tmp_path):
    room = DiskRoom(str(tmp_path), LIMIT)
    with room._locked(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
        if child == 0:
            time.sleep(20)
            os._exit(0)
    try:
        room.make_room()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_clearing_what_is_not_there(tmp_path):
    assert ArtifactStore(tmp_path / "nowhere").clear() == (0, 0)
    assert not (tmp_path / "nowhere").exists()
