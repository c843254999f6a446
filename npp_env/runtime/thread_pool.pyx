"""Threads that share the work of one call, inside the compiled code.

All pools of a process have their threads in common. A thread without work sleeps on a condition; a call wakes it once.
The caller takes part. The items lie in as many parts as there are threads: each begins with its own, so that from call
to call an item stays with the same core, and then helps with those of others, some items at a time. The call returns
when every thread that joined it has left; one that was not there in time is not waited for. Nothing here takes the
GIL or calls Python while work is under way, so neither an interrupt nor another Python thread can come in between.
"""

import os

from libc.stdlib cimport calloc, free, realloc
from npp_env.runtime.native_threads cimport (
    HAS_THREADS, Condition, Lock, Thread, acquire, broadcast, fetch_add, init_condition, init_lock, join_thread, load,
    now_ns, relax, release, signal, start_thread, store, wait,
)

from npp_env.errors import NppError

cdef enum:
    FEWEST_ITEMS = 16  # for a thread; fewer are not worth waking it
    CHUNKS_PER_PART = 32
    LARGEST_CHUNK = 64

# Before it sleeps a thread looks for so long whether there is something to do: what waking it would take.
cdef long long SPIN_NS = 10_000
# It looks longer where jobs follow each other sooner than this, as they do while nobody thinks between steps.
cdef long long MOST_SPIN_NS = 50_000

cdef struct Crew:
    Lock lock  # for everything below
    Condition wake
    Condition done
    Job* jobs  # that are open
    Py_ssize_t posted  # jobs so far
    long long closed_ns  # when the last of them was done
    long long gap_ns  # between jobs of late, about
    Thread* threads
    int started
    int sleeping
    int spinning
    int wanted  # threads that the open jobs can use
    int users  # pools that have used the threads and were not closed
    long long spin_ns
    bint ending

cdef Crew crew


