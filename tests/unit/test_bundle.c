/* test_bundle.c: CRC-32C, and bundles: that equal content gives equal bytes, that other tars read them, and that no damage goes unseen. */
#include "config.h"
#include "io_test.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "io/bundle.h"

/* ---- CRC-32C: the check value of the catalogue of CRCs, the vectors of RFC 3720 B.4, and the definition bit by bit ---- */

static uint32_t by_definition(const unsigned char *p, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (crc ^ (uint32_t)(p[i / 8] >> (i % 8))) & 1;
        crc = crc >> 1 ^ (bit ? 0x82f63b78u : 0);
    }
    return ~crc;
}

START_TEST(crc_known_answers)
{
    unsigned char zeros[32] = {0}, ones[32], up[32];
    memset(ones, 255, 32);
    for (int i = 0; i < 32; i++) up[i] = (unsigned char)i;
    uint32_t (*const functions[])(uint32_t, const void *, size_t) = {hu_crc32c, hu_crc32c_portable};
    for (int f = 0; f < 2; f++) {
        ck_assert_uint_eq(functions[f](0, "123456789", 9), 0xe3069283u);
        ck_assert_uint_eq(functions[f](0, zeros, 32), 0x8a9136aau);
        ck_assert_uint_eq(functions[f](0, ones, 32), 0x62a8ab43u);
        ck_assert_uint_eq(functions[f](0, up, 32), 0x46dd794eu);
        ck_assert_uint_eq(functions[f](0, "", 0), 0);
    }
}
END_TEST

START_TEST(crc_sizes_and_joins)
{
    enum { SIZE = 200000 };
    unsigned char *p = malloc(SIZE);
    for (int i = 0; i < SIZE; i++) p[i] = (unsigned char)((unsigned)i * 2654435761u >> 19);
    for (size_t size = 0; size < SIZE; size = size * 5 / 3 + 1) {
        size_t start = size % 9, n = size < SIZE - 9 ? size : SIZE - 9;
        uint32_t wanted = by_definition(p + start, n);
        ck_assert_uint_eq(hu_crc32c(0, p + start, n), wanted);
        ck_assert_uint_eq(hu_crc32c_portable(0, p + start, n), wanted);
        size_t cut = n / 3;
        uint32_t a = hu_crc32c(0, p + start, cut), b = hu_crc32c(0, p + start + cut, n - cut);
        ck_assert_uint_eq(hu_crc32c(a, p + start + cut, n - cut), wanted);
        ck_assert_uint_eq(hu_crc32c_join(a, b, (int64_t)(n - cut)), wanted);
    }
    free(p);
}
END_TEST

/* ---- bundles ---- */

static const int32_t rows[] = {1, -2, 3};
static const double values[] = {0.5, -1e300};
static const int64_t longs[] = {INT64_MIN};

static char *make_bundle(hu_bundle_filter filter, int major, bool reversed, size_t *ret_size)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle_writer *w;
    hu_output *out = output_to_collect();
    ck_assert_ok(hu_bundle_create("test-kind", major, 3, &w, &err));
    json_object_set_new(hu_bundle_content(w), reversed ? "z" : "a", json_integer(reversed ? 26 : 1));
    json_object_set_new(hu_bundle_content(w), reversed ? "a" : "z", json_integer(reversed ? 1 : 26));
    for (int i = 0; i < 4; i++)
        switch (reversed ? 3 - i : i) {
        case 0: ck_assert_ok(hu_bundle_add_array(w, "rows.i4", HU_BUNDLE_I4, rows, 3, &err)); break;
        case 1: ck_assert_ok(hu_bundle_add_array(w, "part/values.f8", HU_BUNDLE_F8, values, 2, &err)); break;
        case 2: ck_assert_ok(hu_bundle_add_array(w, "longs", HU_BUNDLE_I8, longs, 1, &err)); break;
        default: ck_assert_ok(hu_bundle_add(w, "empty", NULL, 0, &err)); break;
        }
    ck_assert_ok(hu_bundle_finish(&w, filter, out, &err));
    ck_assert_ptr_null(w);
    return collect(out, ret_size);
}

