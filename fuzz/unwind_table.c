/* SPDX-License-Identifier: MIT */
/*
 * Unwind tables of any bytes give a rule or none, and nothing outside of their object is read.
 * Input: u32 place of the table, then the object; the addresses that are asked for are around it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/unwind.h"
#include "target.h"

#define CODE_BYTES 16384 /* around the object, where its code may be */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct etw_unwind_object object;
	struct etw_unwind_rule rule;
	uint8_t *copy;
	size_t bytes;

	if (size < 5)
		return 0;
	bytes = size - 4;
	copy = malloc(bytes);
	CHECK(copy);
	memcpy(copy, data + 4, bytes);
	object = (struct etw_unwind_object){
		.start = (uintptr_t)copy,
		.end = (uintptr_t)copy + bytes,
		.table = copy + etw_load32(data) % bytes,
	};
	for (size_t i = 0; i < 160; i++) {
		uintptr_t pc = object.start - CODE_BYTES / 2 + i * (CODE_BYTES / 160);

		if (etw_unwind_find_rule(&object, pc, &rule))
			CHECK(rule.cfa.kind <= ETW_UNWIND_NONE);
	}
	free(copy);
	return 0;
}
