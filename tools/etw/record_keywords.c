/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_keywords.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "registry/registry.h"
#include "schema/provider_id.h"
#include "schema/store/store_installed.h"
#include "tools/common/known_providers.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/etw/record_names.h"
#include "wire/name_list.h"

#define SEPARATORS    ",+"
#define PREFIX        "KEYWORD_" /* behind it a name says what it is; in front, whose */
#define NUMBER_BYTES  32
#define LISTED_BYTES  512 /* of names in a sentence */
#define KEYWORD_PARTS 2   /* colons in front of the first keyword */

/* Returns the bytes of the first of @bytes words' word; *@at goes behind it. */
static size_t next_word(const char **at, size_t *bytes, const char **ret)
{
	size_t length = 0;

	while (*bytes && strchr(SEPARATORS, **at)) {
		++*at;
		--*bytes;
	}
	while (length < *bytes && !strchr(SEPARATORS, (*at)[length]))
		length++;
	*ret = *at;
	*at += length;
	*bytes -= length;
	return length;
}

static bool parse_number(const char *word, size_t bytes, uint64_t *ret)
{
	char number[NUMBER_BYTES];

	if (bytes >= sizeof(number))
		return false;
	memcpy(number, word, bytes);
	number[bytes] = '\0';
	return etw_number_parse(number, UINT64_MAX, ret);
}

bool record_keywords_parse(const char *text, size_t bytes, uint64_t *ret_mask,
			   struct record_words *ret_words)
{
	const char *at = text, *word;
	size_t left = bytes, length;
	bool any = !bytes;

	while ((length = next_word(&at, &left, &word)) != 0) {
		uint64_t number = 0;

		any = true;
		if (parse_number(word, length, &number))
			*ret_mask |= number;
		else if (isdigit((unsigned char)*word))
			return false;
		else
			*ret_words = (struct record_words){text, bytes};
	}
	return any;
}

/* A colon parts what stands in --provider: of "ut:SendPath" the part behind it is the name. */
static const char *own_name(const char *name)
{
	const char *colon = name ? strrchr(name, ':') : NULL;

	return colon ? colon + 1 : name;
}

static bool is_called(const char *name, const char *word, size_t bytes)
{
	const char *own = own_name(name), *rest = own ? strstr(own, PREFIX) : NULL;

	return etw_name_list_is(own, word, bytes) ||
	       (rest && etw_name_list_is(rest + strlen(PREFIX), word, bytes));
}

static bool find(const struct etw_provider_schema *schema, const char *word, size_t bytes,
		 uint64_t *ret)
{
	for (size_t i = 0; i < schema->keyword_count; i++) {
		if (!is_called(schema->keywords[i].name, word, bytes))
			continue;
		*ret = schema->keywords[i].value;
		return true;
	}
	return false;
}

static void tell_unknown(const struct record_provider *provider,
			 const struct etw_provider_schema *schema, const char *word, size_t bytes)
{
	char room[LISTED_BYTES];
	struct etw_name_list list = etw_name_list_begin(room, sizeof(room));

	for (size_t i = 0; schema && i < schema->keyword_count; i++)
		if (schema->keywords[i].name)
			etw_name_list_put(&list, own_name(schema->keywords[i].name));
	etw_name_list_end(&list);
	if (*room)
		etw_program_message("the provider \"%s\" has no keyword \"%.*s\"; it has %s",
				    provider->text, (int)bytes, word, room);
	else
		etw_program_message("no names of keywords are known of the provider \"%s\": "
				    "\"%.*s\" has to be a number",
				    provider->text, (int)bytes, word);
}

static int resolve(const struct record_provider *provider, const struct etw_provider_schema *schema,
		   const struct record_words *words, uint64_t *mask)
{
	const char *at = words->at, *word;
	size_t left = words->bytes, length;

	while (at && (length = next_word(&at, &left, &word)) != 0) {
		uint64_t value;

		if (parse_number(word, length, &value))
			continue;
		if (!schema || !find(schema, word, length, &value)) {
			tell_unknown(provider, schema, word, length);
			return -1;
		}
		*mask |= value;
	}
	return 0;
}

/* Events may be enabled by another GUID than they bear. Returns NULL where nobody defines it. */
static const struct etw_provider_schema *find_schema(struct etw_schema_store *store,
						     const GUID *guid)
{
	const struct etw_provider_schema *schema = NULL;

	if (!etw_schema_store_demand_provider(store, guid, &schema))
		return schema;
	while ((schema = etw_schema_store_next_provider(store, schema)) != NULL) {
		if (etw_guid_equal(&schema->control_guid, guid))
			break;
	}
	return schema;
}

int record_keywords_resolve(struct record_provider *provider, struct etw_schema_store *store)
{
	const struct etw_provider_schema *schema;

	if (!provider->any_words.at && !provider->all_words.at)
		return 0;
	schema = find_schema(store, &provider->guid);
	if (resolve(provider, schema, &provider->any_words, &provider->match_any))
		return -1;
	return resolve(provider, schema, &provider->all_words, &provider->match_all);
}

/* Where the last of the keywords begins; NULL: the word does not get so far. */
static const char *last_keyword(const char *word)
{
	const char *at = word;

	for (int i = 0; i < KEYWORD_PARTS; i++) {
		at = strchr(at, ':');
		if (!at)
			return NULL;
		at++;
	}
	for (size_t bytes = strcspn(at, SEPARATORS ":"); at[bytes];
	     bytes = strcspn(at, SEPARATORS ":"))
		at += bytes + 1;
	return at;
}

void record_keywords_complete(const char *word, struct etw_text *text)
{
	CLEANUP(etw_schema_store_freep) struct etw_schema_store *store = NULL;
	const struct etw_provider_schema *schema;
	struct record_provider provider = {.text = word};
	const char *last = last_keyword(word);
	char name[RECORD_PROVIDER_BYTES];
	struct etw_registry *registry;

	if (!last || strcspn(word, ":") >= sizeof(name))
		return;
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, ":"), word);
	if (etw_provider_id_find(name, &provider.guid) || etw_schema_store_create(&store) ||
	    etw_registry_open(&registry))
		return;
	etw_registry_attach(registry, store); /* takes it */
	if (etw_known_providers_attach(store) || record_names_resolve(&provider, 1, store))
		return;
	schema = find_schema(store, &provider.guid);
	if (!schema)
		return;
	for (size_t i = 0; i < schema->keyword_count; i++) {
		if (!schema->keywords[i].name)
			continue;
		etw_text_append(text, word, (size_t)(last - word));
		etw_output_clean(text, own_name(schema->keywords[i].name));
		etw_text_putc(text, '\n');
	}
}
