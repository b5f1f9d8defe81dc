/* csv_kernel.h: the places of a CSV text where something ends, one build per instruction set. */
#ifndef HU_IO_CSV_KERNEL_H
#define HU_IO_CSV_KERNEL_H

#include "device/level.h"
#include <stdint.h>

/* Lists the offsets of all delimiters, line feeds, carriage returns, quotes and zero bytes among the n bytes at p, in order; there must be room for n. Returns their
 * number. */
HU_LEVELS(int64_t, hu_csv_marks, (const char *p, int64_t n, char delimiter, uint32_t *marks));

#endif
