/* SPDX-License-Identifier: MIT */
#include "api/friendly/path.h"

#include <errno.h>
#include <etw/fields.h>
#include <stdlib.h>
#include <string.h>

#include "api/friendly/error.h"
#include "base/macros.h"

int etw_friendly_check_path(const char *path)
{
	if (path && *path && strlen(path) <= ETW_PATH_BYTES_MAX)
		return 0;
	return etw_friendly_fail(-EINVAL, "a path of a field has 1 to %d bytes",
				 ETW_PATH_BYTES_MAX);
}

int libetw_field_create(const char *path, struct libetw_field **ret)
{
	struct libetw_field *field;

	TRY(etw_friendly_check_path(path));
	field = calloc(1, sizeof(*field));
	if (field)
		field->path = strdup(path);
	if (!field || !field->path) {
		free(field);
		return etw_friendly_fail(-ENOMEM, "no memory for a field's handle");
	}
	*ret = field;
	return 0;
}

void libetw_field_free(struct libetw_field *field)
{
	if (!field)
		return;
	free(field->path);
	free(field);
}
