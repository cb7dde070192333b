/* SPDX-License-Identifier: MIT */
#include "schema/provider_id.h"

#include <errno.h>

#include "base/guid.h"
#include "base/guid_name.h"
#include "schema/provider_names.h"

int etw_provider_id_find(const char *text, GUID *ret)
{
	if (!etw_guid_parse(text, ret))
		return 0;
	if (text[0] == '*')
		return text[1] ? etw_guid_of_name(text + 1, ret) : -EINVAL;
	/* Braces are a GUID's: one that was copied badly must not be taken for a name that nobody has. */
	if (!text[0] || text[0] == '{')
		return -EINVAL;
	if (etw_provider_guid_find(text, ret) == 0)
		return 0;
	return etw_guid_of_name(text, ret);
}
