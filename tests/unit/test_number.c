/* test_number.c: numbers from and to text, against strtod and printf. */
#include "config.h"
#include "hu_test.h"
#include "base/number.h"
#include "base/random.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Check writes down every assertion that it passes, which is too slow for millions: this one only those that fail. */
#define expect(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) ck_abort_msg(__VA_ARGS__);                                                                   \
    } while (0)

/* Our reading of the whole text has the bits that strtod finds. */
static void expect_like_strtod(const char *text)
{
    double ours = 0;
    const char *end = text + strlen(text);
    const char *stop = hu_number_parse(text, end, &ours);
    expect(stop == end, "'%s': stops early", text);
    double theirs = strtod(text, NULL);
    expect(bits_of(ours) == bits_of(theirs), "'%s': %a, strtod %a", text, ours, theirs);
}

START_TEST(parse_random_bits)
{
    hu_random r = hu_random_stream(1, 0);
    char text[1200];
    for (int i = 0; i < 400000; i++) {
        double x = from_bits(hu_random_u64(&r));
        if (!isfinite(x)) continue;
        snprintf(text, sizeof text, "%.17g", x);
        expect_like_strtod(text);
        snprintf(text, sizeof text, "%.*e", (int)hu_random_below(&r, 25), x);
        expect_like_strtod(text);
    }
    for (int i = 0; i < 400000; i++) { /* the sizes that files hold */
        double x = ldexp(hu_random_uniform(&r) - 0.5, (int)hu_random_below(&r, 80) - 40);
        snprintf(text, sizeof text, "%.*f", (int)hu_random_below(&r, 24), x);
        expect_like_strtod(text);
        snprintf(text, sizeof text, "%.*g", 1 + (int)hu_random_below(&r, 19), x);
        expect_like_strtod(text);
    }
    for (int i = 0; i < 400000; i++) { /* 19 and 20 digits at any power */
        snprintf(text, sizeof text, "%llu%se%d", (unsigned long long)hu_random_u64(&r), i % 2 ? "" : "7",
                 (int)hu_random_below(&r, 700) - 370);
        expect_like_strtod(text);
    }
}
END_TEST

/* The middle between two neighbours, written out whole, and the same one digit up or down at its far end. */
START_TEST(parse_halfway)
{
    hu_random r = hu_random_stream(2, 0);
    char text[1200];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = hu_random_u64(&r) >> 1;
        if (i % 4 == 0) bits &= ((uint64_t)1 << 52) - 1;                                            /* subnormal */
        if (i % 4 == 1) bits = (uint64_t)(1023 - 60 + hu_random_below(&r, 120)) << 52 | bits >> 12; /* near 1 */
        double x = from_bits(bits);
        if (!isfinite(x) || !isfinite(from_bits(bits + 1))) continue;
        long double middle = ((long double)x + (long double)from_bits(bits + 1)) / 2; /* exact: 54 of 64 bits */
        int n = snprintf(text, sizeof text, "%.780Le", middle);
        ck_assert_int_lt(n, (int)sizeof text);
        expect_like_strtod(text);
        char *e = strchr(text, 'e');
        ck_assert_ptr_nonnull(e);
        e[-1] = '1';
        expect_like_strtod(text);
        char tail[16], shorter[1200];
        strcpy(tail, e);
        int keep = 20 + (int)hu_random_below(&r, 740);
        snprintf(shorter, sizeof shorter, "%.*s%s", keep, text, tail);
        expect_like_strtod(shorter);
    }
}
END_TEST

