/* SPDX-License-Identifier: MIT */
#include "tools/wevtutil/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "tools/common/program.h"

struct wevtutil_name wevtutil_name_of(const char *word)
{
	struct wevtutil_name name = {.word = word};

	name.is_guid = etw_guid_parse(word, &name.guid) == 0;
	return name;
}

bool wevtutil_is_listed(const struct etw_registry_row *row)
{
	return row->role == WIRE_REGISTRY_PROVIDER || row->source == DecodingSourceWPP;
}

bool wevtutil_is_called(const struct etw_registry_row *row, const struct wevtutil_name *name)
{
	if (!wevtutil_is_listed(row))
		return false;
	return name->is_guid ? etw_guid_equal(&row->guid, &name->guid)
			     : row->name && !strcasecmp(row->name, name->word);
}

/* The first one decides which GUID is meant, the last one of that GUID counts. */
static bool find_role(const struct etw_registry *registry, const struct wevtutil_name *name,
		      enum wire_registry_role role, struct etw_registry_entry *ret)
{
	bool is_found = false;

	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_entry entry = etw_registry_entry(registry, i);

		if (entry.row.role != role)
			continue;
		if (is_found ? !etw_guid_equal(&entry.row.guid, &ret->row.guid)
			     : !wevtutil_is_called(&entry.row, name))
			continue;
		*ret = entry;
		is_found = true;
	}
	return is_found;
}

bool wevtutil_find(const struct etw_registry *registry, const char *word,
		   struct etw_registry_entry *ret)
{
	const struct wevtutil_name name = wevtutil_name_of(word);

	return find_role(registry, &name, WIRE_REGISTRY_PROVIDER, ret) ||
	       find_role(registry, &name, WIRE_REGISTRY_EVENTS, ret);
}

void wevtutil_find_hint(const struct etw_registry *registry, const char *word,
			struct etw_text *text)
{
	size_t count = etw_registry_count(registry), listed = 0;
	CLEANUP(freep) const char **names = calloc(count + 1, sizeof(*names));
	const char *nearest = NULL;

	for (size_t i = 0; names && i < count; i++) {
		const struct etw_registry_row row = etw_registry_entry(registry, i).row;

		if (wevtutil_is_listed(&row) && row.name)
			names[listed++] = row.name;
	}
	if (names)
		nearest = etw_program_nearest(word, names, listed);
	if (nearest)
		etw_text_printf(text, "; did you mean %s?", nearest);
	else
		etw_text_puts(text, "; wevtutil ep names what is");
}
