/* mtx_write.c: writing Matrix Market files. Pieces are printed by all threads and written in order, so the bytes do not
 * depend on the number of threads; numbers have the fewest digits that read back to the same bits.
 */
#include "config.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "io/mtx.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>

enum { PIECE = 32768, LONGEST_ENTRY = 2 * 11 + 2 * (HU_NUMBER_SIZE + 1) };

/* What is written (csr or dense), and how far it is. */
struct writer {
    const hu_csr *csr;
    const hu_dense *dense;
    hu_output *out;
    int64_t entries, pieces;
    int64_t next_taken, next_written; /* pieces */
    pthread_mutex_t lock;
    pthread_cond_t written;
    hu_error *err;
};

/* The row that entry p stands in. */
static int64_t row_of(const hu_csr *csr, int64_t p)
{
    int64_t low = 0, high = csr->rows; /* row_ptr[low] <= p < row_ptr[high] */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (csr->row_ptr[middle] <= p) low = middle;
        else high = middle;
    }
    return low;
}

static char *print_csr(const hu_csr *csr, int64_t from, int64_t to, char *out)
{
    int64_t row = row_of(csr, from);
    for (int64_t p = from; p < to; p++) {
        while (p >= csr->row_ptr[row + 1]) row++;
        out += hu_number_print_integer(row + 1, out);
        *out++ = ' ';
        out += hu_number_print_integer(csr->col[p] + 1, out);
        *out++ = ' ';
        if (csr->is_complex) {
            out += hu_number_print(csr->val[2 * p], out);
            *out++ = ' ';
            out += hu_number_print(csr->val[2 * p + 1], out);
        } else {
            out += hu_number_print(csr->val[p], out);
        }
        *out++ = '\n';
    }
    return out;
}

static char *print_dense(const hu_dense *a, int64_t from, int64_t to, char *out)
{
    for (int64_t k = from; k < to; k++) {
        int64_t i = k % a->rows, j = k / a->rows;
        int64_t at = a->order == HU_COL_MAJOR ? i + j * a->ld : i * a->ld + j;
        if (a->scalar == HU_F64) {
            out += hu_number_print(((const double *)a->data)[at], out);
        } else if (a->scalar != HU_C128) {
            out += hu_number_print_float((float)hu_scalar_get(a->scalar, a->data, at), out);
        } else {
            out += hu_number_print(((const double *)a->data)[2 * at], out);
            *out++ = ' ';
            out += hu_number_print(((const double *)a->data)[2 * at + 1], out);
        }
        *out++ = '\n';
    }
    return out;
}

/* What each thread does: take a piece, print it, wait for its turn (asleep: on a busy machine a turn can be long),
 * write it. */
static void work(struct writer *w, char *text)
{
    pthread_mutex_lock(&w->lock);
    while (w->next_taken < w->pieces && !w->err->status) {
        int64_t piece = w->next_taken++;
        pthread_mutex_unlock(&w->lock);
        int64_t from = piece * PIECE, to = from + PIECE < w->entries ? from + PIECE : w->entries;
        const char *end = w->csr ? print_csr(w->csr, from, to, text) : print_dense(w->dense, from, to, text);
        pthread_mutex_lock(&w->lock);
        while (w->next_written != piece) pthread_cond_wait(&w->written, &w->lock);
        if (!w->err->status) hu_output_write(w->out, text, (size_t)(end - text), w->err);
        w->next_written++;
        pthread_cond_broadcast(&w->written);
    }
    pthread_mutex_unlock(&w->lock);
}

static hu_status write_entries(hu_output *out, const hu_csr *csr, const hu_dense *dense, int64_t entries, hu_error *err)
{
    struct writer w = {.csr = csr,
                       .dense = dense,
                       .out = out,
                       .entries = entries,
                       .pieces = (entries + PIECE - 1) / PIECE,
                       .err = err};
    int threads = w.pieces < hu_threads() ? (int)(w.pieces > 0 ? w.pieces : 1) : hu_threads();
    int64_t most = (entries < PIECE ? entries : PIECE) * LONGEST_ENTRY;
    void *text;
    if (hu_alloc(threads, (size_t)most, "the output text", &text, err)) return err->status;
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.written, NULL);
#pragma omp parallel num_threads(threads)
    work(&w, (char *)text + omp_get_thread_num() * most);
    pthread_cond_destroy(&w.written);
    pthread_mutex_destroy(&w.lock);
    hu_free(text);
    return err->status;
}

/* The banner and the comment, each of its lines as one. */
static hu_status write_banner(hu_output *out, const char *format, bool is_complex, const char *opt_comment,
                              hu_error *err)
{
    if (hu_output_printf(out, err, "%%%%MatrixMarket matrix %s %s general\n", format, is_complex ? "complex" : "real"))
        return err->status;
    for (const char *line = opt_comment; line && *line;) {
        size_t length = strcspn(line, "\n");
        if (hu_output_write(out, "% ", 2, err) || hu_output_write(out, line, length, err) ||
            hu_output_write(out, "\n", 1, err))
            return err->status;
        line += length + (line[length] == '\n');
    }
    return HU_OK;
}

hu_status hu_mtx_write_csr(hu_output *out, const hu_csr *csr, const char *opt_comment, hu_error *err)
{
    if (write_banner(out, "coordinate", csr->is_complex, opt_comment, err)) return err->status;
    if (hu_output_printf(out, err, "%lld %lld %lld\n", (long long)csr->rows, (long long)csr->cols, (long long)csr->nnz))
        return err->status;
    return write_entries(out, csr, NULL, csr->nnz, err);
}

hu_status hu_mtx_write_dense(hu_output *out, const hu_dense *dense, const char *opt_comment, hu_error *err)
{
    if (write_banner(out, "array", dense->scalar == HU_C128, opt_comment, err)) return err->status;
    if (hu_output_printf(out, err, "%lld %lld\n", (long long)dense->rows, (long long)dense->cols)) return err->status;
    return write_entries(out, NULL, dense, dense->rows * dense->cols, err);
}
