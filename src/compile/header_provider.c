/* SPDX-License-Identifier: MIT */
/* The constants of a provider: GUIDs, traits, numbers by name, descriptors. */
#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "compile/header_internal.h"

#define CHANNEL_PROVIDER_METADATA 12
#define TRAIT_BYTES               19 /* u16 bytes, u8 type, GUID */

static void put_guid(struct etw_text *out, const char *name, const GUID *guid)
{
	etw_text_printf(out,
			"EXTERN_C MCGEN_SHARED const GUID %s;\n"
			"MCGEN_SELECTANY const GUID %s = {0x%08x, 0x%04x, 0x%04x, {",
			name, name, guid->Data1, guid->Data2, guid->Data3);
	for (int i = 0; i < 8; i++)
		etw_text_printf(out, "%s0x%02x", i ? ", " : "", guid->Data4[i]);
	etw_text_puts(out, "}};\n");
}

static int put_guids(struct header_writer *writer, const struct mc_provider *provider)
{
	const char *control = etw_mc_format(writer, "%s_ControlGuid", provider->symbol);

	if (!control)
		return -ENOMEM;
	put_guid(writer->out, provider->symbol, &provider->guid);
	if (provider->has_control_guid)
		put_guid(writer->out, control, &provider->control_guid);
	return 0;
}

bool etw_mc_has_traits(const struct mc_provider *provider)
{
	return provider->has_traits || provider->has_control_guid;
}

static void put_trait(struct etw_text *out, unsigned type, const GUID *guid)
{
	const unsigned char *at = (const unsigned char *)guid;

	etw_text_printf(out, "    \"\\023\\000\\%03o", type);
	for (size_t i = 0; i < sizeof(*guid); i++)
		etw_text_printf(out, "\\%03o", at[i]);
	etw_text_printf(out, "\" /* %s */ \\\n", type == 1 ? "Group" : "Decode guid");
}

/* As octal escapes, which have an end of their own. */
static void put_traits(struct etw_text *out, const struct mc_provider *provider)
{
	const char *name = provider->includes_name ? provider->name : "";
	size_t total = 2 + strlen(name) + 1;

	total += provider->has_group ? TRAIT_BYTES : 0;
	total += provider->has_control_guid ? TRAIT_BYTES : 0;
	etw_text_printf(out, "\n#ifndef %s_Traits\n#define %s_Traits ", provider->symbol,
			provider->symbol);
	if (!etw_mc_has_traits(provider)) {
		etw_text_puts(out, "NULL\n#endif\n");
		return;
	}
	etw_text_printf(out, "( \\\n    \"\\%03o\\%03o\" /* Bytes: %zu */ \\\n    \"",
			(unsigned)total & 0xff, (unsigned)total >> 8, total);
	for (const char *at = name; *at; at++)
		etw_text_printf(out, "\\%03o", (unsigned char)*at);
	etw_text_puts(out, "\\000\" /* Name */ \\\n");
	if (provider->has_group)
		put_trait(out, 1, &provider->group_guid);
	if (provider->has_control_guid)
		put_trait(out, 2, &provider->guid);
	etw_text_puts(out, "    )\n#endif\n");
}

/* Without a symbol the name does, after the kind; opcodes of two tasks may have one name. */
static const char *name_of(struct header_writer *writer, const struct mc_provider *provider,
			   const char *symbol, const char *kind, const struct mc_name *task,
			   const char *name)
{
	char *word = etw_mc_identifier(writer, name);
	char *plain = word ? etw_mc_format(writer, "%s_%s_%s", provider->symbol, kind, word) : NULL;
	char *other = plain;

	if (plain && task) {
		char *task_word = etw_mc_identifier(writer, task->name);

		other = task_word ? etw_mc_format(writer, "%s_%s_%s_%s", provider->symbol, kind,
						  task_word, word)
				  : NULL;
	}
	if (!plain || !other)
		return NULL;
	return etw_mc_take(writer, "C", symbol ? symbol : plain, other);
}

static int put_channels(struct header_writer *writer, const struct mc_provider *provider)
{
	if (provider->channels)
		etw_text_puts(writer->out, "\n/* Channels */\n");
	for (const struct mc_channel *at = provider->channels; at; at = at->next) {
		const char *name = name_of(writer, provider, at->symbol, "CHANNEL", NULL,
					   at->chid ? at->chid : at->name);

		if (!name)
			return -ENOMEM;
		etw_text_printf(writer->out, "#define %s 0x%x\n", name, at->value);
	}
	return 0;
}

