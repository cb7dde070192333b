/* SPDX-License-Identifier: MIT */
/* The macros that write events, and those that tell whether a session wants them. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "compile/header_internal.h"

/* Words that are operators in C++, and so no parameters of macros. */
static const char *const operators[] = {"and",    "and_eq", "bitand", "bitor", "compl", "not",
					"not_eq", "or",     "or_eq",  "xor",   "xor_eq"};

/* The words in the macros' bodies, which a parameter of the same name would replace. */
static bool is_in_body(const struct header_writer *writer, const struct header_provider *provider,
		       const struct header_event *event, const char *name)
{
	size_t symbol = strlen(provider->provider->symbol);

	(void)writer;
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (strcmp(name, operators[i]) == 0)
			return true;
	}
	return strcmp(name, event->symbol) == 0 || strcmp(name, event->macro) == 0 ||
	       strncasecmp(name, "mcgen_", 6) == 0 || strncmp(name, "_mcgen_", 7) == 0 ||
	       strcmp(name, "Activity") == 0 || strcmp(name, "pContext") == 0 ||
	       strcmp(name, "Context") == 0 || strcmp(name, "NULL") == 0 ||
	       (strncmp(name, provider->provider->symbol, symbol) == 0 &&
		strcmp(name + symbol, "_Context") == 0);
}

static bool is_parameter(const struct header_event *event, const char *name)
{
	for (size_t i = 0; i < event->parameter_count; i++) {
		if (strcmp(event->parameters[i], name) == 0)
			return true;
	}
	return false;
}

/* The field's name as far as C and the other parameters let it be. */
static int add_parameter(struct header_writer *writer, const struct header_provider *provider,
			 struct header_event *event, const struct mc_field *field,
			 const char *suffix)
{
	char *word = etw_mc_identifier(writer, field->name);
	const char *name;

	if (!word)
		return -ENOMEM;
	name = etw_mc_format(writer, "%s%s%s", word[0] >= '0' && word[0] <= '9' ? "_" : "", word,
			     suffix);
	for (unsigned i = field->index;
	     name && (is_in_body(writer, provider, event, name) || is_parameter(event, name)); i++)
		name = etw_mc_format(writer, "%s_%u%s", word, i, suffix);
	if (!name)
		return -ENOMEM;
	event->parameters[event->parameter_count++] = name;
	return 0;
}

static int name_parameters(struct header_writer *writer, const struct header_provider *provider,
			   struct header_event *event)
{
	const struct mc_template *template_of = event->event->template_of;
	size_t room = template_of ? 2 * (size_t)template_of->field_count : 0;

	event->parameters = etw_arena_array(&writer->arena, room + 1, sizeof(const char *));
	if (!event->parameters)
		return -ENOMEM;
	for (const struct mc_field *at = room ? template_of->fields : NULL; at; at = at->next) {
		if (etw_mc_takes_length(at))
			TRY(add_parameter(writer, provider, event, at, "_Len_"));
		TRY(add_parameter(writer, provider, event, at, ""));
	}
	return 0;
}

/* The symbol without what -P takes away, when that leaves a name that no other event has. */
static int name_macro(struct header_writer *writer, struct header_event *event)
{
	const char *strip = writer->options->strip ? writer->options->strip : "";
	size_t bytes = strlen(strip);
	const char *wanted = event->symbol;

	if (strncasecmp(wanted, strip, bytes) == 0 && wanted[bytes])
		wanted += bytes;
	event->macro = etw_mc_take(writer, "EventWrite", wanted, event->symbol);
	return event->macro ? 0 : -ENOMEM;
}

static void put_parameters(struct etw_text *out, const struct header_event *event, bool has_first)
{
	for (size_t i = 0; i < event->parameter_count; i++)
		etw_text_printf(out, "%s%s", i || has_first ? ", " : "", event->parameters[i]);
}

/* Which of the four macros of an event. */
struct form {
	const char *suffix;
	bool has_context; /* the program's own one is the first argument */
	bool is_assumed;  /* that a session wants the event */
};

