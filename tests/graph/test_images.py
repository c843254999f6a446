from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.graph.images import spread_labels
from npp_env.graph.pieces import keep_open


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40), st.floats(0.02, 0.95), st.floats(0.3, 1.0))
def test_pieces_in_matter_are_cavities_by_opencv(seed, height, width, share, matter):
    rng = np.random.default_rng(seed)
    free = (rng.random((height, width)) < share).astype(np.uint8)
    solid = (rng.random((height, width)) < matter).astype(np.uint8)
    row, column = int(rng.integers(height)), int(rng.integers(width))
    _, pieces = cv2.connectedComponents(free, connectivity=8)
    wanted = np.unique(pieces[(solid == 0) & (pieces > 0)])
    expected = np.isin(pieces, wanted) | ((pieces == pieces[row, column]) & (pieces > 0))
    kept = keep_open(free, solid, row, column)
    assert kept.dtype == np.bool_
    np.testing.assert_array_equal(kept, expected)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_spread_goes_to_the_nearest(seed, points):
    rng = np.random.default_rng(seed)
    image = np.zeros((23, 31), np.uint16)
    places = rng.integers(0, (23, 31), (points, 2))
    for number, (y, x) in enumerate(places, start=1):
        image[y, x] = number
    distances, labels = spread_labels(image)
    y, x = np.mgrid[:23, :31]
    nearest = np.min([np.hypot(y - py, x - px) for py, px in places], axis=0)
    chosen = places[labels - 1]  # a later point on the same pixel has its place
    np.testing.assert_allclose(np.hypot(y - chosen[..., 0], x - chosen[..., 1]), nearest, rtol=0.03, atol=0.3)
    np.testing.assert_allclose(distances / 5, nearest, rtol=0.03, atol=0.3)


def test_nothing_to_spread():
    distances, labels = spread_labels(np.zeros((3, 4), np.uint16))
    assert not labels.any()
    assert (distances > 0).all()


@pytest.mark.parametrize("value", [0, 1])
def test_plain_images(value):
    image = np.full((5, 7), value, np.uint8)
    assert keep_open(image, np.zeros_like(image), 0, 0).all() == bool(value)
    assert keep_open(image, np.ones_like(image), 4, 6).all() == bool(value)
