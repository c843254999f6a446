# The checksum of a state and of the header before it: 64 bits over 8-byte words, little-endian.
#
# Four lanes take the words in turn, so that their multiplications overlap; they start with the first four odd multiples
# of K. A lane and its next word become z = (lane ^ word) * K, and of that z ^ (z >> 32). The words of the state come
# first, then, from lane 0 on, those of the header, which may just have been written. In the end lane 0 takes lane 1 in
# the same way, lane 2 lane 3, and the one the other. Every step is one-to-one in lane and word: damage within
# one word is always noticed, other damage but for about one chance in 2**64. It protects from accidents, not intent.
cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #define NPP_K 0x9E3779B97F4A7C15ULL

    static inline uint64_t npp_stir(uint64_t lane, uint64_t word) {
        uint64_t z = (lane ^ word) * NPP_K;
        return z ^ z >> 32;
    }

    /* A word, put into a copy as well if there is to be one. */
    static inline uint64_t npp_word(const unsigned char* from, unsigned char* copy, size_t at) {
        uint64_t word;
        memcpy(&word, from + at, 8);
        if (copy) memcpy(copy + at, &word, 8);
        return word;
    }

    /* The header is as long as some rounds of the lanes, the body as some words. */
    static inline uint64_t npp_checksum_copy(
        const unsigned char* header, size_t header_bytes, const unsigned char* body, size_t body_bytes,
        unsigned char* copy
    ) {
        uint64_t a = NPP_K, b = 3 * NPP_K, c = 5 * NPP_K, d = 7 * NPP_K;
        size_t at;
        for (at = 0; at + 32 <= body_bytes; at += 32) {
            a = npp_stir(a, npp_word(body, copy, at));
            b = npp_stir(b, npp_word(body, copy, at + 8));
            c = npp_stir(c, npp_word(body, copy, at + 16));
            d = npp_stir(d, npp_word(body, copy, at + 24));
        }
        if (at + 8 <= body_bytes) a = npp_stir(a, npp_word(body, copy, at));
        if (at + 16 <= body_bytes) b = npp_stir(b, npp_word(body, copy, at + 8));
        if (at + 24 <= body_bytes) c = npp_stir(c, npp_word(body, copy, at + 16));
        for (at = 0; at + 32 <= header_bytes; at += 32) {
            a = npp_stir(a, npp_word(header, 0, at));
            b = npp_stir(b, npp_word(header, 0, at + 8));
            c = npp_stir(c, npp_word(header, 0, at + 16));
            d = npp_stir(d, npp_word(header, 0, at + 24));
        }
        return npp_stir(npp_stir(a, b), npp_stir(c, d));
    }

    static inline uint64_t npp_checksum(
        const unsigned char* header, size_t header_bytes, const unsigned char* body, size_t body_bytes
    ) {
        return npp_checksum_copy(header, header_bytes, body, body_bytes, 0);
    }
    """
    unsigned long long checksum_of "npp_checksum"(
        const unsigned char* header, size_t header_bytes, const unsigned char* body, size_t body_bytes
    ) noexcept nogil
    # The same, and a copy of the body made on the way.
    unsigned long long checksum_and_copy "npp_checksum_copy"(
        const unsigned char* header, size_t header_bytes, const unsigned char* body, size_t body_bytes,
        unsigned char* copy
    ) noexcept nogil
