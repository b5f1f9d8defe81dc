/* trace_times.c: times and counts by cells of a logarithmic scale, adaptive models, a range coder.
 *
 * The range coder is the carry-propagating one of G. N. N. Martin, "Range encoding" (1979), with binary decisions as in LZMA; a model's probability moves by 1/(n + 1.5) of
 * the surprise after n decisions, and by a constant share from LIMIT on.
 *
 * Sections: the scale, the range coder, models, values.
 */
#include "config.h"
#include "io/trace_times.h"
#include "base/memory.h"
#include "io/varint.h"

#include <stdlib.h>
#include <string.h>

enum { EXACT_PARTS = 60000, ADAPTIVE_BITS = 10, LIMIT = 250, CONTEXTS = 1 << 10, FINER = 1 << 12, FINER_WEIGHT = 16, WEIGHTS = 3 + (1 + FINER_WEIGHT) * LIMIT };

typedef struct {
    uint16_t one;   /* probability of a 1, of 65536 */
    uint16_t count;
} model;

typedef struct {
    int64_t *least; /* [cells + 1] the first value of each */
    int64_t *stands; /* [cells] the value that stands for it */
    int32_t cells, bits, adaptive;
} scale;

struct hu_times {
    scale scale[2]; /* of the error; of exact values */
    bool exact;
    model *coarse, *fine; /* [contexts << adaptive], tree nodes from 1 */
    model flag[8];
    model *own;           /* of exact values: [CONTEXTS << adaptive] */
    uint16_t step[LIMIT + 1]; /* 65536 / (n + 1.5) */
    uint32_t share[WEIGHTS];  /* 2^32 / n, rounded up */
    uint64_t low;
    uint32_t range, code;
    int64_t pending; /* bytes 0xff that wait for a carry */
    uint8_t cache;
    bool begun;
    uint8_t *bytes; /* writing */
    int64_t used, room;
    const uint8_t *at, *end; /* reading */
    int64_t missing;
    hu_error *err;
};

/* ---- the scale ------------------------------------------------------------------------------------------------------------ */

/* The greatest r with r - lo <= e lo stands for lo; the cell goes on while v - r <= e v. */
static hu_status make_scale(scale *s, int64_t parts, hu_error *err)
{
    const int64_t most = INT64_MAX / 4;
    int64_t room = 0, room_2 = 0, lo = 0;
    while (lo < most) {
        int64_t r = lo + (int64_t)((__int128)lo * parts / HU_TIMES_MILLION);
        __int128 hi = (__int128)r * HU_TIMES_MILLION / (HU_TIMES_MILLION - parts);
        if (hi > most) hi = most;
        if (hu_grow((void **)&s->least, &room, s->cells + 2, sizeof *s->least, "a scale", err) || hu_grow((void **)&s->stands, &room_2, s->cells + 1, sizeof *s->stands, "a scale", err))
            return err->status;
        s->least[s->cells] = lo;
        s->stands[s->cells++] = r;
        lo = (int64_t)hi + 1;
    }
    s->least[s->cells] = lo;
    while ((1 << s->bits) < s->cells) s->bits++;
    s->adaptive = s->bits < ADAPTIVE_BITS ? s->bits : ADAPTIVE_BITS;
    return HU_OK;
}

static int32_t cell_of(const scale *s, int64_t value)
{
    int32_t from = 0, to = s->cells;
    while (to - from > 1) {
        int32_t middle = from + (to - from) / 2;
        if (s->least[middle] <= value) from = middle;
        else to = middle;
    }
    return from;
}

/* ---- the range coder -------------------------------------------------------------------------------------------------------- */

static void put_byte(hu_times *t, uint8_t byte)
{
    if (t->used == t->room && hu_grow((void **)&t->bytes, &t->room, t->used + 1, 1, "times", t->err)) return;
    t->bytes[t->used++] = byte;
}

