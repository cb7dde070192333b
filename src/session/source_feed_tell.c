/* SPDX-License-Identifier: MIT */
/* What a session does not get of a source; see session/source_feed_internal.h. */
#include "session/source_feed_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/time.h"
#include "session/common/kernel_request.h"
#include "session/common/notes.h"
#include "wire/kernel_names.h"
#include "wire/kernel_stacks.h"

#define GAP_SPREAD_NS UINT64_C(1000000000)
#define NAMES_BYTES   352 /* leaves room for the rest of the sentence */

void etw_source_tell_missing(struct etw_source_feed *feed,
			     const uint32_t masks[WIRE_GROUP_MASKS_WORDS], bool is_adopted,
			     const char *sentence)
{
	const struct etw_state_record *record = etw_state_holding(&feed->context->state, 0);
	uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {0};
	struct wire_session_note note;
	uint32_t fresh = 0;

	etw_context_complain(feed->context, sentence, 0, NULL);
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		fresh |= masks[i] & ~record->noted_missing[i];
	if (is_adopted && !fresh)
		return;
	wire_session_note_set_masks(numbers, masks);
	etw_note_make(&note, WIRE_NOTE_NOT_COLLECTED, numbers, "%s", sentence);
	etw_notes_put(feed->notes, &note);
}

bool etw_source_select_events(const struct etw_source_feed *feed, bool is_built,
			      uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	uint32_t any = 0;

	(void)etw_kernel_masks_events(feed->wanted.group_masks, ret);
	for (unsigned i = 0; i < WIRE_GROUP_MASKS_WORDS; i++) {
		ret[i] &= is_built ? feed->ops->masks[i] : ~feed->ops->masks[i];
		any |= ret[i];
	}
	return any != 0;
}

bool etw_source_wants_events(const struct etw_source_feed *feed)
{
	uint32_t masks[WIRE_GROUP_MASKS_WORDS];

	return etw_kernel_masks_events(feed->wanted.group_masks, masks);
}

static bool has_stacks(const struct etw_source_ops *ops, uint16_t hook)
{
	for (uint32_t i = 0; i < ops->stack_hook_count; i++) {
		if (ops->stack_hooks[i] == hook)
			return true;
	}
	return false;
}

/* A kind of events whose stacks will not come: they cannot be taken, or the events are not wanted. */
static bool lacks_stacks(const struct etw_source_feed *feed, uint16_t hook)
{
	const struct etw_kernel_stack *stack = etw_kernel_stack_of(hook);

	return !has_stacks(feed->ops, hook) ||
	       (stack && stack->bits && !(feed->wanted.group_masks[stack->word] & stack->bits));
}

static void tell_stacks(struct etw_source_feed *feed, bool is_adopted)
{
	uint16_t missing[WIRE_STACK_HOOKS_MAX];
	uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {0};
	char names[NAMES_BYTES], sentence[ETW_SOURCE_SENTENCE_BYTES];
	struct wire_session_note note;
	uint32_t count = 0;

	for (uint32_t i = 0; i < feed->wanted.stack_hook_count; i++) {
		if (lacks_stacks(feed, feed->wanted.stack_hooks[i]))
			missing[count++] = feed->wanted.stack_hooks[i];
	}
	if (!count)
		return;
	etw_kernel_stacks_format(missing, count, names, sizeof(names));
	(void)snprintf(sentence, sizeof(sentence), "no stacks, as not recorded or not served: %s",
		       names);
	etw_context_complain(feed->context, sentence, 0, NULL);
	if (is_adopted && etw_state_holding(&feed->context->state, 0)->noted_stacks == count)
		return;
	numbers[0] = count;
	etw_note_make(&note, WIRE_NOTE_NO_STACKS, numbers, "%s", sentence);
	etw_notes_put(feed->notes, &note);
}

/* How it is to be recorded, and is not. */
static void tell_options(struct etw_source_feed *feed, bool is_adopted)
{
	uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {0};
	struct etw_source_request request;
	struct wire_session_note note;
	const char *sentence;
	uint32_t missing;

	etw_kernel_request_translate(&feed->wanted, &request);
	missing = request.options | (request.only_pid ? ETW_SOURCE_ONLY_PID : 0);
	missing &= ~feed->ops->options;
	if (!missing)
		return;
	sentence = missing & ETW_SOURCE_ONLY_PID
			   ? "kernel events of all processes are recorded: they cannot be told "
			     "apart yet"
			   : "user stacks are followed by frame pointers: DWARF tables cannot be "
			     "used yet";
	etw_context_complain(feed->context, sentence, 0, NULL);
	if (is_adopted && etw_state_holding(&feed->context->state, 0)->noted_options == missing)
		return;
	numbers[0] = missing;
	etw_note_make(&note, WIRE_NOTE_NOT_AS_ASKED, numbers, "%s", sentence);
	etw_notes_put(feed->notes, &note);
}