static hu_status read_bundle(hu_source *source, hu_bundle **ret_bundle, hu_error *err)
{
    hu_status status = hu_bundle_read(source, "test-kind", 1, 1000, ret_bundle, err);
    hu_source_close(source);
    return status;
}

/* Opened without saying that it is a bundle. */
static hu_source *source_opened_plainly(const char *bytes, size_t size)
{
    hu_error err = HU_ERROR_NONE;
    hu_source *source;
    char path[64];
    int fd = scratch_file(path);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    ck_assert_ok(hu_source_open(path, NULL, &source, &err));
    close(fd);
    return source;
}

static void check_content(const hu_bundle *b)
{
    hu_error err = HU_ERROR_NONE;
    const void *items;
    int64_t count, value;
    hu_json_place root = hu_bundle_root(b);
    ck_assert_ok(hu_json_integer(&root, "z", 0, 100, &value, &err));
    ck_assert_int_eq(value, 26);
    ck_assert_fails(hu_json_integer(&root, "a", 2, 3, &value, &err), HU_INPUT, ": manifest.json: content.a: expected an integer from 2 to 3");
    ck_assert_ok(hu_bundle_get_array(b, "rows.i4", HU_BUNDLE_I4, &items, &count, &err));
    ck_assert(count == 3 && memcmp(items, rows, sizeof rows) == 0);
    ck_assert_uint_eq((uintptr_t)items % HU_ALIGN, 0);
    ck_assert_ok(hu_bundle_get_exactly(b, "part/values.f8", HU_BUNDLE_F8, 2, &items, &err));
    ck_assert(memcmp(items, values, sizeof values) == 0);
    ck_assert_ok(hu_bundle_get(b, "empty", &items, &count, &err));
    ck_assert_int_eq(count, 0);
    ck_assert_fails(hu_bundle_get_exactly(b, "longs", HU_BUNDLE_I8, 2, &items, &err), HU_INPUT, "member longs has 1 items, not 2");
    ck_assert_fails(hu_bundle_get_array(b, "longs", HU_BUNDLE_F8, &items, &count, &err), HU_INPUT, "member longs is of type i8, not f8");
    ck_assert_fails(hu_bundle_get(b, "absent", &items, &count, &err), HU_INPUT, "has no member absent");
    ck_assert(hu_bundle_has(b, "longs") && !hu_bundle_has(b, "manifest.json"));
    ck_assert_int_eq(hu_bundle_major(b), 1);
    ck_assert_int_eq(hu_bundle_minor(b), 3);
}

START_TEST(round_trip)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle *b;
    for (int filter = 0; filter < 2; filter++) {
        size_t size, size_reversed;
        char *bytes = make_bundle(filter ? HU_BUNDLE_ZSTD : HU_BUNDLE_PLAIN, 1, false, &size);
        char *reversed = make_bundle(filter ? HU_BUNDLE_ZSTD : HU_BUNDLE_PLAIN, 1, true, &size_reversed);
        ck_assert_uint_eq(size, size_reversed);
        ck_assert(memcmp(bytes, reversed, size) == 0);
        ck_assert_ok(read_bundle(source_of(bytes, size), &b, &err));
        check_content(b);
        hu_bundle_free(b);
        ck_assert_ok(read_bundle(source_of_file(bytes, size), &b, &err));
        check_content(b);
        hu_bundle_free(b);
        ck_assert_ok(read_bundle(source_through_pipe(bytes, size, 100), &b, &err));
        check_content(b);
        hu_bundle_free(b);
        if (filter == 0) {
            ck_assert_ok(read_bundle(source_opened_plainly(bytes, size), &b, &err));
            check_content(b);
            hu_bundle_free(b);
        }
        free(bytes);
        free(reversed);
    }
}
END_TEST

