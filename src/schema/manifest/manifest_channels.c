/* SPDX-License-Identifier: MIT */
/* Channels: those that a provider lists, and those of winmeta that its events use all the same. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "schema/manifest/manifest_internal.h"

#define FIRST_USER_CHANNEL 16

struct channel_numbers {
	bool is_taken[UINT8_MAX + 1];
	unsigned next;
};

static bool is_import(const struct etw_xml_element *element)
{
	return strcmp(element->name, "importChannel") == 0;
}

static bool is_channel(const struct etw_xml_element *element)
{
	return strcmp(element->name, "channel") == 0 || is_import(element);
}

static uint8_t next_number(struct channel_numbers *numbers)
{
	while (numbers->next < UINT8_MAX && numbers->is_taken[numbers->next])
		numbers->next++;
	numbers->is_taken[numbers->next] = true;
	return (uint8_t)numbers->next;
}

static uint8_t number_channel(struct channel_numbers *numbers,
			      const struct etw_xml_element *element, const char *name)
{
	const char *text = etw_xml_attribute(element, "value");
	const char *message;
	uint64_t value;

	if (text && etw_manifest_number(text, UINT8_MAX, &value))
		return (uint8_t)value;
	if (is_import(element) && etw_winmeta_find(SYMBOL_CHANNEL, name, &value, &message))
		return (uint8_t)value;
	return next_number(numbers);
}

static struct etw_channel *append(struct manifest_reader *reader)
{
	struct manifest_channels *channels = &reader->channels;
	struct manifest_channel *item = etw_arena_alloc(&reader->scratch, sizeof(*item));

	if (!item)
		return NULL;
	if (channels->last)
		channels->last->next = item;
	else
		channels->first = item;
	channels->last = item;
	channels->count++;
	item->channel.type = ETW_CHANNEL_TYPE_UNKNOWN;
	return &item->channel;
}

static enum etw_channel_type type_of(const char *text)
{
	static const char *const types[] = {
		[ETW_CHANNEL_ADMIN] = "Admin",
		[ETW_CHANNEL_OPERATIONAL] = "Operational",
		[ETW_CHANNEL_ANALYTIC] = "Analytic",
		[ETW_CHANNEL_DEBUG] = "Debug",
	};

	for (size_t i = 0; text && i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i], text) == 0)
			return (enum etw_channel_type)i;
	}
	return ETW_CHANNEL_TYPE_UNKNOWN;
}

static int read_own(struct manifest_reader *reader, const struct etw_xml_element *element,
		    struct etw_channel *channel)
{
	const char *type = etw_xml_attribute(element, "type");

	channel->type = type_of(type);
	channel->is_enabled = etw_manifest_flag(etw_xml_attribute(element, "enabled"));
	TRY(etw_manifest_keep_attribute(reader, element, "symbol", &channel->named.symbol));
	TRY(etw_manifest_keep_attribute(reader, element, "access", &channel->access));
	TRY(etw_manifest_keep_attribute(reader, element, "isolation", &channel->isolation));
	if (channel->type == ETW_CHANNEL_TYPE_UNKNOWN)
		TRY(etw_manifest_complain(reader, element, "a channel has no type that is known",
					  type));
	return etw_manifest_message(reader, element, &channel->named.message);
}

static int define(struct manifest_reader *reader, const char *name,
		  const struct etw_channel *channel)
{
	return etw_manifest_define(reader, &(struct manifest_symbol){.kind = SYMBOL_CHANNEL,
								     .scope = reader->provider,
								     .name = name,
								     .object = channel});
}

/* The first channel whose name or chid is that of a reference is meant. */
static int define_channel(struct manifest_reader *reader, const struct etw_xml_element *element,
			  const struct etw_channel *channel)
{
	const char *name = channel->named.name;
	const char *chid = channel->chid;
	int r = define(reader, name, channel);

	TRY(r);
	if (r == 0 && chid && strcmp(chid, name) != 0)
		r = define(reader, chid, channel);
	TRY(r);
	if (r == MANIFEST_TAKEN)
		TRY(etw_manifest_complain(reader, element, "the name or chid of a channel is taken",
					  name));
	TRY(etw_manifest_claim_number(reader, element, etw_part_of(SYMBOL_CHANNEL, PART_VALUE),
				      reader->provider, channel->named.value,
				      "the value of a channel is taken"));
	return etw_manifest_claim(reader, element, etw_part_of(SYMBOL_CHANNEL, PART_C_NAME),
				  reader->provider, channel->named.symbol,
				  "the symbol of a channel is taken");
}

