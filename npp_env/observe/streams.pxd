# Writing more than the caches hold: around them, so that no line is read before it is overwritten whole.
#
# Where the processor has no such stores, they are plain copies.

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>
    #ifdef __SSE2__
    #include <emmintrin.h>
    static inline void npp_stream_copy(unsigned char* out, const unsigned char* from, ptrdiff_t count) {
        ptrdiff_t i = (ptrdiff_t)(-(uintptr_t)out & 63), k;
        if (count < i) i = count;
        memcpy(out, from, (size_t)i);
        for (; i + 64 <= count; i += 64)
            for (k = 0; k < 64; k += 16)
                _mm_stream_si128((__m128i*)(out + i + k), _mm_loadu_si128((const __m128i*)(from + i + k)));
        memcpy(out + i, from + i, (size_t)(count - i));
    }
    static inline void npp_finish_streams(void) { _mm_sfence(); }
    /* Eight float16; two of them, zero in `steady`, are given apart. */
    static inline void npp_put_node(unsigned short* out, const unsigned short* steady, unsigned short third,
                                    unsigned short fourth, int streamed) {
        __m128i row = _mm_loadu_si128((const __m128i*)steady);
        row = _mm_or_si128(row, _mm_set_epi32(0, 0, (int)(third | (uint32_t)fourth << 16), 0));
        if (streamed) _mm_stream_si128((__m128i*)out, row);
        else _mm_storeu_si128((__m128i*)out, row);
    }
    #else
    static inline void npp_stream_copy(unsigned char* out, const unsigned char* from, ptrdiff_t count) {
        memcpy(out, from, (size_t)count);
    }
    static inline void npp_finish_streams(void) {}
    static inline void npp_put_node(unsigned short* out, const unsigned short* steady, unsigned short third,
                                    unsigned short fourth, int streamed) {
        (void)streamed;
        memcpy(out, steady, 16);
        out[2] = third;
        out[3] = fourth;
    }
    #endif
    static inline int npp_can_stream(const void* out) { return ((uintptr_t)out & 15) == 0; }
    """
    void stream_copy "npp_stream_copy"(unsigned char* out, const unsigned char* start, Py_ssize_t count) noexcept nogil
    void finish_streams "npp_finish_streams"() noexcept nogil
    void put_node "npp_put_node"(
        unsigned short* out, const unsigned short* steady, unsigned short third, unsigned short fourth, bint streamed
    ) noexcept nogil
    bint can_stream "npp_can_stream"(const void* out) noexcept nogil
