from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.profiling import ProfilingError, Verdict, fit_growth, fit_speed_drift
from npp_env.profiling.intervals import block_interval, sen_interval, theil_sen

KB = 1024.0
LEAK = 50 * KB / 1000


def autoregressive(rng, count, memory, scale):
    shocks = rng.normal(0, scale, count)
    values = np.zeros(count)
    for index in range(1, count):
        values[index] = memory * values[index - 1] + shocks[index]
    return values


def page_walk(rng, count):
    """Pages that come and go and are not given back at once."""
    moves = rng.random(count) < 0.3
    return np.cumsum(np.where(moves, rng.integers(-16, 17, count) * 4096, 0)).astype(float)


def sawtooth(rng, count):
    period = int(rng.integers(5, 20))
    return ((np.arange(count) + rng.integers(0, period)) % period) * 100 * KB


def warm_up(rng, count):
    ramp = int(rng.integers(2, count * 4 // 10))
    return 50e6 * np.minimum(1, np.arange(count) / ramp) + rng.normal(0, 5 * KB, count)


NOISES = {
    "white": lambda rng, count: rng.normal(0, 20 * KB, count),
    "ar": lambda rng, count: autoregressive(rng, count, 0.9, 20 * KB),
    "slow_ar": lambda rng, count: autoregressive(rng, count, 0.97, 20 * KB),
    "page_walk": page_walk,
    "sawtooth": sawtooth,
    "noisy_sawtooth": lambda rng, count: sawtooth(rng, count) + rng.normal(0, 10 * KB, count),
    "warm_up": warm_up,
    "spikes": lambda rng, count: np.where(rng.random(count) < 0.1, rng.random(count) * 2e6, 0.0),
}


@pytest.mark.parametrize("kind", NOISES)
def test_false_alarms_are_rare(kind):
    steps = np.arange(100) * 100
    alarms = 0
    for seed in range(200):
        noise = NOISES[kind](np.random.default_rng(seed), len(steps))
        alarms += fit_growth(steps, 1e8 + noise).verdict is Verdict.GROWING
    assert alarms <= 4


def test_short_series_do_not_alarm_either():
    steps = np.arange(11) * 100
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        kind = ("white", "ar", "page_walk", "spikes")[seed % 4]
        alarms += fit_growth(steps, 1e8 + NOISES[kind](rng, 11)).verdict is Verdict.GROWING
    assert alarms <= 4


@pytest.mark.parametrize("kind", ["white", "sawtooth", "noisy_sawtooth", "warm_up", "spikes", "ar"])
def test_a_leak_under_noise_is_found_within_a_fifth(kind):
    steps = np.arange(400) * 100
    for seed in range(15):
        noise = NOISES[kind](np.random.default_rng(seed), len(steps))
        fit = fit_growth(steps, 1e8 + noise + LEAK * steps)
        assert fit.verdict is Verdict.GROWING, fit.to_text()
        assert abs(fit.slope_per_1k / (50 * KB) - 1) < 0.2


@pytest.mark.parametrize("kind", ["white", "sawtooth", "noisy_sawtooth", "warm_up"])
def test_noise_without_a_leak_is_called_flat(kind):
    steps = np.arange(400) * 100
    for seed in range(15):
        fit = fit_growth(steps, 1e8 + NOISES[kind](np.random.default_rng(seed), len(steps)))
        assert fit.verdict is Verdict.FLAT, fit.to_text()


def test_a_warm_up_that_fades_out_is_not_a_leak():
    steps = np.arange(60) * 100
    fading = 1e8 + 5e7 * (1 - np.exp(-steps / 1200))
    assert fit_growth(steps, fading).verdict is not Verdict.GROWING


def test_a_series_that_only_falls_is_flat():
    steps = np.arange(11) * 100
    fit = fit_growth(steps, 1e8 - np.array([0, 20, 30, 30, 30, 34, 34, 34, 34, 34, 34]) * KB)
    assert fit.verdict is Verdict.FLAT
    assert fit.high_per_1k == 0


def test_one_release_does_not_hide_a_leak():
    steps = np.arange(100) * 100
    fit = fit_growth(steps, 1e8 + LEAK * steps - np.where(steps > 2000, 10e6, 0))
    assert fit.verdict is not Verdict.FLAT


def test_a_rising_sawtooth_is_judged_by_its_low_points():
    steps = np.arange(300) * 100
    teeth = (np.arange(300) % 15) * 100 * KB
    fit = fit_growth(steps, 1e8 + teeth + LEAK * steps)
    assert fit.basis == "troughs"
    assert fit.verdict is Verdict.GROWING
    assert fit.slope_per_1k == pytest.approx(50 * KB, rel=0.02)


def test_a_sawtooth_with_too_few_teeth_is_undecided():
    steps = np.arange(40) * 100
    fit = fit_growth(steps, 1e8 + (np.arange(40) % 16) * 100 * KB)
    assert fit.verdict is Verdict.UNDECIDED
    assert "sawtooth" in fit.reason


def test_too_few_samples_are_undecided_and_say_so():
    fit = fit_growth([0, 100, 200], [1.0, 2.0, 3.0])
    assert fit.verdict is Verdict.UNDECIDED
    assert "3 samples" in fit.to_text()
    assert json.loads(json.dumps(fit.to_dict()))["low_per_1k"] is None


def test_the_text_states_threshold_and_samples():
    steps = np.arange(50) * 100
    text = fit_growth(steps, 1e8 + LEAK * steps, threshold_per_1k=20 * KB).to_text()
    assert "threshold 20.0" in text
    assert "50 of 50 samples" in text
    assert text.startswith("growing: +50.0 KB per 1,000 steps")


def test_skipped_readings_are_left_out():
    steps = np.arange(100) * 100
    values = 1e8 + LEAK * steps
    values[::3] = math.nan
    fit = fit_growth(steps, values)
    assert fit.samples_total == 66
    assert fit.verdict is Verdict.GROWING


@pytest.mark.parametrize(
    ("steps", "values", "threshold"),
    [([0, 1], [1.0], 1.0), ([1, 0], [1.0, 2.0], 1.0), ([0, 1], [1.0, 2.0], 0.0)],
)
def test_senseless_input_is_refused(steps, values, threshold):
    with pytest.raises(ProfilingError):
        fit_growth(steps, values, threshold_per_1k=threshold)


def test_losing_speed_is_told_from_keeping_it():
    rng = np.random.default_rng(3)
    steps = np.arange(200) * 1000
    steady = 5000 + rng.normal(0, 50, 200)
    assert fit_speed_drift(steps, steady).verdict is Verdict.FLAT
    assert fit_speed_drift(steps, steady * np.linspace(1, 0.6, 200)).verdict is Verdict.GROWING


@given(
    slope=st.floats(-1e3, 1e3),
    offset=st.floats(-1e6, 1e6),
    count=st.integers(8, 40),
)
@settings(max_examples=50, deadline=None)
def test_an_exact_line_is_recovered(slope, offset, count):
    x = np.arange(count, dtype=float) * 100
    y = offset + slope * x
    fitted, _ = theil_sen(x, y)
    assert fitted == pytest.approx(slope, abs=1e-6)
    for low, high in (sen_interval(x, y, fitted), block_interval(x, y, fitted)):
        assert low - 1e-6 <= slope <= high + 1e-6


LEAKING_LOOP = """
import json
import numpy as np
from npp_env.profiling import MemoryTracker

tracker, kept = MemoryTracker(interval=200, budget_fraction=None), []
for iteration in range(400):
    with tracker.phase("collect"):
        transient = np.ones(40_000)
        kept.extend({keep})
    with tracker.phase("update"):
        for _ in range(20):
            np.ones(30_000).sum()
        del transient
    tracker.on_step(iteration * 200)
growth, phases = tracker.growth(), tracker.phases
texts = [growth.to_text(), phases.to_text()]
print(json.dumps([growth.verdict.value, growth.slope_per_1k, phases.culprit, *texts]))
"""


def run_loop(keep):
    script = LEAKING_LOOP.replace("{keep}", keep)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def test_a_real_loop_that_leaks_is_found_in_its_phase():
    # 200 steps an iteration: 10 KB an iteration are 50 KB per 1,000 steps.
    verdict, slope, culprit, *texts = run_loop("[bytearray(1024 - 73) for _ in range(10)]")
    assert verdict == "growing", texts
    assert slope == pytest.approx(50 * KB, rel=0.2), texts
    assert culprit == "collect", texts


def test_the_same_loop_without_the_leak_is_not_called_growing():
    verdict, _, culprit, *texts = run_loop("()")
    assert verdict == "flat", texts
    assert culprit is None, texts


def test_one_fall_does_not_hide_a_straight_rise():
    steps = np.arange(188.0)
    values = 2e8 + 490e3 * steps
    values[82:] -= 1.2e6
    fit = fit_growth(steps, values, threshold_per_1k=1024e3)
    assert fit.verdict is Verdict.GROWING
    assert "rises in each of 12 parts" in fit.reason
    # What wanders up and down is not taken for it.
    waves = 2e8 + 50e6 * np.sin(steps / 10)
    assert fit_growth(steps, waves, threshold_per_1k=1024e3).verdict is not Verdict.GROWING
