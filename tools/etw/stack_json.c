/* SPDX-License-Identifier: MIT */
#include "tools/etw/stack_json.h"

#include <inttypes.h>

#include "base/macros.h"
#include "tools/etw/json_members.h"

#define NS_PER_FT 100

/* Times in nanoseconds, as everywhere in JSON. */
static uint64_t weight_of(const struct stack_query *query, uint64_t weight)
{
	return query->by_count ? weight : weight * NS_PER_FT;
}

static void put_name(struct etw_text *text, const struct etw_call_name *name)
{
	switch (name->kind) {
	case STACK_PROCESS:
		json_string(text, "process", name->function);
		json_number(text, "pid", name->number);
		break;
	case STACK_THREAD:
		json_string(text, "thread", name->function);
		json_number(text, "tid", name->number);
		break;
	case STACK_FRAME:
		json_string(text, "module", name->module);
		json_string(text, "function", name->function);
		if (!name->function)
			json_number(text, name->module ? "offset" : "address", name->number);
		json_string(text, "file", name->file);
		if (name->line)
			json_number(text, "line", name->line);
		break;
	default:
		json_string(text, "function", name->function);
	}
}

static void put_list(struct etw_text *text, const struct stack_query *query, const char *key,
		     struct etw_call *const *list, size_t count)
{
	etw_text_printf(text, ",\"%s\":[", key);
	for (size_t i = 0; i < count; i++) {
		etw_text_printf(text, "%s{\"weight\":%" PRIu64, i ? "," : "",
				weight_of(query, list[i]->inclusive));
		json_number(text, "weight_itself", weight_of(query, list[i]->exclusive));
		json_number(text, "events", list[i]->count);
		put_name(text, &list[i]->name);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

void stack_json_tree(struct etw_text *text, const struct stack_query *query,
		     const struct etw_calls *calls)
{
	const struct etw_call_node *node = calls->root.first;
	size_t depth = 0;
	const char *before = "";

	etw_text_putc(text, '[');
	for (; node; node = etw_call_node_next(&calls->root, node, /* skip= */ false, &depth)) {
		etw_text_printf(text, "%s{\"depth\":%zu", before, depth);
		json_number(text, "weight", weight_of(query, node->inclusive));
		json_number(text, "weight_itself", weight_of(query, node->exclusive));
		json_number(text, "events", node->count);
		put_name(text, &node->call->name);
		etw_text_putc(text, '}');
		before = ",";
	}
	etw_text_putc(text, ']');
}

int stack_json_begin(struct etw_text *text, struct stack_profile *profile)
{
	static const char *const events[] = {
		[STACK_SAMPLES] = "profile",
		[STACK_SWITCHES] = "cswitch",
		[STACK_OTHERS] = "other",
	};
	const struct stack_query *query = &profile->query;
	struct etw_call **list;
	size_t count;

	etw_text_printf(text, "{\"event\":\"%s\",\"unit\":\"%s\"", events[query->events],
			query->by_count ? "count" : "ns");
	json_number(text, "weight", weight_of(query, profile->calls.root.inclusive));
	json_number(text, "events", profile->counts.events);
	if (query->events == STACK_SAMPLES)
		json_number(text, "sample_ns", (uint64_t)profile->sample_ft * NS_PER_FT);
	TRY(etw_calls_list(&profile->calls, STACK_PROCESS, ETW_CALLS_INCLUSIVE, &list, &count));
	put_list(text, query, "processes", list, count);
	TRY(etw_calls_list(&profile->calls, STACK_FRAME, ETW_CALLS_EXCLUSIVE, &list, &count));
	put_list(text, query, "functions", list, count);
	etw_text_puts(text, ",\"tree\":");
	stack_json_tree(text, query, &profile->calls);
	return 0;
}

static void put_frameless(struct etw_text *text, const struct stack_profile *profile)
{
	json_number(text, "stacks_frameless", profile->counts.frameless);
	etw_text_puts(text, ",\"frameless\":[");
	for (size_t i = 0; i < profile->frameless_count; i++) {
		etw_text_printf(text, "%s{\"events\":%" PRIu64, i ? "," : "",
				profile->frameless[i].stacks);
		json_string(text, "module", profile->frameless[i].module->name);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

static void put_modules(struct etw_text *text, const struct stack_profile *profile)
{
	const char *before = "";

	etw_text_puts(text, ",\"modules\":[");
	for (size_t i = 0; i < profile->machines; i++) {
		const struct etw_symbol_module *module;

		for (size_t j = 0; (module = etw_symbols_module_at(profile->symbols[i], j)) != NULL;
		     j++) {
			if (!module->asked)
				continue;
			etw_text_printf(text, "%s{\"addresses\":%" PRIu64, before, module->asked);
			json_number(text, "named", module->named);
			json_string(text, "module", module->name);
			json_string(text, "path", module->path);
			if (module->build_id_bytes)
				etw_text_puts(text, ",\"build_id\":\"");
			for (size_t k = 0; k < module->build_id_bytes; k++)
				etw_text_printf(text, "%02x", module->build_id[k]);
			etw_text_puts(text, module->build_id_bytes ? "\"" : "");
			json_string(text, "symbol_file", module->symbol_file);
			json_text(text, "reason", etw_symbol_reason_sentence(module->reason));
			etw_text_putc(text, '}');
			before = ",";
		}
	}
	etw_text_putc(text, ']');
}

static void put_accounts(struct etw_text *text, const struct stack_profile *profile)
{
	etw_text_puts(text, ",\"files\":[");
	for (size_t i = 0; i < profile->inputs->count; i++) {
		etw_text_puts(text, i ? ",{\"file\":" : "{\"file\":");
		json_value(text, profile->inputs->paths[i]);
		account_write_json(text, &profile->accounts[i]);
		etw_text_putc(text, '}');
	}
	etw_text_putc(text, ']');
}

void stack_json_end(struct etw_text *text, const struct stack_profile *profile,
		    const struct etw_loss *loss)
{
	const struct stack_counts *counts = &profile->counts;

	json_number(text, "stacks_whole", counts->fates[ETW_STACK_WHOLE]);
	json_number(text, "stacks_kernel_only", counts->fates[ETW_STACK_KERNEL_ONLY]);
	json_number(text, "stacks_none", counts->fates[ETW_STACK_NONE]);
	json_number(text, "stacks_undefined", counts->fates[ETW_STACK_UNDEFINED]);
	json_number(text, "stacks_broken", counts->broken);
	json_number(text, "stacks_cut", counts->cut);
	put_frameless(text, profile);
	json_number(text, "idle_samples", counts->idle);
	json_number(text, "switches_without_wait", counts->without_wait);
	put_modules(text, profile);
	put_accounts(text, profile);
	json_number(text, "events_lost", loss->events);
	json_number(text, "buffers_lost", loss->buffers);
	notes_write_json(text, &profile->notes);
	etw_text_puts(text, "}\n");
}
