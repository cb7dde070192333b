/* SPDX-License-Identifier: MIT */
#include "tools/etw/record_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <evntrace.h>

#include "base/macros.h"
#include "base/number.h"
#include "base/profile_source.h"
#include "tools/common/program.h"
#include "wire/kernel_names.h"
#include "wire/kernel_stacks.h"
#include "wire/name_list.h"

#define FT_PER_S        10000000u
#define MASK_PROFILE    0x2u /* of the second word */
#define MASK_CSWITCH    0x4u
#define MASK_PMC        0x400u
#define HOOK_CSWITCH    0x0524
#define HOOK_PROFILE    0x0F2E
#define HOOK_PMC        0x0F2F
#define INTERVAL_BYTES  16
#define NEAR_BYTES      200 /* of names in a sentence */
#define WORD_SEPARATORS ",+"
#define BASIC_FLAGS \
	(EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD)

/* What is done with a word; returns 0 or negative errno. */
typedef int take_word(struct wire_kernel_request *kernel, const char *word, size_t bytes);

/*
 * Groups of this tool's own, for those who think of what is recorded and not of xperf's names. In small letters alone: MEMORY
 * is a flag of xperf's.
 */
static const struct {
	const char *name, *kinds;
} own_groups[] = {
	{"diskio", "PROC_THREAD+LOADER+DISK_IO+DISK_IO_INIT+SPLIT_IO"},
	{"fileio", "PROC_THREAD+LOADER+FILENAME+FILE_IO+FILE_IO_INIT"},
	{"memory", "PROC_THREAD+LOADER+ALL_FAULTS+HARD_FAULTS+FILENAME+VIRT_ALLOC+VAMAP+MEMINFO+"
		   "MEMINFO_WS"},
};

static int take_own_group(struct wire_kernel_request *kernel, const char *kinds)
{
	while (*kinds) {
		size_t bytes = strcspn(kinds, "+");

		TRY(etw_kernel_kinds_parse(kinds, bytes, kernel->group_masks));
		kinds += bytes + (kinds[bytes] == '+');
	}
	return 0;
}

static int take_kind(struct wire_kernel_request *kernel, const char *word, size_t bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_groups); i++) {
		if (strlen(own_groups[i].name) == bytes &&
		    strncmp(own_groups[i].name, word, bytes) == 0)
			return take_own_group(kernel, own_groups[i].kinds);
	}
	return etw_kernel_kinds_parse(word, bytes, kernel->group_masks);
}

static int take_stack(struct wire_kernel_request *kernel, const char *word, size_t bytes)
{
	uint16_t hook;

	TRY(etw_kernel_stack_parse(word, bytes, &hook));
	for (uint32_t i = 0; i < kernel->stack_hook_count; i++) {
		if (kernel->stack_hooks[i] == hook)
			return 0;
	}
	if (kernel->stack_hook_count == WIRE_STACK_HOOKS_MAX)
		return -ENOSPC;
	kernel->stack_hooks[kernel->stack_hook_count++] = hook;
	return 0;
}

/* NAME or NAME:INTERVAL. The clock is another kind of events, and its interval another option. */
static int take_source(struct wire_kernel_request *kernel, const char *word, size_t bytes)
{
	const char *colon = memchr(word, ':', bytes);
	size_t name_bytes = colon ? (size_t)(colon - word) : bytes;
	char number[INTERVAL_BYTES] = "";
	uint64_t interval = 0;
	uint32_t place;

	if (!etw_profile_source_named(word, name_bytes, &place) ||
	    place == ETW_PROFILE_SOURCE_TIMER)
		return -EINVAL;
	if (colon) {
		size_t digits = bytes - name_bytes - 1;

		if (!digits || digits >= sizeof(number))
			return -ERANGE;
		memcpy(number, colon + 1, digits);
		if (!etw_number_parse(number, UINT32_MAX, &interval) ||
		    !etw_profile_source_allows(place, (uint32_t)interval))
			return -ERANGE;
	}
	kernel->profile_sources |= UINT32_C(1) << place;
	kernel->source_intervals[place] = (uint32_t)interval;
	return 0;
}

#define NEAR_LETTERS 3 /* that begin names of one kind: Tcp, Reg, Disk ... */

