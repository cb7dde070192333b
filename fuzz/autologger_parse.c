/* SPDX-License-Identifier: MIT */
/*
 * A configuration file of any bytes gives a session that can be asked for, or a fault with the line it is in.
 * Input: the text of the file.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <evntrace.h>

#include "autologger/config.h"
#include "base/guid.h"
#include "target.h"
#include "wire/filter_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct etw_autologger one;
	struct etw_fault fault = {0};
	uint64_t lines = 1;
	int r = etw_autologger_parse("a session", (const char *)data, bytes, &one, &fault);

	if (r < 0) {
		for (size_t i = 0; i < bytes; i++)
			lines += data[i] == '\n';
		CHECK(r == -EINVAL || r == -EFBIG || r == -ENAMETOOLONG || r == -EOPNOTSUPP);
		CHECK(fault.sentence && fault.structure && fault.offset <= lines);
		CHECK(!one.providers);
		return 0;
	}
	CHECK(!etw_guid_is_null(&one.config.guid) || one.has_guid);
	CHECK(strlen(one.config.log_file) <= WIRE_MESSAGE_NAME_MAX);
	CHECK(one.file_max <= ETW_AUTOLOGGER_FILES_MAX && one.config.clock_type <= 3);
	CHECK(!(one.config.log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE));
	CHECK(one.provider_count <= ETW_AUTOLOGGER_PROVIDERS_MAX);
	for (size_t i = 0; i < one.provider_count; i++) {
		const struct etw_autologger_filters *filters = &one.providers[i].filters;

		CHECK(wire_filter_list_check((struct etw_bytes){filters->list, filters->bytes}) ==
		      0);
	}
	etw_autologger_done(&one);
	return 0;
}
