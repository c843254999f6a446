"""Intervals: against values from the literature and against the truth they are to cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from npp_env.evaluation.intervals import mean_estimate, share_estimate


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Newcombe 1998, table I, the score method without correction, and its first example.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_agrees_with_the_literature(successes, trials, low, high):
    estimate = share_estimate(successes, trials)
    assert estimate.mean == successes / trials
    assert (round(estimate.low, 4), round(estimate.high, 4)) == (low, high)
    mirrored = share_estimate(trials - successes, trials)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - estimate.high, 1 - estimate.low))


def test_the_interval_of_a_share_covers_the_truth():
    for truth in (0.05, 0.3, 0.5, 0.9):
        covered = 0.0
        for won in range(21):
            estimate = share_estimate(won, 20)
            if estimate.low <= truth <= estimate.high:
                covered += math.comb(20, won) * truth**won * (1 - truth) ** (20 - won)
        assert covered > 0.9


def test_the_interval_of_a_mean_covers_the_truth():
    random = np.random.default_rng(0)
    hits = sum(
        estimate.low <= 4.0 <= estimate.high
        for estimate in (mean_estimate([random.exponential(4.0, 60)], seed) for seed in range(300))
    )
    assert 0.88 <= hits / 300 <= 0.99
    estimate = mean_estimate([random.normal(10, 2, 400)])
    assert (estimate.high - estimate.low) / 2 == pytest.approx(1.96 * 2 / 20, rel=0.2)


def test_levels_that_differ_widen_no_interval():
    random = np.random.default_rng(1)
    strata = [base + random.normal(0, 1, 50) for base in (0.0, 100.0, 200.0)]
    together, apart = mean_estimate([np.concatenate(strata)]), mean_estimate(strata)
    assert together.mean == pytest.approx(apart.mean)
    assert apart.high - apart.low < 0.05 * (together.high - together.low)


def test_the_interval_does_not_depend_on_order():
    values = np.random.default_rng(3).random(50)
    assert mean_estimate([values]) == mean_estimate([values[::-1]])


def test_little_is_known_of_little():
    assert share_estimate(0, 0)[:3] == (None, None, None)
    assert mean_estimate([])[:3] == (None, None, None)
    assert mean_estimate([np.array([3.0])]) == (3.0, None, None, 1)
    one_each = mean_estimate([np.array([0.0]), np.array([1.0]), np.array([1.0])])
    assert one_each.low < one_each.mean < one_each.high
