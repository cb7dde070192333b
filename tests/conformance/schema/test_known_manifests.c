/* SPDX-License-Identifier: MIT */
/*
 * Every known provider with a GUID and manifest events is written as a manifest, as `etw providers --manifest` does,
 * and read again: each event has the same numbers, names and fields, and each field the same map. What is read has, beside
 * that, the names of winmeta's levels and opcodes in its lists; written once more it is the same in everything.
 * Usage: test_known_manifests INDEX.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "schema/compare.h"
#include "schema/known/known_schema.h"
#include "schema/manifest/manifest.h"
#include "schema/manifest/manifest_write.h"

struct account {
	struct etw_known *known;
	size_t providers, events, failures;
};

static void fail(struct account *account, const struct etw_known_provider *provider,
		 const char *sentence)
{
	if (account->failures++ < 20)
		printf("FAILED: %s: %s\n", provider->name, sentence);
}

static bool is_same(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

static bool is_same_map(const struct etw_map *left, const struct etw_map *right)
{
	if (!left || !right)
		return left == right;
	if (left->flags != right->flags || left->count != right->count)
		return false;
	for (uint32_t i = 0; i < left->count; i++) {
		if (left->entries[i].value != right->entries[i].value ||
		    !is_same(left->entries[i].text, right->entries[i].text))
			return false;
	}
	return true;
}

static bool are_same_fields(const struct etw_schema *left, const struct etw_schema *right)
{
	if (left->field_count != right->field_count || left->top_count != right->top_count)
		return false;
	for (uint16_t i = 0; i < left->field_count; i++) {
		const struct etw_field *a = &left->fields[i], *b = &right->fields[i];

		if (!is_same(a->name, b->name) || !is_same(a->map_name, b->map_name) ||
		    !is_same_map(a->map, b->map) || a->flags != b->flags ||
		    a->in_type != b->in_type || a->out_type != b->out_type ||
		    a->count != b->count || a->length != b->length ||
		    a->struct_first != b->struct_first || a->struct_count != b->struct_count)
			return false;
	}
	return true;
}

static const char *differing(const struct etw_schema *left, const struct etw_schema *right)
{
	if (left->descriptor.Id != right->descriptor.Id ||
	    left->descriptor.Version != right->descriptor.Version ||
	    left->descriptor.Level != right->descriptor.Level ||
	    left->descriptor.Opcode != right->descriptor.Opcode ||
	    left->descriptor.Task != right->descriptor.Task)
		return "the numbers";
	/* Of winmeta's channels the reader knows the number, where the table has only the name. */
	if (!is_same(left->channel_name, right->channel_name) ||
	    (left->descriptor.Channel && left->descriptor.Channel != right->descriptor.Channel))
		return "the channel";
	if (!is_same(left->task_name, right->task_name) ||
	    !is_same(left->opcode_name, right->opcode_name) ||
	    !is_same(left->level_name, right->level_name) ||
	    !is_same(left->keywords, right->keywords) || !is_same(left->symbol, right->symbol))
		return "the names";
	return are_same_fields(left, right) ? NULL : "the fields";
}

static void check_events(struct account *account, const struct etw_known_provider *provider,
			 const struct etw_provider_schema *written,
			 const struct etw_provider_schema *read)
{
	char sentence[96];

	if (written->schema_count != read->schema_count) {
		fail(account, provider, "another number of events");
		return;
	}
	for (size_t i = 0; i < read->schema_count; i++) {
		const EVENT_DESCRIPTOR *descriptor = &written->schemas[i].descriptor;
		const char *what = differing(&written->schemas[i], &read->schemas[i]);

		if (!what)
			continue;
		(void)snprintf(sentence, sizeof(sentence), "%s of event %u version %u differ", what,
			       descriptor->Id, descriptor->Version);
		fail(account, provider, sentence);
	}
}

static void check_text(struct account *account, const struct etw_known_provider *provider,
		       const struct etw_provider_schema *schema, struct etw_arena *arena,
		       struct etw_text *text)
{
	struct etw_definition *read, *again;
	struct etw_text difference = {0};
	struct etw_fault fault = {0};

	if (etw_manifest_parse(arena, text->at, text->bytes, &read, &fault) < 0) {
		fail(account, provider, fault.sentence ? fault.sentence : "cannot be read");
		return;
	}
	check_events(account, provider, schema, &read->providers[0]);
	etw_text_clear(text);
	if (etw_manifest_write(read, text) < 0 ||
	    etw_manifest_parse(arena, text->at, text->bytes, &again, &fault) < 0)
		fail(account, provider, "cannot be written and read once more");
	else if (!etw_definition_compare(read, again, 0, &difference))
		fail(account, provider, etw_text_string(&difference));
	etw_text_done(&difference);
}

static void check(struct account *account, const struct etw_known_provider *provider)
{
	struct etw_provider_schema *schema;
	struct etw_arena arena;
	struct etw_text text = {0};

	etw_arena_init(&arena);
	if (etw_known_provider_schema(account->known, provider, 0, ETW_KNOWN_COMPLETE_NAMES, &arena,
				      &schema) < 0) {
		fail(account, provider, "cannot be made");
	} else {
		const struct etw_definition written = {
			.providers = schema,
			.provider_count = 1,
			.schema_count = schema->schema_count,
		};

		account->providers++;
		account->events += schema->schema_count;
		if (etw_manifest_write(&written, &text) < 0)
			fail(account, provider, "cannot be written");
		else
			check_text(account, provider, schema, &arena, &text);
	}
	etw_text_done(&text);
	etw_arena_done(&arena);
}

int main(int argc, char **argv)
{
	struct account account = {0};
	struct etw_fault fault = {0};
	struct etw_known_provider provider;

	if (argc != 2 || etw_known_open(argv[1], &account.known, &fault) < 0) {
		(void)fprintf(stderr, "no index: %s\n", fault.sentence ? fault.sentence : "?");
		return 1;
	}
	for (size_t i = 0; i < etw_known_provider_count(account.known); i++) {
		if (etw_known_provider_at(account.known, i, &provider) < 0)
			fail(&account, &provider, "is damaged");
		else if (provider.has_guid && provider.event_count)
			check(&account, &provider);
	}
	printf("%zu providers, %zu events; %zu differ\n", account.providers, account.events,
	       account.failures);
	etw_known_close(account.known);
	return account.failures || account.providers < 970;
}
