/* SPDX-License-Identifier: MIT */
/* Traces as programs use them: opening, passes over one and several, windows, stopping, resources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guid.h"
#include "consumer/trace.h"
#include "synthetic/presets.h"
#include "wire/hook.h"

#define START INT64_C(133000000000000000) /* of every preset, at raw 1,000,000 */

static char folder[] = "/tmp/etw-test-trace-XXXXXX";

static const char *path_of(const char *preset)
{
	static char path[2][128];
	static unsigned turn;

	turn ^= 1;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s.etl", folder, preset);
	return path[turn];
}

static int set_up(void **state)
{
	const struct preset *preset;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		FILE *file = fopen(path_of(preset->name), "wb+");

		if (!file)
			return -1;
		preset_write(preset, file);
		(void)fclose(file);
	}
	return 0;
}

static int tear_down(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static unsigned open_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(list);
	while (readdir(list))
		count++;
	(void)closedir(list);
	return count;
}

static struct etw_trace *open_preset(const char *preset)
{
	struct etw_trace *trace = NULL;

	assert_int_equal(etw_trace_open(path_of(preset), &trace, NULL), 0);
	return trace;
}

/* Everything that a pass says. */
struct seen {
	unsigned events, losses, buffers;
	unsigned of_trace[4];
	int64_t first, last;
	size_t last_trace;
	struct etw_event_address last_address;
	int stop_event, stop_buffer; /* 0: never, else at that count */
	void *user_context;
	bool is_ordered;
};

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct seen *seen = context;
	int64_t time = record->EventHeader.TimeStamp.QuadPart;

	seen->user_context = record->UserContext;
	if (address.offset == UINT32_MAX) {
		assert_true(etw_guid_equal(&record->EventHeader.ProviderId, &etw_lost_event_guid));
		seen->losses++;
		return 0;
	}
	if (!seen->events)
		seen->first = time;
	else if (time < seen->last)
		seen->is_ordered = false;
	else if (time == seen->last && trace < seen->last_trace)
		seen->is_ordered = false;
	seen->last = time;
	seen->last_trace = trace;
	seen->last_address = address;
	seen->of_trace[trace]++;
	seen->events++;
	return seen->stop_event && (int)seen->events == seen->stop_event ? 4711 : 0;
}

static int take_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct seen *seen = context;

	(void)trace;
	assert_true(buffer->stride > 0);
	seen->buffers++;
	return seen->stop_buffer && (int)seen->buffers == seen->stop_buffer ? -4712 : 0;
}

static int process(struct etw_trace *const *traces, size_t count, struct seen *seen, int64_t from,
		   int64_t to)
{
	struct etw_trace_sink sink = {.context = seen,
				      .event = take_event,
				      .buffer = take_buffer,
				      .from_ft = from,
				      .to_ft = to};

	seen->is_ordered = true;
	return etw_trace_process(traces, count, &sink);
}

static struct seen process_preset(const char *preset)
{
	struct etw_trace *trace = open_preset(preset);
	struct seen seen = {0};

	assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 0);
	assert_true(seen.is_ordered);
	etw_trace_close(trace);
	return seen;
}

static void test_trace__open_errors(void **state)
{
	struct etw_trace *trace = NULL;
	struct etw_fault fault = {0};
	unsigned before = open_descriptors();
	FILE *file = fopen(path_of("text"), "wb");

	(void)state;
	assert_non_null(file);
	for (unsigned i = 0; i < 1000; i++)
		(void)fputs("no trace\n", file);
	(void)fclose(file);
	assert_int_equal(etw_trace_open(path_of("none"), &trace, &fault), -ENOENT);
	assert_null(fault.sentence);
	assert_int_equal(etw_trace_open(folder, &trace, &fault), -EISDIR);
	assert_int_equal(etw_trace_open(path_of("text"), &trace, &fault), -EBADMSG);
	assert_string_equal(fault.sentence, "the first event is not a system event");
	assert_int_equal(etw_trace_open(path_of("text"), &trace, NULL), -EBADMSG);
	assert_int_equal(etw_trace_open_memory((const uint8_t *)"", 0, &trace, &fault), -EBADMSG);
	assert_null(trace);
	assert_int_equal(open_descriptors(), before);
	etw_trace_close(NULL);
}

