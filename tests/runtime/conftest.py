"""What tests of levels that are made ahead begin with."""

from __future__ import annotations

import pytest

from npp_env.runtime import worker_process
from runtime.ahead_play import make, play


@pytest.fixture
def unharmed(monkeypatch):
    """A worker that a test kills does not keep other tests from having one."""
    monkeypatch.setattr(worker_process, "_failed", False)


@pytest.fixture(scope="module")
def without():
    env = make(ahead=0)
    env.reset(seed=3)
    return play(env, 40, wait=False)
