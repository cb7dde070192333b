/* SPDX-License-Identifier: MIT */
/*
 * Data buffers as compressed files have them: the header as it is, but for sizes and the flag, and the events behind it as
 * one XPRESS stream. A buffer that does not shrink is stored as it is, without the flag and without its fill.
 * Source: docs/format/etl.md "Compressed buffers".
 */
#ifndef ETW_ETL_PACKER_H
#define ETW_ETL_PACKER_H

#include <stdint.h>

/* The memory that packing takes. */
struct etw_etl_packer;

/* etw_etl_packer_create() - for buffers of up to @buffer_bytes. Returns 0 or -ENOMEM. */
int etw_etl_packer_create(uint32_t buffer_bytes, struct etw_etl_packer **ret);

/* etw_etl_packer_free() - takes NULL. */
void etw_etl_packer_free(struct etw_etl_packer *packer);

/*
 * etw_etl_packer_pack() - the form of a sealed buffer; the same for the same buffer.
 *
 * @ret: what is to be written; the packer's, until its next use
 *
 * Returns how many bytes that is.
 */
uint32_t etw_etl_packer_pack(struct etw_etl_packer *packer, const uint8_t *buffer,
			     const uint8_t **ret);

#endif
