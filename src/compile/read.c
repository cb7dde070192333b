/* SPDX-License-Identifier: MIT */
/* The document and its providers. */
#include "compile/read.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/guid.h"
#include "base/macros.h"
#include "compile/read_internal.h"

#define WINMETA_NAMESPACE "http://manifests.microsoft.com/win/2004/08/windows/events"
#define NAME_BYTES_MAX    255
#define DECLARATION_DEPTH 4 /* of a provider, below which no namespace is declared */

/* The prefix that the document gives winmeta's names, wherever it declares it. */
static const char *find_winmeta(const struct etw_xml_element *element, unsigned depth)
{
	for (size_t i = 0; i < element->attribute_count; i++) {
		const struct etw_xml_attribute *at = &element->attributes[i];

		if (strncmp(at->name, "xmlns:", 6) == 0 &&
		    strcmp(at->value, WINMETA_NAMESPACE) == 0)
			return at->name + 6;
	}
	for (const struct etw_xml_element *child = element->first_child; child && depth;
	     child = child->next) {
		const char *found = find_winmeta(child, depth - 1);

		if (found)
			return found;
	}
	return NULL;
}

/*
 * The namespaces are names, not addresses: with https they are others, which no type is in. A
 * manifest without providers, of counters for example, has no use for them.
 */
static int check_namespace(struct mc_reader *reader, const struct etw_xml_element *element,
			   const struct etw_xml_attribute *attribute)
{
	static const char *const known[] = {
		"https://schemas.microsoft.com/win/2004/08/events",
		"https://manifests.microsoft.com/win/2004/08/windows/events",
		"https://www.w3.org/2001/XMLSchema",
	};

	if (strncmp(attribute->name, "xmlns", 5) != 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(attribute->value, known[i]) == 0)
			return etw_compile_complain(
				reader, element,
				"the namespace %s has to begin with http:", attribute->value);
	}
	return 0;
}

static int check_namespaces(struct mc_reader *reader, const struct etw_xml_element *element,
			    unsigned depth)
{
	for (size_t i = 0; i < element->attribute_count; i++)
		TRY(check_namespace(reader, element, &element->attributes[i]));
	for (const struct etw_xml_element *child = element->first_child; child && depth;
	     child = child->next)
		TRY(check_namespaces(reader, child, depth - 1));
	return 0;
}

static int check_name(struct mc_reader *reader, const struct etw_xml_element *element,
		      const char *name)
{
	if (strlen(name) > NAME_BYTES_MAX)
		return etw_compile_complain(reader, element,
					    "the provider's name is longer than 255 characters");
	for (const char *at = name; *at; at++) {
		if ((unsigned char)*at < ' ' || strchr("><&\"|\\:`?*", *at))
			return etw_compile_complain(
				reader, element,
				"the provider's name %s has a character that is not allowed", name);
	}
	return 0;
}

/* A control GUID makes sense only where the name ends with the digits of the provider's own. */
static int check_control_guid(struct mc_reader *reader, const struct mc_provider *provider)
{
	char digits[ETW_GUID_BRACED_BYTES];
	const char *name = provider->name + strlen(provider->name);
	size_t left;
	size_t kept = 0;

	etw_guid_format_braced(&provider->guid, digits);
	for (const char *at = digits; *at; at++) {
		if (!strchr("{}-", *at))
			digits[kept++] = *at;
	}
	for (left = kept; left && name > provider->name;) {
		name--;
		if (!isxdigit((unsigned char)*name))
			continue;
		if (strncasecmp(name, &digits[left - 1], 1) != 0)
			break;
		left--;
	}
	if (!left)
		return 0;
	return etw_compile_complain(reader, provider->element,
				    "the name of a provider with controlGuid must end with the "
				    "digits of its guid");
}

static int read_traits(struct mc_reader *reader, struct mc_provider *provider)
{
	const struct etw_xml_element *traits = etw_xml_first(provider->element, "traits");
	const char *text;

	text = etw_xml_attribute(provider->element, "controlGuid");
	if (text && etw_guid_parse(text, &provider->control_guid) == 0) {
		provider->has_control_guid = true;
		TRY(check_control_guid(reader, provider));
	}
	if (!traits)
		return 0;
	provider->has_traits = true;
	text = etw_xml_attribute(traits, "groupGuid");
	provider->has_group = text && etw_guid_parse(text, &provider->group_guid) == 0;
	provider->includes_name = etw_compile_attribute_flag(traits, "includeName");
	return 0;
}

/*
 * Windows' compiler wants both. Generators of manifests that are for decoding only leave both out, and what is
 * made of such a manifest works: that is a warning. One without the other is a slip.
 */
static int check_file_names(struct mc_reader *reader, const struct etw_xml_element *element)
{
	static const char *const names[] = {"resourceFileName", "messageFileName"};
	bool has_none = !etw_xml_attribute(element, names[0]) &&
			!etw_xml_attribute(element, names[1]);

	if (has_none)
		return etw_compile_warn(reader, element,
					"<provider> lacks resourceFileName and messageFileName, "
					"which Windows needs to find what is compiled");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = etw_xml_attribute(element, names[i]);

		if (value && !*value)
			TRY(etw_compile_complain(reader, element, "%s must not be empty",
						 names[i]));
		if (!value)
			TRY(etw_compile_complain(reader, element,
						 "<provider> lacks its attribute %s", names[i]));
	}
	return 0;
}

