"""The disk that a folder of cache files may take, for all processes that write to it.

A small file in the folder counts the bytes. Whoever writes locks it, counts what it is about to write, makes room if
there is too little, and makes its temporary file in full size, all before it lets go of the lock. What a killed process
had counted but not written is found when room is made: then the files themselves are counted. The system releases
the locks of a killed process, and a temporary file that nobody has locked is left over.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import time
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from npp_env.level.cache_file import DamagedArtifactError, checksum
from npp_env.level.cache_mapping import check_trust

try:
    import fcntl
except ImportError:  # Windows: the limit holds for each process alone
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".nppc"
DAMAGED_SUFFIX = ".damaged"
TEMPORARY_PREFIX = ".tmp-"
_COUNT_FILE = ".bytes"
_COUNT = struct.Struct("<8sQ16s")
_COUNT_MAGIC = b"NPPBYTES"
_ABANDONED_SECONDS = 3600.0
_LOCK_SECONDS = 20.0
_KEPT_SHARE = 0.9
"""Of the limit, after room was made: some slack, or every following write would have to make room again."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


class _Found(NamedTuple):
    age: float  # the lowest goes first
    nbytes: int
    path: str


class DiskRoom:
    """Keeps the files of one folder below a limit.

    Args:
        folder: Made on the first write; its files lie in subfolders of two letters.
        limit_bytes: What all files may take together, temporary ones included.
    """

    def __init__(self, folder: str, limit_bytes: int) -> None:
        self.folder = folder
        self.limit_bytes = limit_bytes

    @contextlib.contextmanager
    def temporary(self, subfolder: str, nbytes: int) -> Iterator[tuple[str, BinaryIO]]:
        """A new file of this size that counts already, to be filled and renamed; removed if it was not.

        Raises:
            OSError: There is no room, or the folder cannot be written or locked.
        """
        if nbytes > _KEPT_SHARE * self.limit_bytes:
            raise OSError(errno.EFBIG, f"{nbytes} bytes are too much for a limit of {self.limit_bytes}")
        os.makedirs(subfolder, exist_ok=True)
        path = os.path.join(subfolder, f"{TEMPORARY_PREFIX}{os.getpid()}-{os.urandom(6).hex()}")
        with self._counted(nbytes):
            # Read-only from the start: no slip of a hand cuts a file off while processes have it mapped.
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), _mode())
            file = os.fdopen(descriptor, "wb")
            try:
                file.truncate(nbytes)
                _lock_now(descriptor)
            except BaseException:
                file.close()
                _unlink(path)
                raise
        try:
            with file:
                yield path, file
        finally:
            _unlink(path)

    def clear(self) -> tuple[int, int]:
        """Remove every file; returns how many and their bytes."""
        if not os.path.isdir(self.folder):
            return 0, 0
        with self._locked() as descriptor:
            writing, removable = self._scan()
            count, freed = _remove(removable)
            _write_count(descriptor, writing + _bytes_of(removable) - freed)
        return count, freed

    def make_room(self) -> None:
        """Count the files anew; if they take more than the limit, remove the oldest."""
        with self._locked() as descriptor:
            _write_count(descriptor, self._make_room(0))

    @contextlib.contextmanager
    def _counted(self, nbytes: int) -> Iterator[None]:
        with self._locked() as descriptor:
            used = _read_count(descriptor)
            if used is None or used + nbytes > self.limit_bytes:
                used = self._make_room(nbytes)
            # Before the file is made: a process that dies here has counted too much, never too little.
            _write_count(descriptor, used + nbytes)
            yield

    def _make_room(self, nbytes: int) -> int:
        """Remove the oldest files unless all of them and so many bytes fit; returns what they take then."""
        writing, removable = self._scan()
        used = writing + _bytes_of(removable)
        if used + nbytes > self.limit_bytes:
            goal = int(_KEPT_SHARE * self.limit_bytes) - nbytes
            used -= _remove(sorted(removable), used - goal)[1]
            if used + nbytes > self.limit_bytes:
                raise OSError(errno.ENOSPC, f"{used} bytes are in use, {nbytes} more pass the limit")
        return used

    def _scan(self) -> tuple[int, list[_Found]]:
        """Bytes that others are writing, and all files that may go; what killed writers left goes at once."""
        writing, removable = 0, []
        for subfolder in subfolders(self.folder):
            with contextlib.suppress(OSError), os.scandir(subfolder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        if entry.name.startswith(TEMPORARY_PREFIX):
                            if _is_abandoned(entry.path, status.st_mtime):
                                os.unlink(entry.path)
                            else:
                                writing += status.st_size
                        elif entry.name.endswith(SUFFIX):
                            removable.append(_Found(status.st_mtime, status.st_size, entry.path))
                        elif entry.name.endswith(DAMAGED_SUFFIX):
                            removable.append(_Found(0.0, status.st_size, entry.path))
        return writing, removable

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """The open count file, locked; it is made if it is not there."""
        path = os.path.join(self.folder, _COUNT_FILE)
        os.makedirs(self.folder, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT
        for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
            flags |= getattr(os, name, 0)
        while True:
            descriptor = os.open(path, flags, 0o644)
            try:
                status = os.fstat(descriptor)
                try:
                    check_trust(status)
                except DamagedArtifactError as error:
                    raise PermissionError(errno.EPERM, f"{path}: {error}") from error
                _wait_for_lock(descriptor, path)
                if os.fstat(descriptor).st_nlink == 0:
                    continue  # someone removed the file, and others have locked a new one
                try:
                    yield descriptor
                finally:
                    _unlock(descriptor)
                return
            finally:
                os.close(descriptor)


def subfolders(folder: str) -> list[str]:
    """The folders of two letters in a folder, in which files lie."""
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if len(entry.name) == 2 and entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _mode() -> int:
    # Windows does not let go of read-only files.
    return 0o644 if os.name == "nt" else 0o444


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _bytes_of(files: list[_Found]) -> int:
    return sum(file.nbytes for file in files)


def _remove(files: list[_Found], enough_bytes: int | None = None) -> tuple[int, int]:
    """Remove files from the first on, all or until it is enough; returns how many, and their bytes."""
    count = freed = 0
    for file in files:
        if enough_bytes is not None and freed >= enough_bytes:
            break
        with contextlib.suppress(OSError):
            os.unlink(file.path)
            count, freed = count + 1, freed + file.nbytes
    return count, freed


def _read_count(descriptor: int) -> int | None:
    """What the count file says; None if it says nothing that can be trusted."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    data = os.read(descriptor, _COUNT.size + 1)
    if len(data) != _COUNT.size:
        return None
    magic, used, digest = _COUNT.unpack(data)
    return int(used) if magic == _COUNT_MAGIC and digest == checksum(data[:16]) else None


def _write_count(descriptor: int, used: int) -> None:
    start = _COUNT_MAGIC + struct.pack("<Q", used)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, start + checksum(start))
    os.ftruncate(descriptor, _COUNT.size)


def _wait_for_lock(descriptor: int, path: str) -> None:
    if fcntl is None:
        return
    deadline, pause = time.monotonic() + _LOCK_SECONDS, 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OSError(errno.EAGAIN, f"{path} was locked for {_LOCK_SECONDS:.0f} s") from None
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return
            raise
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def _unlock(descriptor: int) -> None:
    # Closing is not enough where another thread has forked: the child has the descriptor too.
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def _lock_now(descriptor: int) -> None:
    """Mark a temporary file as being written, for as long as this process lives."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_abandoned(path: str, modified: float) -> bool:
    """Whether nobody writes a temporary file any more."""
    if fcntl is not None:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError:
            pass  # no locks here: judge by the age
        finally:
            os.close(descriptor)
    return time.time() - modified >= _ABANDONED_SECONDS