START_TEST(parse_special_texts)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0",
                                        "0.0",
                                        "-0.0e5",
                                        "1.e0",
                                        "+4E-0",
                                        ".5",
                                        "-.5",
                                        "5.",
                                        "1e5",
                                        "1e+05",
                                        "1e-5",
                                        "00012",
                                        "0.000",
                                        "1e0000000005",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072012e-308",
                                        "2.2250738585072014e-308",
                                        "4.9406564584124654e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "1e308",
                                        "1e309",
                                        "1e-400",
                                        "123456789012345678901234567890",
                                        "0.000000000000000000000000000000000000000123",
                                        "9007199254740993",
                                        "9007199254740992.999999999999999999999",
                                        "9007199254740993.00000000000000000000000000000000000000001",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "0e99999999999999999999",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999",
                                        "8.5e22",
                                        "1e22",
                                        "1e23",
                                        "6929495644600919.5",
                                        "3.2378839133029012895883524125015321748630094e-10",
                                        "0.1e-6",
                                        "12345678",
                                        "123456789",
                                        "1234567.8",
                                        "-12345678.12345678e-3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect_like_strtod(texts[i]);
    char lengthy[3000]; /* zeros in front, between and behind; more than 800 digits */
    for (int zeros = 0; zeros < 2000; zeros += 37) {
        snprintf(lengthy, sizeof lengthy, "0.%0*d9007199254740993%0*d1e%d", zeros + 1, 0, zeros % 900 + 1, 0, zeros);
        expect_like_strtod(lengthy);
        snprintf(lengthy, sizeof lengthy, "9007199254740993%0*d.%0*d1e-%d", zeros % 900 + 1, 0, zeros + 1, 0, zeros);
        expect_like_strtod(lengthy);
    }
    double x;
    const char *d = "1D+3 ";
    ck_assert_ptr_eq(hu_number_parse(d, d + 5, &x), d + 4);
    ck_assert_double_eq(x, 1000);
    const char *words[] = {"inf", "-Infinity", "NaN", "+INF"};
    for (int i = 0; i < 4; i++) expect_like_strtod(i == 2 ? "nan" : words[i]);
}
END_TEST

START_TEST(parse_stops_and_refuses)
{
    static const struct {
        const char *text;
        int taken; /* -1: no number */
    } cases[] = {{"", -1},   {"-", -1},   {".", -1},    {"+.", -1},  {"e5", -1},     {"x", -1},     {"-e", -1},
                 {" 1", -1}, {"--1", -1}, {"in", -1},   {"na", -1},  {"1e", 1},      {"1e+", 1},    {"1.5.2", 3},
                 {"1,5", 1}, {"0x10", 1}, {"1e5e5", 3}, {"12ab", 2}, {"infinit", 3}, {"nan(1)", 3}, {"1.d2 ", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double x = 77;
        const char *text = cases[i].text, *stop = hu_number_parse(text, text + strlen(text), &x);
        if (cases[i].taken < 0) ck_assert_msg(stop == NULL && x == 77, "'%s'", text);
        else ck_assert_msg(stop == text + cases[i].taken, "'%s': took %d", text, (int)(stop - text));
    }
    for (int size = 0; size < 20;
         size++) { /* nothing behind end is read: each prefix in a block of its own (for the sanitizer) */
        char *block = malloc((size_t)size + !size);
        memcpy(block, "-1234567.12345678e+2", (size_t)size);
        double x;
        const char *stop = hu_number_parse(block, block + size, &x);
        ck_assert(stop == NULL || stop <= block + size);
        free(block);
    }
}
END_TEST

START_TEST(parse_integers)
{
    static const struct {
        const char *text;
        int taken;
        int64_t value;
        bool overflow;
    } cases[] = {{"0", 1, 0, false},
                 {"-0", 2, 0, false},
                 {"+17 ", 3, 17, false},
                 {"9223372036854775807", 19, INT64_MAX, false},
                 {"9223372036854775808", 19, INT64_MAX, true},
                 {"-9223372036854775808", 20, INT64_MIN, false},
                 {"-9223372036854775809", 20, INT64_MIN, true},
                 {"99999999999999999999999999", 26, INT64_MAX, true},
                 {"-99999999999999999999999999", 27, INT64_MIN, true},
                 {"1.5", 1, 1, false},
                 {"x", -1, 0, false},
                 {"-", -1, 0, false},
                 {"", -1, 0, false},
                 {"000000000000000000000000012", 27, 12, false},
                 {"18446744073709551617", 20, INT64_MAX, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t v = 0;
        bool overflow = false;
        const char *text = cases[i].text, *stop = hu_number_parse_integer(text, text + strlen(text), &v, &overflow);
        if (cases[i].taken < 0) ck_assert_ptr_null(stop);
        else {
            ck_assert_msg(stop == text + cases[i].taken && v == cases[i].value && overflow == cases[i].overflow, "'%s'",
                          text);
        }
    }
}
END_TEST

/* Significant digits of a printed number. */
static int digits_of(const char *text, char *ret_digits)
{
    int n = 0;
    for (const char *p = text; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && (n > 0 || *p != '0')) ret_digits[n++] = *p;
    while (n > 0 && ret_digits[n - 1] == '0') n--;
    ret_digits[n] = '\0';
    return n;
}

static void expect_shortest(double x)
{
    char ours[HU_NUMBER_SIZE + 1], theirs[40], our_digits[40], their_digits[40];
    size_t n = hu_number_print(x, ours);
    expect(n < HU_NUMBER_SIZE, "%a is too long", x);
    ours[n] = '\0';
    expect(bits_of(strtod(ours, NULL)) == bits_of(x), "%a is printed as %s", x, ours);
    int precision = digits_of(ours, our_digits) - 1;
    if (precision > 0) { /* the nearest number with a digit less must not read back */
        snprintf(theirs, sizeof theirs, "%.*e", precision - 1, x);
        expect(strtod(theirs, NULL) != x, "%s is longer than %s", ours, theirs);
    }
    snprintf(theirs, sizeof theirs, "%.*e", precision < 0 ? 0 : precision, x);
    digits_of(theirs, their_digits);
    if (strtod(theirs, NULL) == x)
        expect(strcmp(our_digits, their_digits) == 0, "%s is not the nearest: %s", ours, theirs);
}

START_TEST(print_shortest)
{
    hu_random r = hu_random_stream(3, 0);
    for (int i = 0; i < 250000; i++) {
        double x = from_bits(hu_random_u64(&r));
        if (isfinite(x)) expect_shortest(x);
        expect_shortest(ldexp(hu_random_normal(&r), (int)hu_random_below(&r, 40) - 20));
        expect_shortest(floor(ldexp(hu_random_uniform(&r), (int)hu_random_below(&r, 70))) / (double)(1 + i % 1000));
    }
    for (int e = -1074; e < 1024; e++) { /* powers of two and their neighbours */
        double x = ldexp(1, e);
        expect_shortest(x);
        expect_shortest(nextafter(x, 0));
        expect_shortest(-nextafter(x, INFINITY));
    }
    for (int e = -323; e < 309; e++) {
        char text[20];
        snprintf(text, sizeof text, "1e%d", e);
        double x = strtod(text, NULL);
        expect_shortest(x);
        expect_shortest(nextafter(x, 0));
        expect_shortest(nextafter(x, INFINITY));
    }
    expect_shortest(DBL_MAX);
}
END_TEST

START_TEST(print_float_shortest)
{
    hu_random r = hu_random_stream(4, 0);
    for (int i = 0; i < 400000; i++) {
        uint32_t bits = (uint32_t)hu_random_u64(&r);
        if (i < 512) bits = (uint32_t)i << 23; /* powers of two */
        float x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x)) continue;
        char ours[HU_NUMBER_SIZE + 1], digits[40], theirs[40];
        ours[hu_number_print_float(x, ours)] = '\0';
        float back = strtof(ours, NULL);
        expect(memcmp(&back, &x, sizeof x) == 0, "%a is printed as %s", (double)x, ours);
        int n = digits_of(ours, digits);
        if (n < 2) continue;
        snprintf(theirs, sizeof theirs, "%.*e", n - 2, (double)x);
        expect(strtof(theirs, NULL) != x, "%s is longer than %s", ours, theirs);
    }
}
END_TEST

