"""float32 inside, float16 outside: what they cost is measured."""

from __future__ import annotations

import numpy as np
import pytest

from npp_env.induction import ForeignStoreError, compute_human_policy_prior, compute_robot_policy
from npp_env.induction.export import export_policies

from .example import SMALL_MAP, RockWorld


@pytest.fixture(scope="module")
def plans():
    world = RockWorld(SMALL_MAP)
    found = []
    for dtype in ("float64", "float32"):
        prior = compute_human_policy_prior(
            world, human_agent_indices=world.humans, goals=world.cell_goals(), horizon=6, dtype=dtype
        )
        found.append((prior, compute_robot_policy(prior)))
    return found


def test_float32_against_float64(plans):
    (prior, robot), (narrow_prior, narrow_robot) = plans
    worst = 0.0
    for time in range(6):
        for wide, narrow in (
            (prior.values(time), narrow_prior.values(time)),
            (prior.policies(time), narrow_prior.policies(time)),
            (robot.values(time), narrow_robot.values(time)),
            (robot.policies(time), narrow_robot.policies(time)),
        ):
            assert narrow.dtype == np.float32
            assert (narrow[wide == 0] == 0).all()
            seen = wide != 0
            worst = max(worst, float(np.abs(narrow[seen] / wide[seen] - 1).max(initial=0)))
    print(f"largest relative error of float32: {worst:.2g}")
    assert 0 < worst < 1e-6


def test_exports_in_half_precision(plans, tmp_path):
    prior, robot = plans[0]
    report = export_policies(prior, "policies", tmp_path / "humans")
    worst, rows = 0.0, 0
    for time in range(6):
        half = np.load(tmp_path / "humans" / f"level{time:05d}.policies.npy")
        assert half.dtype == np.float16
        worst = max(worst, float(np.abs(half.astype(np.float64) - prior.policies(time)).max()))
        rows += len(half)
    assert report.largest_error == worst <= 2**-12
    assert (report.rows, report.nbytes) == (rows, rows * 2 * prior.policies(0)[0].size)
    assert f"{worst:.2g}" in str(report)
    assert export_policies(robot, "robot_policy", tmp_path / "robot").rows == rows
    with pytest.raises(ForeignStoreError, match="kind"):
        export_policies(robot, "robot_policy", tmp_path / "humans")