/* In parentheses, which the kits' macros lack: `EventWriteX() == 0` would compare the 0 behind the colon. */
static void put_macro(struct header_writer *writer, const struct header_provider *provider,
		      const struct header_event *event, const struct form *form)
{
	const struct etw_compile_header_options *options = writer->options;
	bool has_activity = options->is_kernel && !form->is_assumed;
	struct etw_text *out = writer->out;

	etw_text_printf(out, "#define %s%s%s(", options->prefix ? options->prefix : "EventWrite",
			event->macro, form->suffix);
	etw_text_puts(out, form->has_context ? "pContext" : "");
	etw_text_puts(out, has_activity && form->has_context ? ", " : "");
	etw_text_puts(out, has_activity ? "Activity" : "");
	put_parameters(out, event, form->has_context || has_activity);
	etw_text_puts(out, ") \\\n        ");
	if (!form->is_assumed && form->has_context)
		etw_text_printf(out, "(MCGEN_EVENT_ENABLED_FORCONTEXT(pContext, %s) \\\n        ? ",
				event->macro);
	else if (!form->is_assumed)
		etw_text_printf(out, "(MCGEN_EVENT_ENABLED(%s) \\\n        ? ", event->macro);
	etw_text_printf(out, "_mcgen_TEMPLATE_FOR_%s(", event->macro);
	if (form->has_context)
		etw_text_printf(out, "&_mcgen_CheckContextType_%s(pContext)->Context",
				provider->name);
	else
		etw_text_printf(out, "&%s_Context", provider->provider->symbol);
	etw_text_printf(out, ", &%s", event->symbol);
	if (options->is_kernel)
		etw_text_puts(out, has_activity ? ", Activity" : ", NULL");
	put_parameters(out, event, true);
	etw_text_puts(out, form->is_assumed ? ")\n" : ") : 0)\n");
}

static void put_note(struct etw_text *out, const struct header_event *event)
{
	const struct mc_template *template_of = event->event->template_of;

	etw_text_printf(out, "\n/* %s", event->symbol);
	for (const struct mc_field *at = template_of ? template_of->fields : NULL; at;
	     at = at->next) {
		if (!etw_mc_is_packed(at))
			continue;
		etw_text_printf(out,
				"\n * MC note: the caller packs arguments of event id %u, as the "
				"comment at the "
				"top says.\n",
				event->event->value);
		break;
	}
	etw_text_puts(out, " */\n");
}

static int put_event(struct header_writer *writer, const struct header_provider *provider,
		     struct header_event *event)
{
	static const struct form forms[] = {
		{"", false, false},
		{"_AssumeEnabled", false, true},
		{"_ForContext", true, false},
		{"_ForContextAssumeEnabled", true, true},
	};
	char codes[HEADER_CODES_BYTES];
	struct etw_text *out = writer->out;

	TRY(name_macro(writer, event));
	TRY(name_parameters(writer, provider, event));
	etw_mc_spell(event->event->template_of, codes);
	put_note(out, event);
	etw_text_printf(out,
			"#define EventEnabled%s() _mcgen_EVENT_BIT_SET(%sEnableBits, %u)\n"
			"#define EventEnabled%s_ForContext(pContext) _mcgen_EVENT_BIT_SET("
			"_mcgen_CheckContextType_%s(pContext)->EnableBits, %u)\n",
			event->macro, provider->name, event->event->bit, event->macro,
			provider->name, event->event->bit);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		put_macro(writer, provider, event, &forms[i]);
	etw_text_printf(out,
			"#define _mcgen_TEMPLATE_FOR_%s "
			"_mcgen_PASTE2(McTemplate%c0%s_, MCGEN_EVENTWRITETRANSFER)\n",
			event->macro, writer->options->is_kernel ? 'K' : 'U', codes);
	return 0;
}

int etw_mc_put_events(struct header_writer *writer, struct header_provider *provider)
{
	for (size_t i = 0; i < provider->event_count; i++)
		TRY(put_event(writer, provider, &provider->events[i]));
	return 0;
}
