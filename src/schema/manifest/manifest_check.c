/* SPDX-License-Identifier: MIT */
/*
 * The rules that a manifest should keep though decoding does not need them: what a compiler would
 * refuse, as far as it makes a name or number mean two things or none. Texts that only a compiler needs
 * (file names, C symbols, access strings) are not asked for. Rules: docs/design/schema-store.md.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/guid.h"
#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"
#include "schema/types.h"

#define INSERTS_MAX       99
#define PROPERTIES_MAX    99
#define FIXED_BYTES_MAX   65535
#define LEVEL_FIRST_ADMIN 1 /* Critical */
#define LEVEL_LAST_ADMIN  4 /* Informational */
#define GUID_DIGITS       32

/* Many complaints may be about one name, so that a long one is not copied as a whole; no character is cut. */
static int keep_name(struct manifest_reader *reader, const char *name, const char **ret)
{
	size_t bytes = name ? strnlen(name, ETW_COMPLAINT_NAME_BYTES_MAX + 1) : 0;

	if (bytes > ETW_COMPLAINT_NAME_BYTES_MAX) {
		bytes--;
		while (bytes && ((unsigned char)name[bytes] & 0xc0) == 0x80)
			bytes--;
	}
	*ret = name ? etw_arena_strndup(reader->arena, name, bytes) : NULL;
	return name && !*ret ? -ENOMEM : 0;
}

int etw_manifest_complain(struct manifest_reader *reader, const struct etw_xml_element *element,
			  const char *sentence, const char *name)
{
	struct etw_complaint *complaint;

	reader->complaint_total++;
	if (!reader->complaints) {
		reader->complaints = etw_arena_array(&reader->scratch, ETW_COMPLAINTS_MAX,
						     sizeof(*reader->complaints));
		if (!reader->complaints)
			return -ENOMEM;
	}
	if (reader->complaint_count == ETW_COMPLAINTS_MAX)
		return 0;
	complaint = &reader->complaints[reader->complaint_count++];
	complaint->line = element->line;
	complaint->sentence = sentence;
	return keep_name(reader, name, &complaint->name);
}

int etw_manifest_claim(struct manifest_reader *reader, const struct etw_xml_element *element,
		       unsigned kind, const void *scope, const char *name, const char *sentence)
{
	int r;

	/* The message compiler takes an empty symbol for none. */
	if (!name || !*name)
		return 0;
	r = etw_manifest_define(
		reader, &(struct manifest_symbol){.kind = kind, .scope = scope, .name = name});
	return r == MANIFEST_TAKEN ? etw_manifest_complain(reader, element, sentence, name) : r;
}

int etw_manifest_claim_number(struct manifest_reader *reader, const struct etw_xml_element *element,
			      unsigned kind, const void *scope, uint64_t number,
			      const char *sentence)
{
	char text[17];
	const char *name;

	(void)snprintf(text, sizeof(text), "%llx", (unsigned long long)number);
	name = etw_arena_strdup(&reader->scratch, text);
	if (!name)
		return -ENOMEM;
	return etw_manifest_claim(reader, element, kind, scope, name, sentence);
}

int etw_manifest_claim_guid(struct manifest_reader *reader, const struct etw_xml_element *element,
			    unsigned kind, const void *scope, const GUID *guid,
			    const char *sentence)
{
	char *name = etw_arena_alloc(&reader->scratch, ETW_GUID_BARE_BYTES);

	if (!name)
		return -ENOMEM;
	etw_guid_format(guid, name);
	return etw_manifest_claim(reader, element, kind, scope, name, sentence);
}

static bool is_name(const char *name, const char *forbidden)
{
	size_t bytes = strlen(name);

	if (!bytes || bytes > MANIFEST_NAME_BYTES_MAX)
		return false;
	for (; *name; name++) {
		if ((unsigned char)*name < ' ' || strchr(forbidden, *name))
			return false;
	}
	return true;
}

/* A provider that others enable ends its name with its own GUID's digits, separators left out. */
static bool ends_with_guid(const char *name, const GUID *guid)
{
	char text[ETW_GUID_BARE_BYTES];
	char digits[GUID_DIGITS];
	size_t count = 0;
	size_t left = GUID_DIGITS;
	size_t at = strlen(name);

	etw_guid_format(guid, text);
	for (const char *from = text; *from && count < GUID_DIGITS; from++) {
		if (strchr("0123456789abcdefABCDEF", *from))
			digits[count++] = *from;
	}
	while (at && left) {
		char c = name[--at];

		if (!strchr("0123456789abcdefABCDEF", c))
			continue;
		if (strncasecmp(&c, &digits[--left], 1) != 0)
			return false;
	}
	return !left;
}

