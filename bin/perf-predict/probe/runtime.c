/* runtime.c: the part of a probed program that keeps the operands of comparisons and writes all counters, at the end or early.
 *
 * Arcs are counted by gcov's code in the program; they are reached through the section that -fprofile-info-section names, and written by
 * __gcov_info_to_gcda() (gcc 12 and up), which takes neither memory nor locks, so that a signal may do it. Operands come from
 * -fsanitize-coverage=trace-cmp. All writing is by open(), write() and mkdir() alone.
 *
 * Sections: writing, arcs, values, taking the counters, the cut, start and end.
 */
#define _GNU_SOURCE
#define HU_PROBE_INSIDE
#include "runtime.h"

#include <fcntl.h>
#include <gcov.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

static char folder[PATH_MAX]; /* of the process; empty: nothing is kept */
static uintptr_t base;        /* where the program is loaded */
static bool is_counting;
void (*hu_probe_put_calls)(int fd);

/* ---- writing -------------------------------------------------------------------------------------------------------- */

static char buffer[1 << 16];
static size_t used;

static void flush_to(int fd)
{
    for (size_t at = 0; at < used;) {
        ssize_t n = write(fd, buffer + at, used - at);
        if (n <= 0) break; /* a short file is found by its reader */
        at += (size_t)n;
    }
    used = 0;
}

void hu_probe_write(int fd, const void *bytes, uint64_t size)
{
    const char *p = bytes;
    while (size > 0) {
        size_t part = sizeof buffer - used < size ? sizeof buffer - used : (size_t)size;
        memcpy(buffer + used, p, part);
        used += part;
        p += part;
        size -= part;
        if (used == sizeof buffer) flush_to(fd);
    }
}

static char *put_number(char *p, uint64_t v, unsigned radix)
{
    char digits[24];
    int n = 0;
    do digits[n++] = "0123456789abcdef"[v % radix];
    while (v /= radix);
    while (n > 0) *p++ = digits[--n];
    return p;
}

