/* SPDX-License-Identifier: MIT */
#include "tools/common/conflict.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/layout.h"
#include "tools/common/program.h"

#define RULE                                                                                      \
	"each event takes the one that uses up its bytes, of those the one that says more about " \
	"it"

void etw_conflicts_done(struct etw_conflicts *conflicts)
{
	free(conflicts->at);
	*conflicts = (struct etw_conflicts){0};
}

static bool has_other_name(const char *name, const char *other)
{
	return name && *name && other && *other && strcmp(name, other) != 0;
}

void etw_conflict_tell(const GUID *guid, const char *path, const char *name, const char *other_path,
		       const char *other_name)
{
	char text[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(guid, text);
	if (has_other_name(name, other_name))
		etw_program_message(
			"warning: %s and %s both define the provider %s, as %s and as %s; " RULE,
			other_path, path, text, other_name, name);
	else
		etw_program_message(
			"warning: %s and %s both define the provider %s, with different fields "
			"of events; " RULE,
			other_path, path, name && *name ? name : text);
}

/* Events of manifests are sorted by id; equal ones in the order of the definition. */
static bool has_other_fields(const struct etw_provider_schema *left,
			     const struct etw_provider_schema *right)
{
	for (size_t i = 0, j = 0; i < left->schema_count && j < right->schema_count;) {
		const struct etw_schema *a = &left->schemas[i], *b = &right->schemas[j];

		if (a->descriptor.Id != b->descriptor.Id) {
			a->descriptor.Id < b->descriptor.Id ? i++ : j++;
			continue;
		}
		for (size_t k = j; k < right->schema_count; k++) {
			const struct etw_schema *other = &right->schemas[k];

			if (other->descriptor.Id != a->descriptor.Id)
				break;
			if (other->descriptor.Version == a->descriptor.Version &&
			    !etw_layout_equal(a, other))
				return true;
		}
		i++;
	}
	return false;
}

static struct etw_conflict_provider *find(const struct etw_conflicts *conflicts, const GUID *guid)
{
	for (size_t i = 0; i < conflicts->count; i++) {
		if (etw_guid_equal(&conflicts->at[i].schema->guid, guid))
			return &conflicts->at[i];
	}
	return NULL;
}

static int add(struct etw_conflicts *conflicts, const char *path,
	       const struct etw_provider_schema *schema)
{
	struct etw_conflict_provider *grown;

	grown = reallocarray(conflicts->at, conflicts->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	conflicts->at = grown;
	grown[conflicts->count++] = (struct etw_conflict_provider){schema, path, false};
	return 0;
}

int etw_conflicts_add(struct etw_conflicts *conflicts, const char *path,
		      const struct etw_definition *definition)
{
	for (size_t i = 0; i < definition->provider_count; i++) {
		const struct etw_provider_schema *schema = &definition->providers[i];
		struct etw_conflict_provider *before = find(conflicts, &schema->guid);

		/* Classes of MOF and sources of WPP are spread over files on purpose. */
		if (schema->source != DecodingSourceXMLFile || !schema->schema_count)
			continue;
		if (!before) {
			TRY(add(conflicts, path, schema));
			continue;
		}
		if (before->is_told || (!has_other_name(schema->name, before->schema->name) &&
					!has_other_fields(before->schema, schema)))
			continue;
		before->is_told = true;
		etw_conflict_tell(&schema->guid, path, schema->name, before->path,
				  before->schema->name);
	}
	return 0;
}
