/* SPDX-License-Identifier: MIT */
/*
 * Lines of the kernel's list of symbols of any kind are symbols within their line, or none; and what is read of one that
 * was written anew is the same. Input: the text.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kallsyms.h"
#include "target.h"

static void check_within(const char *text, const char *start, size_t bytes, size_t room)
{
	CHECK(start > text && start + bytes <= text + room);
	CHECK(strlen(start) == bytes && bytes);
}

static void check_again(const struct etw_kallsyms_line *line)
{
	char text[ETW_KALLSYMS_LINE_BYTES];
	struct etw_kallsyms_line again;

	(void)snprintf(text, sizeof(text), "%016" PRIx64 " %c %s%s%s%s\n", line->address,
		       line->type, line->name, line->owner ? "\t[" : "",
		       line->owner ? line->owner : "", line->owner ? "]" : "");
	CHECK(etw_kallsyms_parse(text, &again));
	CHECK(again.address == line->address && again.type == line->type);
	CHECK(is_same(again.name, line->name) && is_same(again.owner, line->owner));
}

/* @text: one line; the rest of its room may be anything. */
static void check_line(char *text, size_t room)
{
	struct etw_kallsyms_line line;

	if (!etw_kallsyms_parse(text, &line))
		return;
	check_within(text, line.name, line.name_bytes, room);
	CHECK(line.name_bytes < ETW_KALLSYMS_NAME_BYTES);
	if (line.owner) {
		check_within(text, line.owner, line.owner_bytes, room);
		CHECK(line.owner > line.name + line.name_bytes);
		CHECK(line.owner_bytes < ETW_KALLSYMS_OWNER_BYTES);
	}
	check_again(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	while (bytes) {
		const uint8_t *end = memchr(data, '\n', bytes);
		size_t length = end ? (size_t)(end - data) + 1 : bytes;
		char *text = malloc(length + 1);

		CHECK(text);
		memcpy(text, data, length);
		text[length] = '\0';
		check_line(text, length);
		free(text);
		data += length;
		bytes -= length;
	}
	return 0;
}