static int open_in(const char *part, const char *name, int how)
{
    char path[PATH_MAX + 64];
    char *p = stpcpy(path, folder);
    if (*part) p = stpcpy(stpcpy(p, "/"), part);
    stpcpy(stpcpy(p, "/"), name);
    return open(path, how | O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
}

/* A line "key value" in the file process, written at once. */
static void put_line(const char *key, const char *value)
{
    char line[PATH_MAX + 64];
    int fd = open_in("", "process", O_APPEND);
    if (fd < 0) return;
    char *end = stpcpy(stpcpy(stpcpy(stpcpy(line, key), " "), value), "\n");
    (void)!write(fd, line, (size_t)(end - line));
    close(fd);
}

static void put_number_line(const char *key, uint64_t v, unsigned radix)
{
    char text[32];
    *put_number(text, v, radix) = '\0';
    put_line(key, text);
}

/* ---- arcs ------------------------------------------------------------------------------------------------------------ */

/* The linker's names for the ends of the section hu_probe_info; absent where nothing was compiled for probing. */
extern const struct gcov_info *const __start_hu_probe_info[] __attribute__((weak));
extern const struct gcov_info *const __stop_hu_probe_info[] __attribute__((weak));

static int list_fd, data_fd;
static unsigned object;
static const char *arcs_part;

/* gcov says the name of an object's file first, then gives its bytes. */
static void begin_object(const char *path, void *unused)
{
    char name[64], line[PATH_MAX + 64];
    (void)unused;
    char *p = put_number(name, object, 10);
    strcpy(p, ".gcda");
    data_fd = open_in(arcs_part, name, O_TRUNC);
    p = stpcpy(put_number(line, object, 10), " ");
    size_t size = strnlen(path, PATH_MAX);
    memcpy(p, path, size);
    p[size] = '\n';
    (void)!write(list_fd, line, (size_t)(p + size + 1 - line));
}

static void put_bytes(const void *bytes, unsigned size, void *unused)
{
    (void)unused;
    if (data_fd >= 0) hu_probe_write(data_fd, bytes, size);
}

static void *no_memory(unsigned size, void *unused) /* asked for by kinds of counters that --coverage has not */
{
    (void)size;
    (void)unused;
    return NULL;
}

static void put_arcs(const char *part)
{
    list_fd = open_in(part, "arcs", O_TRUNC);
    if (list_fd < 0) return;
    arcs_part = part;
    object = 0;
    for (const struct gcov_info *const *info = __start_hu_probe_info; info < __stop_hu_probe_info; info++, object++) {
        data_fd = -1;
        __gcov_info_to_gcda(*info, begin_object, put_bytes, no_memory, NULL);
        if (data_fd < 0) continue;
        flush_to(data_fd);
        close(data_fd);
    }
    close(list_fd);
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

enum { PLACES = 8192 };

/* One a thread: a hash table with open addressing. */
typedef struct table {
    struct table *next;
    uint64_t places, lost; /* lost: hits of places for which there was no room */
    hu_probe_value value[PLACES];
    bool is_cut[PLACES];
} table;

static table *tables;
static __thread table *mine;
static char none; /* its address stands for the table of a thread that got no memory */

static table *open_table(void)
{
    table *t = is_counting ? mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (t == MAP_FAILED) return mine = (table *)(void *)&none;
    t->next = __atomic_load_n(&tables, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&tables, &t->next, t, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
    return mine = t;
}

static bool in_cut(uint64_t place);
static void reach_cut(const hu_probe_value *v);

static size_t find_place(table *t, uint64_t place, uint64_t kind)
{
    size_t i = (size_t)((place * 0x9e3779b97f4a7c15u) >> 51) % PLACES;
    while (t->value[i].place != place) {
        if (t->value[i].place == 0) {
            if (2 * t->places >= PLACES) return PLACES;
            t->places++;
            t->value[i] = (hu_probe_value){.place = place, .kind = kind, .least = {__builtin_inf(), __builtin_inf()}, .most = {-__builtin_inf(), -__builtin_inf()}};
            t->is_cut[i] = in_cut(place);
            break;
        }
        i = (i + 1) % PLACES;
    }
    return i;
}

static inline void note_side(hu_probe_value *v, int side, double x)
{
    v->last[side] = x;
    v->sum[side] += x;
    if (x < v->least[side]) v->least[side] = x;
    if (x > v->most[side]) v->most[side] = x;
}

static inline void note(const void *from, uint64_t kind, double left, double right)
{
    table *t = mine ? mine : open_table();
    if ((void *)t == &none) return;
    size_t i = find_place(t, (uint64_t)((uintptr_t)from - base), kind);
    if (i == PLACES) {
        t->lost++;
        return;
    }
    hu_probe_value *v = &t->value[i];
    v->hits++;
    note_side(v, 0, left);
    note_side(v, 1, right);
    if (t->is_cut[i]) reach_cut(v);
}

#pragma GCC visibility push(default)
#define HERE __builtin_return_address(0)
#define COMPARE(name, type, number, kind)                  \
    void __sanitizer_cov_trace_##name(type a, type b);     \
    void __sanitizer_cov_trace_##name(type a, type b) { note(HERE, kind, (double)(number)a, (double)(number)b); }
COMPARE(cmp1, uint8_t, int8_t, 'v')
COMPARE(cmp2, uint16_t, int16_t, 'v')
COMPARE(cmp4, uint32_t, int32_t, 'v')
COMPARE(cmp8, uint64_t, int64_t, 'v')
COMPARE(const_cmp1, uint8_t, int8_t, 'c')
COMPARE(const_cmp2, uint16_t, int16_t, 'c')
COMPARE(const_cmp4, uint32_t, int32_t, 'c')
COMPARE(const_cmp8, uint64_t, int64_t, 'c')
COMPARE(cmpf, float, float, 'v')
COMPARE(cmpd, double, double, 'v')
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases);
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases)
{
    (void)cases;
    note(HERE, 's', (double)(int64_t)value, (double)(int64_t)value);
}
#pragma GCC visibility pop

static void put_values(const char *part)
{
    uint64_t lost = 0;
    int fd = open_in(part, "values", O_TRUNC);
    if (fd < 0) return;
    hu_probe_write(fd, "hupvalu1", 8);
    for (const table *t = __atomic_load_n(&tables, __ATOMIC_ACQUIRE); t; t = t->next) {
        lost += t->lost;
        for (size_t i = 0; i < PLACES; i++)
            if (t->value[i].place) hu_probe_write(fd, &t->value[i], sizeof t->value[i]);
    }
    flush_to(fd);
    close(fd);
    if (lost) put_number_line("lost", lost, 10);
}

/* ---- taking the counters -------------------------------------------------------------------------------------------------- */

static void take(const char *part)
{
    static int busy = 0; /* one at a time: a signal may come while the other is at it */
    char path[PATH_MAX + 8];
    if (!is_counting || __atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE)) return;
    stpcpy(stpcpy(stpcpy(path, folder), "/"), part);
    if (mkdir(path, 0777) == 0) {
        put_arcs(part);
        if (tables) put_values(part);
        int fd = hu_probe_put_calls ? open_in(part, "mpi", O_TRUNC) : -1;
        if (fd >= 0) {
            hu_probe_put_calls(fd);
            flush_to(fd);
            close(fd);
        }
        put_line("written", part);
    }
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* ---- the cut --------------------------------------------------------------------------------------------------------------- */

enum { RANGES = 64 };
static struct { uint64_t low, high; } range[RANGES]; /* [ranges] addresses of the line at whose comparison the cut is */
static int ranges;
static uint64_t cut_hits;
static double cut_share; /* 0: after cut_hits hits */
static char cut_name[64];
static uint64_t cut_calls;
static int is_cut;

void hu_probe_cut_here(void)
{
    if (__atomic_exchange_n(&is_cut, 1, __ATOMIC_RELAXED) == 0) take("cut");
}

static void at_signal(int number)
{
    (void)number;
    hu_probe_cut_here();
}

static bool in_cut(uint64_t place)
{
    for (int r = 0; r < ranges; r++)
        if (place > range[r].low && place <= range[r].high) return true;
    return false;
}

static void reach_cut(const hu_probe_value *v)
{
    double a = v->last[0] < 0 ? -v->last[0] : v->last[0], b = v->last[1] < 0 ? -v->last[1] : v->last[1];
    bool is_share = a < b ? a >= cut_share * b : b >= cut_share * a;
    if (cut_share > 0 ? is_share : v->hits >= cut_hits) hu_probe_cut_here();
}

bool hu_probe_cut_call(const char *name, uint64_t *ret_n)
{
    *ret_n = cut_calls;
    return cut_calls > 0 && strcmp(cut_name, name) == 0;
}

static void start_timer(double seconds)
{
    struct sigaction action = {.sa_handler = at_signal, .sa_flags = SA_RESTART};
    int number = SIGRTMIN + 5;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
    struct itimerspec when = {.it_value = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))}};
    timer_t timer;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &when, NULL);
}

