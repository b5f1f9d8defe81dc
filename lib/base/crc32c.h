/* crc32c.h: CRC-32C (Castagnoli, reflected polynomial 0x82F63B78, as in iSCSI, RFC 3720, ext4 and SSE4.2). */
#ifndef HU_BASE_CRC32C_H
#define HU_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of bytes that follow what `crc` stands for; 0 at the start. Uses SSE4.2 where the processor has it. */
uint32_t hu_crc32c(uint32_t crc, const void *bytes, size_t size);

/* The same by tables, for processors without; for tests. */
uint32_t hu_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

/* The CRC of A followed by B from those of A and of B, size_b bytes long. */
uint32_t hu_crc32c_join(uint32_t crc_a, uint32_t crc_b, int64_t size_b);

#endif
