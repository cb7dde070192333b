/* SPDX-License-Identifier: MIT */
/*
 * The document as a whole: finds providers and has their parts read in the order in which they refer to
 * each other, whatever their order in the file.
 */
#include "schema/manifest/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"

#define WINMETA_NAMESPACE "http://manifests.microsoft.com/win/2004/08/windows/events"

int etw_manifest_refuse(struct manifest_reader *reader, const struct etw_xml_element *element,
			const char *field, const char *sentence)
{
	return etw_fault_set(reader->reterr, -EBADMSG, element->line, "manifest", field, sentence);
}

static uint64_t hash_symbol(const struct manifest_reader *reader, unsigned kind, const void *scope,
			    const char *name)
{
	uint64_t hash = etw_hash_mix(reader->seed + kind, (uint64_t)(uintptr_t)scope);

	return etw_hash_bytes(hash, name, strlen(name));
}

static bool is_symbol(const void *item, const void *key)
{
	const struct manifest_symbol *symbol = item;
	const struct manifest_symbol *wanted = key;

	return symbol->kind == wanted->kind && symbol->scope == wanted->scope &&
	       strcmp(symbol->name, wanted->name) == 0;
}

int etw_manifest_define(struct manifest_reader *reader, const struct manifest_symbol *symbol)
{
	uint64_t hash = hash_symbol(reader, symbol->kind, symbol->scope, symbol->name);
	struct manifest_symbol *copy;

	if (etw_table_find(&reader->symbols, hash, is_symbol, symbol))
		return MANIFEST_TAKEN;
	copy = etw_arena_copy(&reader->scratch, symbol, sizeof(*symbol));
	return copy ? etw_table_insert(&reader->symbols, hash, copy) : -ENOMEM;
}

struct manifest_symbol *etw_manifest_find(const struct manifest_reader *reader, unsigned kind,
					  const void *scope, const char *name)
{
	const struct manifest_symbol key = {.kind = kind, .scope = scope, .name = name};

	return etw_table_find(&reader->symbols, hash_symbol(reader, kind, scope, name), is_symbol,
			      &key);
}

bool etw_manifest_number(const char *text, uint64_t max, uint64_t *ret)
{
	bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *digits = is_hex ? text + 2 : text;
	const char *accepted = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
	unsigned long long value;

	if (!*digits || digits[strspn(digits, accepted)])
		return false;
	errno = 0;
	value = strtoull(digits, NULL, is_hex ? 16 : 10);
	if (errno || value > max)
		return false;
	*ret = value;
	return true;
}