static void test_trace__memory_and_file_are_the_same(void **state)
{
	const struct preset *preset;

	(void)state;
	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		struct seen file = process_preset(preset->name), memory = {0};
		struct etw_trace *trace = NULL;
		size_t count;
		uint8_t *bytes = preset_make(preset, &count);

		assert_int_equal(etw_trace_open_memory(bytes, count, &trace, NULL), 0);
		assert_int_equal(etw_trace_bytes(trace), count);
		assert_int_equal(process(&trace, 1, &memory, INT64_MIN, INT64_MAX), 0);
		assert_memory_equal(&file, &memory, sizeof(file));
		etw_trace_close(trace);
		free(bytes);
	}
}

static void test_trace__header_index_and_counts(void **state)
{
	struct etw_trace *trace = open_preset("plain");
	unsigned before = open_descriptors();

	(void)state;
	assert_string_equal(etw_trace_header(trace)->logger_name, "synthetic");
	assert_int_equal(etw_trace_buffers(trace), 0);
	assert_int_equal(etw_trace_index(trace), 0);
	assert_int_equal(etw_trace_buffers(trace), 7);
	assert_int_equal(etw_trace_index(trace), 0);
	assert_int_equal(etw_trace_findings(trace)->kept_count, 0);
	etw_trace_closep(&trace);
	assert_int_equal(open_descriptors(), before - 1);
}

static void test_trace__times_and_context(void **state)
{
	struct etw_trace *trace = open_preset("clock-1818300");
	struct seen seen = {0};
	int context;

	(void)state;
	etw_trace_set_context(trace, &context);
	assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 0);
	assert_ptr_equal(seen.user_context, &context);
	assert_int_equal(seen.first, START);
	assert_int_equal(seen.last,
			 START + 400 * INT64_C(864000000000) + 5); /* one tick, rounded down */
	seen = (struct seen){0};
	etw_trace_set_raw(trace, true);
	etw_trace_set_context(trace, NULL);
	assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 0);
	assert_null(seen.user_context);
	assert_int_equal(seen.first, 1000000);
	assert_int_equal(seen.last, 1000000 + 400 * INT64_C(86400) * 1818300 + 1);
	etw_trace_close(trace);
}

static void test_trace__windows_by_filetime(void **state)
{
	static const char *const presets[] = {"plain",        "clock-2994853", "clock-2600mhz",
					      "clock-system", "clock-cycle",   "equal-times"};

	(void)state;
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		struct etw_trace *trace = open_preset(presets[i]);
		struct seen all = {0}, part = {0}, upper = {0}, lower = {0}, empty = {0};

		assert_int_equal(process(&trace, 1, &all, INT64_MIN, INT64_MAX), 0);
		assert_int_equal(process(&trace, 1, &part, all.first, all.last), 0); /* inclusive */
		assert_int_equal(part.events, all.events);
		assert_int_equal(process(&trace, 1, &upper, all.first + 1, INT64_MAX), 0);
		assert_int_equal(process(&trace, 1, &lower, INT64_MIN, all.first), 0);
		assert_int_equal(upper.events + lower.events, all.events);
		assert_true(upper.events < all.events);
		assert_true(upper.first > all.first);
		assert_int_equal(lower.last, all.first);
		assert_int_equal(process(&trace, 1, &empty, all.last + 1, INT64_MAX), 0);
		assert_int_equal(empty.events, 0);
		assert_int_equal(process(&trace, 1, &empty, INT64_MIN, all.first - 1), 0);
		assert_int_equal(process(&trace, 1, &empty, all.last, all.first), 0);
		assert_int_equal(empty.events, 0);
		assert_int_equal(process(&trace, 1, &empty, INT64_MIN, INT64_MAX - 1), 0);
		assert_int_equal(empty.events, all.events);
		etw_trace_close(trace);
	}
}

static void test_trace__several_files(void **state)
{
	struct etw_trace *traces[4] = {open_preset("new-file-1"), open_preset("new-file-2"),
				       open_preset("plain"), open_preset("equal-times")};
	struct seen seen = {0};

	(void)state;
	assert_int_equal(process(traces, 4, &seen, INT64_MIN, INT64_MAX), 0);
	assert_true(seen.is_ordered); /* equal times by index of the trace */
	assert_int_equal(seen.events, 62 + 62 + 62 + 82);
	assert_int_equal(seen.of_trace[3], 82);
	for (size_t i = 0; i < 4; i++)
		etw_trace_close(traces[i]);
}

