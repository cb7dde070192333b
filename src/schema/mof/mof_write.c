/* SPDX-License-Identifier: MIT */
/* A provider as MOF: its class, then each event class before the first of its event types. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/guid.h"
#include "base/table.h"
#include "schema/mof/mof_internal.h"
#include "schema/mof/mof_write.h"

#define STEM_BYTES_MAX 64 /* of a name that is made up */

/* An event class as it was written: what the schemas of its event types have in common. */
struct event_class {
	GUID guid;
	uint8_t version;
	const char *task_name; /* "" when there is none */
	char *name;
};

struct writer {
	struct etw_text *text;
	struct etw_arena scratch; /* owned */
	struct etw_table names;   /* char *: names of classes; owned */
	struct etw_table events;  /* struct event_class, owned */
	unsigned
		taken_count; /* of names that were made up and were taken: no number is tried twice */
	const struct etw_provider_schema *provider; /* the present one */
	struct etw_fault *reterr;
};

static int refuse(struct writer *writer, const char *field, const char *sentence)
{
	return etw_fault_set(writer->reterr, -EOPNOTSUPP, 0, "provider", field, sentence);
}

static bool is_name(const void *item, const void *key)
{
	return etw_mof_is_name(item, key);
}

static bool is_taken(const struct writer *writer, const char *name)
{
	return etw_table_find(&writer->names, etw_mof_hash_name(name), is_name, name) != NULL;
}

static int take_name(struct writer *writer, const char *name)
{
	char *copy = etw_arena_strdup(&writer->scratch, name);

	return copy ? etw_table_insert(&writer->names, etw_mof_hash_name(copy), copy) : -ENOMEM;
}

/* A free name for a class of which the model knows only what events show. */
static int invent_name(struct writer *writer, const char *stem, unsigned number, char **ret)
{
	CLEANUP(etw_text_done) struct etw_text name = {0};

	for (const char *at = stem ? stem : ""; *at && name.bytes < STEM_BYTES_MAX; at++) {
		char part[] = {'x', *at, '\0'};

		etw_text_putc(&name, !(*at & 0x80) && etw_mof_is_identifier(part) ? *at : '_');
	}
	if (!etw_mof_is_identifier(etw_text_string(&name))) {
		etw_text_clear(&name);
		etw_text_puts(&name, "Event");
	}
	etw_text_printf(&name, "_V%u", number);
	for (size_t bytes = name.bytes; !name.error && is_taken(writer, name.at);) {
		etw_text_end(&name, name.at + bytes);
		etw_text_printf(&name, "_%u", ++writer->taken_count + 1);
	}
	TRY(etw_text_error(&name));
	TRY(take_name(writer, etw_text_string(&name)));
	*ret = etw_arena_strdup(&writer->scratch, etw_text_string(&name));
	return *ret ? 0 : -ENOMEM;
}

void etw_mof_put_string(struct etw_text *text, const char *string)
{
	etw_text_putc(text, '"');
	for (; *string; string++) {
		char c = *string;

		if (c == '"' || c == '\\')
			etw_text_printf(text, "\\%c", c);
		else if ((unsigned char)c < 0x20 || c == 0x7f)
			etw_text_printf(text, "\\x%04x", (unsigned)c);
		else
			etw_text_putc(text, c);
	}
	etw_text_putc(text, '"');
}

