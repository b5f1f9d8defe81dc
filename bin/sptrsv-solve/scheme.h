/* scheme.h: the CPU scheme space of sptrsv-solve (after AG-SpTRSV's prepare, transform and schedule stages; the GPU part of the
 * space comes with the GPU back end). Every dimension can be set with --scheme=KEY:VALUE,... and every scheme gives the same bits
 * in double precision, but for `arith:divide`.
 *
 *   kind    serial   steps in natural order, one thread
 *           level    one thread, steps sorted by level set
 *           barrier  level sets with a barrier after each (the textbook's; kept as the yardstick)
 *           task     point-to-point task graph with transitive reduction
 *           grid     structured grid without indices (grid.h)
 *   arith   fold     rows scaled by the reciprocal diagonal beforehand; divide: a division a row
 *   node    what a vertex of the coarsened graph is: row, chain (a run of rows each of which refers to the one before, at most `rows`),
 *           block (`rows` rows in natural order)
 *   rows    most rows a node (1 .. 65536)
 *   merge   level sets with less work than this many entries are merged and given to one thread (0: none)
 *   index   32, or 16: columns as 16-bit differences where they fit
 *   super   0, or 1: runs of rows with the same pattern are worked as dense blocks
 *   fat     kinds serial and level: rows with more entries than this, and more than a chunk, are shared by the threads (0: never). Long
 *           rows are summed in fixed chunks in every scheme, so that sharing does not change bits
 *   rhs     right-hand sides a pass: 1, 4, 8 or 16
 *   tile    grid only: line (serial lines, interleaved) or slab (lines in slabs over the threads, pipelined)
 */
#ifndef SPTRSV_SCHEME_H
#define SPTRSV_SCHEME_H

#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { SPTRSV_SERIAL, SPTRSV_LEVEL, SPTRSV_BARRIER, SPTRSV_TASK, SPTRSV_GRID } sptrsv_kind;
typedef enum { SPTRSV_FOLD, SPTRSV_DIVIDE } sptrsv_arith;
typedef enum { SPTRSV_NODE_ROW, SPTRSV_NODE_CHAIN, SPTRSV_NODE_BLOCK } sptrsv_node;
typedef enum { SPTRSV_TILE_LINE, SPTRSV_TILE_SLAB } sptrsv_tile;
typedef enum { SPTRSV_F64, SPTRSV_F32, SPTRSV_MIXED } sptrsv_precision; /* mixed: values stored as float, arithmetic in double */

typedef struct {
    sptrsv_kind kind;
    sptrsv_arith arith;
    sptrsv_node node;
    int32_t rows;
    int32_t merge;
    int index; /* 16 or 32 */
    bool super;
    int32_t fat;
    int rhs; /* 1, 4, 8, 16 */
    sptrsv_tile tile;
} sptrsv_scheme;

/* f64, f32 or mixed: the option without its dashes, and the column of tables. */
const char *sptrsv_precision_name(sptrsv_precision precision);
const char *sptrsv_kind_word(sptrsv_kind kind);
const char *sptrsv_node_word(sptrsv_node node);
const char *sptrsv_tile_word(sptrsv_tile tile);

/* Changes what text ("kind:task,node:chain,rows:64") names in *scheme and leaves the rest as it is. HU_USAGE names the word that is wrong
 * and what is allowed. */
hu_status sptrsv_scheme_parse(const char *text, sptrsv_scheme *scheme, hu_error *err);

/* The full text of a scheme, which reads back to it; also the scheme column of --bench and --report. */
void sptrsv_scheme_print(const sptrsv_scheme *scheme, char *ret_text, size_t size);

bool sptrsv_scheme_equal(const sptrsv_scheme *a, const sptrsv_scheme *b);

#ifdef __cplusplus
}
#endif
#endif
