"""Nothing that a shipped level gives may change by a bit unless it is meant to."""

from __future__ import annotations

import json

import pytest

from npp_env.level.shipped import shipped_level_names
from tests.fingerprints.record import FILE, fingerprint_of_level, fingerprint_of_vector

KNOWN = json.loads(FILE.read_text())


@pytest.mark.parametrize("name", shipped_level_names())
def test_shipped_level_gives_the_bits_that_it_gave(name):
    assert fingerprint_of_level(name) == KNOWN[name]


def test_vector_environment_gives_the_bits_that_it_gave():
    assert fingerprint_of_vector() == KNOWN["vector"]


def test_every_shipped_level_is_known():
    assert set(KNOWN) == {*shipped_level_names(), "vector"}
