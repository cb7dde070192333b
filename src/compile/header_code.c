/* SPDX-License-Identifier: MIT */
/* The code of a provider before that of its events: maps, enable bits, context, registration. */
#include <errno.h>
#include <string.h>

#include "compile/header_internal.h"

#define BITS_OF_WORD 32

static int put_item(struct header_writer *writer, const struct mc_map *map,
		    const struct mc_map_item *item, bool is_first)
{
	char *wanted = etw_mc_format(writer, "%s%s", map->symbol, item->symbol);
	char *other = etw_mc_format(writer, "%s_%s", map->symbol, item->symbol);
	const char *name = wanted && other ? etw_mc_take(writer, "C", wanted, other) : NULL;

	if (!name)
		return -ENOMEM;
	etw_text_printf(writer->out, "%s\n    %s = %d", is_first ? "" : ",", name,
			(int)item->value);
	return 0;
}

/* An enum without constants would be no C: a map none of whose items has a symbol makes none. */
static int put_map(struct header_writer *writer, const struct mc_map *map)
{
	const char *symbol;
	bool is_begun = false;

	for (const struct mc_map_item *at = map->symbol ? map->first : NULL; at; at = at->next) {
		if (!at->symbol)
			continue;
		if (!is_begun) {
			symbol = etw_mc_take(writer, "C", map->symbol, NULL);
			if (!symbol)
				return -ENOMEM;
			etw_text_printf(writer->out,
					"\n#ifndef _%s_def\n#define _%s_def\ntypedef enum _%s\n{",
					symbol, symbol, symbol);
		}
		TRY(put_item(writer, map, at, !is_begun));
		is_begun = true;
	}
	if (is_begun)
		etw_text_printf(writer->out, "\n} %s;\n#endif\n", symbol);
	return 0;
}

static int put_maps(struct header_writer *writer, const struct mc_provider *provider, bool is_bits)
{
	for (const struct mc_map *at = provider->maps; at; at = at->next) {
		if (at->is_bits == is_bits)
			TRY(put_map(writer, at));
	}
	return 0;
}

static unsigned word_count(const struct mc_provider *provider)
{
	return (provider->bit_count + BITS_OF_WORD - 1) / BITS_OF_WORD;
}

static void put_bits(struct etw_text *out, const struct header_provider *to)
{
	const struct mc_provider *provider = to->provider;
	unsigned count = provider->bit_count;
	const char *name = to->name;

	if (!count)
		return;
	etw_text_printf(out,
			"\n/* What sessions want: a bit for each pair of level and keywords */\n"
			"EXTERN_C MCGEN_SHARED DECLSPEC_CACHEALIGN ULONG %sEnableBits[%u];\n"
			"MCGEN_SELECTANY DECLSPEC_CACHEALIGN ULONG %sEnableBits[%u] = {0};\n",
			name, word_count(provider), name, word_count(provider));
	etw_text_printf(out,
			"EXTERN_C MCGEN_SHARED const ULONGLONG %sKeywords[%u];\n"
			"MCGEN_SELECTANY const ULONGLONG %sKeywords[%u] = {",
			name, count, name, count);
	for (unsigned i = 0; i < count; i++)
		etw_text_printf(out, "%s0x%llx", i ? ", " : "",
				(unsigned long long)provider->bits[i]->mask);
	etw_text_printf(out,
			"};\nEXTERN_C MCGEN_SHARED const unsigned char %sLevels[%u];\n"
			"MCGEN_SELECTANY const unsigned char %sLevels[%u] = {",
			name, count, name, count);
	for (unsigned i = 0; i < count; i++) {
		const struct mc_name *level = provider->bits[i]->level;

		etw_text_printf(out, "%s%u", i ? ", " : "", level ? (unsigned)level->value : 0);
	}
	etw_text_puts(out, "};\n");
}

static void put_context(struct etw_text *out, const struct header_provider *to)
{
	const char *symbol = to->provider->symbol, *name = to->name;
	unsigned count = to->provider->bit_count;

	etw_text_printf(out,
			"\nEXTERN_C MCGEN_SHARED MCGEN_TRACE_CONTEXT %s_Context;\n"
			"MCGEN_SELECTANY MCGEN_TRACE_CONTEXT %s_Context = "
			"{0, (ULONG_PTR)%s_Traits, 0, 0, 0, 0, 0, 0, %u, ",
			symbol, symbol, symbol, count);
	if (count)
		etw_text_printf(out, "%sEnableBits, %sKeywords, %sLevels};\n", name, name, name);
	else
		etw_text_puts(out, "NULL, NULL, NULL};\n");
}

/* One of the two macros that register; the other one takes the GUID. */
static void put_register(struct etw_text *out, const struct header_provider *to, bool is_by_guid)
{
	const char *symbol = to->provider->symbol;
	const char *kind = is_by_guid ? "ByGuid" : "";
	bool has_traits = etw_mc_has_traits(to->provider);

	etw_text_printf(out, "#ifndef EventRegister%s%s\n#define EventRegister%s%s(%s) ", kind,
			to->label, kind, to->label, is_by_guid ? "Guid" : "");
	etw_text_puts(out, has_traits ? "McGenEventRegisterContext(" : "McGenEventRegister(");
	if (is_by_guid)
		etw_text_puts(out, "&(Guid)");
	else
		etw_text_printf(out, "&%s%s", symbol,
				to->provider->has_control_guid ? "_ControlGuid" : "");
	etw_text_printf(out, ", McGenControlCallbackV2, &%s_Context, &%s_Context", symbol, symbol);
	etw_text_puts(out, has_traits ? ")\n#endif\n" : ".RegistrationHandle)\n#endif\n");
}