static void put_guid(struct etw_text *text, const GUID *guid)
{
	char braced[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(guid, braced);
	etw_text_printf(text, ",\n Guid(\"%s\")", braced);
}

static void put_description(struct etw_text *text, const char *description)
{
	etw_text_puts(text, "[Dynamic");
	if (!description)
		return;
	etw_text_puts(text, ",\n Description(");
	etw_mof_put_string(text, description);
	etw_text_puts(text, ") : amended");
}

/* One of the texts of all names; nothing when one of them has none. */
static void put_named_list(struct etw_text *text, const char *qualifier,
			   const struct etw_named *named, size_t count, size_t offset)
{
	const char *separator = "";

	for (size_t i = 0; i < count; i++) {
		if (!*(const char *const *)((const char *)&named[i] + offset))
			return;
	}
	etw_text_printf(text, "%s{", qualifier);
	for (size_t i = 0; i < count; i++) {
		etw_text_puts(text, separator);
		etw_mof_put_string(text, *(const char *const *)((const char *)&named[i] + offset));
		separator = ", ";
	}
	etw_text_puts(text, "},\n     ");
}

static void put_named(struct etw_text *text, const char *property, const char *type,
		      const struct etw_named *named, size_t count)
{
	if (!count)
		return;
	etw_text_puts(text, "    [");
	put_named_list(text, "ValueDescriptions", named, count,
		       offsetof(struct etw_named, message));
	put_named_list(text, "DefineValues", named, count, offsetof(struct etw_named, symbol));
	put_named_list(text, "Values", named, count, offsetof(struct etw_named, name));
	etw_text_puts(text, "ValueMap{");
	for (size_t i = 0; i < count; i++)
		etw_text_printf(text, "%s\"0x%" PRIx64 "\"", i ? ", " : "", named[i].value);
	etw_text_printf(text, "},\n     ValueType(\"%s\")]\n    uint32 %s;\n", type, property);
}

static int write_provider(struct writer *writer)
{
	const struct etw_provider_schema *provider = writer->provider;

	if (provider->source != DecodingSourceWbem)
		return refuse(writer, NULL, "the provider's schemas are no MOF classes");
	put_description(writer->text, provider->message);
	put_guid(writer->text, &provider->guid);
	etw_text_printf(writer->text, "]\nclass %s : EventTrace\n{\n", provider->name);
	put_named(writer->text, "Flags", "flag", provider->keywords, provider->keyword_count);
	put_named(writer->text, "Level", "index", provider->levels, provider->level_count);
	etw_text_puts(writer->text, "};\n");
	return 0;
}

static bool is_event_class(const void *item, const void *key)
{
	const struct event_class *class = item;
	const struct event_class *wanted = key;

	return etw_guid_equal(&class->guid, &wanted->guid) && class->version == wanted->version &&
	       strcmp(class->task_name, wanted->task_name) == 0;
}

/* The event class for these, written when it is new. @description belongs to a new one. */
static int need_event_class(struct writer *writer, const struct event_class *wanted,
			    const char *description, const char **ret_name)
{
	uint64_t hash = etw_hash_mix(etw_guid_hash(&wanted->guid), wanted->version);
	struct event_class *class;

	hash = etw_hash_bytes(hash, wanted->task_name, strlen(wanted->task_name));
	class = etw_table_find(&writer->events, hash, is_event_class, wanted);
	if (!class) {
		class = etw_arena_copy(&writer->scratch, wanted, sizeof(*wanted));
		if (!class)
			return -ENOMEM;
		TRY(invent_name(writer, wanted->task_name, wanted->version, &class->name));
		TRY(etw_table_insert(&writer->events, hash, class));
		etw_text_putc(writer->text, '\n');
		put_description(writer->text, description);
		put_guid(writer->text, &wanted->guid);
		etw_text_printf(writer->text, ",\n EventVersion(%u),\n DisplayName(",
				wanted->version);
		etw_mof_put_string(writer->text, wanted->task_name);
		etw_text_printf(writer->text, ") : amended]\nclass %s : %s\n{\n};\n", class->name,
				writer->provider->name);
	}
	*ret_name = class->name;
	return 0;
}

struct guid_version {
	GUID guid;
	uint8_t version;
};

static bool is_guid_version(const void *item, const void *key)
{
	return etw_guid_equal(&((const struct guid_version *)item)->guid, key);
}

/* Which version of each class the schemas begin with: a class more or less is one the reader sees. */
static int index_versions(const struct etw_provider_schema *provider, struct etw_arena *scratch,
			  struct etw_table *versions)
{
	for (size_t i = 0; i < provider->schema_count; i++) {
		const struct etw_schema *schema = &provider->schemas[i];
		uint64_t hash = etw_guid_hash(&schema->event_guid);
		struct guid_version *known;

		if (etw_table_find(versions, hash, is_guid_version, &schema->event_guid))
			continue;
		known = etw_arena_alloc(scratch, sizeof(*known));
		if (!known)
			return -ENOMEM;
		*known = (struct guid_version){schema->event_guid, schema->descriptor.Version};
		TRY(etw_table_insert(versions, hash, known));
	}
	return 0;
}

/* Event classes in their order, with the description that only the first of a Guid shows. */
static int write_tasks(struct writer *writer, struct etw_table *versions)
{
	const struct etw_provider_schema *provider = writer->provider;

	TRY(index_versions(provider, &writer->scratch, versions));
	for (size_t i = 0; i < provider->task_count; i++) {
		const struct etw_task *task = &provider->tasks[i];
		const struct guid_version *known =
			etw_table_find(versions, etw_guid_hash(&task->event_guid), is_guid_version,
				       &task->event_guid);
		const struct event_class class = {task->event_guid, known ? known->version : 0,
						  task->named.name ? task->named.name : "", NULL};
		const char *unused;

		TRY(need_event_class(writer, &class, task->named.message, &unused));
	}
	return 0;
}

static void put_types(struct etw_text *text, const struct etw_schema *schemas, size_t count)
{
	etw_text_puts(text, ",\n EventType{");
	for (size_t i = 0; i < count; i++)
		etw_text_printf(text, "%s%u", i ? ", " : "", schemas[i].descriptor.Opcode);
	etw_text_putc(text, '}');
	if (!schemas[0].opcode_name)
		return;
	etw_text_puts(text, ",\n EventTypeName{");
	for (size_t i = 0; i < count && schemas[i].opcode_name; i++) {
		etw_text_puts(text, i ? ", " : "");
		etw_mof_put_string(text, schemas[i].opcode_name);
	}
	etw_text_puts(text, "} : amended");
}

/* Schemas of one class follow each other. */
static size_t count_types(const struct etw_schema *schemas, size_t count)
{
	size_t same = 1;

	while (same < count && schemas[0].symbol && schemas[same].symbol &&
	       schemas[same].fields == schemas[0].fields &&
	       strcmp(schemas[same].symbol, schemas[0].symbol) == 0)
		same++;
	return same;
}

static int name_type(struct writer *writer, const struct etw_schema *schema, const char **ret)
{
	char *invented;

	if (!schema->symbol) {
		TRY(invent_name(writer, schema->opcode_name, schema->descriptor.Opcode, &invented));
		*ret = invented;
		return 0;
	}
	*ret = schema->symbol;
	return 0;
}

static int write_types(struct writer *writer, const struct etw_schema *schemas, size_t count)
{
	const struct event_class wanted = {schemas->event_guid, schemas->descriptor.Version,
					   schemas->task_name ? schemas->task_name : "", NULL};
	const char *sentence = NULL;
	const char *event, *name;

	TRY(need_event_class(writer, &wanted, NULL, &event));
	TRY(name_type(writer, schemas, &name));
	etw_text_putc(writer->text, '\n');
	put_description(writer->text, schemas->message);
	put_types(writer->text, schemas, count);
	etw_text_printf(writer->text, "]\nclass %s : %s\n{\n", name, event);
	for (uint16_t i = 0; i < schemas->field_count && !sentence; i++)
		sentence = etw_mof_put_field(writer->text, schemas, i);
	if (sentence)
		return refuse(writer, "fields", sentence);
	etw_text_puts(writer->text, "};\n");
	return 0;
}

/* Names that are given go before names that are made up. */
static int take_symbols(struct writer *writer, const struct etw_provider_schema *provider)
{
	if (!etw_mof_is_identifier(provider->name))
		return refuse(writer, "name", "the name of the provider is no identifier");
	TRY(take_name(writer, provider->name));
	for (size_t i = 0; i < provider->schema_count;) {
		const struct etw_schema *schema = &provider->schemas[i];

		i += count_types(schema, provider->schema_count - i);
		if (!schema->symbol)
			continue;
		if (!etw_mof_is_identifier(schema->symbol))
			return refuse(writer, "symbol", "the name of a class is no identifier");
		if (is_taken(writer, schema->symbol))
			return refuse(writer, "symbol", "two classes have the same name");
		TRY(take_name(writer, schema->symbol));
	}
	return 0;
}

static int write_one(struct writer *writer, const struct etw_provider_schema *provider)
{
	struct etw_table versions = {0};
	int r;

	writer->provider = provider;
	TRY(write_provider(writer));
	r = write_tasks(writer, &versions);
	etw_table_done(&versions);
	TRY(r);
	for (size_t i = 0; i < provider->schema_count;) {
		const struct etw_schema *schema = &provider->schemas[i];
		size_t count = count_types(schema, provider->schema_count - i);

		TRY(write_types(writer, schema, count));
		i += count;
	}
	/* The next provider may have an event class of the same Guid. */
	etw_table_done(&writer->events);
	return 0;
}

static int write_all(struct writer *writer, const struct etw_definition *definition)
{
	TRY(take_name(writer, "EventTrace"));
	for (size_t i = 0; i < definition->provider_count; i++)
		TRY(take_symbols(writer, &definition->providers[i]));
	for (size_t i = 0; i < definition->provider_count; i++)
		TRY(write_one(writer, &definition->providers[i]));
	return etw_text_error(writer->text);
}

int etw_mof_write(const struct etw_definition *definition, struct etw_text *text,
		  struct etw_fault *reterr)
{
	struct writer writer = {.text = text, .reterr = reterr};
	size_t bytes = text->bytes;
	int r = write_all(&writer, definition);

	etw_table_done(&writer.names);
	etw_table_done(&writer.events);
	etw_arena_done(&writer.scratch);
	if (r < 0 && text->at)
		etw_text_end(text, text->at + bytes);
	return r;
}