/* The layout that the format promises, read off the bytes: ustar headers at multiples of 512, in order, and two zero blocks at the end. */
START_TEST(layout)
{
    static const char *const names[] = {"manifest.json", "empty", "longs", "part/values.f8", "rows.i4"};
    size_t size, place = 0;
    char *bytes = make_bundle(HU_BUNDLE_PLAIN, 1, false, &size), mode[9], zeros[1024] = {0};
    for (int i = 0; i < 5; i++) {
        const char *header = bytes + place;
        ck_assert_str_eq(header, names[i]);
        ck_assert(memcmp(header + 257, "ustar", 6) == 0 && header[156] == '0');
        memcpy(mode, header + 100, 8);
        mode[8] = '\0';
        ck_assert_int_eq(strtol(mode, NULL, 8), 0644);
        ck_assert_int_eq(strtol(header + 108, NULL, 8), 0); /* owner */
        ck_assert_int_eq(strtol(header + 116, NULL, 8), 0); /* group */
        ck_assert_int_eq(strtol(header + 136, NULL, 8), 0); /* time */
        ck_assert(header[265] == 0 && header[297] == 0);    /* no names of theirs */
        char octal[12];
        memcpy(octal, header + 124, 11);
        octal[11] = '\0';
        place += 512 + (size_t)(strtol(octal, NULL, 8) + 511) / 512 * 512;
    }
    ck_assert_uint_eq(size, place + 1024);
    ck_assert(memcmp(bytes + place, zeros, 1024) == 0);
    ck_assert(memcmp(bytes + size - 1024 - 512, rows, sizeof rows) == 0);
    free(bytes);
}
END_TEST

START_TEST(bsdtar_lists_it)
{
    if (system("bsdtar --version >/dev/null 2>&1") != 0) return; /* not installed */
    for (int filter = 0; filter < 2; filter++) {
        size_t size;
        char *bytes = make_bundle(filter ? HU_BUNDLE_ZSTD : HU_BUNDLE_PLAIN, 1, false, &size), command[200], path[64];
        int fd = scratch_file(path);
        ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
        snprintf(command, sizeof command, "test \"$(bsdtar -tf %s | tr '\\n' ' ')\" = 'manifest.json empty longs part/values.f8 rows.i4 '", path);
        ck_assert_int_eq(system(command), 0);
        close(fd);
        free(bytes);
    }
}
END_TEST

START_TEST(wrong_kind_and_version)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle *b;
    size_t size;
    char *bytes = make_bundle(HU_BUNDLE_PLAIN, 2, false, &size);
    ck_assert_fails(read_bundle(source_of(bytes, size), &b, &err), HU_INPUT, "test: is a 'test-kind' of version 2.3; this program reads versions up to 1");
    hu_source *source = source_of(bytes, size);
    ck_assert_fails(hu_bundle_read(source, "other", 9, 1000, &b, &err), HU_INPUT, "is a bundle of kind 'test-kind', not 'other'");
    hu_source_close(source);
    source = source_of(bytes, size);
    ck_assert_fails(hu_bundle_read(source, "test-kind", 2, 35, &b, &err), HU_INPUT, "larger than 35 bytes");
    hu_source_close(source);
    ck_assert_fails(read_bundle(source_of("no tar", 6), &b, &err), HU_INPUT, "is no bundle");
    ck_assert_fails(read_bundle(source_of("", 0), &b, &err), HU_INPUT, "is no bundle");
    free(bytes);
}
END_TEST

/* A bundle cut anywhere before its last member's end, and one with any bit of its members or of their names or sizes flipped, is refused. */
START_TEST(damage_is_seen)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle *b;
    size_t size;
    char *bytes = make_bundle(HU_BUNDLE_PLAIN, 1, false, &size);
    for (size_t n = 0; n <= size - 1024 - 512; n += 97) ck_assert_fails(read_bundle(source_of(bytes, n), &b, &err), HU_INPUT, "test: ");
    for (size_t bit = 0; bit < 8 * (size - 1024); bit += 61) {
        size_t byte = bit / 8;
        bytes[byte] = (char)(bytes[byte] ^ 1 << bit % 8);
        hu_status status = read_bundle(source_of(bytes, size), &b, &err);
        if (status == HU_OK) { /* padding behind a member, or a letter of the manifest that carries no fact */
            hu_bundle_free(b);
            ck_assert_msg(byte > 512, "flipped bit %zu", bit);
        }
        ck_assert(status == HU_OK || status == HU_INPUT);
        hu_error_clear(&err);
        bytes[byte] = (char)(bytes[byte] ^ 1 << bit % 8);
    }
    size_t members[] = {size - 1024 - 512, size - 1024 - 512 + 11}; /* first and last byte of rows.i4 */
    for (int i = 0; i < 2; i++) {
        bytes[members[i]] ^= 4;
        ck_assert_fails(read_bundle(source_of(bytes, size), &b, &err), HU_INPUT, "member rows.i4 is damaged: its CRC is wrong");
        bytes[members[i]] ^= 4;
    }
    free(bytes);
}
END_TEST

