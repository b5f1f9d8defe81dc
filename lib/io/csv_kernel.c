/* csv_kernel.c: the places of a CSV text where something ends, one build per instruction set. */
#include "config.h"
#include "io/csv_kernel.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

static inline bool is_mark(char c, char delimiter)
{
    return c == delimiter || c == '\n' || c == '\r' || c == '"' || c == '\0';
}

#if defined(__AVX512BW__)

typedef __m512i bytes;
enum { WIDTH = 64 };

static inline uint64_t marks_of(const char *p, bytes delimiter)
{
    bytes v = _mm512_loadu_si512(p);
    return _mm512_cmpeq_epi8_mask(v, delimiter) | _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\n')) | _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\r')) |
           _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"')) | _mm512_cmpeq_epi8_mask(v, _mm512_setzero_si512());
}

#define SPREAD _mm512_set1_epi8

#elif defined(__AVX2__)

typedef __m256i bytes;
enum { WIDTH = 32 };

static inline uint64_t marks_of(const char *p, bytes delimiter)
{
    bytes v = _mm256_loadu_si256((const __m256i *)(const void *)p), found = _mm256_cmpeq_epi8(v, delimiter);
    found = _mm256_or_si256(found, _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n')));
    found = _mm256_or_si256(found, _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\r')));
    found = _mm256_or_si256(found, _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"')));
    found = _mm256_or_si256(found, _mm256_cmpeq_epi8(v, _mm256_setzero_si256()));
    return (uint32_t)_mm256_movemask_epi8(found);
}

#define SPREAD _mm256_set1_epi8

#elif defined(__SSE2__)

typedef __m128i bytes;
enum { WIDTH = 16 };

static inline uint64_t marks_of(const char *p, bytes delimiter)
{
    bytes v = _mm_loadu_si128((const __m128i *)(const void *)p), found = _mm_cmpeq_epi8(v, delimiter);
    found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_set1_epi8('\r')));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_setzero_si128()));
    return (uint32_t)_mm_movemask_epi8(found);
}

#define SPREAD _mm_set1_epi8

#endif

int64_t HU_NAME(hu_csv_marks)(const char *p, int64_t n, char delimiter, uint32_t *marks)
{
    int64_t count = 0, i = 0;
#ifdef SPREAD
    const bytes spread = SPREAD(delimiter);
    for (; i + WIDTH <= n; i += WIDTH)
        for (uint64_t found = marks_of(p + i, spread); found; found &= found - 1) marks[count++] = (uint32_t)(i + __builtin_ctzll(found));
#endif
    for (; i < n; i++)
        if (is_mark(p[i], delimiter)) marks[count++] = (uint32_t)i;
    return count;
}
