from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npp_env.graph.images import label_pieces, spread_labels


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40), st.floats(0.02, 0.95))
def test_pieces_are_those_of_opencv(seed, height, width, share):
    image = (np.random.default_rng(seed).random((height, width)) < share).astype(np.uint8)
    count, labels = label_pieces(image)
    expected, marked = cv2.connectedComponents(image, connectivity=8)
    assert count == expected
    assert labels.dtype == np.uint16
    # The same partition: each of our numbers goes with one of theirs and the other way round.
    pairs = np.unique(np.stack([labels.reshape(-1), marked.reshape(-1)], axis=1), axis=0)
    assert len(pairs) == len(np.unique(labels)) == len(np.unique(marked))
    first = [np.flatnonzero(labels.reshape(-1) == number)[0] for number in range(1, count)]
    assert first == sorted(first)


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
    assert label_pieces(np.full((5, 7), value, np.uint8))[0] == 1 + value
