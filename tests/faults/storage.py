"""Disks that are full, out of inodes, read-only; too few descriptors; files of others, and files that are none."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from npp_env.errors import NppError
from npp_env.level.cache import Artifact, LevelCache
from npp_env.level.whole_file import TEMPORARY
from tests.faults.scenes import CacheScene, FileScene, LevelScene, RecordingScene, ReportScene
from tests.faults.tally import Tally
from tests.faults.victims import require, require_done, run_victim

NOBODY = 65534
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards, and that other users may enter."""
    folder = Path(tempfile.mkdtemp(prefix="npp_faults_"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def small_disk(options: str) -> Iterator[Path]:
    """A small file system of its own (root only)."""
    with scratch() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "npp_faults", str(folder)], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def become(user: int) -> None:
    """Be somebody else from here on."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def cache_is_right(scene: CacheScene, folder: Path) -> None:
    """Whatever the folder is like, the arrays are right; warnings are allowed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scene.compare(LevelCache(directory=folder), scene.levels)


def files_stay_whole(scene: FileScene, folder: Path, seed: int) -> None:
    """Writing works or is refused with an error that names the file; what is there is always whole."""
    rng = random.Random(seed)
    for _ in range(6):
        with contextlib.suppress(NppError, OSError):
            scene.write(rng.choice(scene.contents), folder / scene.file)
        left = [path.name for path in folder.iterdir() if path.name.startswith(TEMPORARY)]
        require(not left, f"a refused write left {left}")
        scene.check(folder)


def file_scenes() -> list[FileScene]:
    """The scenes that write one file; what is right is known before anything goes wrong."""
    scenes: list[FileScene] = [RecordingScene(), LevelScene(), ReportScene()]
    for scene in scenes:
        for name in ("contents", "texts"):
            getattr(scene, name, None)
    return scenes


def full_disk(tally: Tally, rounds: int) -> None:
    """Disks of a few kilobytes; without the right to mount one, files that may not grow."""
    cache, writers = CacheScene(4), file_scenes()
    _ = cache.right
    for number in range(rounds):
        kilobytes = (4, 12, 40, 100, 300, 900)[number % 6]

        def strike(folder: Path, number: int = number) -> None:
            cache_is_right(cache, folder / "cache")
            files = folder / "files"
            with contextlib.suppress(OSError):
                files.mkdir()
                for scene in writers:
                    files_stay_whole(scene, files, number)

        with tally.fault("full disk"):
            if IS_ROOT:
                with small_disk(f"size={kilobytes}k") as folder:
                    require_done(run_victim(lambda: strike(folder)), f"a disk of {kilobytes} KB")
                    require_done(run_victim(lambda: cache_is_right(cache, folder / "cache")), "afterwards")
            else:
                with scratch() as folder:
                    require_done(run_victim(partial(limited, kilobytes, strike, folder)), f"{kilobytes} KB a file")


def limited(kilobytes: int, strike: Callable[[Path], None], folder: Path) -> None:
    """Strike in a process whose files may not grow beyond some size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, resource.RLIM_INFINITY))
    strike(folder)


def no_inodes(tally: Tally, rounds: int) -> None:
    """A file system that takes a few files, and then no more."""
    cache, writers = CacheScene(4), file_scenes()
    _ = cache.right
    for number in range(rounds if IS_ROOT else 0):
        with tally.fault("no inodes"), small_disk(f"size=20m,nr_inodes={3 + number % 9}") as folder:

            def strike(folder: Path = folder, number: int = number) -> None:
                cache_is_right(cache, folder / "cache")
                for scene in writers:
                    files_stay_whole(scene, folder, number)

            require_done(run_victim(strike), f"{3 + number % 9} inodes")


def no_descriptors(tally: Tally, rounds: int) -> None:
    """No file can be opened, or hardly any; when they are back everything works."""
    cache, writers = CacheScene(3), file_scenes()
    _ = cache.right
    for number in range(rounds):

        def strike(folder: Path, spare: int = number % 4, number: int = number) -> None:
            highest = max(int(name) for name in os.listdir("/proc/self/fd")) + 1
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + spare, hard))
            cache_is_right(cache, folder / "cache")
            for scene in writers:
                for content in scene.contents:
                    with contextlib.suppress(NppError, OSError):
                        scene.write(content, folder / scene.file)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            cache_is_right(cache, folder / "cache")
            for scene in writers:
                files_stay_whole(scene, folder, number)

        with tally.fault("no descriptors"), scratch() as folder:
            require_done(run_victim(lambda: strike(folder)), f"{number % 4} descriptors")


def read_only(tally: Tally, rounds: int) -> None:
    """Folders that may only be read: by another user, or because they are marked so."""
    cache, writers = CacheScene(4), file_scenes()
    _ = cache.right
    for number in range(rounds):
        with tally.fault("read-only folder"), scratch() as folder:
            if number % 2:
                # Half of the artifacts are there already.
                filled = LevelCache(directory=folder)
                for level in cache.levels[:2]:
                    filled.get(level, cache.artifacts[0])
            before = [(path, path.stat().st_mtime_ns) for path in folder.rglob("*")]
            for path, _ in [*before, (folder, 0)]:
                path.chmod(0o555 if path.is_dir() else 0o444)

            def strike(folder: Path = folder) -> None:
                if IS_ROOT:
                    become(NOBODY)
                cache_is_right(cache, folder)
                for scene in writers:
                    try:
                        scene.write(scene.contents[0], folder / scene.file)
                    except (NppError, OSError) as error:
                        require(str(folder) in str(error), f"the message does not name the file: {error}")
                    else:
                        raise AssertionError("written into a read-only folder")

            require_done(run_victim(strike), "read-only")
            require(before == [(path, path.stat().st_mtime_ns) for path in folder.rglob("*")], "something changed")
            folder.chmod(0o755)


def wrong_artifact(artifact: Artifact) -> Artifact:
    """The same to all appearances, but with other content."""

    def build(level: object, cache: LevelCache) -> np.ndarray:
        content = np.array(artifact.build(level, cache))
        content.reshape(-1).view(np.uint8)[len(content.tobytes()) // 2 :] ^= 0x5A
        return content

    return Artifact(artifact.name, artifact.version, build, artifact.variant, artifact.persisted)


def foreign_owner(tally: Tally, rounds: int) -> None:
    """Somebody else fills a folder that all share, with files that look right (root only, who can be both)."""
    cache = CacheScene(4)
    _ = cache.right
    for _ in range(rounds if IS_ROOT else 0):
        with tally.fault("foreign owner"), scratch() as folder:
            folder.chmod(0o1777)

            def plant(folder: Path = folder) -> None:
                become(NOBODY)
                planted = LevelCache(directory=folder)
                for level in cache.levels:
                    for artifact in cache.artifacts:
                        planted.get(level, wrong_artifact(artifact))
                # Where the other user's own files would lie.
                (folder / str(NOBODY)).rename(folder / "0")

            require_done(run_victim(plant), "planting")
            files = [path for path in folder.rglob("*.nppc") if path.stat().st_uid == NOBODY]
            require(len(files) == len(cache.levels), f"{len(files)} files were planted")
            require_done(run_victim(lambda folder=folder: cache_is_right(cache, folder)), "with files of another")


def strange_files(tally: Tally, rounds: int) -> None:
    """A pipe, a folder, a link in a circle, a device, nothing at all, or noise where an artifact should be."""
    cache = CacheScene(3)
    _ = cache.right

    def to_pipe(path: Path) -> None:
        path.unlink()
        os.mkfifo(path)

    def to_folder(path: Path) -> None:
        path.unlink()
        path.mkdir()

    def to_circle(path: Path) -> None:
        path.unlink()
        path.symlink_to(path)

    def to_device(path: Path) -> None:
        path.unlink()
        path.symlink_to("/dev/zero")

    def to_nothing(path: Path) -> None:
        path.write_bytes(b"")

    def to_noise(path: Path) -> None:
        path.write_bytes(os.urandom(path.stat().st_size))

    def cut_short(path: Path) -> None:
        path.write_bytes(path.read_bytes()[: random.randrange(path.stat().st_size)])

    def one_bit(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(data)

    changes = (to_pipe, to_folder, to_circle, to_device, to_nothing, to_noise, cut_short, one_bit)
    for number in range(rounds):
        change = changes[number % len(changes)]
        with tally.fault("strange file in the cache"), scratch() as folder:
            cache_is_right(cache, folder)
            files = [path for path in folder.rglob("*") if path.is_file()]
            require(files, "the cache wrote nothing")
            for path in files:
                change(path)
            end = run_victim(lambda folder=folder: cache_is_right(cache, folder), 60)
            require_done(end, change.__name__)
            # It heals: what can be replaced is replaced, so that the next process has it good.
            require_done(run_victim(lambda folder=folder: cache_is_right(cache, folder), 60), "afterwards")


def changed_while_mapped(tally: Tally, rounds: int) -> None:
    """Others clear, refill and cut the files short that a process has mapped."""
    cache = CacheScene(4)
    _ = cache.right
    for number in range(rounds):
        with tally.fault("files removed while mapped"), scratch() as folder:

            def strike(folder: Path = folder) -> None:
                held = LevelCache(directory=folder)
                cache.compare(held, cache.levels)
                arrays = [(held.get(level, one), level, one) for level in cache.levels for one in cache.artifacts]
                other = LevelCache(directory=folder)
                other.store.clear()
                cache.compare(other, cache.levels)
                for array, level, one in arrays:
                    require(array.tobytes() == cache.right[level.hash, one.name], "a mapped array changed")

            require_done(run_victim(strike), "cleared while mapped")
        with tally.fault("files cut short while mapped"), scratch() as folder:
            cache_is_right(cache, folder)
            rng = random.Random(number)

            def cut(folder: Path = folder, rng: random.Random = rng) -> None:
                held = LevelCache(directory=folder)
                arrays = [held.get(level, one) for level in cache.levels for one in cache.artifacts]
                for path in folder.rglob("*"):
                    if path.is_file():
                        os.truncate(path, rng.choice((0, path.stat().st_size // 2)))
                sum(int(array.reshape(-1).view(np.uint8).sum()) for array in arrays)

            # Nobody can guard a mapping against the owner of its file: the system ends the process (SIGBUS).
            end = run_victim(cut)
            require(end.code in (0, -signal.SIGBUS), f"ended with {end.code}\n{end.said}")
            require_done(run_victim(lambda folder=folder: cache_is_right(cache, folder)), "the next process")
