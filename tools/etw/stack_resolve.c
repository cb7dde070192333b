/* SPDX-License-Identifier: MIT */
/* From the tree of addresses to the tree of functions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "process/subject.h"
#include "tools/etw/stack_gather.h"

/* What an address came to, at one place. */
struct resolved {
	const struct stack_place *place;
	const struct etw_call *raw;
	uint32_t levels;
	bool is_start; /* a thread may begin there, as far as one can tell */
	/* Without its frame pointer in place there, so that who follows frame pointers misses its caller; NULL: with one, or unknown. */
	const struct etw_symbol_module *frameless;
	struct etw_call *calls[];
};

struct resolver {
	struct stack_gather *gather;
	struct etw_arena arena;
	struct etw_table resolved; /* in the arena */
	struct etw_call *broken;
	struct etw_call **path; /* owned; the levels so far */
	size_t levels, room;
	size_t *ends; /* owned; how many of them there are behind each level of addresses */
	size_t ends_room;
	const struct stack_place *place;
	uint64_t broken_stacks;
	size_t frameless_depth; /* of the outermost such place of the stack; SIZE_MAX: none */
};

static void resolver_done(struct resolver *resolver)
{
	etw_table_done(&resolver->resolved);
	etw_arena_done(&resolver->arena);
	free(resolver->path);
	free(resolver->ends);
}

/* Functions in which threads begin; of Windows modules. */
static const char *const starts[] = {
	"_start",         "__libc_start_main", "__libc_start_call_main",
	"_dl_start",      "_dl_start_user",    "__clone",
	"clone",          "__clone3",          "clone3",
	"__GI___clone3",  "__GI___clone",      "start_thread",
	"thread_start",   "_start_c",          "__libc_start_main_impl",
	"__start_thread",
};
static const char *const start_modules[] = {"ntdll.dll", "ntoskrnl.exe", "ntdll", "[vdso]"};

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; word && i < count; i++) {
		if (!strcmp(word, list[i]))
			return true;
	}
	return false;
}

/* Where the outermost function is known, and is none that a thread begins in, the stack lacks the rest. */
static bool is_start(const struct etw_symbol_frame *frame, uint64_t address)
{
	if (etw_symbols_is_kernel(address))
		return true;
	if (!frame->module)
		return false;
	if (is_one_of(frame->module->name, start_modules, ARRAY_SIZE(start_modules)) ||
	    !frame->raw_function)
		return true;
	return is_one_of(frame->raw_function, starts, ARRAY_SIZE(starts));
}

/*
 * Where a place lacks its frame pointer, the caller is not in the stack, unless a thread begins there: neither is that of the
 * outermost frame, as far as it may be one.
 */
static int find_frameless(struct resolver *resolver, const struct etw_call *raw,
			  const struct etw_symbol_frame *frame,
			  const struct etw_symbol_module **ret)
{
	const struct stack_place *place = resolver->place;
	const struct stack_profile *profile = resolver->gather->profile;
	const bool is_return = raw->name.kind == STACK_RAW_RETURN;
	int kept;

	if (profile->by_tables || raw->name.kind == STACK_RAW_ALONE || !frame->module ||
	    is_one_of(frame->raw_function, starts, ARRAY_SIZE(starts)))
		return 0;
	kept = etw_symbols_keeps_frame(profile->symbols[place->machine], place->pid, place->time_ft,
				       raw->name.number, is_return);
	if (kept == -ENOMEM)
		return kept;
	if (!kept)
		*ret = frame->module;
	return 0;
}

static bool is_resolved(const void *item, const void *wanted_at)
{
	const struct resolved *resolved = item, *wanted = wanted_at;

	return resolved->place == wanted->place && resolved->raw == wanted->raw;
}

static int name_frame(struct resolver *resolver, const struct etw_symbol_frame *frame,
		      struct etw_call **ret)
{
	const struct etw_call_name name = {
		.kind = STACK_FRAME,
		.module = frame->module ? frame->module->name : NULL,
		.function = frame->function,
		.file = frame->file,
		.line = frame->line,
		/* A function is one row, whether it has a name or not. */
		.number = frame->function    ? 0
			  : frame->has_begin ? frame->begin
					     : frame->offset,
	};

	return etw_calls_name(&resolver->gather->profile->calls, &name, ret);
}

