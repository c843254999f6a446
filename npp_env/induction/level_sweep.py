"""What all sweeps have in common: the arrays of a level computed in blocks, from what the next level came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from numpy.typing import NDArray

from npp_env.induction.errors import InductionError
from npp_env.induction.level_arrays import LevelReader, LevelWriter, span_pieces
from npp_env.induction.plans import Plan
from npp_env.induction.transitions import Rows
from npp_env.induction.watching import Watch


class _Releasable(Protocol):
    def release(self) -> None: ...


class LevelSweep:
    """Goes through the levels of a plan in blocks.

    Args:
        plan: What is computed.
        block_states: States of a block.
        watch: Asked before each block, told after it.
    """

    def __init__(self, plan: Plan, block_states: int, watch: Watch) -> None:
        self._plan, self._block_states, self._watch = plan, block_states, watch

    def write(
        self,
        level: int,
        told: str,
        shapes: dict[str, tuple[tuple[int, ...], Any]],
        compute: Callable[[Rows], Iterable[NDArray[Any]]],
        mapped: Iterable[_Releasable],
    ) -> None:
        """Compute the arrays of a level, all of them or none.

        Args:
            level: The level.
            told: What it is called where progress is shown.
            shapes: Of each array its name, the shape of a row, and its type.
            compute: The rows of each array for a block of states.
            mapped: What lets go of its pages after each block.

        Raises:
            InductionError: A transition leads out of the next level; nothing was read there.
        """
        transitions, folder = self._plan.transitions, self._plan.folder
        first_target, last_target = transitions.span(level + 1)
        mapped = tuple(mapped)
        writer = LevelWriter(folder, level, transitions.span(level)[0], shapes)
        try:
            done, total = 0, transitions.level_size(level)
            for rows in transitions.blocks(level, self._block_states):
                self._watch.ask()
                _check_targets(rows, first_target, last_target)
                writer.add(rows.first, compute(rows))
                for each in mapped:
                    each.release()
                done += rows.last - rows.first
                self._watch.tell(told, done, total)
            folder.commit(writer.writers.values())
        except BaseException:
            writer.discard()
            raise

    def later(self, what: str, level: int) -> Iterator[tuple[int, int, NDArray[Any] | None]]:
        """The states of a level in blocks: first, one behind the last, and what was computed for them, a view.

        Args:
            what: Name of the array.
            level: The level; of the last one nothing was computed.
        """
        transitions, is_last = self._plan.transitions, level == self._plan.horizon
        values = None if is_last else LevelReader(self._plan.folder, what, level, transitions.span(level)[0])
        for first, last in span_pieces(transitions, level, self._block_states):
            yield first, last, None if values is None else values.rows(first, last)
            if values is not None:
                values.release()


def _check_targets(rows: Rows, first: int, last: int) -> None:
    """Refuse transitions that lead out of the next level, before anything is read there."""
    used = rows.successors[rows.offsets[0] : rows.offsets[-1]]
    if len(used) and not first <= int(used.min()) <= int(used.max()) < last:
        raise InductionError(f"states {rows.first} to {rows.last} lead to states outside of {first} to {last}")
