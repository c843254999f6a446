"""Seeing the world with the next hop to the right: mirrored levels, what a network says, what has no mirror image."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from npp_env.config import EnvironmentConfig  # noqa: E402
from npp_env.errors import ConfigError  # noqa: E402
from npp_env.learning.model_file import ModelError, load_policy, read_arrays, write_arrays  # noqa: E402
from npp_env.learning.networks import VECTOR_KEYS, MlpNetwork, make_network  # noqa: E402
from npp_env.learning.settings import TrainSettings  # noqa: E402
from npp_env.learning.sides import ACTION_MIRROR, Sides  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from npp_env.level.level_set import LevelSet  # noqa: E402
from npp_env.observe.spec import ENTITY_FIELDS, GAME_STATE_FIELDS, REACHABILITY_FIELDS  # noqa: E402
from npp_env.vector import NppVectorEnv  # noqa: E402

KEYS = tuple(key for key in VECTOR_KEYS if key != "action_mask")
STEPS = 40
CONFIG = EnvironmentConfig(observation={"keys": VECTOR_KEYS, "max_entities": 10})


def level_by_env(env, key, episode, count):
    return env


def played(levels, mirrored):
    """What is seen on every level of a set, (steps, levels, ...) by key; mirrored play goes left for right."""
    config = CONFIG.with_overrides({"levels": levels})
    env = NppVectorEnv(len(LevelSet.parse(levels)), config, sampling=level_by_env)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    seen = {key: [] for key in VECTOR_KEYS}
    # Held for four steps, as wanderers do who come somewhere.
    for actions in rng.integers(0, 6, (STEPS // 4, env.num_envs)).repeat(4, axis=0):
        observation, *_ = env.step(np.array(ACTION_MIRROR)[actions] if mirrored else actions)
        for key in VECTOR_KEYS:
            seen[key].append(observation[key].astype(np.float32))
    return {key: torch.from_numpy(np.stack(steps)) for key, steps in seen.items()}


@pytest.fixture(scope="module")
def play():
    return played("shipped", mirrored=False)


def test_the_mirror_image_is_what_mirrored_play_shows(play):
    sides = Sides(KEYS)
    image = played("mirrored:shipped", mirrored=True)
    for key in KEYS:
        shown = sides.mirrored(key, play[key].flatten(0, 1).clone())
        wanted = image[key].flatten(0, 1)
        if key == "entity_states":
            # Of entities as far away as each other the one that stands first in the level comes first.
            shown, wanted = shown.sum(1), wanted.sum(1)
        differs = (shown - wanted).abs() > 0.01
        told = (shown.abs() > 0.01) | (wanted.abs() > 0.01)
        # On the border of two cells, and between two ways of the same length, the mirrored ninja takes the other.
        assert 1 - differs.any(1).float().mean() > 0.9, key
        assert (differs.sum(0) <= 0.2 * told.sum(0)).all(), key
    masks = play["action_mask"][..., list(ACTION_MIRROR)]
    assert (masks == image["action_mask"]).all(2).float().mean() > 0.99


@pytest.mark.parametrize(("key", "column"), [("game_state", 0), ("entity_states", 3), ("reachability_features", 1)])
def test_what_is_not_turned_shows(play, key, column):
    seen = play[key].flatten(0, 1)
    turned = Sides(KEYS).mirrored(key, seen.clone())
    assert (turned[..., column] == -seen[..., column]).all()
    assert (turned[..., column] != seen[..., column]).any()


def test_the_hop_is_to_the_right(play):
    observations = {key: value.flatten(0, 1).clone() for key, value in play.items()}
    observations["game_state"][::2, GAME_STATE_FIELDS.index("switch_taken")] = 1
    before = {key: value.clone() for key, value in observations.items()}
    shown, left = Sides(KEYS)(observations)
    columns = [REACHABILITY_FIELDS.index(f"{goal}_direction_x") for goal in ("switch", "exit")]
    taken = shown["game_state"][:, GAME_STATE_FIELDS.index("switch_taken")] > 0
    hop = torch.where(taken, *(shown["reachability_features"][:, column] for column in reversed(columns)))
    assert (hop >= 0).all()
    assert 0.1 < len(left) / len(hop) < 0.9
    kept = torch.ones(len(hop), dtype=torch.bool)
    kept[left] = False
    for key in KEYS:
        assert torch.equal(shown[key][kept], before[key][kept])
        assert torch.equal(observations[key], before[key]), "what the world shows was overwritten"


def test_drones_turn_the_other_way_round():
    sides, mode = Sides(KEYS), ENTITY_FIELDS.index("mode")
    entities = torch.zeros(1, 6, len(ENTITY_FIELDS))
    for k, kind in enumerate(("zap_drone", "zap_drone", "zap_drone", "zap_drone", "laser_turret")):
        entities[0, k, ENTITY_FIELDS.index(kind)] = 1
    entities[0, :, mode] = torch.tensor([0, 1 / 3, 2 / 3, 1, -1, 0.5])
    turned = sides.mirrored("entity_states", entities.clone())[0, :, mode]
    torch.testing.assert_close(turned, torch.tensor([1 / 3, 0, 1, 2 / 3, 1, 0.5]))


@pytest.mark.parametrize("name", ["mlp", "attention"])
def test_a_network_says_in_the_mirror_what_it_says(name, play):
    torch.manual_seed(0)
    network = make_network(name, CONFIG, {"layers": 2} if name == "attention" else {})
    with torch.no_grad():
        network.actor.weight.normal_()
    observations = {key: value.flatten(0, 1) for key, value in play.items()}
    image = {key: network.sides.mirrored(key, observations[key].clone()) for key in KEYS}
    first, second = network(observations), network(image)
    # Where the hop is straight up or down, neither is turned.
    turned = network.sides(observations)[1]
    assert len(turned) > 500
    torch.testing.assert_close(first.logits[turned], second.logits[turned][:, list(ACTION_MIRROR)])
    torch.testing.assert_close(first.values[turned], second.values[turned])
    plain = make_network(name, CONFIG, {"mirror": False})
    plain.load_state_dict(
        {key: value for key, value in network.state_dict().items() if key in plain.state_dict()}, strict=False
    )
    assert (plain(observations).logits[turned] - first.logits[turned]).abs().max() > 0.01


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ((*VECTOR_KEYS, "player_frame"), "player_frame has no mirror image"),
        (("game_state", "action_mask"), "it takes reachability_features"),
    ],
)
def test_what_has_no_mirror_image_is_said(keys, message):
    config = EnvironmentConfig(observation={"keys": keys})
    with pytest.raises(ConfigError, match=f"{message}; --policy-option mirror=false"):
        MlpNetwork(config)
    assert MlpNetwork(config, mirror=False).sides is None


def test_a_model_of_one_side_is_not_played_with_two(tmp_path):
    trainer = Trainer(tmp_path / "run", TrainSettings("shipped:first_steps/walk", num_envs=4, total_steps=256))
    trainer.run(Limits())
    header, arrays = read_arrays(trainer.folder.model)
    assert load_policy(trainer.folder.model).network.sides is not None
    old = {name: array for name, array in arrays.items() if "sides" not in name}
    assert len(old) < len(arrays)
    write_arrays(tmp_path / "old.nppmodel", header, old)
    with pytest.raises(ModelError, match="swapped"):
        load_policy(tmp_path / "old.nppmodel")
