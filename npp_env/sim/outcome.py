"""How the ninja stands and how an attempt stands: the numbers of a state, named once."""

from __future__ import annotations

from enum import IntEnum


class NinjaState(IntEnum):
    """`state` of the ninja; `layout.pxd` has the same numbers for the kernel."""

    STANDING = 0
    RUNNING = 1
    SKIDDING = 2
    RISING = 3
    FALLING = 4
    SLIDING = 5
    DEAD = 6
    DOOMED = 7
    CELEBRATING = 8
    OFF = 9


class Outcome(IntEnum):
    """How an episode stands; the value of `info["outcome"]`."""

    RUNNING = 0
    WON = 1
    DIED = 2
    OUT_OF_TIME = 3

    @property
    def label(self) -> str:
        """As recordings and replays call it: `alive`, `won`, `died` or `out of time`."""
        return "alive" if self is Outcome.RUNNING else self.name.lower().replace("_", " ")


_ENDS = {NinjaState.CELEBRATING: Outcome.WON, NinjaState.DEAD: Outcome.DIED}
_OUTCOME_BY_STATE = tuple(_ENDS.get(state, Outcome.RUNNING) for state in NinjaState)


def outcome_of(state: int, truncated: bool = False) -> Outcome:
    """The outcome of one ninja state; running out of time counts unless the ninja won or died."""
    outcome = _OUTCOME_BY_STATE[state]
    return Outcome.OUT_OF_TIME if truncated and outcome is Outcome.RUNNING else outcome
