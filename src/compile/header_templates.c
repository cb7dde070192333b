/* SPDX-License-Identifier: MIT */
/*
 * The functions that write events. Templates whose fields have the same types in the same order share one,
 * whose name spells them.
 */
#include <errno.h>
#include <evntprov.h>
#include <stdlib.h>
#include <string.h>

#include "compile/header_internal.h"

static void put_parameter(const struct mc_field *field, struct etw_text *out)
{
	const struct type_code *code = etw_mc_type_code(field);
	bool is_array = etw_mc_is_array(field), has_length = etw_mc_has_length(field);
	unsigned i = field->index;

	if (etw_mc_takes_length(field))
		etw_text_printf(out, ",\n    _In_ ULONG _Arg%u_Len_", i);
	if (is_array && etw_mc_is_text(code) && !has_length)
		etw_text_printf(out, ",\n    %s _Arg%u", code->scalar, i);
	else if (is_array || has_length)
		etw_text_printf(out, ",\n    const %s* _Arg%u", code->element, i);
	else
		etw_text_printf(out, ",\n    %s _Arg%u", code->scalar, i);
}

/* Bytes of an array, or of data with a length, as an expression. */
static void put_size(const struct mc_field *field, struct etw_text *out)
{
	const struct type_code *code = etw_mc_type_code(field);
	bool is_array = etw_mc_is_array(field), takes_length = etw_mc_takes_length(field);
	bool has_length = etw_mc_has_length(field);

	etw_text_puts(out, "(ULONG)(");
	if (etw_mc_is_struct(code) || code->letter == 'k')
		etw_text_puts(out, "1u");
	else
		etw_text_printf(out, "sizeof(%s)", code->element);
	if (takes_length)
		etw_text_printf(out, " * _Arg%u_Len_", field->index);
	if (has_length && field->length.field)
		etw_text_printf(out, " * (ULONG)_Arg%u", field->length.field->index);
	else if (has_length)
		etw_text_printf(out, " * %uu", etw_mc_length_number(field));
	/* The length of several strings or counted items is that of all. */
	if (is_array && (!takes_length || etw_mc_is_struct(code))) {
		if (field->count.field)
			etw_text_printf(out, " * (ULONG)_Arg%u", field->count.field->index);
		else
			etw_text_printf(out, " * %uu", field->count.number);
	}
	etw_text_puts(out, ")");
}

/* A null pointer is written as the text NULL. */
static void put_string(const struct mc_field *field, unsigned slot, struct etw_text *out)
{
	bool is_wide = etw_mc_type_code(field)->letter == 'z';
	unsigned i = field->index;

	etw_text_printf(out,
			"    EventDataDescCreate(&EventData[%u],\n"
			"        _Arg%u ? (const void*)_Arg%u : (const void*)%s,\n"
			"        _Arg%u ? %s(_Arg%u) : %uu);\n",
			slot, i, i, is_wide ? "u\"NULL\"" : "\"NULL\"", i,
			is_wide ? "_mcgen_WideBytes" : "_mcgen_AnsiBytes", i, is_wide ? 10 : 5);
}

static void put_single(const struct mc_field *field, unsigned slot, struct etw_text *out)
{
	const struct type_code *code = etw_mc_type_code(field);
	unsigned i = field->index;

	if (etw_mc_is_text(code))
		put_string(field, slot, out);
	else if (code->letter == 'k')
		etw_text_printf(out,
				"    EventDataDescCreate(&EventData[%u],\n"
				"        _Arg%u ? (const void*)_Arg%u : (const "
				"void*)\"\\0\\0\\0\\0\\0\\0\\0\",\n"
				"        _Arg%u ? (ULONG)MCGEN_GETLENGTHSID(_Arg%u) : 8u);\n",
				slot, i, i, i, i);
	else if (code->by_address)
		etw_text_printf(out,
				"    EventDataDescCreate(&EventData[%u], _Arg%u, sizeof(%s));\n",
				slot, i, code->element);
	else
		etw_text_printf(out,
				"    EventDataDescCreate(&EventData[%u], &_Arg%u, sizeof(%s));\n",
				slot, i, code->scalar);
}

/* Fills the descriptors of a field; returns how many. */
static unsigned put_slots(const struct mc_field *field, unsigned slot, struct etw_text *out)
{
	const struct type_code *code = etw_mc_type_code(field);
	unsigned i = field->index;

	if (etw_mc_is_counted(code) && !etw_mc_is_array(field)) {
		etw_text_printf(out,
				"    EventDataDescCreate(&EventData[%u], &EventData[%u].Size, "
				"sizeof(USHORT));\n"
				"    EventDataDescCreate(&EventData[%u], _Arg%u, "
				"(USHORT)(sizeof(%s) * _Arg%u_Len_));\n",
				slot, slot + 1, slot + 1, i, code->element, i);
		return 2;
	}
	if (etw_mc_is_array(field) || etw_mc_has_length(field) || etw_mc_is_struct(code)) {
		etw_text_printf(out, "    EventDataDescCreate(&EventData[%u], _Arg%u, ", slot, i);
		put_size(field, out);
		etw_text_puts(out, ");\n");
	} else {
		put_single(field, slot, out);
	}
	return 1;
}