static int look_up(struct resolver *resolver, const struct etw_call *raw, struct resolved **ret)
{
	const struct resolved wanted = {.place = resolver->place, .raw = raw};
	const uint64_t hash = etw_hash_mix(etw_hash_seed(),
					   (uint64_t)wanted.place->number << 32 | raw->identity);
	struct stack_profile *profile = resolver->gather->profile;
	struct etw_symbol_frame frames[ETW_SYMBOL_FRAMES_MAX];
	struct resolved *resolved = etw_table_find(&resolver->resolved, hash, is_resolved, &wanted);
	int count;

	*ret = resolved;
	if (resolved)
		return 0;
	count = etw_symbols_resolve(profile->symbols[wanted.place->machine], wanted.place->pid,
				    wanted.place->time_ft, raw->name.number,
				    raw->name.kind == STACK_RAW_RETURN, frames, ARRAY_SIZE(frames));
	TRY(count);
	resolved = etw_arena_alloc(&resolver->arena,
				   sizeof(*resolved) + (size_t)count * sizeof(struct etw_call *));
	if (!resolved || etw_table_insert(&resolver->resolved, hash, resolved))
		return -ENOMEM;
	*resolved = wanted;
	resolved->levels = (uint32_t)count;
	resolved->is_start = is_start(&frames[count - 1], raw->name.number);
	TRY(find_frameless(resolver, raw, &frames[count - 1], &resolved->frameless));
	/* Symbols come innermost first, a tree grows from the outermost in. */
	for (int i = 0; i < count; i++)
		TRY(name_frame(resolver, &frames[count - 1 - i], &resolved->calls[i]));
	*ret = resolved;
	return 0;
}

static int push(struct resolver *resolver, struct etw_call *call)
{
	if (resolver->levels == resolver->room) {
		const size_t room = resolver->room ? 2 * resolver->room : 256;
		struct etw_call **grown = realloc(resolver->path, room * sizeof(struct etw_call *));

		if (!grown)
			return -ENOMEM;
		resolver->path = grown;
		resolver->room = room;
	}
	resolver->path[resolver->levels++] = call;
	return 0;
}

static int push_place(struct resolver *resolver, const struct stack_place *place)
{
	const struct stack_machine *machine = &resolver->gather->machines[place->machine];
	const char *name = etw_processes_name(machine->processes, place->pid, place->time_ft);
	struct etw_call_name call = {.kind = STACK_PROCESS, .number = place->pid};
	struct etw_text text = {0};
	struct etw_call *made;
	int result;

	resolver->place = place;
	if (place->pid == ETW_PROCESS_NONE)
		etw_text_puts(&text, "unknown process");
	else
		etw_text_printf(&text, "%s (%" PRIu32 ")", name ? name : "process", place->pid);
	result = etw_text_error(&text);
	call.function = etw_text_string(&text);
	call.module = NULL;
	if (!result)
		result = etw_calls_name(&resolver->gather->profile->calls, &call, &made);
	etw_text_done(&text);
	return result ? result : push(resolver, made);
}

static int push_thread(struct resolver *resolver, uint64_t tid)
{
	const struct stack_place *place = resolver->place;
	const struct stack_machine *machine = &resolver->gather->machines[place->machine];
	const char *name = etw_processes_thread_name(machine->processes, (uint32_t)tid,
						     place->time_ft);
	struct etw_call_name call = {.kind = STACK_THREAD, .number = tid};
	struct etw_text text = {0};
	struct etw_call *made;
	int result;

	if (tid == ETW_PROCESS_NONE)
		etw_text_puts(&text, "unknown thread");
	else
		etw_text_printf(&text, "thread %" PRIu64 "%s%s%s", tid, name ? " (" : "",
				name ? name : "", name ? ")" : "");
	result = etw_text_error(&text);
	call.function = etw_text_string(&text);
	if (!result)
		result = etw_calls_name(&resolver->gather->profile->calls, &call, &made);
	etw_text_done(&text);
	return result ? result : push(resolver, made);
}

static bool is_frame(const struct etw_call_node *node)
{
	return node->call && node->call->name.kind >= STACK_RAW_RETURN;
}

/* Once of each stack: at the outermost such place. */
static void count_frameless(struct resolver *resolver, const struct etw_call_node *node,
			    size_t depth, const struct resolved *resolved)
{
	struct stack_profile *profile = resolver->gather->profile;
	const bool is_outermost = !is_frame(node->parent);
	size_t i = 0;

	if (resolver->frameless_depth != SIZE_MAX || !resolved->frameless ||
	    (is_outermost && resolved->is_start && node->call->name.kind == STACK_RAW_RETURN))
		return;
	resolver->frameless_depth = depth;
	profile->counts.frameless += node->count;
	while (i < profile->frameless_count && profile->frameless[i].module != resolved->frameless)
		i++;
	if (i == STACK_FRAMELESS_MAX)
		return;
	if (i == profile->frameless_count)
		profile->frameless[profile->frameless_count++].module = resolved->frameless;
	profile->frameless[i].stacks += node->count;
}

