/* SPDX-License-Identifier: MIT */
/*
 * Symbols out of files of known forms, for images that a program announces. What lies in a file is hostile until it was
 * checked: limits are those of wire/image_symbols.h.
 */
#ifndef ETW_WIRE_SYMBOL_FILE_H
#define ETW_WIRE_SYMBOL_FILE_H

#include <stdint.h>

#include "base/bytes.h"
#include "wire/image_symbols.h"

enum etw_symbol_form {
	ETW_SYMBOL_FORM_ELF = 1,
	ETW_SYMBOL_FORM_PERF_MAP = 2,
	ETW_SYMBOL_FORM_JITDUMP = 3,
};

/* The image that the symbols are of. */
struct etw_symbol_range {
	uint64_t base, byte_count;
};

struct etw_symbol_file {
	struct etw_image_symbol *at; /* owned; all are sound and within the image */
	uint32_t count, room;
	char *names; /* owned: those that do not lie in the file */
};

/*
 * etw_symbol_file_parse() - takes symbols out of a file.
 *
 * @file: borrowed by the names
 * @ret:  to be done in any case
 *
 * Returns 0; -EBADMSG: damaged, or of another form; -E2BIG; -ENOMEM.
 */
int etw_symbol_file_parse(struct etw_bytes file, enum etw_symbol_form form,
			  const struct etw_symbol_range *range, struct etw_symbol_file *ret);

/* etw_symbol_file_done() - frees everything. */
void etw_symbol_file_done(struct etw_symbol_file *table);

#endif
