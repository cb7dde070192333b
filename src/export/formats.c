/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/macros.h"
#include "export/export.h"

static const struct etw_export_format *const formats[] = {
	&etw_export_text,
	&etw_export_json,
};

const struct etw_export_format *etw_export_format_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	}
	return NULL;
}
