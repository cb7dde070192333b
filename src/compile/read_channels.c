/* SPDX-License-Identifier: MIT */
/* The channels of a provider, listed, imported, or winmeta's that events use. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "compile/read_internal.h"

#define CHANNEL_VALUE_FIRST 16

static int check_name(struct mc_reader *reader, const struct mc_channel *channel)
{
	if (!*channel->name || strlen(channel->name) > 255)
		return etw_compile_complain(reader, channel->element,
					    "the channel's name has not 1 to 255 characters");
	for (const char *at = channel->name; *at; at++) {
		if ((unsigned char)*at < ' ' || strchr("><&\"|\\:'?*", *at))
			return etw_compile_complain(
				reader, channel->element,
				"the channel's name %s has a character that is not allowed",
				channel->name);
	}
	return 0;
}

/* A security descriptor is a run of O:, G:, D: and S: parts; the lists are in parentheses that match. */
static int check_access(struct mc_reader *reader, const struct etw_xml_element *element)
{
	const char *access = etw_xml_attribute(element, "access");
	int depth = 0;

	if (!access)
		return 0;
	for (const char *at = access; *at && depth >= 0; at++)
		depth += (*at == '(') - (*at == ')');
	if (!depth && *access && strchr("OGDS", *access) && access[1] == ':')
		return 0;
	return etw_compile_complain(reader, element, "access=\"%s\" is no security descriptor",
				    access);
}

static int claim_channel(struct mc_reader *reader, struct mc_channel *channel)
{
	const struct etw_xml_element *element = channel->element;
	struct mc_provider *provider = reader->provider;

	TRY(etw_compile_claim(reader, element, SYMBOL_CHANNEL, provider, channel->name, channel,
			      "channel"));
	TRY(etw_compile_claim(reader, element, SYMBOL_CHANNEL + MC_ID, provider, channel->chid,
			      channel, "chid"));
	if (channel->chid && !*channel->chid)
		TRY(etw_compile_complain(reader, element,
					 "the chid of a channel must not be empty"));
	return etw_compile_claim(reader, element, SYMBOL_CHANNEL + MC_SYMBOL, provider,
				 channel->symbol, channel, "channel's symbol");
}

static int find_winmeta(struct mc_reader *reader, struct mc_channel *channel)
{
	const char *text;
	uint64_t value;

	if (!etw_winmeta_find(SYMBOL_CHANNEL, channel->name, &value, &text))
		return 0;
	channel->is_winmeta = true;
	channel->value = (uint8_t)value;
	/* Unlike winmeta's other messages it gets a number of the provider that imports it first. */
	return etw_compile_winmeta_message(reader, SYMBOL_CHANNEL, channel->name, text,
					   MC_NO_MESSAGE, &channel->message);
}

static bool has_channel(const struct etw_xml_element *provider, const char *name)
{
	for (const struct etw_xml_element *list = etw_xml_first(provider, "channels"); list;
	     list = etw_xml_next(list, "channels")) {
		for (const struct etw_xml_element *at = etw_xml_first(list, "channel"); at;
		     at = etw_xml_next(at, "channel")) {
			const char *other = etw_xml_attribute(at, "name");

			if (other && strcmp(other, name) == 0)
				return true;
		}
	}
	return false;
}

/* A channel may be of a manifest that was installed before, so that it can only be a warning. */
static int check_import(struct mc_reader *reader, const struct mc_channel *channel)
{
	const struct etw_xml_element *events = reader->provider->element->parent;

	for (const struct etw_xml_element *at = events ? etw_xml_first(events, "provider") : NULL;
	     at; at = etw_xml_next(at, "provider")) {
		if (at != reader->provider->element && has_channel(at, channel->name))
			return 0;
	}
	return etw_compile_warn(reader, channel->element,
				"the imported channel %s is none of winmeta's and of no other "
				"provider of the manifest",
				channel->name);
}

static enum mc_channel_type type_of(const char *text)
{
	static const char *const types[] = {"Admin", "Operational", "Analytic", "Debug"};

	for (size_t i = 0; text && i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i], text) == 0)
			return (enum mc_channel_type)i;
	}
	/* What is owed to readers of an Admin channel is not asked of one whose type is not known. */
	return MC_CHANNEL_DEBUG;
}

