/* npy.c: NumPy .npy files.
 *
 * Sections: item types, the header, reading, to other forms, writing.
 */
#include "config.h"
#include "io/npy.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "items are written as they stand in memory: little-endian");

enum { LONGEST_HEADER = 1 << 20, ALIGNMENT = 64, PREFIX = 10 }; /* of version 1.0: magic, version and length */

/* ---- item types ------------------------------------------------------------------------------------------------- */

static const struct {
    char name[4];
    unsigned char size, swapped; /* swapped: the unit of byte order */
} types[HU_NPY_TYPES] = {{"b1", 1, 1}, {"i1", 1, 1}, {"i2", 2, 2}, {"i4", 4, 4}, {"i8", 8, 8}, {"u1", 1, 1}, {"u2", 2, 2},
                         {"u4", 4, 4}, {"u8", 8, 8}, {"f2", 2, 2}, {"f4", 4, 4}, {"f8", 8, 8}, {"c8", 8, 4}, {"c16", 16, 8}};

size_t hu_npy_size(hu_npy_type type)
{
    return types[type].size;
}

const char *hu_npy_type_name(hu_npy_type type)
{
    return types[type].name;
}

float hu_npy_half(uint16_t half)
{
    return (float)hu_scalar_get(HU_F16, &half, 0);
}

static void swap_bytes(void *data, int64_t count, int unit)
{
    if (unit == 2)
        for (int64_t i = 0; i < count; i++) ((uint16_t *)data)[i] = __builtin_bswap16(((uint16_t *)data)[i]);
    else if (unit == 4)
        for (int64_t i = 0; i < count; i++) ((uint32_t *)data)[i] = __builtin_bswap32(((uint32_t *)data)[i]);
    else if (unit == 8)
        for (int64_t i = 0; i < count; i++) ((uint64_t *)data)[i] = __builtin_bswap64(((uint64_t *)data)[i]);
}

/* ---- the header: a recursive-descent reader of the few Python literals that it is made of --------------------------- */

typedef struct {
    const char *text, *p, *end;
    const char *name;
    int64_t offset; /* of text in the source */
    hu_error *err;
} cursor;

static hu_status HU_PRINTF(2, 3) refuse(const cursor *c, const char *format, ...)
{
    char reason[300];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return hu_fail_byte(c->err, c->name, c->offset + (c->p - c->text), "%s", reason);
}

static void skip_blanks(cursor *c)
{
    while (c->p < c->end && strchr(" \t\r\n\f", *c->p) && *c->p) c->p++;
}

/* Takes the sign where it comes next. */
static bool take(cursor *c, char sign)
{
    skip_blanks(c);
    if (c->p == c->end || *c->p != sign) return false;
    c->p++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(c);
    if ((size_t)(c->end - c->p) < length || memcmp(c->p, word, length) != 0) return false;
    c->p += length;
    return true;
}

/* A text in quotes, without escapes. */
static hu_status read_text(cursor *c, char *ret_text, size_t room)
{
    skip_blanks(c);
    const char *start = c->p;
    if (c->end - c->p >= 2 && (*c->p == 'u' || *c->p == 'U') && (c->p[1] == '\'' || c->p[1] == '"')) c->p++;
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"')) return refuse(c, "the header is no NumPy header: a text in quotes was expected");
    char quote = *c->p++;
    const char *close = memchr(c->p, quote, (size_t)(c->end - c->p));
    size_t length = close ? (size_t)(close - c->p) : 0;
    if (!close || length >= room || memchr(c->p, '\\', length) || memchr(c->p, 0, length)) {
        c->p = start;
        return refuse(c, "the header holds a text that is unknown");
    }
    memcpy(ret_text, c->p, length);
    ret_text[length] = '\0';
    c->p = close + 1;
    return HU_OK;
}