static void shift_low(hu_times *t)
{
    if ((uint32_t)t->low < 0xff000000u || t->low >> 32) {
        uint8_t carry = (uint8_t)(t->low >> 32);
        if (t->begun) put_byte(t, (uint8_t)(t->cache + carry));
        for (; t->pending > 0; t->pending--) put_byte(t, (uint8_t)(0xff + carry));
        t->begun = true;
        t->cache = (uint8_t)(t->low >> 24);
    } else {
        t->pending++;
    }
    t->low = (t->low & 0x00ffffffu) << 8;
}

static void put_bit(hu_times *t, uint32_t one, int bit)
{
    uint32_t bound = (uint32_t)((uint64_t)t->range * one >> 16);
    if (bit) {
        t->range = bound;
    } else {
        t->low += bound;
        t->range -= bound;
    }
    while (t->range < 1u << 24) {
        t->range <<= 8;
        shift_low(t);
    }
}

static uint8_t take_byte(hu_times *t)
{
    if (t->at < t->end) return *t->at++;
    t->missing++;
    return 0;
}

static int get_bit(hu_times *t, uint32_t one)
{
    uint32_t bound = (uint32_t)((uint64_t)t->range * one >> 16);
    int bit = t->code < bound;
    if (bit) {
        t->range = bound;
    } else {
        t->code -= bound;
        t->range -= bound;
    }
    while (t->range < 1u << 24) {
        t->range <<= 8;
        t->code = t->code << 8 | take_byte(t);
    }
    return bit;
}

/* Bits as they are, the highest first. */
static void put_plain(hu_times *t, uint64_t value, int bits)
{
    while (bits-- > 0) put_bit(t, 1u << 15, (int)(value >> bits & 1));
}

static uint64_t get_plain(hu_times *t, int bits)
{
    uint64_t value = 0;
    while (bits-- > 0) value = value << 1 | (uint64_t)get_bit(t, 1u << 15);
    return value;
}

/* A number below n, all alike: the top 16 bits of the span by a division of the range, the rest as they are. */
static int plain_bits(uint64_t n)
{
    int bits = 0;
    while ((n - 1) >> bits >> 12) bits++;
    return bits;
}

static void put_uniform(hu_times *t, uint64_t value, uint64_t n)
{
    int bits = plain_bits(n);
    uint32_t tops = (uint32_t)((n - 1) >> bits) + 1, part = t->range / tops;
    t->low += (uint64_t)part * (uint32_t)(value >> bits);
    t->range = part;
    while (t->range < 1u << 24) {
        t->range <<= 8;
        shift_low(t);
    }
    put_plain(t, value, bits);
}

static uint64_t get_uniform(hu_times *t, uint64_t n)
{
    int bits = plain_bits(n);
    uint32_t tops = (uint32_t)((n - 1) >> bits) + 1, part = t->range / tops, top = t->code / part;
    if (top >= tops) top = tops - 1; /* damaged bytes */
    t->code -= top * part;
    t->range = part;
    while (t->range < 1u << 24) {
        t->range <<= 8;
        t->code = t->code << 8 | take_byte(t);
    }
    uint64_t value = (uint64_t)top << bits | get_plain(t, bits);
    return value < n ? value : n - 1;
}

/* ---- models ------------------------------------------------------------------------------------------------------------------- */

/* The mean of two models, each weighed by what it has seen; never certain. */
static uint32_t mean(const hu_times *t, const model *a, const model *b)
{
    uint32_t wa = 1u + a->count, wb = 1u + FINER_WEIGHT * b->count;
    uint32_t one = (uint32_t)((uint64_t)(a->one * wa + b->one * wb) * t->share[wa + wb] >> 32);
    return one < 32 ? 32 : one > 65504 ? 65504 : one;
}

static void learn(const hu_times *t, model *m, int bit)
{
    int32_t surprise = (bit ? 65535 : 0) - m->one;
    m->one = (uint16_t)(m->one + (int32_t)((int64_t)surprise * t->step[m->count] / 65536));
    if (m->count < LIMIT) m->count++;
}

