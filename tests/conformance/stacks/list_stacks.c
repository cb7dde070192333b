/* SPDX-License-Identifier: MIT */
/*
 * list_stacks FILE - the stack of each event that has one, in the order of the file, one line each:
 *
 *     buffer offset pid tid kernel-frames frame...
 *
 * Then what was counted, one line each: "= name number". Every event is wanted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "consumer/trace.h"
#include "stack/attach.h"

struct line {
	uint64_t token;
	char *text; /* owned */
};

struct lister {
	struct etw_trace *trace;
	struct etw_stacks *stacks;
	struct line *lines; /* owned */
	size_t count, room;
	uint64_t wanted, told, fates[ETW_STACK_FATES];
};

static int keep(void *context, uint64_t token, enum etw_stack_fate fate,
		const struct etw_callstack *stack)
{
	struct lister *lister = context;
	struct etw_text text = {0};

	lister->told++;
	lister->fates[fate]++;
	if (!stack->count)
		return 0;
	if (lister->count == lister->room) {
		lister->room = lister->room ? 2 * lister->room : 1024;
		lister->lines = realloc(lister->lines, lister->room * sizeof(struct line));
		if (!lister->lines)
			abort();
	}
	etw_text_printf(&text, "%" PRIu64 " %" PRIu64 " %u %u %u", token >> 32, token & UINT32_MAX,
			stack->pid, stack->tid, stack->kernel_count);
	for (uint32_t i = 0; i < stack->count; i++)
		etw_text_printf(&text, " %" PRIx64, stack->frames[i]);
	lister->lines[lister->count++] = (struct line){token, strdup(etw_text_string(&text))};
	etw_text_done(&text);
	return 0;
}

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct lister *lister = context;

	(void)trace;
	if (address.offset == UINT32_MAX)
		return 0;
	lister->wanted++;
	return etw_stacks_add(lister->stacks, record, etw_trace_raw_time(lister->trace),
			      /* is_wanted= */ true,
			      (uint64_t)address.buffer << 32 | address.offset);
}

static int compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return a->token < b->token ? -1 : a->token > b->token;
}

static void put_counts(const struct lister *lister)
{
	const struct etw_stack_counts *counts = etw_stacks_counts(lister->stacks);
	const struct {
		const char *name;
		uint64_t count;
	} rows[] = {
		{"walks", counts->walks},
		{"references", counts->references},
		{"items", counts->items},
		{"definitions", counts->definitions},
		{"strays", counts->strays},
		{"undefined", counts->undefined},
		{"late", counts->late},
		{"given_up", counts->given_up},
		{"damaged", counts->damaged},
		{"left_out", counts->left_out},
		{"whole", lister->fates[ETW_STACK_WHOLE]},
		{"kernel_only", lister->fates[ETW_STACK_KERNEL_ONLY]},
		{"untold", lister->wanted - lister->told},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		(void)printf("= %s %" PRIu64 "\n", rows[i].name, rows[i].count);
}

int main(int argc, char **argv)
{
	struct lister lister = {0};
	const struct etw_trace_sink sink = {
		.context = &lister, .event = take_event, .from_ft = INT64_MIN, .to_ft = INT64_MAX};
	struct etw_fault fault = {0};
	int result;

	if (argc != 2 || etw_trace_open(argv[1], &lister.trace, &fault)) {
		(void)fprintf(stderr, "cannot open the file: %s\n",
			      fault.sentence ? fault.sentence : "usage");
		return 2;
	}
	result = etw_stacks_create(etw_trace_header(lister.trace)->pointer_bytes, keep, &lister,
				   &lister.stacks);
	if (!result)
		result = etw_trace_process(&lister.trace, 1, &sink);
	if (!result)
		result = etw_stacks_end(lister.stacks);
	if (result) {
		(void)fprintf(stderr, "%s: %s\n", argv[1], strerror(-result));
		return 2;
	}
	if (lister.count)
		qsort(lister.lines, lister.count, sizeof(struct line), compare);
	for (size_t i = 0; i < lister.count; i++) {
		(void)puts(lister.lines[i].text);
		free(lister.lines[i].text);
	}
	put_counts(&lister);
	free(lister.lines);
	etw_stacks_free(lister.stacks);
	etw_trace_close(lister.trace);
	return 0;
}
