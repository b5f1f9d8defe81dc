/* number.c: exact decimal text to and from numbers.
 *
 * Sections: powers of ten, reading, writing.
 *
 * Reading is the algorithm of Eisel and Lemire (D. Lemire: "Number parsing at a gigabyte per second", Software:
 * Practice and Experience 51(8), 2021; that it needs no other path for up to 19 digits: N. Mushtak, D. Lemire: "Fast
 * number parsing without fallback", 2023). Writing is Schubfach (R. Giulietti: "The Schubfach way to render doubles",
 * 2020).
 */
#include "config.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;

/* ---- powers of ten ---------------------------------------------------------------------------------------------- */

enum { LEAST_POWER = -342, MOST_POWER = 324, EXACT_POWER = 55, BIG_WORDS = 18 };

/* The leading 128 bits of 5^e, cut; for -27 <= e < 0 rounded up, as Lemire's proof wants it. 5^e is exact for 0 <= e
 * <= 55. */
static struct {
    uint64_t high, low;
} powers[MOST_POWER - LEAST_POWER + 1];

/* A natural number; word[0] is the least significant. */
struct big {
    uint64_t word[BIG_WORDS];
};

static void store_power(const struct big *a, int power)
{
    int top = BIG_WORDS - 1;
    while (a->word[top] == 0) top--;
    uint64_t w2 = a->word[top], w1 = top > 0 ? a->word[top - 1] : 0, w0 = top > 1 ? a->word[top - 2] : 0;
    int shift = __builtin_clzll(w2);
    u128 lead = (u128)w2 << 64 | w1;
    if (shift) lead = lead << shift | w0 >> (64 - shift);
    if (power >= -27 && power < 0) lead++;
    powers[power - LEAST_POWER].high = (uint64_t)(lead >> 64);
    powers[power - LEAST_POWER].low = (uint64_t)lead;
}

/* Exact integer arithmetic: 5^e by multiplying; for e < 0 the quotient of 2^1151 by 5^-e by dividing again and again,
 * which is exact because floor(floor(x/5)/5) = floor(x/25). 5^342 < 2^795, so that 356 bits of the quotient are left at
 * the end. */