/* One length of the shape: a decimal integer as Python spells it. */
static hu_status read_length(cursor *c, int64_t *ret_length)
{
    skip_blanks(c);
    const char *start = c->p;
    int64_t value = 0;
    if (c->p < c->end && *c->p == '+') c->p++;
    const char *digits = c->p;
    for (; c->p < c->end; c->p++) {
        if (*c->p == '_' && c->p > digits && c->p[-1] != '_') continue;
        if (*c->p < '0' || *c->p > '9') break;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *c->p - '0', &value)) {
            c->p = start;
            return refuse(c, "a length of the shape does not fit 64 bits");
        }
    }
    if (c->p == digits || c->p[-1] == '_') return refuse(c, "a length of the shape was expected");
    if (c->p < c->end && *c->p == 'L') c->p++;
    *ret_length = value;
    return HU_OK;
}

static hu_status read_shape(cursor *c, hu_npy *array)
{
    if (!take(c, '(')) return refuse(c, "'shape' was expected to be a tuple");
    bool comma = true;
    array->dims = 0;
    while (!take(c, ')')) {
        if (!comma) return refuse(c, "',' or ')' was expected");
        if (array->dims == HU_NPY_DIMENSIONS) return refuse(c, "more than %d dimensions", HU_NPY_DIMENSIONS);
        if (read_length(c, &array->shape[array->dims++])) return c->err->status;
        comma = take(c, ',');
    }
    if (array->dims == 1 && !comma) return refuse(c, "'shape' was expected to be a tuple, and (n) is a number");
    return HU_OK;
}

static hu_status read_descr(cursor *c, hu_npy *array, bool *ret_swap)
{
    char text[32];
    skip_blanks(c);
    const char *start = c->p;
    if (c->p < c->end && (*c->p == '[' || *c->p == '(')) return refuse(c, "records (structured types) are not read");
    if (read_text(c, text, sizeof text)) return c->err->status;
    const char *name = text + (text[0] && strchr("<>=|", text[0]) ? 1 : 0);
    for (int i = 0; i < HU_NPY_TYPES; i++) {
        bool boolean = i == HU_NPY_B1 && strcmp(name, "?") == 0;
        if (strcmp(name, types[i].name) != 0 && !boolean) continue;
        if (text[0] == '|' && types[i].size > 1) break;
        array->type = (hu_npy_type)i;
        *ret_swap = text[0] == '>';
        return HU_OK;
    }
    c->p = start;
    return refuse(c, "type '%s' is not read: it must be one of b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16", text);
}

static hu_status read_order(cursor *c, hu_npy *array)
{
    if (take_word(c, "True")) array->order = HU_COL_MAJOR;
    else if (take_word(c, "False")) array->order = HU_ROW_MAJOR;
    else return refuse(c, "'fortran_order' was expected to be True or False");
    return HU_OK;
}

static hu_status read_dict(cursor *c, hu_npy *array, bool *ret_swap)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false}, comma = true;
    if (!take(c, '{')) return refuse(c, "the header is no NumPy header: '{' was expected");
    while (!take(c, '}')) {
        char key[32];
        int k = 0;
        const char *start = c->p;
        if (!comma) return refuse(c, "',' or '}' was expected");
        if (read_text(c, key, sizeof key)) return c->err->status;
        while (k < 3 && strcmp(key, keys[k]) != 0) k++;
        if (k == 3 || seen[k]) {
            c->p = start;
            return refuse(c, "the header has a key '%s' that is %s", key, k == 3 ? "unknown" : "there twice");
        }
        seen[k] = true;
        if (!take(c, ':')) return refuse(c, "':' was expected");
        if (k == 0 ? read_descr(c, array, ret_swap) : k == 1 ? read_order(c, array) : read_shape(c, array)) return c->err->status;
        comma = take(c, ',');
    }
    for (int k = 0; k < 3; k++)
        if (!seen[k]) return refuse(c, "the header has no '%s'", keys[k]);
    skip_blanks(c);
    return c->p == c->end ? HU_OK : refuse(c, "the header goes on behind its '}'");
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* Reads exactly size bytes. */
static hu_status read_exactly(hu_source *source, void *bytes, size_t size, const char *what, hu_error *err)
{
    size_t read;
    if (hu_source_read(source, bytes, size, &read, err)) return err->status;
    if (read == size) return HU_OK;
    return hu_fail_byte(err, hu_source_name(source), hu_source_offset(source), "the file is cut short: it ends in %s", what);
}