static void test_trace__clocks_meet_as_filetime(void **state)
{
	struct etw_trace *traces[3] = {open_preset("clock-system"), open_preset("clock-cycle"),
				       open_preset("clock-2600mhz")};
	struct seen seen = {0};

	(void)state;
	assert_int_equal(process(traces, 3, &seen, INT64_MIN, INT64_MAX), 0);
	assert_true(seen.is_ordered);
	assert_int_equal(seen.of_trace[0], 18);
	assert_int_equal(seen.of_trace[1], 18);
	assert_int_equal(seen.of_trace[2], 18);
	for (size_t i = 0; i < 3; i++)
		etw_trace_close(traces[i]);
}

static void test_trace__no_traces_and_no_callbacks(void **state)
{
	struct etw_trace *trace = open_preset("plain");
	struct etw_trace_sink sink = {.from_ft = INT64_MIN, .to_ft = INT64_MAX};
	struct etw_trace_visitor visitor = {0};

	(void)state;
	assert_int_equal(etw_trace_process(NULL, 0, &sink), 0);
	assert_int_equal(etw_trace_process(&trace, 1, &sink), 0);
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	etw_trace_close(trace);
}

struct digest {
	unsigned events, buffers;
	uint64_t sum;
};

static int digest_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct digest *digest = context;

	digest->buffers++;
	digest->sum = digest->sum * 31 + buffer->offset + event_count;
	return 0;
}

static int digest_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
			const EVENT_RECORD *record, struct etw_event_address address)
{
	struct digest *digest = context;

	digest->events++;
	digest->sum = digest->sum * 31 + (uint64_t)buffer->sequence + header_type +
		      record->UserDataLength + address.offset;
	return 0;
}

static struct digest digest_of(struct etw_trace *trace)
{
	struct digest digest = {0};
	const struct etw_trace_visitor visitor = {&digest, digest_buffer, digest_event};

	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	return digest;
}

/* The presets, and each again with damage here and there. */
static uint8_t *make_damaged(const struct preset *preset, unsigned damage, size_t *ret_bytes)
{
	uint8_t *bytes = preset_make(preset, ret_bytes);

	for (size_t at = 2000; damage && at < *ret_bytes; at += 1700 + damage)
		bytes[at] ^= (uint8_t)(damage * 37);
	return bytes;
}

/* Whatever is kept: later passes give the same events, in the same order, with the same findings. */
static void check_keeping(const struct preset *preset, unsigned damage, size_t limit)
{
	struct etw_trace *plain = NULL, *keeping = NULL;
	struct seen wanted = {0}, seen = {0}, third = {0};
	struct digest first, second;
	struct etw_trace_loads loads;
	size_t count;
	uint8_t *bytes = make_damaged(preset, damage, &count);

	if (etw_trace_open_memory(bytes, count, &plain, NULL)) {
		free(bytes);
		return;
	}
	assert_int_equal(etw_trace_open_memory(bytes, count, &keeping, NULL), 0);
	etw_trace_keep(keeping, limit);
	first = digest_of(plain);
	second = digest_of(keeping);
	assert_memory_equal(&first, &second, sizeof(first));
	second = digest_of(keeping);
	assert_memory_equal(&first, &second, sizeof(first));
	assert_memory_equal(etw_trace_findings(plain), etw_trace_findings(keeping),
			    sizeof(struct etw_findings));
	loads = etw_trace_loads(keeping);
	if (limit || etw_findings_is_sound(etw_trace_findings(plain)))
		assert_true(loads.loaded <= first.buffers);
	assert_int_equal(process(&plain, 1, &wanted, INT64_MIN, INT64_MAX), 0);
	assert_int_equal(process(&keeping, 1, &seen, INT64_MIN, INT64_MAX), 0);
	assert_memory_equal(&wanted, &seen, sizeof(seen));
	assert_memory_equal(etw_trace_findings(plain), etw_trace_findings(keeping),
			    sizeof(struct etw_findings));
	assert_int_equal(process(&keeping, 1, &third, INT64_MIN, INT64_MAX), 0);
	assert_memory_equal(&wanted, &third, sizeof(third));
	if (limit || etw_findings_is_sound(etw_trace_findings(plain)))
		assert_int_equal(etw_trace_loads(keeping).loaded, loads.loaded);
	assert_true(etw_trace_memory(keeping) >= etw_trace_memory(plain));
	etw_trace_close(plain);
	etw_trace_close(keeping);
	free(bytes);
}

static void test_trace__passes_over_what_is_kept_are_the_same(void **state)
{
	const struct preset *preset;

	(void)state;
	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		for (unsigned damage = 0; damage < 12; damage++) {
			check_keeping(preset, damage, SIZE_MAX);
			check_keeping(preset, damage, 0);
		}
	}
}

