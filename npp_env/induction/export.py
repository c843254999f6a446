"""Policies in half precision, for those who only want to act by them; what that costs is measured."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from npp_env.induction.array_folder import ArrayFolder
from npp_env.induction.level_arrays import name_of
from npp_env.induction.plans import Plan

_BLOCK_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported.

    Attributes:
        nbytes: Size of all arrays.
        rows: States over all time steps.
        largest_error: The largest difference of a chance to what was exported.
        largest_sum_error: The largest difference of the sum of the chances of a row to 1.
    """

    nbytes: int
    rows: int
    largest_error: float
    largest_sum_error: float

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows in {self.nbytes:,} bytes of float16; a chance differs by {self.largest_error:.2g} at "
            f"most, the sum of a row from 1 by {self.largest_sum_error:.2g}"
        )


def export_policies(plan: Plan, what: str, directory: str | os.PathLike[str]) -> ExportReport:
    """Write the chances of all time steps as float16, one `.npy` a step, with the rows of `plan.states(step)`.

    Args:
        plan: Whose.
        what: Which array: "policies" of humans or of a soft-optimal plan, "robot_policy" of a robot.
        directory: An empty folder, or one of the same export.
    """
    identity = {"kind": f"float16 {what}", "model": plan.model.name, "steps": plan.horizon}
    with ArrayFolder(Path(directory), identity) as folder:
        return _export(plan, what, folder)


def _export(plan: Plan, what: str, folder: ArrayFolder) -> ExportReport:
    rows, error, sum_error = 0, 0.0, 0.0
    for level in range(plan.horizon):
        mapped = plan.folder.array(name_of(what, level))
        numbers = plan.state_numbers(level) - plan.transitions.span(level)[0]
        writer = folder.writer(name_of(what, level), np.float16, mapped.array.shape[1:])
        block = max(1, _BLOCK_BYTES // max(1, mapped.array[:1].nbytes))
        try:
            for first in range(0, len(numbers), block):
                exact = mapped.array[numbers[first : first + block]].astype(np.float64)
                half = exact.astype(np.float16)
                writer.append(half)
                back = half.astype(np.float64)
                error = max(error, float(np.abs(back - exact).max(initial=0)))
                sums = np.abs(back.sum(axis=-1) - exact.sum(axis=-1))
                sum_error = max(sum_error, float(sums.max(initial=0)))
                mapped.release()
            folder.commit([writer])
        except BaseException:
            writer.discard()
            raise
        rows += len(numbers)
    return ExportReport(folder.nbytes, rows, error, sum_error)
