/* SPDX-License-Identifier: MIT */
/*
 * Portable executables (PE32 and PE32+) as far as they hold event schemas: where the resources
 * WEVT_TEMPLATE and RT_MESSAGETABLE lie. Nothing here reads files: see schema/compiled/binary_file.h.
 */
#ifndef ETW_SCHEMA_PE_H
#define ETW_SCHEMA_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"

#define ETW_PE_SECTIONS_MAX  1024
#define ETW_PE_RESOURCES_MAX 4096 /* of the two kinds together */

/* Part of the file. */
struct etw_pe_resource {
	uint32_t name;     /* number; 0: it has a name instead */
	uint32_t language; /* Windows' number of it; 0: neutral */
	size_t offset;
	size_t bytes;
};

struct etw_pe {
	uint16_t machine; /* as the file says: 0x14c x86, 0x8664 x64, 0xaa64 ARM64 ... */
	bool is_64bit;
	const struct etw_pe_resource *templates; /* WEVT_TEMPLATE, in the order of the directory */
	size_t template_count;
	const struct etw_pe_resource *tables; /* RT_MESSAGETABLE */
	size_t table_count;
};

/* etw_pe_is() - whether the bytes begin as such files do. */
bool etw_pe_is(struct etw_bytes file);

/*
 * etw_pe_section() - the part of the file in which the resources lie, from its first bytes.
 *
 * @head:       the beginning of the file: headers and section table must lie in it
 * @file_bytes: size of the whole file
 * @ret_bytes:  0 when the file has no resources
 *
 * For readers that do not want the whole file. Returns 0; -EBADMSG with @reterr.
 */
int etw_pe_section(struct etw_bytes head, size_t file_bytes, size_t *ret_offset, size_t *ret_bytes,
		   struct etw_fault *reterr);

/*
 * etw_pe_parse() - finds the resources of a file.
 *
 * @file: borrowed for the call
 * @ret:  its lists live in @arena; they are empty when the file has no such resources
 *
 * Returns 0; -EBADMSG with @reterr; -ENOMEM.
 */
int etw_pe_parse(struct etw_arena *arena, struct etw_bytes file, struct etw_pe *ret,
		 struct etw_fault *reterr);

#endif
