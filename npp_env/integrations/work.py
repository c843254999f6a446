"""One function over many items, on processes here or on a cluster, with a file for every result.

A run that is killed goes on where it was: what stands in its folder is not computed again. An item that fails is kept
with its error and does not end the run.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import npp_env
from npp_env.errors import NppError
from npp_env.level.whole_file import check_writable, write_whole

RESULT_SUFFIX, FAILURE_SUFFIX = ".result", ".failure"
_MAGIC = b"npp_env result 1\n"
_DIGEST_BYTES = 32

Function = Callable[[Any], bytes]
"""What is done to an item: it and its argument can be pickled, and equal arguments give equal bytes."""


class WorkError(NppError, RuntimeError):
    """Work that cannot be begun or gone on with; the message says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """An item.

    Attributes:
        key: Names the result; `key_of` all that the result depends on.
        argument: What the function gets.
    """

    key: str
    argument: Any


@dataclass(frozen=True, slots=True)
class Done:
    """An item that is done.

    Attributes:
        result: What the function gave; None if it failed.
        error: Why it failed; "" if it did not.
    """

    result: bytes | None
    error: str = ""


class Pool(Protocol):
    """Who does the work; one user at a time."""

    def begin(self, function: Function) -> None:
        """What is to be done to all items that follow."""

    def has_room(self) -> bool:
        """Whether another item would be begun soon."""

    def submit(self, number: int, argument: Any) -> None:
        """Take an item."""

    def wait(self) -> tuple[int, Done]:
        """The next item that is done, whichever it is; there is one under way."""

    def drop(self) -> None:
        """Forget what is under way."""


def key_of(function: str, *content: Any) -> str:
    """Names a result by what it depends on: the function, its input, and the code of the package.

    Args:
        function: Name of what is done.
        content: Plain data; `Level.hash` for a level, a digest for the content of a file.
    """
    text = json.dumps([function, code_digest(), kernel_digest(), content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Digest of the Python sources of the package, the same wherever the same version is installed."""
    folder = Path(npp_env.__file__).parent
    digest = hashlib.sha256(npp_env.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"\0{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def kernel_digest() -> str:
    """What a checkout was compiled from; "" for an installed package, whose version says it."""
    record = Path(npp_env.__file__).with_name("_compiled.json")
    return hashlib.sha256(record.read_bytes()).hexdigest() if record.is_file() else ""


def error_text(error: BaseException) -> str:
    """One line that tells what went wrong."""
    message = " ".join(str(error).split())
    return message if isinstance(error, NppError) else f"{type(error).__name__}: {message}"


def answer(function: Function, argument: Any) -> Done:
    """Do the work on one item; what goes wrong with it is part of the answer."""
    try:
        return Done(function(argument))
    except Exception as error:
        return Done(None, error_text(error))


class ResultFolder:
    """A folder with a file for each result.

    Args:
        path: Made if it does not exist; results that are there are used.

    Raises:
        WorkError: Files cannot be written there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            check_writable(path)
        except OSError as error:
            raise WorkError(f"{path}: results cannot be written there: {error.strerror}") from error

    def read(self, key: str) -> bytes | None:
        """A result; None if there is none, or if the file is damaged."""
        try:
            data = self._file(key, RESULT_SUFFIX).read_bytes()
        except FileNotFoundError:
            return None
        content = data[len(_MAGIC) + _DIGEST_BYTES :]
        return content if data == _sealed(content) else None

    def write(self, key: str, done: Done) -> None:
        """Keep a result, or the error of an item, which the next run tries again."""
        failure = self._file(key, FAILURE_SUFFIX)
        if done.result is None:
            write_whole(failure, done.error.encode(errors="backslashreplace") + b"\n")
        else:
            write_whole(self._file(key, RESULT_SUFFIX), _sealed(done.result))
            failure.unlink(missing_ok=True)

    def _file(self, key: str, suffix: str) -> Path:
        return self.path / f"{key}{suffix}"


def _sealed(content: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(content).digest() + content


def work_through(
    function: Function,
    jobs: Iterable[Job],
    pool: Pool,
    folder: Path | None = None,
    on_done: Callable[[Done], None] | None = None,
) -> Iterator[Done]:
    """Do something to every item.

    As many items are under way as the pool likes; their arguments and results are in memory only while they are. Where
    the iterator is left early, what is under way is dropped.

    Args:
        function: What is done.
        jobs: The items; taken as there is room.
        pool: Who does it.
        folder: Where the results are kept; a temporary folder if None.
        on_done: Called whenever an item is done, in any order.

    Yields:
        What came out, in the order of the items.

    Raises:
        WorkError: The folder cannot be written to, or the pool has broken down.
    """
    with ExitStack() as stack:
        folder = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="npp-work-")))
        results = ResultFolder(folder)
        pool.begin(function)
        stack.callback(pool.drop)
        yield from _Run(iter(jobs), pool, results, on_done or (lambda done: None)).run()


class _Run:
    """Items under way: numbers of those that are not given out yet, and what failed among them."""

    def __init__(self, jobs: Iterator[Job], pool: Pool, results: ResultFolder, on_done: Callable[[Done], None]) -> None:
        self._jobs, self._pool, self._results, self._on_done = jobs, pool, results, on_done
        self._keys: deque[str] = deque()  # of items that are not given out yet
        self._given = 0
        self._under_way: set[int] = set()
        self._failed: dict[int, Done] = {}

    def run(self) -> Iterator[Done]:
        """All items, in order."""
        more = True
        while more or self._under_way:
            while more and self._pool.has_room():
                more = self._take()
            if self._under_way:
                self._finish(*self._pool.wait())
            while self._keys and self._given not in self._under_way:
                yield self._give()

    def _take(self) -> bool:
        """Begin the next item, unless its result is known; whether there was one."""
        job = next(self._jobs, None)
        if job is None:
            return False
        number = self._given + len(self._keys)
        self._keys.append(job.key)
        known = self._results.read(job.key)
        if known is None:
            self._under_way.add(number)
            self._pool.submit(number, job.argument)
        else:
            self._on_done(Done(known))
        return True

    def _finish(self, number: int, done: Done) -> None:
        self._results.write(self._keys[number - self._given], done)
        if done.result is None:
            self._failed[number] = done
        self._under_way.discard(number)
        self._on_done(done)

    def _give(self) -> Done:
        key, number = self._keys.popleft(), self._given
        self._given += 1
        if number in self._failed:
            return self._failed.pop(number)
        result = self._results.read(key)
        if result is None:
            raise WorkError(f"{self._results.path}: the result {key} is gone; leave the folder alone during a run")
        return Done(result)