static int read_channel(struct mc_reader *reader, const struct etw_xml_element *element)
{
	struct mc_provider *provider = reader->provider;
	struct mc_channel *channel = etw_compile_new(reader, sizeof(*channel));

	if (!channel)
		return -ENOMEM;
	channel->element = element;
	channel->is_imported = strcmp(element->name, "importChannel") == 0;
	channel->name = etw_xml_attribute(element, "name");
	channel->chid = etw_xml_attribute(element, "chid");
	channel->symbol = etw_compile_attribute_symbol(element);
	channel->type = type_of(etw_xml_attribute(element, "type"));
	if (!channel->name)
		channel->name = "-";
	TRY(check_name(reader, channel));
	TRY(check_access(reader, element));
	TRY(claim_channel(reader, channel));
	if (channel->is_imported) {
		TRY(find_winmeta(reader, channel));
		if (!channel->is_winmeta)
			TRY(check_import(reader, channel));
	} else
		TRY(etw_compile_message(reader, element, &channel->message));
	if (provider->channel_count < MC_CHANNELS_MAX)
		channel->keyword = (UINT64_C(1) << 63) >> provider->channel_count;
	MC_APPEND(provider->channels, provider->last_channel, channel);
	if (++provider->channel_count == MC_CHANNELS_MAX + 1)
		TRY(etw_compile_complain(reader, element, "a provider has at most %d channels",
					 MC_CHANNELS_MAX));
	return 0;
}

static int read_value(struct mc_reader *reader, struct mc_channel *channel)
{
	uint64_t value = etw_compile_attribute_number(channel->element, "value", 0);

	channel->value = (uint8_t)value;
	if (!etw_compile_is_number(channel->element, "value", UINT8_MAX))
		return 0;
	if (value < CHANNEL_VALUE_FIRST)
		return etw_compile_complain(reader, channel->element,
					    "the value of the channel %s is not from 16 to 255",
					    channel->name);
	return etw_compile_claim_number(reader, channel->element, SYMBOL_CHANNEL + MC_VALUE,
					reader->provider, value, "channel's value");
}

static bool is_value_taken(const struct mc_provider *provider, unsigned value)
{
	for (const struct mc_channel *at = provider->channels; at; at = at->next) {
		if (!at->is_winmeta && at->value == value)
			return true;
	}
	return false;
}

/* Channels without a value of their own get those from 16 on that are free, in their order. */
static int number_channels(struct mc_reader *reader)
{
	struct mc_provider *provider = reader->provider;
	unsigned next = CHANNEL_VALUE_FIRST;

	for (struct mc_channel *channel = provider->channels; channel; channel = channel->next) {
		if (!channel->is_winmeta && etw_xml_attribute(channel->element, "value"))
			TRY(read_value(reader, channel));
	}
	for (struct mc_channel *channel = provider->channels; channel; channel = channel->next) {
		if (channel->is_winmeta || etw_xml_attribute(channel->element, "value"))
			continue;
		while (is_value_taken(provider, next))
			next++;
		if (next > 255)
			return etw_compile_complain(reader, channel->element,
						    "no value from 16 to 255 is left for the "
						    "channel %s",
						    channel->name);
		channel->value = (uint8_t)next;
	}
	return 0;
}

int etw_compile_read_channels(struct mc_reader *reader)
{
	for (const struct etw_xml_element *list =
		     etw_xml_first(reader->provider->element, "channels");
	     list; list = etw_xml_next(list, "channels")) {
		for (const struct etw_xml_element *at = list->first_child; at; at = at->next) {
			if (strcmp(at->name, "channel") == 0 ||
			    strcmp(at->name, "importChannel") == 0)
				TRY(read_channel(reader, at));
		}
	}
	return number_channels(reader);
}

int etw_compile_use_channel(struct mc_reader *reader, const struct etw_xml_element *element,
			    const char *name, const struct mc_channel **ret)
{
	struct mc_provider *provider = reader->provider;
	struct mc_channel *channel;

	*ret = NULL;
	for (channel = provider->channels; channel; channel = channel->next) {
		if (strcmp(channel->name, name) == 0 ||
		    (channel->chid && strcmp(channel->chid, name) == 0)) {
			*ret = channel;
			return 0;
		}
	}
	channel = etw_compile_new(reader, sizeof(*channel));
	if (!channel)
		return -ENOMEM;
	channel->name = name;
	channel->is_imported = true;
	TRY(find_winmeta(reader, channel));
	if (!channel->is_winmeta)
		return etw_compile_complain(reader, element, "there is no channel %s", name);
	MC_APPEND(provider->channels, provider->last_channel, channel);
	provider->channel_count++;
	*ret = channel;
	return 0;
}
