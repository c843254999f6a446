"""Every command that takes a file, and what it costs in a process of its own."""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import npp_env.cli
from tests.hostile.crowds import Crowd, crowds
from tests.hostile.inputs import FILES, FOLDERS

MOST_CPU_SECONDS, MOST_BYTES = 10.0, 1_000_000_000
KILLED_AFTER_SECONDS = 60
FAILED = 70

# What is done with a level; "{}" is its file, "{out}" a folder of one's own.
LEVEL_COMMANDS = (
    "levels validate {}",
    "levels list {}",
    "levels show {}",
    "levels show {} -o {out}/level.png",
    "levels show {} --graph -o {out}/graph.png",
    "levels convert {} {out}/level.txt",
    "levels convert {} {out}/level.nppmap --game",
    "levels convert {} pack:{out}/pack",
    "levels sheet {} -o {out}/sheet.png",
    "replay {} {inputs}",
    "replay {} {inputs} -o {out}/run.gif",
    "replay {} {inputs} --trace {out}/run.npz",
    "solve {} --seconds 5 --no-progress",  # what is told how long to work works that long
    "profile --level {} --no-progress -o {out}/profile",
    "estimate --level {} --observations all",
    "cache warm {} --artifacts geometry,background,graph,distances --directory {out}/cache",
)
FILE_COMMANDS = {
    "long.txt": ("levels validate {}", "levels show {}", "levels convert {} {out}/level.nppmap"),
    "tiles.txt": ("levels validate {}", "levels show {}"),
    "full.pack": (
        "levels validate pack:{}",
        "levels list pack:{}",
        "levels convert pack:{} {out}/folder",
        "levels show pack:{}#3",
        "estimate --level pack:{} --observations all",
        "cache warm pack:{} --artifacts geometry --directory {out}/cache",
    ),
    "nothing.pack": ("levels validate pack:{}", "levels list pack:{}"),
    "long.npprec": ("replay {}", "replay {} --trace {out}/run.npz", "replay {} -o {out}/run.gif", "levels validate {}"),
    "long.attract": ("replay {}", "levels validate {}"),
    "inputs": ("replay {out}/../walk.nppmap {}", "profile --actions {} --no-progress -o {out}/profile"),
    "profile.json": ("profile --compare {} --no-progress --profile-frames 50 -o {out}/profile",),
    "deep.json": (
        "profile --compare {} --no-progress --profile-frames 50 -o {out}/profile",
        "evaluate random --config {} --episodes 1",
    ),
}


@dataclass(frozen=True)
class Cost:
    """What a command came to.

    Attributes:
        code: Exit code, or minus the signal that ended it.
        cpu_seconds: Of all its threads.
        peak_bytes: Most memory that it held at once.
        said: What it wrote.
    """

    code: int
    cpu_seconds: float
    peak_bytes: int
    said: str

    @property
    def is_right(self) -> bool:
        """Whether it ended in good order, within the bounds, in words that can be printed."""
        bounded = self.cpu_seconds <= MOST_CPU_SECONDS and self.peak_bytes <= MOST_BYTES
        return self.code in (0, 1, 2, 3) and bounded and all(c.isprintable() or c in "\n\r\t" for c in self.said)


def cost_of(words: list[str], log: Path, main: Callable[[list[str]], int] = npp_env.cli.main) -> Cost:
    """Run a command in a forked child, so that what all of them import is there already."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _be_the_command(words, log, main)
    _, status, used = os.wait4(pid, 0)
    said = log.read_text(encoding="utf-8", errors="replace")
    cpu_seconds = used.ru_utime + used.ru_stime
    return Cost(os.waitstatus_to_exitcode(status), cpu_seconds, used.ru_maxrss * 1024, said)


def _be_the_command(words: list[str], log: Path, main: Callable[[list[str]], int]) -> None:
    code = FAILED
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (KILLED_AFTER_SECONDS, KILLED_AFTER_SECONDS))
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        # Whatever stood in for them in this process.
        sys.stdout = sys.stderr = os.fdopen(descriptor, "w", encoding="utf-8")
        code = main(words)
        sys.stdout.flush()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else FAILED
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


@dataclass(frozen=True)
class Case:
    """A command on an input; `prepare` writes the input into a folder and says the words of the command."""

    name: str
    prepare: Callable[[Path], list[str]]


def level_case(crowd: Crowd, command: str, frames: int = 5000) -> Case:
    """A command on the largest level of a crowd that is accepted."""

    def prepare(folder: Path) -> list[str]:
        from npp_env.level import save_level

        level = crowd.largest()
        if level is None:
            return []
        path, inputs, out = folder / "level.nppmap", folder / "inputs", folder / "out"
        save_level(level, path)
        inputs.write_bytes(bytes([2, 3, 4, 0] * (frames // 4)))
        out.mkdir()
        return command.format(path, inputs=inputs, out=out).split()

    return Case(f"{crowd.name}: {command}", prepare)


def file_case(name: str, command: str) -> Case:
    """A command on a long file."""

    def prepare(folder: Path) -> list[str]:
        for file in {name, "walk.nppmap"}:
            (folder / file).write_bytes(FILES[file]())
        (folder / "out").mkdir()
        return command.format(folder / name, out=folder / "out").split()

    return Case(f"{name}: {command}", prepare)


def folder_case(name: str) -> Case:
    """A folder of snapshots."""

    def prepare(folder: Path) -> list[str]:
        FOLDERS[name](folder / "snapshots")
        scalars = folder / "snapshots" / "events"
        return ["analyze", str(folder / "snapshots"), *(["--events", str(scalars)] if scalars.exists() else [])]

    return Case(f"{name}: analyze", prepare)


def cases() -> Iterator[Case]:
    """All of them."""
    for name, commands in FILE_COMMANDS.items():
        for command in commands:
            yield file_case(name, command)
    for name in FOLDERS:
        yield folder_case(name)
    for crowd in crowds():
        for command in LEVEL_COMMANDS:
            yield level_case(crowd, command)
