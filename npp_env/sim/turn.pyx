"""One call at a time: what keeps two threads from using one environment at once.

Compiled code works on an environment without the GIL, so that a second call could change or free what the first one
reads. Whoever comes second gets an error instead. Taking and giving back a turn happens in compiled code with the GIL
held: no other thread and no signal handler comes in between, so no interrupt can leave a turn taken.
"""

import os

from npp_env.errors import NppError

# Counts the forks that led to this process. A turn that was taken under another number belongs to a thread that stayed
# behind in the parent.
cdef unsigned int generation = 1


cdef class Turn:
    """The right to use something, one call at a time.

    Args:
        what: What is used, for messages: "this environment".
        cure: What to do where a call was cut off in the middle of a change: "call reset()".

    Attributes:
        torn: Whether a change was begun and not completed: set around changes that an interrupt may cut off, and where
            the process was forked while another thread was inside. `run` refuses then.
    """

    def __init__(self, str what, str cure) -> None:
        self.what = what
        self.cure = cure
        self.torn = False
        self.holder = 0

    def run(self, work, *arguments):
        """Call `work(*arguments)` and return its result.

        Raises:
            NppError: Another call is under way, or one was cut off in the middle of a change.
        """
        self.enter()
        try:
            return work(*arguments)
        finally:
            self.leave()

    def renew(self, work, *arguments):
        """As `run`, for work that puts everything right whatever happened before, or needs nothing of it."""
        self.take()
        try:
            return work(*arguments)
        finally:
            self.leave()

    cdef int enter(self) except -1:
        """Begin a call that needs everything to be whole."""
        self.take()
        if self.torn:
            self.leave()
            raise NppError(f"a change of {self.what} was cut off in the middle; {self.cure}")
        return 0

    cdef int take(self) except -1:
        """Begin a call, whatever happened before."""
        if self.holder == generation:
            raise NppError(
                f"{self.what} is in use by another call that has not returned yet; it takes one call at a time: "
                f"give each thread its own"
            )
        if self.holder != 0:
            self.torn = True
        self.holder = generation
        return 0

    cdef void leave(self) noexcept:
        """End a call."""
        self.holder = 0


def after_fork_in_child() -> None:
    """Know the turns that were taken in the parent."""
    global generation
    generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork_in_child)