static void put_cell(hu_times *t, const scale *s, model *a, model *b, int32_t cell)
{
    uint32_t node = 1;
    for (int k = s->bits - 1; k >= s->bits - s->adaptive; k--) {
        int bit = cell >> k & 1;
        put_bit(t, mean(t, &a[node], &b[node]), bit);
        learn(t, &a[node], bit);
        if (a != b) learn(t, &b[node], bit);
        node = node << 1 | (uint32_t)bit;
    }
    put_plain(t, (uint64_t)cell, s->bits - s->adaptive); /* the lowest bits */
}

static int32_t get_cell(hu_times *t, const scale *s, model *a, model *b)
{
    uint32_t node = 1;
    for (int k = 0; k < s->adaptive; k++) {
        int bit = get_bit(t, mean(t, &a[node], &b[node]));
        learn(t, &a[node], bit);
        if (a != b) learn(t, &b[node], bit);
        node = node << 1 | (uint32_t)bit;
    }
    int32_t cell = (int32_t)((node - (1u << s->adaptive)) << (s->bits - s->adaptive) | (uint32_t)get_plain(t, s->bits - s->adaptive));
    return cell < s->cells ? cell : s->cells - 1;
}

static hu_status new_models(int64_t contexts, const scale *s, model **ret_models, hu_error *err)
{
    int64_t n = contexts << s->adaptive;
    if (hu_alloc(n, sizeof(model), "models of times", (void **)ret_models, err)) return err->status;
    for (int64_t i = 0; i < n; i++) (*ret_models)[i] = (model){1 << 15, 0};
    return HU_OK;
}

static uint32_t mix(uint32_t context, uint32_t n)
{
    return (uint32_t)((uint64_t)context * 0x9e3779b97f4a7c15u >> 40) & (n - 1);
}

/* ---- values ----------------------------------------------------------------------------------------------------------------------- */

static void begin(hu_times *t)
{
    t->low = 0;
    t->range = 0xffffffffu;
    t->pending = 0;
    t->begun = false;
    t->used = 0;
}

hu_status hu_times_new(int32_t parts, hu_times **ret_times, hu_error *err)
{
    hu_times *t = *ret_times = calloc(1, sizeof *t);
    if (!t) return hu_fail(err, HU_SYSTEM, "out of memory");
    t->exact = parts == 0;
    t->err = err;
    for (int i = 0; i <= LIMIT; i++) t->step[i] = (uint16_t)(65536 * 2 / (2 * i + 3));
    if (make_scale(&t->scale[0], parts ? parts : EXACT_PARTS, err) == HU_OK && make_scale(&t->scale[1], EXACT_PARTS, err) == HU_OK &&
        new_models(CONTEXTS, &t->scale[0], &t->coarse, err) == HU_OK && new_models(FINER, &t->scale[0], &t->fine, err) == HU_OK) new_models(CONTEXTS, &t->scale[1], &t->own, err);
    for (int i = 2; i < WEIGHTS; i++) t->share[i] = (uint32_t)((1ull << 32) / (uint32_t)i + 1);
    for (int i = 0; i < 8; i++) t->flag[i] = (model){1 << 15, 0};
    begin(t);
    if (!err->status) return HU_OK;
    hu_times_free(t);
    *ret_times = NULL;
    return err->status;
}

void hu_times_free(hu_times *times)
{
    if (!times) return;
    for (int i = 0; i < 2; i++) hu_free(times->scale[i].least), hu_free(times->scale[i].stands);
    hu_free(times->coarse);
    hu_free(times->fine);
    hu_free(times->own);
    hu_free(times->bytes);
    free(times);
}

static void put_place(hu_times *t, const scale *s, int32_t cell, int64_t value)
{
    uint64_t n = (uint64_t)(s->least[cell + 1] - s->least[cell]);
    if (n > 1) put_uniform(t, (uint64_t)(value - s->least[cell]), n);
}