static int put_task_guid(struct header_writer *writer, const struct mc_name *task)
{
	char *word = etw_mc_identifier(writer, task->name);
	char *wanted = word ? etw_mc_format(writer, "%sId", word) : NULL;
	const char *name = wanted ? etw_mc_take(writer, "C", wanted, NULL) : NULL;

	if (!name)
		return -ENOMEM;
	put_guid(writer->out, name, &task->event_guid);
	return 0;
}

static int put_names(struct header_writer *writer, const struct mc_provider *provider,
		     const struct mc_names *names, const char *kind, const char *title)
{
	bool is_begun = false;

	for (const struct mc_name *at = names->first; at; at = at->next) {
		const char *name;

		if (at->is_winmeta)
			continue;
		name = name_of(writer, provider, at->symbol, kind, at->task, at->name);
		if (!name)
			return -ENOMEM;
		if (!is_begun)
			etw_text_printf(writer->out, "\n/* %s */\n", title);
		is_begun = true;
		etw_text_printf(writer->out, "#define %s 0x%llx\n", name,
				(unsigned long long)at->value);
		if (!etw_guid_is_null(&at->event_guid))
			TRY(put_task_guid(writer, at));
	}
	return 0;
}

static unsigned channel_of(const struct mc_provider *provider, const struct mc_event *event)
{
	if (event->channel)
		return event->channel->value;
	return provider->has_control_guid ? CHANNEL_PROVIDER_METADATA : 0;
}

/* The default form, which the model has only for events without a symbol. */
static char *long_symbol(struct header_writer *writer, const struct mc_provider *provider,
			 const struct mc_event *event)
{
	return etw_mc_format(writer, "%s_EVENT_0x%x_%x_%x_%x_%x_%x_%llx", provider->symbol,
			     event->value, event->version, channel_of(provider, event),
			     event->level ? (unsigned)event->level->value : 0,
			     event->opcode ? (unsigned)event->opcode->value : 0,
			     event->task ? (unsigned)event->task->value : 0,
			     (unsigned long long)event->mask);
}

static int put_descriptor(struct header_writer *writer, const struct mc_provider *provider,
			  struct header_event *to)
{
	const struct mc_event *event = to->event;
	char *other = long_symbol(writer, provider, event);

	to->symbol = other ? etw_mc_take(writer, "C", event->symbol, other) : NULL;
	if (!to->symbol)
		return -ENOMEM;
	if (to->symbol != event->symbol)
		etw_text_printf(writer->out, "/* %s is the symbol of something else above. */\n",
				event->symbol);
	etw_text_printf(writer->out,
			"EXTERN_C MCGEN_SHARED const EVENT_DESCRIPTOR %s;\n"
			"MCGEN_SELECTANY const EVENT_DESCRIPTOR %s = "
			"{0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%llx};\n#define %s_value 0x%x\n",
			to->symbol, to->symbol, event->value, event->version,
			channel_of(provider, event),
			event->level ? (unsigned)event->level->value : 0,
			event->opcode ? (unsigned)event->opcode->value : 0,
			event->task ? (unsigned)event->task->value : 0,
			(unsigned long long)event->mask, to->symbol, event->value);
	return 0;
}

static int put_descriptors(struct header_writer *writer, struct header_provider *to)
{
	const struct mc_provider *provider = to->provider;

	to->events = etw_arena_array(&writer->arena, provider->event_count + 1,
				     sizeof(*to->events));
	if (!to->events)
		return -ENOMEM;
	if (provider->events)
		etw_text_puts(writer->out, "\n/* Event descriptors */\n");
	for (const struct mc_event *at = provider->events; at; at = at->next) {
		if (at->is_not_logged)
			continue;
		to->events[to->event_count].event = at;
		TRY(put_descriptor(writer, provider, &to->events[to->event_count++]));
	}
	return 0;
}

int etw_mc_put_constants(struct header_writer *writer, struct header_provider *to)
{
	const struct mc_provider *provider = to->provider;

	etw_text_puts(writer->out, "\n/* Provider \"");
	etw_mc_put_text(writer->out, provider->name);
	etw_text_printf(writer->out, "\" event count %zu */\n\n", provider->event_count);
	TRY(put_guids(writer, provider));
	put_traits(writer->out, provider);
	TRY(put_channels(writer, provider));
	TRY(put_names(writer, provider, &provider->levels, "LEVEL", "Levels"));
	TRY(put_names(writer, provider, &provider->opcodes, "OPCODE", "Opcodes"));
	TRY(put_names(writer, provider, &provider->tasks, "TASK", "Tasks"));
	TRY(put_names(writer, provider, &provider->keywords, "KEYWORD", "Keywords"));
	return put_descriptors(writer, to);
}