int etw_manifest_check_provider(struct manifest_reader *reader)
{
	const struct etw_xml_element *element = reader->provider;
	const struct etw_provider_schema *schema = reader->schema;

	if (!schema->name || !is_name(schema->name, "><&\"|\\:`?*"))
		TRY(etw_manifest_complain(reader, element,
					  "the name of a provider is missing, too long or has a "
					  "character that is not allowed",
					  schema->name));
	if (!etw_guid_is_null(&schema->control_guid) && schema->name &&
	    !ends_with_guid(schema->name, &schema->guid))
		TRY(etw_manifest_complain(reader, element,
					  "the name of a provider with a controlGuid does not end "
					  "with its guid",
					  schema->name));
	TRY(etw_manifest_claim(reader, element, SYMBOL_PROVIDER, NULL, schema->name,
			       "the name of a provider is taken"));
	TRY(etw_manifest_claim(reader, element, etw_part_of(SYMBOL_PROVIDER, PART_C_NAME), NULL,
			       schema->symbol, "the symbol of a provider is taken"));
	return etw_manifest_claim_guid(reader, element, etw_part_of(SYMBOL_PROVIDER, PART_GUID),
				       NULL, &schema->guid, "the guid of a provider is taken");
}

int etw_manifest_check_channel(struct manifest_reader *reader,
			       const struct etw_xml_element *element)
{
	bool is_import = strcmp(element->name, "importChannel") == 0;
	const char *name = etw_xml_attribute(element, "name");
	const char *chid = etw_xml_attribute(element, "chid");
	const char *value = etw_xml_attribute(element, "value");
	uint64_t number;

	if (!name || !is_name(name, "><&\"|\\:'?*"))
		TRY(etw_manifest_complain(reader, element,
					  "the name of a channel is missing, too long or has a "
					  "character that is not allowed",
					  name));
	if (chid && !*chid)
		TRY(etw_manifest_complain(reader, element, "the chid of a channel is empty", name));
	if (value && (is_import || !etw_manifest_number(value, UINT8_MAX, &number) || number < 16))
		TRY(etw_manifest_complain(reader, element,
					  "the value of a channel is not from 16 to 255, or it is "
					  "imported",
					  value));
	return 0;
}

static bool is_integer(uint16_t in_type)
{
	return (in_type >= TDH_INTYPE_INT8 && in_type <= TDH_INTYPE_UINT64) ||
	       in_type == TDH_INTYPE_HEXINT32 || in_type == TDH_INTYPE_HEXINT64 ||
	       in_type == TDH_INTYPE_POINTER;
}

static bool is_number_field(const struct etw_field *field)
{
	return !(field->flags & PropertyStruct) && !etw_field_is_array(field) &&
	       is_integer(field->in_type);
}

static bool is_map_type(uint16_t in_type)
{
	return in_type == TDH_INTYPE_UINT8 || in_type == TDH_INTYPE_UINT16 ||
	       in_type == TDH_INTYPE_UINT32 || in_type == TDH_INTYPE_HEXINT32;
}

static bool is_counted(uint16_t in_type)
{
	return in_type == TDH_INTYPE_MANIFEST_COUNTEDSTRING ||
	       in_type == TDH_INTYPE_MANIFEST_COUNTEDANSISTRING ||
	       in_type == TDH_INTYPE_MANIFEST_COUNTEDBINARY;
}

/* What a field that is no struct says of its own type. */
static const char *wrong_with_type(const struct etw_xml_element *element,
				   const struct etw_field *field)
{
	if (!etw_manifest_is_pair(field->in_type, field->out_type))
		return "the outType of a field does not go with its inType";
	if (field->map_name && !is_map_type(field->in_type))
		return "a field has a map and an inType that takes none";
	if (is_counted(field->in_type) && etw_xml_attribute(element, "length"))
		return "a counted field has a length as well";
	if (field->in_type == TDH_INTYPE_BINARY && field->out_type != TDH_OUTTYPE_IPV6 &&
	    !(field->flags & (PropertyParamLength | PropertyParamFixedLength)))
		return "a binary field has no length";
	return NULL;
}