cdef class ThreadPool:
    """A share in the threads of the process.

    They are started at the first use, and anew in a forked child, which does not inherit its parent's. On Windows there
    are none, and the caller does all the work.

    Args:
        num_threads: How many threads work on one call, the caller's included.
    """

    def __cinit__(self, int num_threads) -> None:
        if num_threads < 1:
            raise NppError(f"num_threads is {num_threads}; it must be at least 1")
        self.num_threads = num_threads
        self.job.parts = <Part*>calloc(num_threads, sizeof(Part))
        if self.job.parts == NULL:
            raise MemoryError

    def __dealloc__(self) -> None:
        self.give_back()
        free(self.job.parts)

    def close(self) -> None:
        """Give the share back; the last one ends the threads. They start again when a pool is used again."""
        self.give_back()

    cdef void give_back(self) noexcept:
        """Close, from wherever."""
        if self.registered:
            self.registered = False
            crew.users -= 1
            if crew.users == 0:
                end_threads()

    cdef int run(self, Work work, void* context, Py_ssize_t count) except -1:
        """Do the work on items 0..count-1, without the GIL; returns when all of it is done.

        Raises:
            NppError: A thread cannot be started; nothing was done then.
        """
        cdef int parts = <int>min(self.num_threads, count // FEWEST_ITEMS) if HAS_THREADS else 1
        if parts < 2:
            with nogil:
                work(context, 0, count)
            return 0
        if not self.registered:
            self.registered = True
            crew.users += 1
        start_threads(threads_wanted() + parts - 1)
        self.job.work = work
        self.job.context = context
        self.share(count, parts)
        with nogil:
            run_job(&self.job)
        return 0

    cdef void share(self, Py_ssize_t count, int parts) noexcept:
        """Divide the items."""
        cdef int k
        self.job.n_parts = parts
        self.job.chunk = min(max(count // (parts * CHUNKS_PER_PART), 1), LARGEST_CHUNK)
        self.job.inside = 0
        self.job.awaited = False
        for k in range(parts):
            self.job.parts[k].next = count * k // parts
            self.job.parts[k].last = count * (k + 1) // parts
            self.job.parts[k].taken = k == 0


cdef void run_job(Job* job) noexcept nogil:
    """Open a job, work on it, and wait for those who joined."""
    cdef bint call
    acquire(&crew.lock)
    job.following = crew.jobs
    crew.jobs = job
    crew.wanted += job.n_parts - 1
    # One long gap, such as many restarts at once, is not the end of short ones.
    crew.gap_ns = (7 * crew.gap_ns + min(now_ns() - crew.closed_ns, 4 * MOST_SPIN_NS)) // 8
    store(&crew.posted, crew.posted + 1)
    call = needs_a_call()
    release(&crew.lock)
    if call:
        signal(&crew.wake)
    work_through(job, 0)
    acquire(&crew.lock)
    close_job(job)
    if job.inside > 0:
        release(&crew.lock)
        spin_while(&job.inside, -1, crew.spin_ns)
        acquire(&crew.lock)
    while job.inside > 0:
        job.awaited = True
        wait(&crew.done, &crew.lock)
    crew.closed_ns = now_ns()
    release(&crew.lock)


cdef void close_job(Job* job) noexcept nogil:
    """Let nobody else join."""
    cdef Job** place = &crew.jobs
    while place[0] != job:
        place = &place[0].following
    place[0] = job.following
    crew.wanted -= job.n_parts - 1


cdef void work_through(Job* job, int own) noexcept nogil:
    """Work on the own part of a job, then on what is left of the others."""
    cdef int k
    cdef Part* part
    cdef Py_ssize_t first
    for k in range(job.n_parts):
        part = &job.parts[(own + k) % job.n_parts]
        while load(&part.next) < part.last:
            first = fetch_add(&part.next, job.chunk)
            if first < part.last:
                job.work(job.context, first, min(first + job.chunk, part.last))


cdef void* help_others(void* argument) noexcept nogil:
    """What a thread of the crew does: join jobs that want someone, and sleep while there are none."""
    cdef int number = <int><size_t>argument
    cdef int own = 0
    cdef Py_ssize_t seen
    cdef Job* job
    cdef long long patience_ns
    acquire(&crew.lock)
    while not crew.ending:
        job = find_job(number, &own)
        if job != NULL:
            job.parts[own].taken = 1
            store(&job.inside, job.inside + 1)
            if needs_a_call():
                signal(&crew.wake)
            release(&crew.lock)
            work_through(job, own)
            acquire(&crew.lock)
            store(&job.inside, job.inside - 1)
            if job.inside == 0 and job.awaited:
                broadcast(&crew.done)
            continue
        seen = crew.posted
        patience_ns = patience()
        crew.spinning += 1
        release(&crew.lock)
        spin_while(&crew.posted, seen, patience_ns)
        acquire(&crew.lock)
        crew.spinning -= 1
        if crew.posted == seen and not crew.ending:
            crew.sleeping += 1
            wait(&crew.wake, &crew.lock)
            crew.sleeping -= 1
    release(&crew.lock)
    return NULL


cdef Job* find_job(int number, int* own) noexcept nogil:
    """A job with a part that nobody has begun, NULL if there is none; a thread likes the part of its own number."""
    cdef Job* job = crew.jobs
    cdef Part* part
    cdef int k
    while job != NULL:
        for k in range(job.n_parts - 1):
            own[0] = 1 + (number + k) % (job.n_parts - 1)
            part = &job.parts[own[0]]
            if not part.taken and load(&part.next) < part.last:
                return job
        job = job.following
    return NULL


cdef bint needs_a_call() noexcept nogil:
    """Whether there is work, someone who sleeps, and nobody awake who would find it."""
    cdef int own = 0
    return crew.sleeping > 0 and crew.spinning == 0 and find_job(0, &own) != NULL


cdef long long patience() noexcept nogil:
    """How long to look for the next job."""
    return MOST_SPIN_NS if crew.spin_ns > 0 and crew.gap_ns <= MOST_SPIN_NS else crew.spin_ns


cdef void spin_while(Py_ssize_t* number, Py_ssize_t seen, long long patience_ns) noexcept nogil:
    """Wait for a number to change, or, where `seen` is negative, to become 0; not for long."""
    cdef long long until = now_ns() + patience_ns
    while (load(number) == seen if seen >= 0 else load(number) > 0) and now_ns() < until:
        relax()


cdef int threads_wanted() noexcept:
    """Threads that all open jobs together can use."""
    acquire(&crew.lock)
    cdef int wanted = crew.wanted
    release(&crew.lock)
    return wanted


cdef int start_threads(int count) except -1:
    """Have at least so many threads."""
    cdef int error
    cdef Thread* threads
    while crew.started < count:
        threads = <Thread*>realloc(crew.threads, (crew.started + 1) * sizeof(Thread))
        if threads == NULL:
            raise MemoryError
        crew.threads = threads
        error = start_thread(&threads[crew.started], help_others, <void*><size_t>crew.started)
        if error:
            raise NppError(f"no further thread can be started ({os.strerror(error)}); use a smaller num_threads")
        crew.started += 1
    return 0


cdef void end_threads() noexcept:
    """End all threads; none of them is at work, as no pool has them in use."""
    cdef int k
    acquire(&crew.lock)
    crew.ending = True
    broadcast(&crew.wake)
    release(&crew.lock)
    for k in range(crew.started):
        join_thread(&crew.threads[k])
    crew.started = 0
    crew.ending = False


def threads_started() -> int:
    """How many threads there are beside those of Python."""
    return crew.started


def begin_anew() -> None:
    """In a new process: know no threads and no jobs, whatever those of the parent were doing."""
    init_lock(&crew.lock)
    init_condition(&crew.wake)
    init_condition(&crew.done)
    crew.jobs = NULL
    crew.gap_ns = 4 * MOST_SPIN_NS
    crew.started = crew.sleeping = crew.spinning = crew.wanted = 0
    crew.ending = False
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    crew.spin_ns = SPIN_NS if cpus > 1 else 0


begin_anew()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_anew)