/* The number of a message has room for sixteen providers. */
static int check_index(struct mc_reader *reader, const struct mc_provider *provider)
{
	if (provider->index != MC_PROVIDERS_WITH_IDS_MAX)
		return 0;
	return etw_compile_warn(reader, provider->element,
				"from the provider %s on, the %dth, messages have no numbers and "
				"are left out",
				provider->name, MC_PROVIDERS_WITH_IDS_MAX + 1);
}

static int read_parts(struct mc_reader *reader, struct mc_provider *provider)
{
	reader->provider = provider;
	TRY(etw_compile_message(reader, provider->element, &provider->message));
	TRY(read_traits(reader, provider));
	TRY(etw_compile_read_channels(reader));
	TRY(etw_compile_read_names(reader));
	TRY(etw_compile_read_maps(reader));
	TRY(etw_compile_read_templates(reader));
	TRY(etw_compile_read_filters(reader));
	TRY(etw_compile_read_events(reader));
	TRY(etw_compile_check_events(reader));
	return etw_compile_check_symbols(reader);
}

static int read_provider(struct mc_reader *reader, const struct etw_xml_element *element)
{
	struct mc_manifest *manifest = reader->manifest;
	struct mc_provider *provider = etw_compile_new(reader, sizeof(*provider));
	const char *guid = etw_xml_attribute(element, "guid");

	if (!provider)
		return -ENOMEM;
	provider->element = element;
	provider->index = (unsigned)manifest->provider_count;
	provider->name = etw_xml_attribute(element, "name");
	provider->symbol = etw_compile_attribute_symbol(element);
	/* What the rules have complained of; the rest is worth reading all the same. */
	if (!provider->name)
		provider->name = "";
	if (!provider->symbol)
		provider->symbol = "PROVIDER";
	TRY(check_name(reader, element, provider->name));
	TRY(check_file_names(reader, element));
	TRY(check_index(reader, provider));
	if (guid && etw_guid_parse(guid, &provider->guid) == 0)
		TRY(etw_compile_claim_guid(reader, element, SYMBOL_PROVIDER + MC_ID, NULL,
					   &provider->guid, "provider's guid"));
	TRY(etw_compile_claim(reader, element, SYMBOL_PROVIDER + MC_NAME, NULL,
			      etw_xml_attribute(element, "name"), provider, "provider's name"));
	TRY(etw_compile_claim(reader, element, SYMBOL_PROVIDER + MC_SYMBOL, NULL,
			      etw_compile_attribute_symbol(element), provider,
			      "provider's symbol"));
	MC_APPEND(manifest->providers, manifest->last_provider, provider);
	manifest->provider_count++;
	return read_parts(reader, provider);
}

static int read_document(struct mc_reader *reader, const struct etw_xml_element *root)
{
	reader->manifest->winmeta = find_winmeta(root, DECLARATION_DEPTH);
	if (!reader->manifest->winmeta)
		reader->manifest->winmeta = "win";
	TRY(etw_compile_check_rules(reader, root));
	TRY(etw_compile_read_strings(reader, root));
	for (const struct etw_xml_element *part = etw_xml_first(root, "instrumentation"); part;
	     part = etw_xml_next(part, "instrumentation")) {
		for (const struct etw_xml_element *events = etw_xml_first(part, "events"); events;
		     events = etw_xml_next(events, "events")) {
			for (const struct etw_xml_element *at = etw_xml_first(events, "provider");
			     at; at = etw_xml_next(at, "provider"))
				TRY(read_provider(reader, at));
		}
	}
	etw_compile_number_messages(reader->manifest);
	return reader->manifest->provider_count ? check_namespaces(reader, root, DECLARATION_DEPTH)
						: 0;
}

static int read_text(struct mc_manifest *manifest, const char *text, size_t bytes)
{
	struct mc_reader reader = {.manifest = manifest, .seed = etw_hash_seed()};
	struct etw_xml_element *root = NULL;
	struct etw_fault fault = {0};
	uint64_t column;
	int r = etw_xml_parse_at(&manifest->arena, text, bytes, &root, &fault, &column);

	if (r == -EBADMSG)
		return etw_compile_complain_at(manifest, fault.offset, column,
					       /* is_warning= */ false, fault.sentence);
	if (r < 0)
		return r;
	manifest->root = root;
	etw_table_init(&reader.symbols);
	etw_text_init(&reader.text);
	r = read_document(&reader, root);
	etw_table_done(&reader.symbols);
	etw_text_done(&reader.text);
	return r < 0 ? r : etw_compile_sort_complaints(manifest);
}

int etw_compile_read(const char *text, size_t bytes, struct mc_manifest **ret)
{
	CLEANUP(etw_compile_freep) struct mc_manifest *manifest = calloc(1, sizeof(*manifest));

	if (!manifest)
		return -ENOMEM;
	etw_arena_init(&manifest->arena);
	TRY(read_text(manifest, text, bytes));
	*ret = TAKE(manifest);
	return 0;
}

void etw_compile_free(struct mc_manifest *manifest)
{
	if (!manifest)
		return;
	etw_arena_done(&manifest->arena);
	free(manifest);
}

void etw_compile_freep(struct mc_manifest **manifest)
{
	etw_compile_free(*manifest);
}