START_TEST(print_texts)
{
    static const struct {
        double x;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-17, "-17"},
                 {0.1, "0.1"},
                 {1e5, "100000"},
                 {1e6, "1e6"},
                 {123456789, "123456789"},
                 {0.00012, "0.00012"},
                 {1e-7, "1e-7"},
                 {5e-324, "5e-324"},
                 {1.5e300, "1.5e300"},
                 {1e23, "1e23"},
                 {9007199254740993.0, "9007199254740992"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"},
                 {12.5, "12.5"},
                 {-2.5e-9, "-2.5e-9"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[HU_NUMBER_SIZE + 1];
        text[hu_number_print(cases[i].x, text)] = '\0';
        ck_assert_str_eq(text, cases[i].text);
    }
    static const int64_t integers[] = {0, 7, -7, 10, 99, 100, 12345678, 100000000, -123456789, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        char text[HU_NUMBER_SIZE + 1], wanted[32];
        text[hu_number_print_integer(integers[i], text)] = '\0';
        snprintf(wanted, sizeof wanted, "%lld", (long long)integers[i]);
        ck_assert_str_eq(text, wanted);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("number");
    TCase *all = tcase_create("number");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, parse_random_bits);
    tcase_add_test(all, parse_halfway);
    tcase_add_test(all, parse_special_texts);
    tcase_add_test(all, parse_stops_and_refuses);
    tcase_add_test(all, parse_integers);
    tcase_add_test(all, print_shortest);
    tcase_add_test(all, print_float_shortest);
    tcase_add_test(all, print_texts);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
