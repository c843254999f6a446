from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from npp_env.level.sorted_sets import sorted_difference, sorted_unique

numbers = st.lists(st.integers(0, 20), max_size=30).map(lambda values: np.array(values, np.int64))


@given(numbers)
def test_unique_is_that_of_numpy(values):
    found = sorted_unique(values)
    assert found.dtype == values.dtype
    assert np.array_equal(found, np.unique(values))


@given(numbers, numbers)
def test_difference_is_that_of_numpy(values, others):
    found = sorted_difference(np.unique(values), np.sort(others))
    assert np.array_equal(found, np.setdiff1d(values, others))
