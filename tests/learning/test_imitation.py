"""Cloning, DAgger, and cloning followed by PPO."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.errors import ConfigError  # noqa: E402
from npp_env.learning.algorithms import make_algorithm  # noqa: E402
from npp_env.learning.cloning import allowed_labels  # noqa: E402
from npp_env.learning.demonstrations import DemonstrationError  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.learning.teacher import NO_ANSWER  # noqa: E402

SMALL = {"perturbed": 1, "capacity": 2048}
CLONE = {**SMALL, "minibatch": 64, "updates": 20, "num_steps": 4}


def algorithm(algo: str, options: dict | None = None, steps: int = 2000, **more):
    settings = {"task": "shipped:first_steps/walk", "num_envs": 8, "total_steps": steps, **more}
    return make_algorithm(TrainSettings(algo=algo, algo_options=options or CLONE, **settings))


def weights(made) -> dict[str, np.ndarray]:
    return {name: value.numpy().copy() for name, value in made.bench.network.state_dict().items()}


def test_masked_jumps_are_learned_as_what_they_do():
    masks = torch.tensor([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 1, 1]], dtype=torch.uint8)
    assert allowed_labels(torch.tensor([4, 4, 3]), masks).tolist() == [1, 4, 0]


def test_cloning_comes_to_agree_with_the_teacher():
    made = algorithm("bc")
    first = made.iterate()
    for _ in range(8):
        last = made.iterate()
    assert last["cloning_loss"] < first["cloning_loss"] / 1.5
    assert last["agreement"] > 0.8
    assert made.bench.steps == 9 * 4 * 8


@pytest.mark.parametrize("algo", ["bc", "dagger", "bc+ppo"])
def test_a_run_that_is_gone_on_with_has_the_same_weights(algo):
    options = CLONE
    if algo == "bc+ppo":
        options = {**PPO_OPTIONS, "value_iterations": 0}
    settings = {"task": "shipped:first_steps", "environment": {"max_episode_frames": 80}}
    whole = algorithm(algo, options, **settings)
    for _ in range(4):
        whole.iterate()
    first = algorithm(algo, options, **settings)
    first.iterate()
    first.iterate()
    header, arrays = first.header(), {name: array.copy() for name, array in first.arrays().items()}
    second = algorithm(algo, options, **settings)
    second.restore(header, arrays)
    second.iterate()
    second.iterate()
    for name, value in weights(whole).items():
        assert (value == weights(second)[name]).all(), name


def test_dagger_asks_the_teacher_about_what_the_pupil_meets():
    made = algorithm("dagger", {**CLONE, "labels": 16, "teacher_share": 0.5, "mixing": 0.5}, steps=320)
    made.iterate()
    demonstrated = made.cloner.store.count
    shares = []
    for _ in range(8):
        curve = made.iterate()
        shares.append(curve["teacher_share"])
        assert set(curve) == {"cloning_loss", "agreement", "teacher_share", "answered"}
    assert demonstrated < made.cloner.store.count <= demonstrated + 8 * 16
    assert made.teacher.statistics.asked >= 9 * 16
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0 == shares[-1]
    # The newest labels are what the teacher said of what was met last.
    count = int((made._answers != NO_ANSWER).sum())
    labels = made.cloner.store.arrays()["labels/actions"]
    assert labels[-count:].tolist() == made._answers[made._answers != NO_ANSWER].tolist()


PPO_OPTIONS = {
    **SMALL,
    "num_steps": 16,
    "minibatch": 64,
    "epochs": 1,
    "clone_updates": 10,
    "clone_minibatch": 64,
    "value_iterations": 1,
    "teacher_share": 1.0,
    "teacher_until": 1.0,
    "led_share": 0.05,
}


def test_after_cloning_the_value_is_warmed_up_alone():
    made = algorithm("bc+ppo", {**PPO_OPTIONS, "clone_updates": 0})
    before = weights(made)
    made.iterate()
    after = weights(made)
    changed = {name for name in before if (before[name] != after[name]).any()}
    assert changed == {"critic.weight", "critic.bias"}
    made.iterate()
    assert (weights(made)["actor.weight"] != after["actor.weight"]).any()


def test_the_teacher_begins_episodes_and_ppo_does_not_learn_from_its_steps():
    made = algorithm(
        "bc+ppo", {**PPO_OPTIONS, "value_iterations": 0}, steps=8000, environment={"max_episode_frames": 80}
    )
    curves = [made.iterate() for _ in range(6)]
    assert all(set(curve) == set(curves[0]) for curve in curves)
    led = [curve["teacher_led"] for curve in curves]
    assert max(led) > 0.05
    own = made._own.reshape(-1)
    assert made.learnable().tolist() == np.flatnonzero(own).tolist()
    # Nobody is led any more once the share has come to nothing.
    made.bench.steps = 8000
    for _ in range(3):
        last = made.iterate()
    assert last["teacher_led"] == 0


def test_labels_come_from_datasets_too(tmp_path):
    pytest.importorskip("minari")
    from npp_env.learning.demo_files import write_demonstrations
    from npp_env.learning.demonstrations import DemoMaker, DemoOptions

    maker = DemoMaker("shipped:first_steps", DemoOptions(perturbed=0))
    write_demonstrations(tmp_path / "d", maker.config, maker.episodes())
    made = algorithm("bc", {**CLONE, "demos": str(tmp_path / "d")}, task="shipped:first_steps/walk")
    made.iterate()
    assert made.cloner.store.count == next(len(d.actions) for d in maker.episodes([4]))
    for wrong, complaint in (({"task": "shipped:doors"}, "holds no level"), ({"environment": {"frame_skip": 2}}, "2")):
        with pytest.raises(DemonstrationError, match=complaint):
            algorithm("bc", {**CLONE, "demos": str(tmp_path / "d")}, **wrong).iterate()


def test_no_array_is_allocated_per_batch():
    """After the first, a batch is decoded and learned in memory that is there."""
    made = algorithm("bc", {**CLONE, "minibatch": 512})
    for _ in range(3):
        made.iterate()
    tracemalloc.start()
    try:
        made.cloner.improve(2, 0.0)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        made.cloner.improve(20, 0.0)
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()  # the interpreter's lists of free objects count as used
        now = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    rows = made.cloner.store.rows.nbytes
    assert peak - before < rows / 4
    assert now - before < 4096


@pytest.mark.parametrize(
    ("algo", "options"),
    [
        ("bc", {"updates": 0}),
        ("bc", {"epochs": 3}),
        ("dagger", {"teacher_share": 2.0}),
        ("dagger", {"labels": 0}),
        ("bc+ppo", {"value_iterations": -1}),
        ("bc+ppo", {"teacher_until": 0.0}),
        ("bc+ppo", {"minibatch": 0}),
    ],
)
def test_options_that_make_no_sense_are_refused(algo, options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        algorithm(algo, options)