static int read_channel(struct manifest_reader *reader, struct channel_numbers *numbers,
			const struct etw_xml_element *element)
{
	const char *name = etw_xml_attribute(element, "name");
	size_t place = reader->channels.count;
	struct etw_channel *channel = append(reader);
	uint64_t value;

	if (!channel)
		return -ENOMEM;
	TRY(etw_manifest_keep(reader, name ? name : "", &channel->named.name));
	TRY(etw_manifest_keep_attribute(reader, element, "chid", &channel->chid));
	TRY(etw_manifest_check_channel(reader, element));
	channel->named.value = number_channel(numbers, element, channel->named.name);
	channel->keyword = etw_channel_keyword(place);
	channel->is_imported = is_import(element);
	if (!channel->is_imported)
		TRY(read_own(reader, element, channel));
	else
		(void)etw_winmeta_find(SYMBOL_CHANNEL, channel->named.name, &value,
				       &channel->named.message);
	if (place == ETW_CHANNEL_KEYWORDS_MAX)
		TRY(etw_manifest_complain(reader, element, "a provider has more than 8 channels",
					  name));
	return define_channel(reader, element, channel);
}

int etw_manifest_read_channels(struct manifest_reader *reader)
{
	struct channel_numbers numbers = {.next = FIRST_USER_CHANNEL};
	const struct etw_xml_element *provider = reader->provider;
	uint64_t value;

	for (const struct etw_xml_element *list = etw_xml_first(provider, "channels"); list;
	     list = etw_xml_next(list, "channels")) {
		for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
			const char *text = etw_xml_attribute(at, "value");

			if (is_channel(at) && text && etw_manifest_number(text, UINT8_MAX, &value))
				numbers.is_taken[value] = true;
		}
	}
	for (const struct etw_xml_element *list = etw_xml_first(provider, "channels"); list;
	     list = etw_xml_next(list, "channels")) {
		for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
			if (is_channel(at))
				TRY(read_channel(reader, &numbers, at));
		}
	}
	return 0;
}

/* Winmeta's channels need not be imported, but only listed ones have a bit in the keywords. */
static int adopt(struct manifest_reader *reader, const char *name, const struct etw_channel **ret)
{
	struct etw_channel *channel;
	const char *message;
	uint64_t value;

	if (!etw_winmeta_find(SYMBOL_CHANNEL, name, &value, &message))
		return 0;
	channel = append(reader);
	if (!channel)
		return -ENOMEM;
	TRY(etw_manifest_keep(reader, name, &channel->named.name));
	channel->named.value = value;
	channel->named.message = message;
	channel->is_imported = true;
	*ret = channel;
	return define(reader, channel->named.name, channel);
}

int etw_manifest_use_channel(struct manifest_reader *reader, const struct etw_xml_element *element,
			     const char *name, const struct etw_channel **ret)
{
	const struct manifest_symbol *symbol = etw_manifest_find(reader, SYMBOL_CHANNEL,
								 reader->provider, name);

	*ret = symbol ? symbol->object : NULL;
	if (!symbol)
		TRY(adopt(reader, name, ret));
	if (*ret)
		return 0;
	return etw_manifest_complain(reader, element,
				     "an event refers to a channel that is not defined", name);
}
