"""Which states are known: hashes of rows of bytes, and a table that finds the number of a row by its hash.

The table has open addressing: a slot holds 1 + a row's number in the window, 0 where it is free. The arrays belong to
the caller, who may have put them into memory or into a mapped file.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy
from npp_env.runtime.thread_pool cimport ThreadPool, Work

cdef extern from *:
    """
    #include <stdint.h>
    /* Every word is stirred before it meets the sum, so that equal changes of two words do not cancel. */
    static inline uint64_t npp_mix(uint64_t sum, uint64_t word) {
        word *= 0x87c37b91114253d5ULL;
        word = (word << 31) | (word >> 33);
        word *= 0x4cf5ad432745937fULL;
        sum ^= word;
        sum = (sum << 27) | (sum >> 37);
        return sum * 5 + 0x52dce729;
    }
    static inline uint64_t npp_finish(uint64_t sum) {
        sum ^= sum >> 33;
        sum *= 0xff51afd7ed558ccdULL;
        sum ^= sum >> 33;
        sum *= 0xc4ceb9fe1a85ec53ULL;
        return sum ^ sum >> 33;
    }
    /* Which of `count` slots a hash begins with: its upper half, scaled. */
    static inline uint64_t npp_slot(uint64_t hash, uint64_t count) {
        return ((hash >> 32) * count) >> 32;
    }
    """
    uint64_t mix "npp_mix"(uint64_t sum, uint64_t word) noexcept nogil
    uint64_t finish "npp_finish"(uint64_t sum) noexcept nogil
    uint64_t first_slot "npp_slot"(uint64_t hash, uint64_t count) noexcept nogil

cdef struct Hashing:
    const uint8_t* rows
    Py_ssize_t width
    uint64_t* hashes


def hash_rows(const uint8_t[:, ::1] rows, uint64_t[::1] hashes, ThreadPool pool not None) -> None:
    """Write the hash of every row (n, width) into `hashes` (n,)."""
    cdef Hashing job
    if rows.shape[0] != hashes.shape[0]:
        raise ValueError(f"{rows.shape[0]} rows, {hashes.shape[0]} hashes")
    if rows.shape[0] == 0:
        return
    job.rows = &rows[0, 0] if rows.shape[1] else NULL
    job.width = rows.shape[1]
    job.hashes = &hashes[0]
    pool.run(<Work>hash_some, &job, rows.shape[0])


cdef void hash_some(Hashing* job, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(first, last):
        job.hashes[i] = hash_of(job.rows + i * job.width, job.width)


cdef uint64_t hash_of(const uint8_t* row, Py_ssize_t width) noexcept nogil:
    cdef uint64_t total = <uint64_t>width
    cdef uint64_t word
    cdef Py_ssize_t at = 0
    while at + 8 <= width:
        memcpy(&word, row + at, 8)
        total = mix(total, word)
        at += 8
    if at < width:
        word = 0
        memcpy(&word, row + at, width - at)
        total = mix(total, word)
    return finish(total)


def enter(uint32_t[::1] slots, const uint64_t[::1] hashes, Py_ssize_t first, Py_ssize_t last) -> None:
    """Enter the rows first..last-1 of a window, none of which the table has, into a table with free slots."""
    cdef Py_ssize_t i
    cdef uint64_t count = slots.shape[0]
    cdef uint64_t at
    if not 0 <= first <= last <= hashes.shape[0] or <uint64_t>last >= count:
        raise ValueError(f"rows {first} to {last} of {hashes.shape[0]} do not fit into {count} slots")
    with nogil:
        for i in range(first, last):
            at = first_slot(hashes[i], count)
            while slots[at] != 0:
                at = at + 1 if at + 1 < count else 0
            slots[at] = <uint32_t>(i + 1)


def find_or_enter(
    uint32_t[::1] slots, uint64_t[::1] hashes, Py_ssize_t known, const uint64_t[::1] wanted, uint32_t[::1] numbers,
    uint32_t[::1] fresh,
) -> int:
    """The number in the window of each wanted hash; one that is not known gets the next number.

    Args:
        slots: The table; it must have more slots than there can be rows afterwards.
        hashes: Of the rows of the window; those of new rows are written behind the known ones.
        known: Rows in the window so far.
        wanted: Hashes (n,).
        numbers: Gets the number of each (n,).
        fresh: Gets the places in `wanted` of those that were new (at least as many as there can be).

    Returns:
        How many were new.
    """
    cdef Py_ssize_t i, found = 0
    cdef Py_ssize_t n = wanted.shape[0]
    cdef uint64_t count = slots.shape[0]
    cdef uint64_t at, hash
    if numbers.shape[0] != n or fresh.shape[0] < n or hashes.shape[0] < known + n or <uint64_t>(known + n) >= count:
        raise ValueError(f"{known} rows and {n} more do not fit into {count} slots and {hashes.shape[0]} hashes")
    with nogil:
        for i in range(n):
            hash = wanted[i]
            at = first_slot(hash, count)
            while slots[at] != 0 and hashes[slots[at] - 1] != hash:
                at = at + 1 if at + 1 < count else 0
            if slots[at] == 0:
                hashes[known + found] = hash
                fresh[found] = <uint32_t>i
                found += 1
                slots[at] = <uint32_t>(known + found)
            numbers[i] = slots[at] - 1
    return found