static void __attribute__((constructor)) build_powers(void)
{
    struct big a = {{1}};
    for (int power = 0; power <= MOST_POWER; power++) {
        store_power(&a, power);
        uint64_t carry = 0;
        for (int i = 0; i < BIG_WORDS; i++) {
            u128 product = (u128)a.word[i] * 5 + carry;
            a.word[i] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
    }
    memset(&a, 0, sizeof a);
    a.word[BIG_WORDS - 1] = (uint64_t)1 << 63;
    for (int power = -1; power >= LEAST_POWER; power--) {
        uint64_t rest = 0;
        for (int i = BIG_WORDS - 1; i >= 0; i--) {
            u128 part = (u128)rest << 64 | a.word[i];
            a.word[i] = (uint64_t)(part / 5);
            rest = (uint64_t)(part % 5);
        }
        store_power(&a, power);
    }
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

enum { MOST_DIGITS = 800 }; /* no boundary between doubles has more than 767 significant digits */

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The bits of the double nearest to w 10^power, for w > 0 exact (section 5 of the 2021 paper). */
static uint64_t nearest(uint64_t w, int64_t power)
{
    const uint64_t infinity = (uint64_t)0x7ff << 52;
    if (power < LEAST_POWER) return 0;
    if (power > 308) return infinity;
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    uint64_t power_high = powers[power - LEAST_POWER].high, power_low = powers[power - LEAST_POWER].low;
    u128 product = (u128)w * power_high;
    if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff) product += (u128)w * power_low >> 64;
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    int upper = (int)(high >> 63), shift = upper + 64 - 52 - 3;
    uint64_t m = high >> shift;
    int exponent =
        (int)((217706 * power) >> 16) + 63 + upper - zeros + 1023; /* floor(log2(10^power)) = 217706 power / 2^16 */
    if (exponent <= 0) {
        if (exponent <= -63) return 0;
        m >>= 1 - exponent;
        m += m & 1;
        return m >> 1; /* a carry into bit 52 makes it the least normal number */
    }
    if (low <= 1 && power >= -4 && power <= 23 && (m & 3) == 1 && m << shift == high)
        m &= ~(uint64_t)1; /* a tie: to even */
    m += m & 1;
    m >>= 1;
    if (m >= (uint64_t)2 << 52) {
        m = (uint64_t)1 << 52;
        exponent++;
    }
    if (exponent >= 0x7ff) return infinity;
    return (m & ~((uint64_t)1 << 52)) | (uint64_t)exponent << 52;
}

/* More than 19 digits and undecided: strtod on the digits alone. Without a decimal point no locale can disturb it;
 * digits behind the 800th matter only by not being all zero. */
static double parse_long(const char *p, const char *end, int64_t exponent)
{
    char text[MOST_DIGITS + 40];
    int n = 0;
    bool point = false, rest = false;
    int64_t power = exponent;
    for (; p < end; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (n < MOST_DIGITS) {
            if (n > 0 || *p != '0') text[n++] = *p;
            power -= point;
        } else {
            rest |= *p != '0';
            power += !point;
        }
    }
    if (rest) {
        text[n++] = '1';
        power--;
    }
    text[n++] = 'e';
    n += (int)hu_number_print_integer(power, text + n);
    text[n] = '\0';
    return strtod(text, NULL);
}

static const char *parse_word(const char *p, const char *end, bool negative, double *ret_value)
{
    static const struct {
        const char *text;
        size_t length;
        double value;
    } words[] = {{"infinity", 8, INFINITY}, {"inf", 3, INFINITY}, {"nan", 3, NAN}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if ((size_t)(end - p) < words[i].length) continue;
        size_t k = 0;
        while (k < words[i].length && (p[k] | 0x20) == words[i].text[k]) k++;
        if (k < words[i].length) continue;
        *ret_value = negative ? -words[i].value : words[i].value;
        return p + k;
    }
    return NULL;
}

/* Adds digits to w (which wraps where there are more than 19: the caller counts). */
static inline const char *take_digits(const char *p, const char *end, uint64_t *w)
{
    static const uint32_t ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint32_t value;
    while (end - p >= 8) {
        int n = hu_number_digits(p, &value);
        if (n == 0) return p;
        *w = *w * ten[n] + value;
        p += n;
        if (n < 8) return p;
    }
    while (p < end && is_digit(*p)) *w = *w * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* An exponent part at p, if there is a whole one; far outside the range it is cut, which changes no result. */
static const char *take_exponent(const char *p, const char *end, int64_t *exponent)
{
    const char *q = p + 1;
    bool negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q >= end || !is_digit(*q)) return p;
    int64_t value = 0;
    for (; q < end && is_digit(*q); q++)
        if (value < INT64_MAX / 100) value = value * 10 + (*q - '0');
    *exponent = negative ? -value : value;
    return q;
}

/* The first 19 significant digits of the digits in p..end and the power of ten that goes with them. */
static uint64_t leading_digits(const char *p, const char *end, int64_t exponent, int64_t *ret_power)
{
    uint64_t w = 0;
    bool point = false;
    int n = 0;
    int64_t power = exponent;
    for (; p < end; p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        if (n < 19) {
            w = w * 10 + (uint64_t)(*p - '0');
            n += w != 0;
            power -= point;
        } else {
            power += !point;
        }
    }
    *ret_power = power;
    return w;
}

const char *hu_number_parse(const char *p, const char *end, double *ret_value)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *first = p;
    uint64_t w = 0;
    p = take_digits(p, end, &w);
    int64_t digits = p - first, power = 0, exponent = 0;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = take_digits(p, end, &w);
        power = fraction - p;
        digits -= power;
    }
    if (digits == 0) return parse_word(first, end, negative, ret_value);
    const char *last = p;
    if (p < end && ((*p | 0x20) == 'e' || (*p | 0x20) == 'd')) p = take_exponent(p, end, &exponent);
    power += exponent;
    double sign = negative ? -1.0 : 1.0;
    if (__builtin_expect(digits > 19, 0)) {
        const char *q = first;
        while (q < last && (*q == '0' || *q == '.')) digits -= *q++ == '0';
        if (digits > 19) {
            w = leading_digits(first, last, exponent, &power);
            uint64_t below = nearest(w, power);
            *ret_value = sign * (below == nearest(w + 1, power) ? from_bits(below) : parse_long(first, last, exponent));
            return p;
        }
    }
    if (w == 0) *ret_value = sign * 0.0;
    else if (w <= (uint64_t)1 << 53 && power >= -22 && power <= 22) /* both exact: one rounding (Clinger 1990) */
        *ret_value = sign * (power < 0 ? (double)w / ten[-power] : (double)w * ten[power]);
    else *ret_value = sign * from_bits(nearest(w, power));
    return p;
}