struct searching {
	struct etw_trace *trace;
	unsigned at, events; /* the search is at this event */
	uint64_t loaded;     /* before it */
	struct digest found;
	struct digest delivered;
};

static int search_midway(void *context, size_t trace, EVENT_RECORD *record,
			 struct etw_event_address address)
{
	struct searching *searching = context;
	const struct etw_trace_visitor visitor = {&searching->found, digest_buffer, digest_event};

	(void)trace;
	if (searching->events++ == searching->at) {
		etw_trace_keep(searching->trace, SIZE_MAX);
		searching->loaded = etw_trace_loads(searching->trace).loaded;
		assert_int_equal(etw_trace_search(searching->trace, &visitor), 0);
	}
	/* Behind the search the record is what it was. */
	searching->delivered.events++;
	searching->delivered.sum = searching->delivered.sum * 31 + record->UserDataLength +
				   record->ExtendedDataCount + address.offset +
				   (uint64_t)record->EventHeader.TimeStamp.QuadPart;
	return 0;
}

/* A pass over the buffers within a pass that delivers: neither disturbs the other, and they share what they load. */
static void check_search(const struct preset *preset, unsigned damage, unsigned at)
{
	struct searching plain = {.at = UINT32_MAX}, searching = {.at = at};
	struct etw_trace_sink sink = {
		.event = search_midway, .from_ft = INT64_MIN, .to_ft = INT64_MAX};
	struct digest all;
	size_t count;
	uint8_t *bytes = make_damaged(preset, damage, &count);

	if (etw_trace_open_memory(bytes, count, &plain.trace, NULL)) {
		free(bytes);
		return;
	}
	assert_int_equal(etw_trace_open_memory(bytes, count, &searching.trace, NULL), 0);
	sink.context = &plain;
	assert_int_equal(etw_trace_process(&plain.trace, 1, &sink), 0);
	sink.context = &searching;
	assert_int_equal(etw_trace_process(&searching.trace, 1, &sink), 0);
	assert_memory_equal(&plain.delivered, &searching.delivered, sizeof(plain.delivered));
	assert_memory_equal(etw_trace_findings(plain.trace), etw_trace_findings(searching.trace),
			    sizeof(struct etw_findings));
	if (searching.found.buffers) {
		all = digest_of(plain.trace);
		assert_memory_equal(&all, &searching.found, sizeof(all));
		assert_true(etw_trace_loads(searching.trace).loaded <=
			    searching.loaded + all.buffers);
		etw_trace_forget(searching.trace);
		all = digest_of(searching.trace);
		assert_memory_equal(&all, &searching.found, sizeof(all));
	}
	etw_trace_close(plain.trace);
	etw_trace_close(searching.trace);
	free(bytes);
}

static void test_trace__search_within_a_pass(void **state)
{
	const struct preset *preset;

	(void)state;
	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		for (unsigned damage = 0; damage < 6; damage++)
			check_search(preset, damage, 7 * damage);
	}
}

static void test_trace__callbacks_stop(void **state)
{
	struct etw_trace *trace = open_preset("plain");

	(void)state;
	for (int stop = 1; stop <= 62; stop++) {
		struct seen seen = {.stop_event = stop};

		assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 4711);
		assert_int_equal(seen.events, stop);
	}
	for (int stop = 1; stop <= 7; stop++) {
		struct seen seen = {.stop_buffer = stop};

		assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), -4712);
		assert_int_equal(seen.buffers, stop);
	}
	/* And a pass after that is whole. */
	struct seen seen = {0};

	assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 0);
	assert_int_equal(seen.events, 62);
	assert_int_equal(seen.buffers, 7);
	etw_trace_close(trace);
}

static void test_trace__losses(void **state)
{
	struct seen seen = process_preset("loss");

	(void)state;
	assert_int_equal(seen.losses, 5);
	assert_int_equal(seen.events, 26);
	assert_int_equal(process_preset("loss-counted").losses, 0);
}

struct visits {
	unsigned buffers, events, announced;
	uint64_t last_address;
	unsigned stop_buffer, stop_event;
};

static int visit_buffer(void *context, const struct etw_etl_buffer *buffer, uint32_t event_count)
{
	struct visits *visits = context;

	assert_int_equal(buffer->number, visits->buffers);
	visits->announced += event_count;
	return ++visits->buffers == visits->stop_buffer ? 5 : 0;
}

static int visit_event(void *context, const struct etw_etl_buffer *buffer, uint8_t header_type,
		       const EVENT_RECORD *record, struct etw_event_address address)
{
	struct visits *visits = context;

	assert_true(header_type != 0);
	assert_int_equal(address.buffer, buffer->number);
	assert_true(record->EventHeader.TimeStamp.QuadPart < START); /* raw */
	return ++visits->events == visits->stop_event ? 6 : 0;
}