/* Names that begin or go on like the word, the nearest in front. */
static void tell_unknown_stack(const char *word, size_t bytes)
{
	CLEANUP(freep) const char **names = NULL;
	CLEANUP(freep) char *typed = strndup(word, bytes);
	const size_t begin = bytes < NEAR_LETTERS ? bytes : NEAR_LETTERS;
	const struct etw_kernel_stack *stacks;
	const char *nearest;
	struct etw_name_list list;
	char room[NEAR_BYTES];
	size_t count;

	stacks = etw_kernel_stacks(&count);
	names = calloc(count, sizeof(*names));
	if (!names || !typed) {
		etw_program_message("out of memory");
		return;
	}
	for (size_t i = 0; i < count; i++)
		names[i] = stacks[i].name;
	nearest = etw_program_nearest(typed, names, count);
	list = etw_name_list_begin(room, sizeof(room));
	if (nearest)
		etw_name_list_put(&list, nearest);
	for (size_t i = 0; i < count; i++) {
		if (names[i] != nearest && (!strncasecmp(names[i], typed, begin) ||
					    (bytes >= NEAR_LETTERS && strcasestr(names[i], typed))))
			etw_name_list_put(&list, names[i]);
	}
	etw_name_list_end(&list);
	if (*room)
		etw_program_message("--stacks does not know \"%s\"; near it: %s; man "
				    "etw-record lists the names",
				    typed, room);
	else
		etw_program_message("--stacks does not know \"%s\"; man etw-record lists the names",
				    typed);
}

/* Returns whether each of the words was taken, and there was one; tells which was not. */
static bool take_words(struct wire_kernel_request *kernel, const char *option, const char *words,
		       take_word *take)
{
	bool any = false;

	while (*words) {
		size_t bytes = strcspn(words, WORD_SEPARATORS);

		int error = bytes ? take(kernel, words, bytes) : 0;

		if (error == -ERANGE) {
			etw_program_message("--%s: the interval in \"%.*s\" is not one that this "
					    "source can have; docs/kernel-events/samples.md lists "
					    "them",
					    option, (int)bytes, words);
			return false;
		}
		if (error && take == take_stack) {
			tell_unknown_stack(words, bytes);
			return false;
		}
		if (error) {
			etw_program_message("--%s does not know \"%.*s\"; man etw-record lists "
					    "the names",
					    option, (int)bytes, words);
			return false;
		}
		any |= bytes != 0;
		words += bytes + (words[bytes] != '\0');
	}
	if (!any)
		etw_program_message("--%s wants names with commas; man etw-record lists them",
				    option);
	return any;
}

bool record_kernel_take_kinds(struct record_kernel *kernel, const char *words)
{
	kernel->has_kinds = true;
	return take_words(&kernel->request, "kernel", words, take_kind);
}

static bool has_word(const char *words, const char *word)
{
	const size_t length = strlen(word);

	while (*words) {
		size_t bytes = strcspn(words, WORD_SEPARATORS);

		if (bytes == length && strncmp(words, word, bytes) == 0)
			return true;
		words += bytes + (words[bytes] != '\0');
	}
	return false;
}

bool record_kernel_take_stacks(struct record_kernel *kernel, const char *words)
{
	kernel->has_stacks = true;
	kernel->request.parts |= WIRE_KERNEL_STACKS;
	if (strcmp(words, "none") != 0 && has_word(words, "none")) {
		etw_program_message("--stacks none stands alone, not in \"%s\"", words);
		return false;
	}
	return !strcmp(words, "none") || take_words(&kernel->request, "stacks", words, take_stack);
}

bool record_kernel_take_unwind(struct record_kernel *kernel, const char *word)
{
	kernel->request.parts |= WIRE_KERNEL_OPTIONS;
	if (!strcmp(word, "dwarf")) {
		kernel->request.options |= WIRE_KERNEL_UNWIND;
		return true;
	}
	kernel->request.options &= ~(uint32_t)WIRE_KERNEL_UNWIND;
	if (!strcmp(word, "frame-pointers"))
		return true;
	etw_program_message("--unwind is dwarf or frame-pointers, not \"%s\"", word);
	return false;
}

bool record_kernel_take_hz(struct record_kernel *kernel, const char *word)
{
	uint64_t hz;

	if (!etw_number_parse(word, RECORD_PROFILE_HZ_MAX, &hz) || !hz) {
		etw_program_message("--profile-hz wants a number from 1 to %d, not \"%s\"",
				    RECORD_PROFILE_HZ_MAX, word);
		return false;
	}
	kernel->request.parts |= WIRE_KERNEL_INTERVAL;
	kernel->request.profile_interval_ft = FT_PER_S / (uint32_t)hz;
	return true;
}

bool record_kernel_take_sources(struct record_kernel *kernel, const char *words)
{
	kernel->request.parts |= WIRE_KERNEL_SOURCES | WIRE_KERNEL_SOURCE_INTERVALS;
	return take_words(&kernel->request, "profile-source", words, take_source);
}

static void take_default(struct record_kernel *kernel)
{
	struct wire_kernel_request *request = &kernel->request;

	request->group_masks[0] = BASIC_FLAGS;
	request->group_masks[1] = MASK_PROFILE | MASK_CSWITCH;
	if (kernel->has_stacks)
		return;
	request->stack_hook_count = 2;
	request->stack_hooks[0] = HOOK_PROFILE;
	request->stack_hooks[1] = HOOK_CSWITCH;
	if (request->profile_sources)
		request->stack_hooks[request->stack_hook_count++] = HOOK_PMC;
}