static hu_status read_header(hu_source *source, hu_npy *array, bool *ret_swap, hu_error *err)
{
    unsigned char start[12];
    int64_t offset = hu_source_offset(source);
    size_t read;
    const char *name = hu_source_name(source);
    if (hu_source_read(source, start, 8, &read, err)) return err->status;
    if (read == 0) return HU_END;
    if (memcmp(start, "\x93NUMPY", read < 6 ? read : 6) != 0) return hu_fail_byte(err, name, offset, "this is no .npy array");
    if (read < 8) return hu_fail_byte(err, name, offset + (int64_t)read, "the file is cut short: it ends in the header");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return hu_fail_byte(err, name, offset + 6, "version %d.%d of .npy is not read, only 1.0, 2.0 and 3.0", start[6], start[7]);
    size_t width = start[6] == 1 ? 2 : 4;
    if (read_exactly(source, start + 8, width, "the header", err)) return err->status;
    size_t length = (size_t)start[8] | (size_t)start[9] << 8;
    if (width == 4) length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (length > LONGEST_HEADER) return hu_fail_byte(err, name, offset + 8, "a header of %zu bytes is too long", length);
    char *text = malloc(length + 1);
    if (!text) return hu_fail(err, HU_SYSTEM, "out of memory");
    cursor c = {text, text, text + length, name, hu_source_offset(source), err};
    hu_status status = read_exactly(source, text, length, "the header", err);
    if (!status) status = read_dict(&c, array, ret_swap);
    free(text);
    return status;
}

/* The bytes of items that the shape calls for. */
static hu_status count_items(hu_npy *array, const char *name, int64_t offset, int64_t most, int64_t *ret_bytes, hu_error *err)
{
    bool fits = true, empty = false;
    array->count = 1;
    for (int i = 0; i < array->dims; i++) empty |= array->shape[i] == 0;
    for (int i = 0; i < array->dims && fits && !empty; i++) fits = hu_mul_size(array->count, array->shape[i], &array->count);
    if (empty) array->count = 0;
    if (!fits || !hu_mul_size(array->count, types[array->type].size, ret_bytes) || *ret_bytes > most)
        return hu_fail_byte(err, name, offset, "the array is larger than %lld bytes", (long long)most);
    return HU_OK;
}

static hu_status read_items(hu_source *source, hu_npy *array, int64_t bytes, hu_error *err)
{
    int64_t used = 0, room = 0, file_size;
    int fd;
    int64_t offset = hu_source_offset(source);
    if (hu_source_is_plain(source, &fd, &file_size)) { /* the size is known to be there: no growing */
        if (file_size - offset < bytes)
            return hu_fail_byte(err, hu_source_name(source), file_size > offset ? file_size : offset, "the file is cut short: %lld bytes of items are missing",
                                (long long)(bytes - (file_size > offset ? file_size - offset : 0)));
        if (hu_alloc(bytes, 1, hu_source_name(source), &array->data, err)) return err->status;
        return read_exactly(source, array->data, (size_t)bytes, "the items", err);
    }
    do {
        if (hu_grow_claimed(&array->data, &room, used, bytes, hu_source_name(source), err)) return err->status;
        if (read_exactly(source, (char *)array->data + used, (size_t)(room - used), "the items", err)) return err->status;
        used = room;
    } while (used < bytes);
    return HU_OK;
}

hu_status hu_npy_read(hu_source *source, int64_t most_bytes, hu_npy **ret_array, hu_error *err)
{
    hu_npy *array = *ret_array = calloc(1, sizeof *array);
    int64_t bytes;
    bool swap = false;
    if (!array) return hu_fail(err, HU_SYSTEM, "out of memory");
    hu_status status = read_header(source, array, &swap, err);
    if (!status) status = count_items(array, hu_source_name(source), hu_source_offset(source), most_bytes, &bytes, err);
    if (!status) status = read_items(source, array, bytes, err);
    if (!status && swap) swap_bytes(array->data, bytes / types[array->type].swapped, types[array->type].swapped);
    if (!status) return HU_OK;
    hu_npy_free(array);
    *ret_array = NULL;
    return status;
}

