from __future__ import annotations

from collections import Counter

import pytest


@pytest.fixture(scope="module")
def seen() -> Counter[object]:
    """What the tests of a module have met so far."""
    return Counter()