bool etw_manifest_flag(const char *text)
{
	return text && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

const char *etw_manifest_winmeta(const struct manifest_reader *reader, const char *name)
{
	size_t bytes = reader->winmeta_bytes;

	if (strncmp(name, reader->winmeta, bytes) != 0 || name[bytes] != ':')
		return NULL;
	return name + bytes + 1;
}

int etw_manifest_keep(struct manifest_reader *reader, const char *text, const char **ret)
{
	*ret = text ? etw_arena_strdup(reader->arena, text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
}

int etw_manifest_keep_attribute(struct manifest_reader *reader,
				const struct etw_xml_element *element, const char *name,
				const char **ret)
{
	return etw_manifest_keep(reader, etw_xml_attribute(element, name), ret);
}

static int compare_keys(const void *left, const void *right)
{
	const struct manifest_key *a = left;
	const struct manifest_key *b = right;
	int order = a->text && b->text ? strcmp(a->text, b->text) : 0;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (order)
		return order;
	return a->order < b->order ? -1 : a->order > b->order;
}

void etw_manifest_sort(struct manifest_key *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		keys[i].order = i;
	if (count)
		qsort(keys, count, sizeof(*keys), compare_keys);
}

static void set_winmeta(struct manifest_reader *reader, const char *prefix)
{
	reader->winmeta = prefix;
	reader->winmeta_bytes = strlen(prefix);
}

/* Nearly everyone calls the prefix "win"; the binding may stand on any element around the provider. */
static void find_winmeta(struct manifest_reader *reader, const struct etw_xml_element *element)
{
	for (; element; element = element->parent) {
		for (size_t i = 0; i < element->attribute_count; i++) {
			const struct etw_xml_attribute *attribute = &element->attributes[i];

			if (strncmp(attribute->name, "xmlns:", 6) == 0 &&
			    strcmp(attribute->value, WINMETA_NAMESPACE) == 0) {
				set_winmeta(reader, attribute->name + 6);
				return;
			}
		}
	}
	set_winmeta(reader, "win");
}

static int read_guids(struct manifest_reader *reader, const struct etw_xml_element *element)
{
	const struct etw_xml_element *traits = etw_xml_first(element, "traits");
	const char *guid = etw_xml_attribute(element, "guid");
	const char *control_guid = etw_xml_attribute(element, "controlGuid");
	const char *group_guid = traits ? etw_xml_attribute(traits, "groupGuid") : NULL;

	if (!guid)
		return etw_manifest_refuse(reader, element, "guid", "a provider has no guid");
	if (etw_guid_parse(guid, &reader->schema->guid) < 0)
		return etw_manifest_refuse(reader, element, "guid",
					   "the guid of a provider is malformed");
	/* These matter to controllers only. */
	if (control_guid && etw_guid_parse(control_guid, &reader->schema->control_guid) < 0)
		TRY(etw_manifest_complain(reader, element, "a controlGuid is malformed",
					  control_guid));
	if (group_guid && etw_guid_parse(group_guid, &reader->schema->group_guid) < 0)
		TRY(etw_manifest_complain(reader, traits, "a groupGuid is malformed", group_guid));
	return 0;
}

static int read_texts(struct manifest_reader *reader, const struct etw_xml_element *element)
{
	struct etw_provider_schema *schema = reader->schema;

	TRY(etw_manifest_keep_attribute(reader, element, "name", &schema->name));
	TRY(etw_manifest_keep_attribute(reader, element, "symbol", &schema->symbol));
	TRY(etw_manifest_keep_attribute(reader, element, "resourceFileName",
					&schema->resource_file));
	TRY(etw_manifest_keep_attribute(reader, element, "messageFileName", &schema->message_file));
	TRY(etw_manifest_keep_attribute(reader, element, "parameterFileName",
					&schema->parameter_file));
	TRY(etw_manifest_keep_attribute(reader, element, "helpLink", &schema->help_link));
	return etw_manifest_message(reader, element, &schema->message);
}

static int read_provider(struct manifest_reader *reader, const struct etw_xml_element *element,
			 struct etw_provider_schema *schema)
{
	reader->provider = element;
	reader->schema = schema;
	reader->levels = reader->tasks = reader->opcodes = reader->keywords =
		(struct manifest_names){0};
	reader->channels = (struct manifest_channels){0};
	schema->source = DecodingSourceXMLFile;
	find_winmeta(reader, element);
	TRY(read_guids(reader, element));
	TRY(read_texts(reader, element));
	TRY(etw_manifest_check_provider(reader));
	TRY(etw_manifest_read_channels(reader));
	TRY(etw_manifest_read_names(reader));
	TRY(etw_manifest_read_maps(reader));
	TRY(etw_manifest_read_pattern_maps(reader));
	TRY(etw_manifest_read_templates(reader));
	TRY(etw_manifest_read_filters(reader));
	TRY(etw_manifest_read_events(reader));
	return etw_manifest_finish_names(reader);
}

/* The next provider of the document in `instrumentation/events`; @after: the last one, or NULL. */
static const struct etw_xml_element *next_provider(const struct etw_xml_element *root,
						   const struct etw_xml_element *after)
{
	const struct etw_xml_element *instrumentation, *events, *provider;

	if (after) {
		provider = etw_xml_next(after, "provider");
		events = after->parent;
		instrumentation = events->parent;
	} else {
		instrumentation = etw_xml_first(root, "instrumentation");
		events = instrumentation ? etw_xml_first(instrumentation, "events") : NULL;
		provider = events ? etw_xml_first(events, "provider") : NULL;
	}
	while (!provider && instrumentation) {
		events = events ? etw_xml_next(events, "events") : NULL;
		if (!events) {
			instrumentation = etw_xml_next(instrumentation, "instrumentation");
			events = instrumentation ? etw_xml_first(instrumentation, "events") : NULL;
		}
		provider = events ? etw_xml_first(events, "provider") : NULL;
	}
	return provider;
}

static int keep_complaints(struct manifest_reader *reader, struct etw_definition *definition)
{
	definition->complaint_total = reader->complaint_total;
	if (!reader->complaint_count)
		return 0;
	definition->complaints =
		etw_arena_copy(reader->arena, reader->complaints,
			       reader->complaint_count * sizeof(*reader->complaints));
	definition->complaint_count = reader->complaint_count;
	return definition->complaints ? 0 : -ENOMEM;
}

static int read_document(struct manifest_reader *reader, const struct etw_xml_element *root,
			 struct etw_definition **ret)
{
	const struct etw_xml_element *element = NULL;
	struct etw_definition *definition;
	size_t count = 0;

	/* Windows' own components keep theirs in the manifest of an assembly. */
	if (strcmp(root->name, "instrumentationManifest") != 0 &&
	    strcmp(root->name, "assembly") != 0)
		return etw_manifest_refuse(reader, root, NULL,
					   "the document is not an instrumentation manifest");
	while ((element = next_provider(root, element)))
		count++;
	TRY(etw_definition_create(reader->arena, count, &definition));
	TRY(etw_manifest_read_strings(reader, root));
	while ((element = next_provider(root, element))) {
		struct etw_provider_schema *provider =
			&definition->providers[definition->provider_count++];

		TRY(read_provider(reader, element, provider));
		definition->schema_count += provider->schema_count;
	}
	TRY(keep_complaints(reader, definition));
	*ret = definition;
	return 0;
}

int etw_manifest_parse(struct etw_arena *arena, const char *text, size_t bytes,
		       struct etw_definition **ret, struct etw_fault *reterr)
{
	struct etw_arena_mark mark = etw_arena_mark(arena);
	struct manifest_reader reader = {.arena = arena, .seed = etw_hash_seed(), .reterr = reterr};
	struct etw_xml_element *root;
	int r;

	r = etw_xml_parse(&reader.scratch, text, bytes, &root, reterr);
	if (r == 0)
		r = read_document(&reader, root, ret);
	etw_table_done(&reader.symbols);
	etw_text_done(&reader.text);
	etw_arena_done(&reader.scratch);
	if (r < 0)
		etw_arena_release(arena, mark);
	return r;
}
