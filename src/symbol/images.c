/* SPDX-License-Identifier: MIT */
/* What was mapped where and when. See images.h. */
#include "symbol/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/number.h"

#define FIRST_ROOM 16
/* Spans that cover one address at different times, of which an answer is chosen. */
#define BACK_STEPS_MAX 4096
/* Copies of copies of an image: a damaged trace may have them in a circle. */
#define COPIES_MAX 256

static bool has_pid(const void *item, const void *key)
{
	const struct etw_symbol_process *process = item;

	return process->pid == *(const uint32_t *)key;
}

static uint64_t hash_of(uint32_t pid)
{
	return etw_hash_mix(etw_hash_seed(), pid);
}

static void done_process(struct etw_symbol_process *process)
{
	for (size_t i = 0; i < process->statement_count; i++) {
		if (!process->statements[i].told)
			continue;
		etw_symbol_table_done(process->statements[i].told);
		free(process->statements[i].told);
	}
	free(process->statements);
	free(process->spans);
	free(process->reach);
}

void etw_symbol_images_done(struct etw_symbol_images *images)
{
	for (size_t i = 0; i < images->by_pid.room; i++)
		if (images->by_pid.slots[i].item)
			done_process(images->by_pid.slots[i].item);
	etw_table_done(&images->by_pid);
	etw_arena_done(&images->arena);
}

void etw_symbol_images_each(const struct etw_symbol_images *images,
			    void (*visit)(struct etw_symbol_process *process, void *context),
			    void *context)
{
	for (size_t i = 0; i < images->by_pid.room; i++)
		if (images->by_pid.slots[i].item)
			visit(images->by_pid.slots[i].item, context);
}

struct etw_symbol_process *etw_symbol_images_process(const struct etw_symbol_images *images,
						     uint32_t pid)
{
	return etw_table_find(&images->by_pid, hash_of(pid), has_pid, &pid);
}

int etw_symbol_images_need_process(struct etw_symbol_images *images, uint32_t pid,
				   struct etw_symbol_process **ret)
{
	struct etw_symbol_process *process = etw_symbol_images_process(images, pid);

	if (!process) {
		if (!images->processes_left)
			return -E2BIG;
		process = etw_arena_alloc(&images->arena, sizeof(*process));
		if (!process)
			return -ENOMEM;
		process->pid = pid;
		TRY(etw_table_insert(&images->by_pid, hash_of(pid), process));
		images->processes_left--;
	}
	*ret = process;
	return 0;
}

int etw_symbol_images_keep(struct etw_symbol_images *images, uint32_t pid,
			   const struct etw_symbol_statement *statement)
{
	struct etw_symbol_process *process;

	if (!images->statements_left)
		return -E2BIG;
	TRY(etw_symbol_images_need_process(images, pid, &process));
	if (process->statement_count == process->statement_room) {
		size_t room = process->statement_room ? 2 * process->statement_room : FIRST_ROOM;
		struct etw_symbol_statement *statements;

		statements = reallocarray(process->statements, room, sizeof(*statements));
		if (!statements)
			return -ENOMEM;
		process->statements = statements;
		process->statement_room = room;
	}
	process->statements[process->statement_count] = *statement;
	process->statements[process->statement_count].number = process->statement_count;
	process->statement_count++;
	process->is_made = false;
	images->statements_left--;
	return 0;
}

int etw_symbol_images_told(struct etw_symbol_images *images, uint32_t pid, uint64_t base,
			   int64_t time_raw, size_t *left, struct etw_symbol_table **ret)
{
	const struct etw_symbol_process *process = etw_symbol_images_process(images, pid);
	struct etw_symbol_statement statement = {
		.kind = ETW_SYMBOL_STATEMENT_SYMBOLS,
		.base = base,
		.time_raw = time_raw,
	};
	int r;

	if (process && process->statement_count) {
		const struct etw_symbol_statement *last =
			&process->statements[process->statement_count - 1];

		if (last->told && last->base == base && !process->is_made) {
			*ret = last->told;
			return 0;
		}
	}
	statement.told = calloc(1, sizeof(*statement.told));
	if (!statement.told)
		return -ENOMEM;
	etw_symbol_table_init(statement.told, left);
	r = etw_symbol_images_keep(images, pid, &statement);
	if (r) {
		free(statement.told);
		return r;
	}
	*ret = statement.told;
	return 0;
}