static void test_trace__each_buffer(void **state)
{
	struct etw_trace *trace = open_preset("plain");
	struct visits visits = {0};
	struct etw_trace_visitor visitor = {
		.context = &visits, .buffer = visit_buffer, .event = visit_event};

	(void)state;
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	assert_int_equal(visits.buffers, 7);
	assert_int_equal(visits.events, 62);
	assert_int_equal(visits.announced, 62);
	visits = (struct visits){.stop_buffer = 3};
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 5);
	assert_int_equal(visits.buffers, 3);
	visits = (struct visits){.stop_event = 30};
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 6);
	assert_int_equal(visits.events, 30);
	etw_trace_close(trace);
}

/* Findings are the account of one pass: two passes do not count anything twice. */
static void test_trace__findings_of_a_pass(void **state)
{
	size_t count;
	uint8_t *bytes = preset_make(preset_find("plain"), &count);
	struct etw_trace *trace = NULL;
	struct etw_trace_visitor visitor = {0};
	uint64_t walk_total;

	(void)state;
	bytes[2 * 1024 + 0x48 + 3] = 0x41;
	etw_store32(bytes + 3 * 1024, 77);
	assert_int_equal(etw_trace_open_memory(bytes, count, &trace, NULL), 0);
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	walk_total = etw_findings_total(etw_trace_findings(trace));
	assert_int_equal(walk_total, 1);
	for (unsigned i = 0; i < 3; i++) {
		struct seen seen = {0};

		assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 0);
		assert_int_equal(seen.events, 61);
		assert_int_equal(etw_findings_total(etw_trace_findings(trace)), 1);
		assert_int_equal(etw_trace_findings(trace)->counts[ETW_FINDING_REPAIRED], 1);
	}
	assert_int_equal(etw_trace_each_buffer(trace, &visitor), 0);
	assert_int_equal(etw_findings_total(etw_trace_findings(trace)), walk_total);
	etw_trace_close(trace);
	free(bytes);
}

static void test_trace__damaged_items_are_told(void **state)
{
	size_t count;
	uint8_t *bytes = preset_make(preset_find("extended-items"), &count);
	struct etw_trace *trace = NULL;
	struct seen seen = {0};
	const struct etw_findings *findings;

	(void)state;
	etw_store16(bytes + 4096 + 0x48 + 0x50, 0xFFF8);
	assert_int_equal(etw_trace_open_memory(bytes, count, &trace, NULL), 0);
	assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 0);
	findings = etw_trace_findings(trace);
	assert_int_equal(findings->counts[ETW_FINDING_EVENTS], 1);
	assert_string_equal(findings->kept[0].sentence, "an extended item's size does not fit");
	etw_trace_close(trace);
	free(bytes);
}

static void test_trace__file_that_shrinks_meanwhile(void **state)
{
	struct etw_trace *trace = open_preset("plain");
	struct seen seen = {0};

	(void)state;
	assert_int_equal(etw_trace_index(trace), 0);
	assert_int_equal(truncate(path_of("plain"), 3 * 1024), 0);
	assert_int_equal(process(&trace, 1, &seen, INT64_MIN, INT64_MAX), 0);
	assert_int_equal(seen.events, 22);
	assert_true(etw_trace_findings(trace)->counts[ETW_FINDING_CUT] >= 4);
	etw_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace__open_errors),
		cmocka_unit_test(test_trace__memory_and_file_are_the_same),
		cmocka_unit_test(test_trace__header_index_and_counts),
		cmocka_unit_test(test_trace__times_and_context),
		cmocka_unit_test(test_trace__windows_by_filetime),
		cmocka_unit_test(test_trace__several_files),
		cmocka_unit_test(test_trace__clocks_meet_as_filetime),
		cmocka_unit_test(test_trace__no_traces_and_no_callbacks),
		cmocka_unit_test(test_trace__passes_over_what_is_kept_are_the_same),
		cmocka_unit_test(test_trace__search_within_a_pass),
		cmocka_unit_test(test_trace__callbacks_stop),
		cmocka_unit_test(test_trace__losses),
		cmocka_unit_test(test_trace__each_buffer),
		cmocka_unit_test(test_trace__findings_of_a_pass),
		cmocka_unit_test(test_trace__damaged_items_are_told),
		cmocka_unit_test(test_trace__file_that_shrinks_meanwhile),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