const char *hu_number_parse_integer(const char *p, const char *end, int64_t *ret_value, bool *ret_overflow)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p >= end || !is_digit(*p)) return NULL;
    int64_t value = 0;
    bool overflow = false;
    for (; p < end && is_digit(*p); p++) {
        int digit = *p - '0'; /* built up below zero, where there is one more number */
        overflow |= __builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value);
    }
    if (!negative && value == INT64_MIN) overflow = true;
    *ret_overflow = overflow;
    if (overflow) *ret_value = negative ? INT64_MIN : INT64_MAX;
    else *ret_value = negative ? value : -value;
    return p;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
    "55565758596061626364656667686970717273747576777879808182838485868788899091929394959697989900";

enum {
    SCRATCH = 48,
    DIGITS = 20
}; /* digits are copied 20 at a time, which is faster than counting; rooms are large enough */

/* Prints v so that it ends before `end`; returns its first digit. */
static char *print_digits(uint64_t v, char *end)
{
    while (v >= 100000000) { /* eight digits at a time keep the divisions short */
        uint32_t eight = (uint32_t)(v % 100000000);
        v /= 100000000;
        for (int i = 0; i < 4; i++, eight /= 100) memcpy(end -= 2, pairs + 2 * (eight % 100), 2);
    }
    uint32_t rest = (uint32_t)v;
    for (; rest >= 100; rest /= 100) memcpy(end -= 2, pairs + 2 * (rest % 100), 2);
    if (rest >= 10) return memcpy(end - 2, pairs + 2 * rest, 2);
    *--end = (char)('0' + rest);
    return end;
}

size_t hu_number_print_integer(int64_t value, char *buffer)
{
    char text[SCRATCH], *end = text + DIGITS;
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    const char *first = print_digits(magnitude, end);
    *buffer = '-';
    memcpy(buffer + (value < 0), first, DIGITS);
    return (size_t)(end - first) + (value < 0);
}

/* Prints decimal 10^power: as a plain number where that has few zeros to add, else as d.ddde-xx. */
static size_t print_decimal(uint64_t decimal, int power, bool negative, char *buffer)
{
    char text[SCRATCH + DIGITS], *end = text + DIGITS, *out = buffer;
    const char *first = print_digits(decimal, end);
    while (end[-1] == '0' && end - first > 1) {
        end--;
        power++;
    }
    int n = (int)(end - first), point = n + power; /* 0.ddd 10^point */
    *out = '-';
    out += negative;
    if (power >= 0 && power <= 5) {
        memcpy(out, first, DIGITS);
        memcpy(out + n, "00000", 5);
        return (size_t)(out + point - buffer);
    }
    if (power < 0 && point > 0) {
        memcpy(out, first, DIGITS);
        out[point] = '.';
        memcpy(out + point + 1, first + point, DIGITS);
        return (size_t)(out + n + 1 - buffer);
    }
    if (point > -5 && point <= 0) {
        memcpy(out, "0.0000", 6);
        memcpy(out + 2 - point, first, DIGITS);
        return (size_t)(out + 2 - point + n - buffer);
    }
    out[0] = *first;
    out[1] = '.';
    memcpy(out + 2, first + 1, DIGITS);
    out += n > 1 ? n + 1 : 1;
    *out++ = 'e';
    return (size_t)(out - buffer) + hu_number_print_integer(point - 1, out);
}

/* floor(log10(2^q)), or floor(log10(3/4 2^q)); floor(log2(10^k)). Section 9.9 of the Schubfach paper, for all q and k
 * in use. */
static int log10_of_pow2(int q, bool three_quarters)
{
    return (q * 1262611 - (three_quarters ? 524031 : 0)) >> 22;
}

