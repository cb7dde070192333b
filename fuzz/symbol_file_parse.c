/* SPDX-License-Identifier: MIT */
/*
 * A file of any bytes gives symbols that are sound and within the image, or is refused. Input: the form (one byte), the
 * file; the image lies at 0x10000.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "wire/symbol_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct etw_symbol_range range = {0x10000, 0x100000};
	struct etw_symbol_file table;
	uint8_t *file;
	int r;

	if (!bytes)
		return 0;
	/* Memory of exactly this size, so that reading beyond it is seen. */
	file = malloc(bytes);
	CHECK(file);
	memcpy(file, data + 1, bytes - 1);
	file = realloc(file, bytes - 1 ? bytes - 1 : 1);
	CHECK(file);
	r = etw_symbol_file_parse((struct etw_bytes){file, bytes - 1},
				  (enum etw_symbol_form)(data[0] % 4), &range, &table);
	CHECK(r == 0 || r == -EBADMSG || r == -EINVAL || r == -E2BIG);
	for (uint32_t i = 0; i < table.count; i++) {
		CHECK(etw_image_symbol_is_sound(range.base, &table.at[i]));
		CHECK(table.at[i].offset < range.byte_count &&
		      table.at[i].byte_count <= range.byte_count - table.at[i].offset);
	}
	etw_symbol_file_done(&table);
	free(file);
	return 0;
}
