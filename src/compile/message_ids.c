/* SPDX-License-Identifier: MIT */
/*
 * The ids of messages: a class, the provider's index, and a number within the class. A string that
 * several things refer to has the id of the first of them.
 */
#include "compile/read_internal.h"

static void give(struct mc_message *message, uint32_t id)
{
	if (message && message->id == MC_NO_MESSAGE)
		message->id = id;
}

static uint32_t id_of(const struct mc_provider *provider, uint32_t class, uint32_t number)
{
	return (class << 28 | provider->index << 24) | number;
}

static void number_channels(const struct mc_provider *provider)
{
	uint32_t number = provider->message ? 2 : 1;

	give(provider->message, id_of(provider, 9, 1));
	for (const struct mc_channel *at = provider->channels; at; at = at->next) {
		if (at->message)
			give(at->message, id_of(provider, 9, number++));
	}
}

static void number_names(const struct mc_provider *provider)
{
	for (const struct mc_name *at = provider->levels.first; at; at = at->next)
		give(at->message, id_of(provider, 5, (uint32_t)at->value));
	for (const struct mc_name *at = provider->tasks.first; at; at = at->next)
		give(at->message, id_of(provider, 7, (uint32_t)at->value));
	for (const struct mc_name *at = provider->opcodes.first; at; at = at->next)
		give(at->message, id_of(provider, 3, 0) |
					  (at->task ? (uint32_t)at->task->value << 16 : 0) |
					  (uint32_t)at->value);
	for (const struct mc_name *at = provider->keywords.first; at; at = at->next) {
		if (at->value)
			give(at->message,
			     id_of(provider, 1, (uint32_t)__builtin_ctzll(at->value) + 1));
	}
}

static void number_events(const struct mc_provider *provider)
{
	for (const struct mc_event *at = provider->events; at; at = at->next) {
		uint32_t number = (uint32_t)at->version << 16 | at->value;
		/* The classic logs look their messages up by the number alone. */
		bool is_classic = at->channel && at->channel->is_winmeta &&
				  at->channel->value >= 8 && at->channel->value <= 10;

		give(at->message, id_of(provider, is_classic ? 0 : 11, number));
	}
}

static void number_maps(const struct mc_provider *provider)
{
	uint32_t values = 1;
	uint32_t bits = 1;

	for (const struct mc_map *map = provider->maps; map; map = map->next) {
		for (const struct mc_map_item *at = map->first; at; at = at->next)
			give(at->message, map->is_bits ? id_of(provider, 15, bits++)
						       : id_of(provider, 13, values++));
	}
}

void etw_compile_number_messages(struct mc_manifest *manifest)
{
	for (const struct mc_provider *provider = manifest->providers;
	     provider && provider->index < MC_PROVIDERS_WITH_IDS_MAX; provider = provider->next) {
		number_channels(provider);
		number_names(provider);
		number_events(provider);
		number_maps(provider);
		for (const struct mc_filter *at = provider->filters; at; at = at->next)
			give(at->message,
			     id_of(provider, 5, 0x800000) | (uint32_t)at->version << 8 | at->value);
	}
}
