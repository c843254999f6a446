"""The process that runs inputs: told by arguments, watched through the board."""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import traceback
import warnings
from pathlib import Path

from npp_env.errors import NppError
from tests.fuzz.board import Board
from tests.fuzz.coverage import EdgeCoverage, LineCoverage
from tests.fuzz.entrance import Entrance, check_message
from tests.fuzz.mutate import Mutator
from tests.fuzz.table import entrance_named

MAX_CORPUS = 2000
MAX_SEED_BYTES = 100_000
TRACED_AT_FIRST, TRACED_ONE_IN = 2000, 16
"""Following every line makes Python several times slower: after a while only some inputs are followed, and those that
end in a place where none has ended before.
"""
SLOW_SECONDS = 10.0
"""No input may take longer (CPU time)."""


class Fuzzer:
    """Runs one entrance on mutated inputs, and keeps those that reach something new.

    Args:
        entrance: What is fuzzed.
        folder: For scratch files and findings.
        board: Where the one who watches sees what is under way.
        seed: Of all chance.
        watched: Part of the path of the Python files whose lines count as coverage.
    """

    def __init__(self, entrance: Entrance, folder: Path, board: Board, seed: int, watched: str = "/npp_env/") -> None:
        self.entrance, self.board = entrance, board
        self.findings = folder / "findings"
        self.findings.mkdir(parents=True, exist_ok=True)
        scratch = folder / "scratch"
        scratch.mkdir(exist_ok=True)
        self.rng = random.Random(seed)
        self.mutator = Mutator(self.rng, entrance.changes, entrance.tokens)
        self.lines, self.edges = LineCoverage(watched), EdgeCoverage()
        self.corpus: list[bytes] = []
        self.endings: set[object] = set()
        self.run_one = entrance.open(scratch)

    def run(self, corpus: list[bytes], executions: int, seconds: float, most_faults: float = float("inf")) -> None:
        """Fuzz until either is used up, or so many faults were met."""
        end = time.monotonic() + seconds
        for data in corpus:
            self.corpus.append(data)
            self.try_input(data, traced=True)
        reached = self._reached()
        while self.board.executions < executions and time.monotonic() < end and self.board.faults < most_faults:
            data = self.mutator.mutate(self._choose(), self._choose())
            traced = self.board.executions < TRACED_AT_FIRST or self.board.executions % TRACED_ONE_IN == 0
            if self.try_input(data, traced) and not traced:
                self.try_input(data, traced=True)
            now = self._reached()
            if now > reached:
                reached = now
                self.board.new_paths += 1
                if len(data) <= MAX_SEED_BYTES and len(self.corpus) < MAX_CORPUS:
                    self.corpus.append(data)
        self.lines.close()

    def _reached(self) -> int:
        return self.lines.lines + self.edges.edges

    def _choose(self) -> bytes:
        """Any of the corpus; more often one that was found lately."""
        if len(self.corpus) > 8 and self.rng.random() < 0.4:
            return self.corpus[-self.rng.randrange(1, 9)]
        return self.rng.choice(self.corpus)

    def try_input(self, data: bytes, traced: bool) -> bool:
        """Run one input; whatever is neither accepted nor refused in good order is written down.

        Returns:
            Whether it ended where none has ended before.
        """
        self.board.begin(data)
        self.edges.begin()
        began = time.process_time()
        ending: object = None
        if traced:
            self.lines.start()
        try:
            self.run_one(data)
            self.board.accepted += 1
        except NppError as error:
            ending = place_of(error)
            try:
                check_message(error)
            except Exception as wrong:
                self.write_finding(data, wrong)
        except Exception as error:
            self.write_finding(data, error)
        finally:
            if traced:
                self.lines.stop()
        self.edges.end()
        took = time.process_time() - began
        if took > SLOW_SECONDS:
            self.write_finding(data, TimeoutError(f"{took:.1f} CPU seconds for {len(data)} bytes"))
        self.board.end(took)
        fresh = ending not in self.endings
        self.endings.add(ending)
        return fresh

    def write_finding(self, data: bytes, error: BaseException) -> None:
        """Keep the first input of each kind of finding."""
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "npp_env" in frame.filename]
        place = f"{Path(frames[-1].filename).stem}-{frames[-1].lineno}" if frames else "check"
        words = re.sub(r"[^a-z]+", "-", re.sub(r"0x[0-9a-f]+|[0-9]+", "", str(error).lower()))[:40].strip("-")
        name = f"{type(error).__name__}-{place}" + (f"-{words}" if place == "check" or not frames else "")
        path = self.findings / f"{self.entrance.name}.{name}.bin"
        self.board.faults += 1
        if not path.exists():
            path.write_bytes(data)
            path.with_suffix(".txt").write_text("".join(traceback.format_exception(error))[-4000:])


def place_of(error: BaseException) -> tuple[object, int]:
    """Where an error was raised."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return (place.tb_frame.f_code, place.tb_lineno) if place is not None else (None, 0)


def main(known: dict[str, Entrance] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("entrance")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--executions", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="write inputs that reached something new here")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    entrance = entrance_named(args.entrance) if known is None else known[args.entrance]
    fuzzer = Fuzzer(entrance, args.folder, Board(args.folder / "board"), args.seed)
    files = [path.read_bytes() for folder in args.corpus if folder.is_dir() for path in sorted(folder.iterdir())]
    corpus = entrance.seeds() + files
    fuzzer.run(corpus, args.executions, args.seconds)
    if args.keep is not None:
        args.keep.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(fuzzer.corpus[len(corpus) :]):
            (args.keep / f"{args.seed}-{number}").write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