static unsigned count_slots(const struct mc_template *template_of)
{
	const struct mc_field *at = template_of ? template_of->fields : NULL;
	unsigned count = 0;

	for (; at; at = at->next)
		count += etw_mc_is_counted(etw_mc_type_code(at)) && !etw_mc_is_array(at) ? 2 : 1;
	return count;
}

static void put_head(const struct mc_template *template_of, const char *name, bool is_kernel,
		     struct etw_text *out)
{
	const struct mc_field *at = template_of ? template_of->fields : NULL;

	etw_text_puts(out, "\n/* Template from manifest: ");
	etw_mc_put_text(out, template_of ? template_of->tid : "(null)");
	etw_text_printf(out, " */\n#ifndef %s_def\n#define %s_def\n#define %s_ARGCOUNT %u\n", name,
			name, name, count_slots(template_of));
	etw_text_printf(out,
			"ETW_INLINE ULONG\n_mcgen_PASTE2(%s_, MCGEN_EVENTWRITETRANSFER)(\n"
			"    _In_ PMCGEN_TRACE_CONTEXT Context,\n"
			"    _In_ PCEVENT_DESCRIPTOR Descriptor",
			name);
	if (is_kernel)
		etw_text_puts(out, ",\n    _In_opt_ LPCGUID Activity");
	for (; at; at = at->next)
		put_parameter(at, out);
	etw_text_puts(out, ")\n{\n");
}

static int put_function(struct header_writer *writer, const struct mc_template *template_of,
			const char *codes)
{
	const struct etw_compile_header_options *options = writer->options;
	const struct mc_field *at = template_of ? template_of->fields : NULL;
	const char *name = etw_mc_format(writer, "McTemplate%c0%s", options->is_kernel ? 'K' : 'U',
					 codes);
	struct etw_text *out = writer->out;
	unsigned slot = 1;

	if (!name)
		return -ENOMEM;
	if (count_slots(template_of) >=
	    MAX_EVENT_DATA_DESCRIPTORS) /* the first one is for traits */
		return etw_fault_set(writer->reterr, -EFBIG, template_of->element->line, "header",
				     "template",
				     "its events have more than 127 pieces of data, of which a "
				     "counted field is two, and could not be written");
	put_head(template_of, name, options->is_kernel, out);
	etw_text_printf(out, "    EVENT_DATA_DESCRIPTOR EventData[%s_ARGCOUNT + 1];\n", name);
	if (options->has_callout)
		etw_text_puts(out, "    ULONG Result;\n");
	etw_text_puts(out, "\n");
	for (; at; at = at->next)
		slot += put_slots(at, slot, out);
	etw_text_printf(
		out,
		"    %s McGenEventWrite(Context, Descriptor, %s, %s_ARGCOUNT + 1, EventData);\n",
		options->has_callout ? "Result =" : "return",
		options->is_kernel ? "Activity" : "NULL", name);
	if (options->has_callout)
		etw_text_printf(
			out,
			"#ifdef MCGEN_CALLOUT\n"
			"    MCGEN_CALLOUT(Context->RegistrationHandle, Descriptor,\n"
			"        %s_ARGCOUNT + 1, EventData);\n#endif\n    return Result;\n",
			name);
	etw_text_puts(out, "}\n#endif\n");
	return 0;
}

struct shape {
	char *codes; /* in the arena */
	const struct mc_template *template_of;
	size_t index; /* the first user of a shape names it */
};

static int compare_shapes(const void *left, const void *right)
{
	const struct shape *a = left, *b = right;
	int r = strcmp(a->codes, b->codes);

	return r ? r : (a->index > b->index) - (a->index < b->index);
}

static int collect(struct header_writer *writer, const struct header_provider *provider,
		   struct shape *shapes, size_t *count)
{
	char codes[HEADER_CODES_BYTES];

	for (size_t i = 0; i < provider->event_count; i++) {
		struct shape *shape = &shapes[*count];

		etw_mc_spell(provider->events[i].event->template_of, codes);
		shape->codes = etw_arena_strdup(&writer->arena, codes);
		shape->template_of = provider->events[i].event->template_of;
		shape->index = (*count)++;
		if (!shape->codes)
			return -ENOMEM;
	}
	return 0;
}

int etw_mc_put_templates(struct header_writer *writer)
{
	size_t room = 1, count = 0;
	struct shape *shapes;

	for (size_t i = 0; i < writer->manifest->provider_count; i++)
		room += writer->providers[i].event_count;
	shapes = etw_arena_array(&writer->arena, room, sizeof(*shapes));
	if (!shapes)
		return -ENOMEM;
	for (size_t i = 0; i < writer->manifest->provider_count; i++)
		TRY(collect(writer, &writer->providers[i], shapes, &count));
	qsort(shapes, count, sizeof(*shapes), compare_shapes);
	for (size_t i = 0; i < count; i++) {
		if (!i || strcmp(shapes[i].codes, shapes[i - 1].codes) != 0)
			TRY(put_function(writer, shapes[i].template_of, shapes[i].codes));
	}
	return 0;
}