static int log2_of_pow10(int k)
{
    return (k * 1741647) >> 19;
}

/* The last steps (figure 4 of the paper), alike for both widths: of the numbers with one digit less and then of those
 * with all digits, the one inside the rounding interval [lower, upper]/4, or the nearer of the two. v is 4 times the
 * value. */
static uint64_t shortest(uint64_t lower, uint64_t v, uint64_t upper, int *k)
{
    uint64_t s = v / 4;
    if (s >= 10) {
        uint64_t tenth = s / 10;
        bool below = lower <= 40 * tenth, above = 40 * tenth + 40 <= upper;
        if (below != above) {
            ++*k;
            return tenth + above;
        }
    }
    bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above) return s + above;
    uint64_t middle = 4 * s + 2;
    return s + (v > middle || (v == middle && (s & 1)));
}

/* floor(g c / 2^128) with the last bit set where something was cut (round to odd). */
static uint64_t scaled(u128 g, uint64_t c)
{
    u128 low = (u128)(uint64_t)g * c, high = (u128)(uint64_t)(g >> 64) * c + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

size_t hu_number_print(double value, char *buffer)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool negative = bits >> 63;
    int biased = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    if (biased == 0x7ff) {
        if (fraction) return (size_t)(stpcpy(buffer, "nan") - buffer);
        return (size_t)(stpcpy(buffer, negative ? "-inf" : "inf") - buffer);
    }
    if (biased == 0 && fraction == 0) return (size_t)(stpcpy(buffer, negative ? "-0" : "0") - buffer);
    uint64_t c = biased ? fraction | (uint64_t)1 << 52 : fraction;
    int q = (biased ? biased : 1) - 1075;
    if (q <= 0 && q > -53 && (c & (((uint64_t)1 << -q) - 1)) == 0) return print_decimal(c >> -q, 0, negative, buffer);
    bool closer = fraction == 0 && biased > 1; /* the neighbour below a power of two is half as far */
    int k = log10_of_pow2(q, closer), h = q + log2_of_pow10(-k) + 1, odd = (int)(c & 1);
    u128 g = (u128)powers[-k - LEAST_POWER].high << 64 | powers[-k - LEAST_POWER].low;
    if (-k < -27 || -k > EXACT_POWER) g++; /* Schubfach wants it rounded up */
    uint64_t lower = scaled(g, (4 * c - 2 + closer) << h), v = scaled(g, 4 * c << h),
             upper = scaled(g, (4 * c + 2) << h);
    uint64_t decimal = shortest(lower + (uint64_t)odd, v, upper - (uint64_t)odd, &k);
    return print_decimal(decimal, k, negative, buffer);
}

static uint64_t scaled_float(uint64_t g, uint32_t c)
{
    u128 product = (u128)g * c;
    return (uint32_t)(product >> 64) | ((uint32_t)(product >> 32) > 1);
}

size_t hu_number_print_float(float value, char *buffer)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bool negative = bits >> 31;
    int biased = (int)(bits >> 23 & 0xff);
    uint32_t fraction = bits & 0x7fffff;
    if (biased == 0xff || (bits & 0x7fffffff) == 0) return hu_number_print((double)value, buffer);
    uint32_t c = biased ? fraction | 0x800000 : fraction;
    int q = (biased ? biased : 1) - 150;
    if (q <= 0 && q > -24 && (c & ((1u << -q) - 1)) == 0) return print_decimal(c >> -q, 0, negative, buffer);
    bool closer = fraction == 0 && biased > 1;
    int k = log10_of_pow2(q, closer), h = q + log2_of_pow10(-k) + 1, odd = (int)(c & 1);
    uint64_t g = powers[-k - LEAST_POWER].high;
    if (-k < 0 || -k > 27) g++;
    uint64_t lower = scaled_float(g, (4 * c - 2 + closer) << h), v = scaled_float(g, 4 * c << h);
    uint64_t upper = scaled_float(g, (4 * c + 2) << h);
    uint64_t decimal = shortest(lower + (uint64_t)odd, v, upper - (uint64_t)odd, &k);
    return print_decimal(decimal, k, negative, buffer);
}