static int compare_statements(const void *left_item, const void *right_item)
{
	const struct etw_symbol_statement *left = left_item, *right = right_item;

	if (left->base != right->base)
		return left->base < right->base ? -1 : 1;
	if (left->time_raw != right->time_raw)
		return left->time_raw < right->time_raw ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static bool is_open(const struct etw_symbol_span *span)
{
	return span->to_raw == INT64_MAX;
}

/*
 * The span that a statement is about: the last one that was made of the same base. Statements are in order of base and time, so it is
 * the last of all, if it has the base.
 */
static struct etw_symbol_span *last_of(struct etw_symbol_process *process, uint64_t base)
{
	if (!process->span_count || process->spans[process->span_count - 1].base != base)
		return NULL;
	return &process->spans[process->span_count - 1];
}

static void add_span(struct etw_symbol_process *process,
		     const struct etw_symbol_statement *statement, int64_t from_raw, int64_t to_raw)
{
	process->spans[process->span_count++] = (struct etw_symbol_span){
		.base = statement->base,
		.end = etw_sum_saturated(statement->base, statement->bytes),
		.from_raw = from_raw,
		.to_raw = to_raw,
		.path = statement->path,
	};
}

static void apply_load(struct etw_symbol_process *process,
		       const struct etw_symbol_statement *statement)
{
	struct etw_symbol_span *last = last_of(process, statement->base);

	if (last && is_open(last) && last->path == statement->path &&
	    statement->kind != ETW_SYMBOL_STATEMENT_LOAD) {
		/* A rundown lists what is known. */
		if (etw_sum_saturated(statement->base, statement->bytes) > last->end)
			last->end = etw_sum_saturated(statement->base, statement->bytes);
		return;
	}
	if (last && is_open(last))
		last->to_raw = statement->time_raw; /* its unload was lost */
	if (statement->kind == ETW_SYMBOL_STATEMENT_LOAD)
		add_span(process, statement, statement->time_raw, INT64_MAX);
	else
		add_span(process, statement, last ? last->to_raw : INT64_MIN, INT64_MAX);
}

static void apply_unload(struct etw_symbol_process *process,
			 const struct etw_symbol_statement *statement)
{
	struct etw_symbol_span *last = last_of(process, statement->base);

	if (last && is_open(last))
		last->to_raw = statement->time_raw;
	else
		add_span(process, statement, last ? last->to_raw : INT64_MIN, statement->time_raw);
}

/* Adds to a span what its image's further events say. */
static void apply_fact(struct etw_symbol_process *process,
		       const struct etw_symbol_statement *statement)
{
	struct etw_symbol_span *last = last_of(process, statement->base);

	if (!last)
		return;
	if (statement->kind == ETW_SYMBOL_STATEMENT_SYMBOLS) {
		if (last->told)
			(void)etw_symbol_table_merge(last->told, statement->told);
		else
			last->told = statement->told;
		return;
	}
	if (statement->kind == ETW_SYMBOL_STATEMENT_INHERITED) {
		last->is_inherited = true;
		last->of_pid = statement->of_pid;
		last->inherited_raw = statement->time_raw;
		return;
	}
	memcpy(last->build_id, statement->build_id, sizeof(last->build_id));
	last->build_id_bytes = statement->build_id_bytes;
}

static int compare_spans(const void *left_item, const void *right_item)
{
	const struct etw_symbol_span *left = left_item, *right = right_item;

	if (left->base != right->base)
		return left->base < right->base ? -1 : 1;
	if (left->from_raw != right->from_raw)
		return left->from_raw < right->from_raw ? -1 : 1;
	return left->to_raw < right->to_raw ? -1 : left->to_raw > right->to_raw;
}

static int make_spans(struct etw_symbol_process *process)
{
	struct etw_symbol_span *spans;
	uint64_t *reaches, reach = 0;

	spans = reallocarray(process->spans, process->statement_count + 1, sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	process->spans = spans;
	reaches = reallocarray(process->reach, process->statement_count + 1, sizeof(*reaches));
	if (!reaches)
		return -ENOMEM;
	process->reach = reaches;
	process->span_count = 0;
	if (process->statement_count)
		qsort(process->statements, process->statement_count, sizeof(process->statements[0]),
		      compare_statements);
	for (size_t i = 0; i < process->statement_count; i++) {
		const struct etw_symbol_statement *statement = &process->statements[i];

		if (statement->kind == ETW_SYMBOL_STATEMENT_UNLOAD)
			apply_unload(process, statement);
		else if (statement->kind < ETW_SYMBOL_STATEMENT_BUILD_ID)
			apply_load(process, statement);
		else
			apply_fact(process, statement);
	}
	if (process->span_count)
		qsort(process->spans, process->span_count, sizeof(*spans), compare_spans);
	for (size_t i = 0; i < process->span_count; i++) {
		if (spans[i].end > reach)
			reach = spans[i].end;
		reaches[i] = reach;
	}
	process->is_made = true;
	return 0;
}

struct etw_symbol_span *etw_symbol_process_find(struct etw_symbol_process *process,
						uint64_t address, int64_t time_raw)
{
	struct etw_symbol_span *best = NULL;
	size_t low = 0, high;

	if (!process->is_made && make_spans(process))
		return NULL;
	high = process->span_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->spans[middle].base <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t steps = 0; low-- > 0 && steps < BACK_STEPS_MAX; steps++) {
		struct etw_symbol_span *span = &process->spans[low];

		if (process->reach[low] <= address)
			break;
		if (address >= span->end || time_raw < span->from_raw || time_raw > span->to_raw)
			continue;
		if (!best || span->from_raw > best->from_raw)
			best = span;
	}
	return best;
}

/* The image that one is a copy of; NULL: it is none, or the trace does not have that one. */
static const struct etw_symbol_span *original_of(const struct etw_symbol_images *images,
						 const struct etw_symbol_span *span)
{
	struct etw_symbol_process *process;
	const struct etw_symbol_span *original;

	if (!span->is_inherited)
		return NULL;
	process = etw_symbol_images_process(images, span->of_pid);
	if (!process)
		return NULL;
	original = etw_symbol_process_find(process, span->base, span->inherited_raw);
	return original && original->base == span->base && original->path == span->path ? original
											: NULL;
}

struct etw_symbol_entry *etw_symbol_images_told_at(const struct etw_symbol_images *images,
						   const struct etw_symbol_span *span,
						   uint64_t offset)
{
	struct etw_symbol_entry *entry = NULL;

	for (unsigned i = 0; span && !entry && i < COPIES_MAX; i++) {
		if (span->told)
			entry = etw_symbol_table_find(span->told, offset);
		span = original_of(images, span);
	}
	return entry;
}