static int push_node(struct resolver *resolver, const struct etw_call_node *node, size_t depth)
{
	const struct etw_call *raw = node->call;
	struct resolved *resolved;

	if (raw->name.kind == STACK_RAW_PLACE)
		return push_place(resolver,
				  (const struct stack_place *)(uintptr_t)raw->name.number);
	if (raw->name.kind == STACK_RAW_THREAD)
		return push_thread(resolver, raw->name.number);
	TRY(look_up(resolver, raw, &resolved));
	count_frameless(resolver, node, depth, resolved);
	if (!is_frame(node->parent) && !resolved->is_start && raw->name.kind != STACK_RAW_ALONE) {
		resolver->broken_stacks += node->count;
		TRY(push(resolver, resolver->broken));
	}
	for (uint32_t i = 0; i < resolved->levels; i++)
		TRY(push(resolver, resolved->calls[i]));
	return 0;
}

/* What ended in this very address. */
static int add_own(struct resolver *resolver, const struct etw_call_node *node)
{
	uint64_t count = node->count;

	for (const struct etw_call_node *child = node->first; child; child = child->next)
		count -= child->count;
	if (!count)
		return 0;
	return etw_calls_add(&resolver->gather->profile->calls, resolver->path, resolver->levels,
			     node->exclusive, count);
}

/* @depth: of a node that was pushed */
static int remember_end(struct resolver *resolver, size_t depth)
{
	if (depth >= resolver->ends_room) {
		const size_t room = 2 * depth + 64;
		size_t *grown = realloc(resolver->ends, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		resolver->ends = grown;
		resolver->ends_room = room;
	}
	resolver->ends[depth] = resolver->levels;
	return 0;
}

static int resolve_all(struct resolver *resolver)
{
	const struct etw_call_node *root = &resolver->gather->raw.root, *node = root->first;
	size_t depth = 0;

	while (node) {
		resolver->levels = depth ? resolver->ends[depth - 1] : 0;
		if (resolver->frameless_depth != SIZE_MAX && depth <= resolver->frameless_depth)
			resolver->frameless_depth = SIZE_MAX;
		TRY(push_node(resolver, node, depth));
		TRY(remember_end(resolver, depth));
		TRY(add_own(resolver, node));
		node = etw_call_node_next(root, node, /* skip= */ false, &depth);
	}
	return 0;
}

/* A trace of this machine that has no symbols of the kernel itself. */
static void read_kernel_symbols(struct stack_gather *gather)
{
	struct stack_profile *profile = gather->profile;

	for (size_t i = 0; i < profile->inputs->count; i++) {
		const struct etw_etl_header *header = etw_trace_header(profile->inputs->traces[i]);
		const uint32_t machine = gather->machine_of[i];

		/* Why it went wrong is kept with the kernel's module. */
		if (!gather->machines[machine].images.has_kernel_symbols &&
		    etw_symbols_is_this_boot(header->boot_ft))
			(void)etw_symbols_read_kallsyms(profile->symbols[machine], NULL);
	}
}

static int compare_frameless(const void *left_at, const void *right_at)
{
	const struct stack_frameless *left = left_at, *right = right_at;

	if (left->stacks != right->stacks)
		return left->stacks > right->stacks ? -1 : 1;
	return strcmp(left->module->path, right->module->path);
}

int stack_gather_resolve(struct stack_gather *gather)
{
	static const struct etw_call_name broken = {.kind = STACK_BROKEN, .function = "BROKEN"};
	CLEANUP(resolver_done)
	struct resolver resolver = {.gather = gather, .frameless_depth = SIZE_MAX};
	struct stack_profile *profile = gather->profile;

	read_kernel_symbols(gather);
	TRY(etw_calls_name(&profile->calls, &broken, &resolver.broken));
	TRY(resolve_all(&resolver));
	qsort(profile->frameless, profile->frameless_count, sizeof(profile->frameless[0]),
	      compare_frameless);
	profile->counts.broken = resolver.broken_stacks;
	profile->counts.cut = gather->raw.cut + profile->calls.cut;
	return 0;
}
