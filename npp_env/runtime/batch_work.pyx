"""Many states advanced by many threads."""

from npp_env.runtime.thread_pool cimport ThreadPool, Work
from npp_env.sim.kernel cimport Batch, advance_block
from npp_env.sim.layout cimport Level

cdef struct Play:
    size_t* levels
    unsigned char* states
    Py_ssize_t stride
    const unsigned char* inputs
    int ticks
    bint stop


def advance_batch(
    Batch batch not None, ThreadPool pool not None, const unsigned char[::1] inputs, Py_ssize_t count, int ticks,
    bint stop,
) -> None:
    """Advance the first `count` environments of a batch, each under its own input byte.

    Args:
        batch: The states.
        pool: The threads that share the work.
        inputs: Input bytes (batch.num_envs,).
        count: How many environments.
        ticks: How many ticks.
        stop: Go no further than the tick of death or victory.
    """
    cdef Play play
    batch.check(inputs.shape[0], 0, count, ticks)
    play.levels = batch.levels
    play.states = batch.base
    play.stride = batch.stride
    play.inputs = &inputs[0]
    play.ticks = ticks
    play.stop = stop
    batch.turn.enter()
    try:
        pool.run(<Work>advance_some, &play, count)
    finally:
        batch.turn.leave()


cdef void advance_some(Play* play, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Advance some of them."""
    cdef Py_ssize_t i
    for i in range(first, last):
        advance_block(<Level*>play.levels[i], play.states + i * play.stride, play.inputs[i], play.ticks, play.stop)
