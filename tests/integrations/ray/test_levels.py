"""Levels on a cluster: what a node lacks comes once, and its workers share it."""

from __future__ import annotations

import dataclasses
import os
import signal

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("torch")

import psutil  # noqa: E402

from npp_env.errors import NppError  # noqa: E402
from npp_env.integrations.ray_levels import pack_levels  # noqa: E402
from npp_env.integrations.ray_players import RayPlayers  # noqa: E402
from npp_env.learning.networks import network_class  # noqa: E402
from npp_env.learning.settings import environment_config  # noqa: E402
from npp_env.learning.trainer import Limits, Trainer  # noqa: E402
from npp_env.level.cache import default_cache  # noqa: E402
from npp_env.level.files import save_level  # noqa: E402
from npp_env.level.level_set import LevelSet  # noqa: E402
from tests.integrations.ray.test_players import SMALL, during  # noqa: E402
from tests.learning.test_training import same, weights_of  # noqa: E402

MOST_LEVEL_BYTES = 5_000_000
STEPS = 6 * 1024


def files_in(folder):
    return {path.name: path.stat().st_size for path in folder.rglob("*.nppc")}


def processes_of(node):
    """A node's processes: those that Ray started for it, and their workers."""
    roots = [psutil.Process(info[0].process.pid) for info in node.all_processes.values()]
    return [one for root in roots for one in (root, *root.children(recursive=True))]


@pytest.mark.timeout(400)
def test_two_nodes_get_levels_once_and_one_may_die(tmp_path, cluster):
    settings = dataclasses.replace(SMALL, task="shipped:verified")
    expected = tmp_path / "expected"
    Trainer(expected, settings).run(Limits(steps=STEPS))

    nodes = [cluster.add("first"), cluster.add("second")]
    players = RayPlayers(settings, 4)
    players.wait_until_ready()
    trainer = Trainer(tmp_path / "run", settings, players=players)
    trainer.run(Limits(steps=2048))

    shipment = players.shipment
    assert shipment.maps is None
    by_node = {}
    for arrived in players.arrivals:
        by_node.setdefault(arrived.node, []).append(arrived.nbytes)
    assert sorted(map(sorted, by_node.values())) == [[0, shipment.nbytes]] * 2
    for _, folder in nodes:
        # Besides, doors that were opened on the way.
        assert {file.level_hash + ".nppc" for file in shipment.files} <= set(files_in(folder))
        assert sum(files_in(folder).values()) >= shipment.nbytes
    memory = ray.get([actor.level_memory.remote() for actor in players.actors])
    assert max(memory) < MOST_LEVEL_BYTES

    def kill_a_node():
        for process in processes_of(nodes[1][0]):
            process.send_signal(signal.SIGKILL)

    done = during(players, 2, kill_a_node)
    trainer.run(Limits(steps=4096))
    assert done
    assert players.replaced == 2

    # A node that joins late gets them too, and the workers that wait for a place go there.
    _, late = cluster.add("late")
    trainer.run(Limits(steps=STEPS))
    players.wait_until_ready()
    assert sorted(arrived.nbytes for arrived in players.arrivals[4:]) == [0, shipment.nbytes]
    assert len(files_in(late)) >= len(shipment.files)
    players.close()
    assert same(weights_of(expected)[1], weights_of(tmp_path / "run")[1])
    assert [row["steps"] for row in trainer.folder.curve()] == [1024 * (k + 1) for k in range(6)]
    assert os.environ["NPP_ENV_CACHE"] not in {str(folder) for _, folder in nodes}


@pytest.mark.timeout(200)
def test_levels_of_files_go_along(tmp_path, one_node):
    source = tmp_path / "levels"
    source.mkdir()
    for number, level in enumerate(LevelSet.parse("shipped:first_steps")):
        save_level(level, source / f"{number}.txt")
    settings = dataclasses.replace(SMALL, task=str(source))
    config = environment_config(settings, network_class("mlp"), 0.99)
    shipment = pack_levels(config)
    (tmp_path / "node").mkdir()
    for path in source.iterdir():
        path.unlink()
    arrived = shipment.unpack(str(tmp_path / "node"))
    assert arrived.nbytes == shipment.nbytes
    levels = LevelSet.parse(arrived.task)
    assert [level.hash for level in levels] == [level.hash for level in LevelSet.parse("shipped:first_steps")]
    again = shipment.unpack(str(tmp_path / "node"))
    assert (again.files, again.nbytes, again.task) == (0, 0, arrived.task)


def test_what_was_damaged_on_its_way_is_refused(tmp_path, one_node):
    config = environment_config(SMALL, network_class("mlp"), 0.99)
    shipment = pack_levels(config)
    data = bytearray(ray.get(shipment.files[0].data))
    data[-1] ^= 1
    wrong = shipment.files[0]._replace(data=ray.put(bytes(data)))
    damaged = dataclasses.replace(shipment, files=(wrong, *shipment.files[1:]))
    with pytest.raises(NppError, match="damaged on their way"):
        damaged.unpack(str(tmp_path))
    assert shipment.unpack(str(tmp_path)).files == len(shipment.files)


def test_nothing_is_sent_where_nothing_is_missing(one_node):
    config = environment_config(SMALL, network_class("mlp"), 0.99)
    shipment = pack_levels(config)
    assert shipment.files
    assert shipment.nbytes == sum(len(default_cache().store.export(file.level_hash)) for file in shipment.files)
    assert shipment.unpack().nbytes == 0


def test_levels_that_are_made_are_made_by_every_node(one_node):
    config = environment_config(dataclasses.replace(SMALL, task="generated:caverns"), network_class("mlp"), 0.99)
    shipment = pack_levels(config)
    assert shipment.nbytes == 0
    assert shipment.unpack().task == "generated:caverns"
