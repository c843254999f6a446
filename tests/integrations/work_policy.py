"""Policies for evaluations that others do."""

from __future__ import annotations

import numpy as np


def run_right(observations, masks):
    """Always to the right."""
    return np.full(len(masks), 2)


def broken(observations, masks):
    """No actions at all."""
    return None