static int64_t get_place(hu_times *t, const scale *s, int32_t cell)
{
    uint64_t n = (uint64_t)(s->least[cell + 1] - s->least[cell]);
    return s->least[cell] + (n > 1 ? (int64_t)get_uniform(t, n) : 0);
}

hu_status hu_times_put(hu_times *t, uint32_t context, uint32_t finer, int64_t value, hu_error *err)
{
    const scale *s = &t->scale[0];
    if (value < 0 || value >= INT64_MAX / 4) return hu_fail(err, HU_INPUT, "a time is out of range");
    int32_t cell = cell_of(s, value);
    t->err = err;
    put_cell(t, s, t->coarse + ((size_t)mix(context, CONTEXTS) << s->adaptive), t->fine + ((size_t)mix(finer, FINER) << s->adaptive), cell);
    if (t->exact) put_place(t, s, cell, value);
    return err->status;
}

hu_status hu_times_put_exact(hu_times *t, uint32_t context, int64_t value, hu_error *err)
{
    const scale *s = &t->scale[1];
    if (value < 0 || value >= INT64_MAX / 4) return hu_fail(err, HU_INPUT, "a count is out of range");
    model *m = t->own + ((size_t)mix(context, CONTEXTS) << s->adaptive);
    int32_t cell = cell_of(s, value);
    t->err = err;
    put_cell(t, s, m, m, cell);
    put_place(t, s, cell, value);
    return err->status;
}

hu_status hu_times_put_flag(hu_times *t, int which, bool flag, hu_error *err)
{
    model *m = &t->flag[which];
    t->err = err;
    put_bit(t, mean(t, m, m), flag);
    learn(t, m, flag);
    return err->status;
}

bool hu_times_get_flag(hu_times *t, int which)
{
    model *m = &t->flag[which];
    bool flag = get_bit(t, mean(t, m, m));
    learn(t, m, flag);
    return flag;
}

hu_status hu_times_finish(hu_times *t, const uint8_t **ret_bytes, int64_t *ret_size, hu_error *err)
{
    t->err = err;
    for (int i = 0; i < 5; i++) shift_low(t);
    int64_t size = t->used;
    while (size > 0 && t->bytes[size - 1] == 0) size--; /* zero bytes come behind the end by themselves */
    *ret_bytes = t->bytes;
    *ret_size = size;
    begin(t);
    return err->status;
}

int64_t hu_times_size(const hu_times *t)
{
    return t->used;
}

void hu_times_start(hu_times *t, const uint8_t *bytes, int64_t size)
{
    t->at = bytes;
    t->end = bytes + size;
    t->missing = 0;
    t->range = 0xffffffffu;
    t->code = 0;
    for (int i = 0; i < 4; i++) t->code = t->code << 8 | take_byte(t);
}

int64_t hu_times_get(hu_times *t, uint32_t context, uint32_t finer)
{
    const scale *s = &t->scale[0];
    int32_t cell = get_cell(t, s, t->coarse + ((size_t)mix(context, CONTEXTS) << s->adaptive), t->fine + ((size_t)mix(finer, FINER) << s->adaptive));
    return t->exact ? get_place(t, s, cell) : s->stands[cell];
}

int64_t hu_times_get_exact(hu_times *t, uint32_t context)
{
    const scale *s = &t->scale[1];
    model *m = t->own + ((size_t)mix(context, CONTEXTS) << s->adaptive);
    return get_place(t, s, get_cell(t, s, m, m));
}

bool hu_times_overrun(const hu_times *t)
{
    return t->missing > 64; /* the end of a member may have lost as many zero bytes, no more */
}

int64_t hu_times_rounded(const hu_times *t, int64_t value)
{
    return t->exact ? value : t->scale[0].stands[cell_of(&t->scale[0], value)];
}