void hu_npy_free(hu_npy *array)
{
    if (!array) return;
    hu_free(array->data);
    free(array);
}

/* ---- to other forms ------------------------------------------------------------------------------------------------- */

/* Names item i, counted in the order of memory, by its 0-based index as NumPy writes it. */
static hu_status fail_at(const hu_npy *a, const char *name, int64_t i, hu_error *err, const char *reason)
{
    int64_t index[HU_NPY_DIMENSIONS];
    char text[400] = "";
    for (int k = 0; k < a->dims; k++) {
        int d = a->order == HU_ROW_MAJOR ? a->dims - 1 - k : k;
        index[d] = i % a->shape[d];
        i /= a->shape[d];
    }
    for (int d = 0; d < a->dims; d++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%lld", d ? "," : "", (long long)index[d]);
    }
    return hu_fail(err, HU_INPUT, "%s: item [%s]: %s", name, text, reason);
}

static bool is_whole(hu_npy_type type)
{
    return type <= HU_NPY_U8;
}

/* Item i of whole numbers; a u8 beyond the range of int64_t keeps its bits. */
static int64_t whole_item(const hu_npy *a, int64_t i)
{
    switch (a->type) {
    case HU_NPY_B1: return ((const unsigned char *)a->data)[i] != 0;
    case HU_NPY_I1: return ((const signed char *)a->data)[i];
    case HU_NPY_I2: return ((const int16_t *)a->data)[i];
    case HU_NPY_I4: return ((const int32_t *)a->data)[i];
    case HU_NPY_U1: return ((const unsigned char *)a->data)[i];
    case HU_NPY_U2: return ((const uint16_t *)a->data)[i];
    case HU_NPY_U4: return ((const uint32_t *)a->data)[i];
    default: return ((const int64_t *)a->data)[i];
    }
}

static hu_status whole_to_double(const hu_npy *a, const char *name, double *x, hu_error *err)
{
    for (int64_t i = 0; i < a->count; i++) {
        int64_t value = whole_item(a, i);
        bool exact;
        if (a->type == HU_NPY_U8) {
            x[i] = (double)(uint64_t)value;
            exact = x[i] < 0x1p64 && (uint64_t)x[i] == (uint64_t)value;
        } else {
            x[i] = (double)value;
            exact = x[i] < 0x1p63 && (int64_t)x[i] == value;
        }
        if (!exact) return fail_at(a, name, i, err, "no double equals this whole number");
    }
    return HU_OK;
}

hu_status hu_npy_to_dense(hu_npy **array, const char *name, hu_dense **ret_dense, hu_error *err)
{
    hu_npy *a = *array;
    hu_dense *dense = NULL;
    hu_status status;
    *ret_dense = NULL;
    hu_scalar scalar = a->type >= HU_NPY_C8                            ? HU_C128
                       : a->type == HU_NPY_F2 || a->type == HU_NPY_F4 ? HU_F32
                                                                      : HU_F64;
    if (a->dims > 2) status = hu_fail(err, HU_INPUT, "%s: the array has %d dimensions; a vector or a matrix is needed", name, a->dims);
    else
        status = hu_dense_new(a->dims > 0 ? a->shape[0] : 1, a->dims > 1 ? a->shape[1] : 1, scalar,
                              a->dims == 2 ? a->order : HU_COL_MAJOR, &dense, err);
    if (!status) {
        dense->dims = a->dims == 2 ? 2 : 1;
        if (is_whole(a->type)) {
            status = whole_to_double(a, name, dense->data, err);
        } else if (a->type == HU_NPY_F2) {
            for (int64_t i = 0; i < a->count; i++) ((float *)dense->data)[i] = hu_npy_half(((const uint16_t *)a->data)[i]);
        } else if (a->type == HU_NPY_C8) {
            for (int64_t i = 0; i < 2 * a->count; i++) ((double *)dense->data)[i] = (double)((const float *)a->data)[i];
        } else { /* the items are what the matrix holds: it takes their memory over */
            void *data = dense->data;
            dense->data = a->data;
            a->data = data;
        }
    }
    hu_npy_free(a);
    *array = NULL;
    if (status) hu_dense_free(dense);
    else *ret_dense = dense;
    return status;
}

