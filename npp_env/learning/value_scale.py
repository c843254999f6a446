"""`ValueScale`: what a value head gives, in units of the spread of returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class ValueScale:
    """Mean and spread of the returns seen so far, old ones fading; a value head predicts in these units.

    When the units change, the head is corrected so that it says the same as before (PopArt).

    Args:
        fading: Weight of a batch of returns.
    """

    def __init__(self, fading: float = 0.05) -> None:
        self._fading = fading
        self.numbers = np.zeros(3)  # mean, mean of squares, weight so far

    @property
    def mean(self) -> float:
        """Mean of the returns."""
        return float(self.numbers[0] / self.numbers[2]) if self.numbers[2] else 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of the returns, at least 0.01."""
        if not self.numbers[2]:
            return 1.0
        variance = self.numbers[1] / self.numbers[2] - self.mean**2
        return float(np.sqrt(max(variance, 1e-4)))

    def update(self, returns: NDArray[np.floating[Any]], head: Any) -> None:
        """Count a batch of returns in, and correct the value head (a linear layer with one output)."""
        import torch

        mean, spread = self.mean, self.spread
        values = returns.astype(np.float64)
        fresh = np.array([values.mean(), np.square(values).mean(), 1.0])
        self.numbers = (1 - self._fading) * self.numbers + self._fading * fresh
        with torch.no_grad():
            head.weight.mul_(spread / self.spread)
            head.bias.mul_(spread).add_(mean - self.mean).div_(self.spread)

    def to_units(self, returns: Any) -> Any:
        """Returns as a value head should give them."""
        return (returns - self.mean) / self.spread

    def to_returns(self, values: Any) -> Any:
        """What a value head gives, as returns."""
        return values * self.spread + self.mean