/* The host looks too, and has no place for a name in what it answers. */
static bool has_sources(uint32_t set)
{
	for (uint32_t i = 0; i < ETW_PROFILE_SOURCES; i++) {
		int r = set >> i & 1 ? etw_profile_source_probe(i, etw_perf_open) : 0;

		if (r && r != -EACCES) {
			etw_program_message("this machine has no source of samples %s; etw doctor "
					    "lists what it has",
					    etw_profile_source(i)->name);
			return false;
		}
	}
	return true;
}

/* Events that name a thread alone, and addresses: what it takes to say whose they are. */
static void tell_what_lacks(const struct wire_kernel_request *request)
{
	const bool names_threads = request->group_masks[1] &
				   (MASK_PROFILE | MASK_CSWITCH | MASK_PMC);

	if (!names_threads)
		return;
	if (!(request->group_masks[0] & EVENT_TRACE_FLAG_THREAD))
		etw_program_message(
			"without thread, samples and switches belong to no process: add "
			"thread to --kernel");
	if (request->stack_hook_count && !(request->group_masks[0] & EVENT_TRACE_FLAG_IMAGE_LOAD))
		etw_program_message("without loader, functions of programs have no names: add "
				    "loader to --kernel");
}

bool record_kernel_settle(struct record_kernel *kernel, bool has_providers, bool has_command)
{
	struct wire_kernel_request *request = &kernel->request;

	kernel->is_asked = kernel->has_kinds || kernel->only_command || request->parts;
	kernel->is_wanted = kernel->is_asked || !has_providers;
	if (kernel->only_command && !has_command) {
		etw_program_message("--only-command wants a command behind --");
		return false;
	}
	if (kernel->is_wanted && !kernel->has_kinds)
		take_default(kernel);
	if (!has_sources(request->profile_sources))
		return false;
	if (request->profile_sources)
		request->group_masks[1] |= MASK_PMC;
	if (request->parts & WIRE_KERNEL_INTERVAL && !(request->group_masks[1] & MASK_PROFILE)) {
		etw_program_message("--profile-hz sets the rate of CPU samples, of which none are "
				    "recorded: add profile to --kernel");
		return false;
	}
	if (request->parts & WIRE_KERNEL_OPTIONS && !request->stack_hook_count) {
		etw_program_message("--unwind says how user stacks are followed, of which none are "
				    "recorded: name events with --stacks");
		return false;
	}
	if (kernel->has_kinds)
		tell_what_lacks(request);
	request->parts = kernel->is_wanted ? WIRE_KERNEL_PARTS : 0;
	return true;
}

static bool is_built(uint16_t hook, const uint8_t *hooks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (etw_load16(hooks + 2 * i) == hook)
			return true;
	}
	return false;
}

static void leave_out(struct record_kernel *kernel, const struct etw_control_answer *built)
{
	struct wire_kernel_request *request = &kernel->request;
	const uint8_t *hooks = built->bytes + sizeof(request->group_masks);
	size_t count = (built->byte_count - sizeof(request->group_masks)) / 2;
	uint32_t kept = 0;

	if (kernel->has_kinds)
		return;
	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		request->group_masks[i] &= kernel->built[i];
	/* Who says how many there are to be has asked for them. */
	if (request->profile_interval_ft)
		request->group_masks[1] |= MASK_PROFILE;
	if (request->profile_sources)
		request->group_masks[1] |= MASK_PMC;
	if (kernel->has_stacks)
		return;
	for (uint32_t i = 0; i < request->stack_hook_count; i++) {
		if (is_built(request->stack_hooks[i], hooks, count))
			request->stack_hooks[kept++] = request->stack_hooks[i];
	}
	request->stack_hook_count = kept;
}

void record_kernel_meet_host(struct record_kernel *kernel, struct etw_controller *controller)
{
	const struct wire_inform inform = {.class_ = WIRE_INFORM_KERNEL_BUILT};
	CLEANUP(freep) struct etw_control_answer *built = NULL;

	memset(kernel->built, 0xFF, sizeof(kernel->built));
	if (!kernel->is_wanted)
		return;
	built = malloc(sizeof(*built));
	if (!built || etw_control_inform(controller, &inform, built) ||
	    built->byte_count < sizeof(kernel->built))
		return;
	for (size_t i = 0; i < WIRE_GROUP_MASKS_WORDS; i++)
		kernel->built[i] = etw_load32(built->bytes + 4 * i);
	leave_out(kernel, built);
}

void record_kernel_drop(struct record_kernel *kernel)
{
	kernel->is_wanted = false;
	kernel->request = (struct wire_kernel_request){0};
}