hu_status hu_npy_to_integers(const hu_npy *array, const char *name, int64_t least, int64_t most, int64_t **ret_items, hu_error *err)
{
    void *block;
    *ret_items = NULL;
    if (!is_whole(array->type))
        return hu_fail(err, HU_INPUT, "%s: the array has items of type %s; whole numbers are needed", name, types[array->type].name);
    if (hu_alloc(array->count, sizeof(int64_t), name, &block, err)) return err->status;
    int64_t *items = block;
    for (int64_t i = 0; i < array->count; i++) {
        items[i] = whole_item(array, i);
        bool beyond = array->type == HU_NPY_U8 && items[i] < 0;
        if (items[i] >= least && items[i] <= most && !beyond) continue;
        char reason[100];
        snprintf(reason, sizeof reason, "expected a whole number from %lld to %lld", (long long)least, (long long)most);
        hu_free(block);
        return fail_at(array, name, i, err, reason);
    }
    *ret_items = items;
    return HU_OK;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static hu_status write_header(hu_output *out, hu_npy_type type, int dims, const int64_t *shape, hu_order order, hu_error *err)
{
    char text[1024], tuple[32 * 24] = "";
    for (int i = 0; i < dims; i++) {
        size_t used = strlen(tuple);
        snprintf(tuple + used, sizeof tuple - used, "%s%lld%s", i ? " " : "", (long long)shape[i], i == 0 || i < dims - 1 ? "," : "");
    }
    int length = snprintf(text + PREFIX, sizeof text - PREFIX, "{'descr': '%s%s', 'fortran_order': %s, 'shape': (%s), }",
                          types[type].size == 1 ? "|" : "<", types[type].name, order == HU_COL_MAJOR ? "True" : "False", tuple);
    size_t used = PREFIX + (size_t)length, size = (used + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* at least one more: the line end */
    memset(text + used, ' ', size - used - 1);
    text[size - 1] = '\n';
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    text[8] = (char)((size - PREFIX) & 255);
    text[9] = (char)((size - PREFIX) >> 8);
    return hu_output_write(out, text, size, err);
}

hu_status hu_npy_write(hu_output *out, hu_npy_type type, int dims, const int64_t *shape, hu_order order, const void *items, hu_error *err)
{
    int64_t count = 1, bytes;
    bool fits = dims >= 0 && dims <= HU_NPY_DIMENSIONS;
    for (int i = 0; i < dims && fits; i++) fits = hu_mul_size(count, shape[i], &count);
    if (!fits || !hu_mul_size(count, types[type].size, &bytes))
        return hu_fail(err, HU_USAGE, "%s: an array of this shape cannot be written", hu_output_name(out));
    hu_status status = write_header(out, type, dims, shape, order, err);
    return status ? status : hu_output_write(out, items, (size_t)bytes, err);
}

hu_status hu_npy_write_dense(hu_output *out, const hu_dense *dense, hu_error *err)
{
    static const hu_npy_type types_of[] = {HU_NPY_F8, HU_NPY_F4, HU_NPY_C16, HU_NPY_F2, HU_NPY_U2};
    const hu_npy_type type = types_of[dense->scalar];
    const int64_t shape[] = {dense->dims == 1 ? dense->rows * dense->cols : dense->rows, dense->cols};
    bool by_column = dense->order == HU_COL_MAJOR;
    int64_t lines = by_column ? dense->cols : dense->rows, length = by_column ? dense->rows : dense->cols;
    size_t item = hu_scalar_size(dense->scalar);
    hu_status status = write_header(out, type, dense->dims, shape, dense->dims == 1 ? HU_ROW_MAJOR : dense->order, err);
    if (!status && dense->ld == length) return hu_output_write(out, dense->data, item * (size_t)(lines * length), err);
    for (int64_t i = 0; i < lines && !status; i++)
        status = hu_output_write(out, (const char *)dense->data + (size_t)(i * dense->ld) * item, item * (size_t)length, err);
    return status;
}