int etw_manifest_check_field(struct manifest_reader *reader, const struct etw_xml_element *element,
			     const struct etw_field *fields, uint16_t index)
{
	const struct etw_field *field = &fields[index];
	const char *sentence = NULL;

	if (!(field->flags & PropertyStruct))
		sentence = wrong_with_type(element, field);
	if (sentence)
		TRY(etw_manifest_complain(reader, element, sentence, field->name));
	if (((field->flags & PropertyParamLength) && !is_number_field(&fields[field->length])) ||
	    ((field->flags & PropertyParamCount) && !is_number_field(&fields[field->count])))
		TRY(etw_manifest_complain(reader, element,
					  "a length or count refers to a field that is no integer",
					  field->name));
	return 0;
}

/* Bytes of all values whose size the template alone tells. */
static uint64_t fixed_bytes(const struct manifest_template *template)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < template->field_count; i++) {
		const struct etw_field *field = &template->fields[i];
		uint64_t size = etw_schema_length(field->in_type);

		if (field->flags & (PropertyStruct | PropertyParamCount | PropertyParamLength))
			continue;
		if (field->flags & PropertyParamFixedLength)
			size = field->length;
		if (field->in_type == TDH_INTYPE_UNICODESTRING)
			size *= 2;
		bytes += size * field->count;
	}
	return bytes;
}

int etw_manifest_check_template(struct manifest_reader *reader,
				const struct manifest_template *template)
{
	const struct etw_xml_element *element = template->element;
	const struct etw_xml_element *user_data = etw_xml_first(element, "UserData");
	const char *tid = etw_xml_attribute(element, "tid");

	if (template->top_count > PROPERTIES_MAX)
		TRY(etw_manifest_complain(reader, element, "a template has more than 99 fields",
					  tid));
	if (fixed_bytes(template) > FIXED_BYTES_MAX)
		TRY(etw_manifest_complain(
			reader, element, "the fields of a template are larger than an event", tid));
	if (user_data && (!user_data->first_child || user_data->first_child->next))
		TRY(etw_manifest_complain(reader, element,
					  "the UserData of a template has not one root element",
					  tid));
	return 0;
}

void etw_manifest_note_inserts(struct manifest_message *message)
{
	const char *at = message->text;

	while ((at = strchr(at, '%'))) {
		unsigned number = 0;
		int digits = 0;

		at++;
		while (*at >= '0' && *at <= '9' && digits < 2) {
			number = number * 10 + (unsigned)(*at++ - '0');
			digits++;
		}
		if (!digits) {
			at += *at != '\0';
			continue;
		}
		if (number > message->insert_max)
			message->insert_max = number;
		if (*at == '!') {
			at = strchr(at + 1, '!');
			message->is_open = !at;
			if (!at)
				return;
			at++;
		}
	}
}

static const char *wrong_with_message(const struct manifest_message *message, uint16_t field_count)
{
	if (message->insert_max > field_count)
		return "a message inserts a field that the event does not have";
	return message->is_open ? "the format of an insert in a message does not end" : NULL;
}

int etw_manifest_check_event(struct manifest_reader *reader, const struct etw_xml_element *element,
			     const struct etw_schema *schema, const struct etw_channel *channel,
			     const struct manifest_message *message)
{
	const EVENT_DESCRIPTOR *descriptor = &schema->descriptor;
	const char *value = etw_xml_attribute(element, "value");
	const char *sentence = NULL;

	TRY(etw_manifest_claim_number(reader, element, etw_part_of(SYMBOL_EVENT, PART_VALUE),
				      reader->provider,
				      (uint64_t)descriptor->Id << 8 | descriptor->Version,
				      "the value and version of an event are taken"));
	TRY(etw_manifest_claim(reader, element, etw_part_of(SYMBOL_EVENT, PART_C_NAME),
			       reader->provider, schema->symbol,
			       "the symbol of an event is taken"));
	if (channel && channel->type == ETW_CHANNEL_ADMIN && !message)
		TRY(etw_manifest_complain(reader, element,
					  "an event in an Admin channel has no message", value));
	if (channel && channel->type == ETW_CHANNEL_ADMIN &&
	    (descriptor->Level < LEVEL_FIRST_ADMIN || descriptor->Level > LEVEL_LAST_ADMIN))
		TRY(etw_manifest_complain(reader, element,
					  "an event in an Admin channel has a level other than "
					  "Critical to Informational",
					  value));
	if (message)
		sentence = wrong_with_message(message, schema->top_count);
	return sentence ? etw_manifest_complain(reader, element, sentence, value) : 0;
}