/* How stacks were followed, which they do not show: where they end depends on it. */
static void tell_tables(struct etw_source_feed *feed, bool is_adopted)
{
	struct etw_source_request request;
	struct wire_session_note note;

	etw_kernel_request_translate(&feed->wanted, &request);
	if (!feed->wanted.stack_hook_count ||
	    !(request.options & feed->ops->options & ETW_SOURCE_UNWIND) ||
	    (is_adopted && etw_state_holding(&feed->context->state, 0)->noted_tables))
		return;
	etw_note_make(&note, WIRE_NOTE_STACKS_BY_TABLES, /* numbers= */ NULL,
		      "stacks of programs were followed by their tables of unwinding (DWARF)");
	etw_notes_put(feed->notes, &note);
}

void etw_source_tell_unbuilt(struct etw_source_feed *feed, bool is_adopted)
{
	uint32_t missing[WIRE_GROUP_MASKS_WORDS];
	char names[NAMES_BYTES], sentence[ETW_SOURCE_SENTENCE_BYTES];

	if (etw_source_select_events(feed, /* is_built= */ false, missing)) {
		etw_kernel_masks_format(missing, names, sizeof(names));
		(void)snprintf(sentence, sizeof(sentence),
			       "kernel events that are not collected: %s", names);
		etw_source_tell_missing(feed, missing, is_adopted, sentence);
	}
	tell_stacks(feed, is_adopted);
	tell_options(feed, is_adopted);
	tell_tables(feed, is_adopted);
}

/* What of it is missing when a source could be enabled in part. */
static void missing_of_source(const struct etw_source_feed *feed,
			      uint32_t ret[WIRE_GROUP_MASKS_WORDS])
{
	memset(ret, 0, WIRE_GROUP_MASKS_WORDS * sizeof(ret[0]));
	if (feed->ops->missing)
		feed->ops->missing(feed->source, ret);
	else
		ret[0] = feed->wanted.group_masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD;
}

void etw_source_tell_failed(struct etw_source_feed *feed, bool is_adopted, int error,
			    const struct etw_fault *fault)
{
	bool has_fault = fault->sentence != NULL;
	/* A sentence that begins with what it is about, as "CAP_BPF is missing", names it once. */
	bool has_field = has_fault && fault->field &&
			 strncmp(fault->sentence, fault->field, strlen(fault->field)) != 0;
	uint32_t missing[WIRE_GROUP_MASKS_WORDS];
	char sentence[ETW_SOURCE_SENTENCE_BYTES];

	if (feed->source)
		missing_of_source(feed, missing);
	else
		(void)etw_kernel_masks_events(feed->wanted.group_masks, missing);
	(void)snprintf(sentence, sizeof(sentence), "%s %s events are not collected: %s%s%s",
		       feed->source ? "some" : "the", feed->ops->name,
		       has_field ? fault->field : "", has_field ? ": " : "",
		       has_fault ? fault->sentence : strerrordesc_np(-error));
	etw_source_tell_missing(feed, missing, is_adopted, sentence);
}

/*
 * Since when, on CLOCK_MONOTONIC: the outputs of processors are committed one behind the other, so the earliest mark counts; but
 * that of a processor where nothing happened says nothing. 0: not known.
 */
static uint64_t gap_begin(const struct etw_source_feed *feed, const struct etw_source_mark *marks)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (uint32_t i = 0; marks && i < feed->context->plan.cpu_count; i++)
		last = MAX(last, marks[i].moment);
	for (uint32_t i = 0; marks && i < feed->context->plan.cpu_count; i++)
		if (marks[i].moment && last - marks[i].moment < GAP_SPREAD_NS)
			first = MIN(first, marks[i].moment);
	return last ? first : 0;
}

void etw_source_tell_gap(struct etw_source_feed *feed, const struct etw_source_mark *marks)
{
	const uint32_t masks[WIRE_GROUP_MASKS_WORDS] = {0};
	const uint64_t begin_ns = gap_begin(feed, marks);
	char sentence[ETW_SOURCE_SENTENCE_BYTES], since[64];

	if (begin_ns)
		(void)snprintf(since, sizeof(since), "of the last %" PRIu64 " ms",
			       (etw_monotonic_ns() - begin_ns) / ETW_NS_PER_MS + 1);
	else
		(void)snprintf(since, sizeof(since), "up to here");
	(void)snprintf(sentence, sizeof(sentence),
		       "the host of the session died and another one goes on: %s %s are missing",
		       feed->ops->name, since);
	etw_source_tell_missing(feed, masks, /* is_adopted= */ false, sentence);
}