static void read_ranges(const char *text)
{
    char *end;
    double n = strtod(text, &end);
    if (*end == '%') cut_share = n / 100, end++;
    else cut_hits = (uint64_t)n;
    while (ranges < RANGES && (*end == ':' || *end == ',')) {
        range[ranges].low = strtoull(end + 1, &end, 16);
        range[ranges++].high = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
    }
}

static void read_cut(const char *cut)
{
    if (!cut) return;
    if (strncmp(cut, "time:", 5) == 0) start_timer(strtod(cut + 5, NULL));
    else if (strncmp(cut, "pc:", 3) == 0) read_ranges(cut + 3);
    else if (strncmp(cut, "call:", 5) == 0) {
        const char *colon = strchr(cut + 5, ':');
        if (!colon || (size_t)(colon - cut - 5) >= sizeof cut_name) return;
        memcpy(cut_name, cut + 5, (size_t)(colon - cut - 5));
        cut_calls = strtoull(colon + 1, NULL, 10);
    }
}

/* ---- start and end ------------------------------------------------------------------------------------------------------------ */

void hu_probe_ranks(int rank, int ranks)
{
    if (!is_counting) return;
    put_number_line("rank", (uint64_t)rank, 10);
    put_number_line("ranks", (uint64_t)ranks, 10);
}

static int find_base(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    base = info->dlpi_addr; /* the first is the program itself */
    return 1;
}

static void in_child(void) /* its counters began as its parent's */
{
    is_counting = false;
}

__attribute__((constructor(200))) static void start(void)
{
    const char *root = getenv("HU_PROBE_DIR");
    char exe[PATH_MAX], host[64] = "";
    if (!root || root[0] != '/') return;
    gethostname(host, sizeof host - 1);
    int n = snprintf(folder, sizeof folder, "%s/%s.%ld", root, host, (long)getpid());
    if (n <= 0 || (size_t)n >= sizeof folder - 32 || mkdir(folder, 0777)) return;
    ssize_t size = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[size > 0 ? size : 0] = '\0';
    dl_iterate_phdr(find_base, NULL);
    put_line("exe", exe);
    pthread_atfork(NULL, NULL, in_child);
    is_counting = true;
    read_cut(getenv("HU_PROBE_CUT"));
}

__attribute__((destructor(200))) static void end(void)
{
    take("end");
}

#pragma GCC visibility pop
