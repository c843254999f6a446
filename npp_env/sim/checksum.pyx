"""Blocks of bytes that carry the checksum of `checksum.pxd`: a header, the checksum, and a state."""

from libc.string cimport memcmp

CHECKSUM_BYTES = 8


def seal(bytes header not None, bytes state not None) -> bytes:
    """A header, its checksum with that of the state, and the state.

    Args:
        header: A multiple of 32 bytes.
        state: A multiple of 8 bytes.
    """
    cdef unsigned long long found = checksum_of(header, len(header), state, len(state))
    return header + found.to_bytes(CHECKSUM_BYTES, "little") + state


def is_sealed(bytes block not None, Py_ssize_t header_bytes) -> bool:
    """Whether a block of bytes is as `seal` made it, from a header of this length."""
    cdef const unsigned char* at = block
    cdef Py_ssize_t body_bytes = len(block) - header_bytes - 8
    cdef unsigned long long found
    if header_bytes < 0 or header_bytes % 32 or body_bytes < 0 or body_bytes % 8:
        return False
    found = checksum_of(at, header_bytes, at + header_bytes + 8, body_bytes)
    return memcmp(&found, at + header_bytes, 8) == 0