static const char crc_of_abc[] = "364b3fb7"; /* of "abc", from the catalogue's bit-by-bit definition; checked below */

/* Tars that bsdtar's own format could hold, made by hand: one block of header for each member. */
static size_t add_member(char *place, const char *name, char type, const char *content, long size)
{
    memset(place, 0, 512);
    strcpy(place, name);
    sprintf(place + 100, "%07o", 0644);
    sprintf(place + 108, "%07o", 0);
    sprintf(place + 116, "%07o", 0);
    sprintf(place + 124, "%011lo", size);
    sprintf(place + 136, "%011o", 0);
    place[156] = type;
    memcpy(place + 257, "ustar\0" "00", 8);
    unsigned sum = 8 * ' ';
    for (int i = 0; i < 512; i++)
        if (i < 148 || i > 155) sum += (unsigned char)place[i];
    sprintf(place + 148, "%06o", sum);
    place[155] = ' ';
    size_t length = strlen(content), padded = (length + 511) / 512 * 512;
    memset(place + 512, 0, padded);
    memcpy(place + 512, content, length);
    return 512 + padded;
}

static void refuse_tar(const char *manifest, const char *name, char type, long claimed, bool twice, const char *reason)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle *b;
    static char tar[16384];
    size_t size = add_member(tar, "manifest.json", '0', manifest, (long)strlen(manifest));
    if (name) size += add_member(tar + size, name, type, "abc", claimed);
    if (twice) size += add_member(tar + size, name, type, "abc", claimed);
    memset(tar + size, 0, 1024);
    hu_status status = read_bundle(source_of(tar, size + 1024), &b, &err);
    if (reason) {
        ck_assert_msg(status == HU_INPUT && strstr(err.message, reason), "%d %s", (int)status, err.message);
    } else {
        ck_assert_msg(status == HU_OK, "%s", err.message);
        hu_bundle_free(b);
    }
}