/* `Name` or, for a provider with a control GUID, `Symbol_`. */
static void put_handle_name(struct etw_text *out, const struct header_provider *to)
{
	if (to->provider->has_control_guid)
		etw_text_printf(out, "%s_Handle", to->provider->symbol);
	else
		etw_text_printf(out, "%sHandle", to->name);
}

static void put_registration(struct header_writer *writer, const struct header_provider *to)
{
	const char *symbol = to->provider->symbol;
	struct etw_text *out = writer->out;

	etw_text_puts(out, "\n#define ");
	put_handle_name(out, to);
	etw_text_printf(out, " (%s_Context.RegistrationHandle)\n\n", symbol);
	etw_text_printf(out,
			"/* Whether the macros that write events have an activity. */\n"
			"#define %s_EventWriteActivity %d\n\n",
			symbol, writer->options->is_kernel);
	put_register(out, to, false);
	put_register(out, to, true);
	etw_text_printf(out,
			"#ifndef EventUnregister%s\n#define EventUnregister%s() "
			"McGenEventUnregister(&%s_Context.RegistrationHandle)\n#endif\n",
			to->label, to->label, symbol);
}

static void put_context_type(struct etw_text *out, const struct header_provider *to)
{
	unsigned words = word_count(to->provider);

	etw_text_printf(out,
			"typedef struct tagMcGenContext_%s\n{\n    MCGEN_TRACE_CONTEXT Context;\n"
			"    ULONG EnableBits[%u];\n} McGenContext_%s;\n"
			"MCGEN_STATIC_INLINE McGenContext_%s*\n"
			"_mcgen_CheckContextType_%s(_In_ McGenContext_%s* pContext)\n"
			"{\n    return pContext;\n}\n",
			to->name, words ? words : 1, to->name, to->name, to->name, to->name);
}

/* A context of the program's own: the same provider registered several times. */
static void put_for_context(struct etw_text *out, const struct header_provider *to)
{
	const char *symbol = to->provider->symbol, *name = to->name, *label = to->label;
	unsigned count = to->provider->bit_count;

	etw_text_puts(out, "\n#ifdef MCGEN_ENABLE_FORCONTEXT_CODE_GENERATION\n");
	put_context_type(out, to);
	etw_text_printf(
		out,
		"ETW_INLINE ULONG\n_mcgen_RegisterForContext_%s(\n    _In_ LPCGUID _mcgen_Guid,\n"
		"    _Out_ McGenContext_%s* pContext)\n{\n    memset(pContext, 0, "
		"sizeof(*pContext));\n"
		"    pContext->Context.Logger = (ULONG_PTR)%s_Traits;\n"
		"    pContext->Context.EnableBitsCount = %u;\n"
		"    pContext->Context.EnableBitMask = pContext->EnableBits;\n",
		name, name, symbol, count);
	if (count)
		etw_text_printf(out,
				"    pContext->Context.EnableKeyWords = %sKeywords;\n"
				"    pContext->Context.EnableLevel = %sLevels;\n",
				name, name);
	etw_text_printf(out,
			"    return McGenEventRegisterContext(\n"
			"        _mcgen_Guid, McGenControlCallbackV2, &pContext->Context, "
			"&pContext->Context);\n}\n"
			"#define EventRegister%s_ForContext(pContext) "
			"_mcgen_RegisterForContext_%s(&%s%s, (pContext))\n"
			"#define EventRegisterByGuid%s_ForContext(Guid, pContext) "
			"_mcgen_RegisterForContext_%s(&(Guid), (pContext))\n",
			label, name, symbol, to->provider->has_control_guid ? "_ControlGuid" : "",
			label, name);
	etw_text_printf(
		out,
		"#define EventUnregister%s_ForContext(pContext) McGenEventUnregister("
		"&_mcgen_CheckContextType_%s(pContext)->Context.RegistrationHandle)\n#define ",
		label, name);
	put_handle_name(out, to);
	etw_text_printf(out,
			"_ForContext(pContext) (_mcgen_CheckContextType_%s(pContext)"
			"->Context.RegistrationHandle)\n#endif\n",
			name);
}

/* Names of two providers may differ in what no identifier has. */
static int name_provider(struct header_writer *writer, struct header_provider *to)
{
	char *word = etw_mc_identifier(writer, to->provider->name);

	for (char *at = word; at && *at >= '0' && *at <= '9'; at++)
		*at = '_';
	to->name = word ? etw_mc_take(writer, "provider", word, NULL) : NULL;
	to->label = to->name;
	if (to->provider->has_control_guid)
		to->label = etw_mc_format(writer, "_%s", to->provider->symbol);
	return to->name && to->label ? 0 : -ENOMEM;
}

int etw_mc_put_code(struct header_writer *writer, struct header_provider *to)
{
	struct etw_text *out = writer->out;

	TRY(name_provider(writer, to));
	TRY(put_maps(writer, to->provider, true));
	TRY(put_maps(writer, to->provider, false));
	put_bits(out, to);
	put_context(out, to);
	put_registration(writer, to);
	put_for_context(out, to);
	return 0;
}
