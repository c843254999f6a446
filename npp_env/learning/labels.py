"""`LabelStore`: states and what the teacher does in them, in arrays that never grow; and where the first come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npp_env.config import EnvironmentConfig
from npp_env.env import NppEnv
from npp_env.errors import ConfigError
from npp_env.learning.demonstrations import DemoMaker, Demonstration, DemonstrationError, DemoOptions
from npp_env.learning.teacher import TeacherConfig
from npp_env.level.level_set import LevelSet


@dataclass(frozen=True)  # without slots: options of several kinds have this as one of two bases
class LabelOptions:
    """Where labelled states come from, and how many are kept.

    Attributes:
        demos: Folder of a dataset of demonstrations; without one the teacher plays at the beginning.
        perturbed: Episodes beside the way that it then plays of each level.
        demo_levels: Of sets with more levels it plays so many.
        solve_ticks: Ticks it may take to find a way through a level; it leaves the level out after that. Four million
            are half a second, ten times the usual.
        capacity: Labelled states that are kept.
    """

    demos: str = ""
    perturbed: int = 8
    demo_levels: int = 200
    solve_ticks: int = 4_000_000
    capacity: int = 65_536


class LabelStore:
    """A ring of labelled states; once it is full, new ones replace the oldest.

    Args:
        capacity: How many are kept.
        row_bytes: Length of a row of the `state` layout.
        minibatch: How many are drawn at once.

    Attributes:
        rows: uint8 (minibatch, row_bytes), the states that were drawn last.
        labels: int64 (minibatch,), what the teacher does in them.
        count: How many are kept at present.
    """

    def __init__(self, capacity: int, row_bytes: int, minibatch: int) -> None:
        # Written to at once: what is only promised by the system would look like growth later.
        self._rows = np.full((capacity, row_bytes), 0, np.uint8)
        self._labels = np.full(capacity, 0, np.int64)
        self._next = 0
        self.count = 0
        self.rows = np.zeros((minibatch, row_bytes), np.uint8)
        self.labels = np.zeros(minibatch, np.int64)
        self._shares = np.zeros(minibatch)
        self._chosen = np.zeros(minibatch, np.int64)

    @property
    def nbytes(self) -> int:
        """Size of all arrays."""
        arrays = (self._rows, self._labels, self.rows, self.labels, self._shares, self._chosen)
        return sum(array.nbytes for array in arrays)

    def add(self, rows: NDArray[np.uint8], labels: NDArray[np.int64]) -> None:
        """Keep labelled states (n, row_bytes), (n,)."""
        first, capacity = 0, len(self._labels)
        while first < len(labels):
            size = min(len(labels) - first, capacity - self._next)
            self._rows[self._next : self._next + size] = rows[first : first + size]
            self._labels[self._next : self._next + size] = labels[first : first + size]
            self._next = (self._next + size) % capacity
            self.count = min(self.count + size, capacity)
            first += size

    def draw(self, random: np.random.Generator) -> None:
        """Put a random minibatch into `rows` and `labels`; nothing is allocated."""
        random.random(out=self._shares)
        np.multiply(self._shares, self.count, out=self._shares)
        np.copyto(self._chosen, self._shares, casting="unsafe")
        np.take(self._rows, self._chosen, axis=0, out=self.rows, mode="clip")
        np.take(self._labels, self._chosen, out=self.labels, mode="clip")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is kept, for a checkpoint."""
        return {
            "labels/rows": self._rows[: self.count],
            "labels/actions": self._labels[: self.count],
            "labels/next": np.array([self._next]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go back to what `arrays` gave."""
        self.count = len(arrays["labels/actions"])
        self._rows[: self.count], self._labels[: self.count] = arrays["labels/rows"], arrays["labels/actions"]
        self._next = int(arrays["labels/next"][0])


def demonstrated(config: EnvironmentConfig, options: LabelOptions, seed: int) -> Iterator[Any]:
    """Rows and actions of demonstrations, episode by episode, as an environment gives them.

    Args:
        config: The environment of the pupil.
        options: Where they come from; of sets with more levels than it plays, these are spread evenly.
        seed: What is left to chance comes from it.

    Yields:
        Rows (n, row_bytes) and actions (n,), fresh.

    Raises:
        DemonstrationError: The dataset was made with another `frame_skip`, or holds none of the levels.
    """
    if not options.demos:
        yield from ((d.rows[:-1], d.actions) for d in _played(config, options, seed))
        return
    from npp_env.learning.demo_files import DemonstrationFiles

    files = DemonstrationFiles(options.demos)
    if files.config.frame_skip != config.frame_skip:
        raise DemonstrationError(
            f"{options.demos} has decisions of {files.config.frame_skip} ticks; "
            f"the pupil makes them for {config.frame_skip}"
        )
    yield from _translated(files, config, options.demos)


def _played(config: EnvironmentConfig, options: LabelOptions, seed: int) -> Iterator[Demonstration]:
    names = [config.levels] if isinstance(config.levels, str) else config.levels
    if names is None or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"levels are {config.levels!r}; the teacher plays sets that are named")
    played = DemoOptions(options.perturbed, mirrored=False, seed=seed, frame_skip=config.frame_skip)
    maker = DemoMaker(list(names), played, TeacherConfig(solve_ticks=options.solve_ticks))
    count = len(maker.levels)
    step = max(1, count // options.demo_levels)
    yield from maker.episodes(range(0, count, step))


def _translated(files: Any, config: EnvironmentConfig, demos: str) -> Iterator[Any]:
    """Episodes of a dataset, played once more where levels may have other numbers and rows another length."""
    levels = LevelSet.parse(config.levels)
    numbers = {level.hash: index for index, level in enumerate(levels)} if levels.is_finite else {}
    env = NppEnv(config.with_overrides({"observation": {"layout": "state"}, "copy": True}))
    met = 0
    for d in files:
        number = numbers.get(d.level_hash)
        if number is None:
            continue
        met += 1
        env.reset(seed=0, options={"level": number})
        env.set_state(d.rows[0])
        rows = [env.observe()[0], *(env.step(action)[0] for action in d.actions[:-1].tolist())]
        yield np.stack(rows), d.actions
    env.close()
    if not met:
        raise DemonstrationError(f"{demos} holds no level of {config.levels}")