START_TEST(hostile_bundles)
{
    ck_assert_uint_eq(by_definition((const unsigned char *)"abc", 3), strtoul(crc_of_abc, NULL, 16));
    char manifest[600];
#define MANIFEST(member) (snprintf(manifest, sizeof manifest, "{\"kind\":\"test-kind\",\"major\":1,\"minor\":0,\"content\":{},\"members\":{%s}}", member), manifest)
    const char *x = "\"x\":{\"bytes\":3,\"crc32c\":\"364b3fb7\",\"type\":\"bytes\"}";
    refuse_tar(MANIFEST(x), "x", '0', 3, false, NULL);
    refuse_tar(MANIFEST(x), "x", '0', 3, true, "member x is there twice");
    refuse_tar(MANIFEST(x), NULL, '0', 3, false, "member x is missing");
    refuse_tar(MANIFEST(x), "y", '0', 3, false, "a member is not in the manifest");
    refuse_tar(MANIFEST(x), "x", '2', 0, false, "a member is a link");
    refuse_tar(MANIFEST(x), "x", '5', 0, false, "a member is a link, folder");
    refuse_tar(MANIFEST(x), "x", '0', 4, false, "member x has 4 bytes, the manifest says 3");
    refuse_tar(MANIFEST("\"x\":{\"bytes\":900,\"crc32c\":\"364b3fb7\",\"type\":\"bytes\"}"), "x", '0', 900, false, "test: ");
    refuse_tar(MANIFEST("\"x\":{\"bytes\":99999999999,\"crc32c\":\"364b3fb7\",\"type\":\"bytes\"}"), "x", '0', 3, false, "larger than 1000 bytes");
    refuse_tar(MANIFEST("\"x\":{\"bytes\":-3,\"crc32c\":\"364b3fb7\",\"type\":\"bytes\"}"), "x", '0', 3, false, "members.x.bytes: expected an integer");
    refuse_tar(MANIFEST("\"x\":{\"bytes\":3,\"crc32c\":\"364B3FB7\",\"type\":\"bytes\"}"), "x", '0', 3, false, "8 hexadecimal digits");
    refuse_tar(MANIFEST("\"x\":{\"bytes\":3,\"crc32c\":\"364b3fb7\",\"type\":\"i4\"}"), "x", '0', 3, false, "expected a multiple of 4");
    refuse_tar(MANIFEST("\"x\":{\"bytes\":3,\"crc32c\":\"364b3fb7\",\"type\":\"i5\"}"), "x", '0', 3, false, "type: expected one of");
    refuse_tar(MANIFEST("\"../x\":{\"bytes\":3,\"crc32c\":\"364b3fb7\",\"type\":\"bytes\"}"), "../x", '0', 3, false, "a name that a bundle cannot have");
    refuse_tar(MANIFEST("\"/x\":{\"bytes\":3,\"crc32c\":\"364b3fb7\",\"type\":\"bytes\"}"), "/x", '0', 3, false, "a name that a bundle cannot have");
    refuse_tar("{\"kind\":\"test-kind\",\"major\":1,\"minor\":0,\"content\":[],\"members\":{}}", NULL, '0', 0, false, "content: expected an object");
    refuse_tar("{\"kind\":\"test-kind\",\"major\":1,\"minor\":0,\"content\":{}}", NULL, '0', 0, false, "members: is missing");
    refuse_tar("{\"kind\":\"test-kind\"", NULL, '0', 0, false, "test: manifest.json:1: column");
}
END_TEST

START_TEST(wrong_members_are_not_written)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle_writer *w;
    ck_assert_ok(hu_bundle_create("k", 1, 0, &w, &err));
    static const char *const wrong[] = {"", "/a", "a/", "../a", ".a", "a/.b", "a//b", "a b", "manifest.json", "\303\274"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) ck_assert_fails(hu_bundle_add(w, wrong[i], "", 0, &err), HU_USAGE, "cannot name");
    ck_assert_ok(hu_bundle_add(w, "a", "1", 1, &err));
    ck_assert_ok(hu_bundle_add(w, "a", "2", 1, &err));
    hu_output *out = output_to_collect();
    ck_assert_fails(hu_bundle_finish(&w, HU_BUNDLE_PLAIN, out, &err), HU_USAGE, "two members a");
    hu_output_abort(&out);
    unlink(collect_path);
    ck_assert_ptr_null(w);
}
END_TEST

START_TEST(full_disc)
{
    hu_error err = HU_ERROR_NONE;
    hu_bundle_writer *w;
    hu_output *out;
    static char large[1 << 20];
    ck_assert_ok(hu_output_open("/dev/full", &out, &err));
    ck_assert_ok(hu_bundle_create("k", 1, 0, &w, &err));
    ck_assert_ok(hu_bundle_add(w, "a", large, sizeof large, &err));
    ck_assert_fails(hu_bundle_finish(&w, HU_BUNDLE_PLAIN, out, &err), HU_SYSTEM, "No space left");
    hu_output_abort(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bundle");
    TCase *all = tcase_create("bundle");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, crc_known_answers);
    tcase_add_test(all, crc_sizes_and_joins);
    tcase_add_test(all, round_trip);
    tcase_add_test(all, layout);
    tcase_add_test(all, bsdtar_lists_it);
    tcase_add_test(all, wrong_kind_and_version);
    tcase_add_test(all, damage_is_seen);
    tcase_add_test(all, hostile_bundles);
    tcase_add_test(all, wrong_members_are_not_written);
    tcase_add_test(all, full_disc);
    suite_add_tcase(suite, all);
    return hu_test_run(suite);
}
