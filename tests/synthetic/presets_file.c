/* SPDX-License-Identifier: MIT */
/* Presets about files: clocks, processors, file modes, loss, crashes, compression. */
#include "base/macros.h"
#include "synthetic/presets.h"
#include "wire/etl_buffer.h"

#define T0      1000000
#define DAY_SEC 86400

static struct made_event event;

static void add(struct maker *maker, unsigned cpu, int64_t time_raw, uint32_t value)
{
	preset_event(&event, time_raw, 1, value);
	maker_add(maker, cpu, &event);
}

static void fill_plain(struct maker *maker)
{
	preset_stream(maker, 2, T0, 100, 60);
}

static void adjust_small(struct maker_options *options)
{
	options->buffer_bytes = 1024;
}

/* Clocks. Events lie a second to three days apart, so that 64-bit products overflow. */

static void fill_days(struct maker *maker, int64_t from_raw, int64_t ticks_per_second)
{
	static const int64_t seconds[] = {
		0, 1, 3599, DAY_SEC - 1, DAY_SEC, DAY_SEC + 1, 3 * DAY_SEC, 400 * (int64_t)DAY_SEC};

	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		add(maker, i % 2, from_raw + seconds[i] * ticks_per_second, (uint32_t)i);
		add(maker, i % 2, from_raw + seconds[i] * ticks_per_second + 1, (uint32_t)i);
	}
}

static void adjust_clock_1818300(struct maker_options *options)
{
	adjust_small(options);
	options->frequency = 1818300;
}

static void fill_clock_1818300(struct maker *maker)
{
	fill_days(maker, T0, 1818300);
}

static void adjust_clock_2994853(struct maker_options *options)
{
	adjust_small(options);
	options->frequency = 2994853;
}

static void fill_clock_2994853(struct maker *maker)
{
	fill_days(maker, T0, 2994853);
}

static void adjust_clock_2600mhz(struct maker_options *options)
{
	adjust_small(options);
	options->frequency = 2600000000;
}

static void fill_clock_2600mhz(struct maker *maker)
{
	fill_days(maker, T0, 2600000000);
}

static void adjust_clock_system(struct maker_options *options)
{
	adjust_small(options);
	options->clock = ETW_CLOCK_SYSTEM;
	options->start_ft = INT64_C(133000000000000000);
}

static void fill_clock_system(struct maker *maker)
{
	fill_days(maker, INT64_C(133000000000000000), ETW_FILETIME_PER_SECOND);
}

static void adjust_clock_cycle(struct maker_options *options)
{
	adjust_small(options);
	options->clock = ETW_CLOCK_CYCLE;
	options->mhz = 1992;
}

static void fill_clock_cycle(struct maker *maker)
{
	fill_days(maker, T0, 1992000000);
}

/* The header buffer */

static void adjust_companions(struct maker_options *options)
{
	options->companions = MAKER_GROUP_MASKS | MAKER_PARTITION | MAKER_DROPPED_TIMES |
			      MAKER_BUILD_LAB | MAKER_RSDS;
	options->build = 26100;
}

static void adjust_names(struct maker_options *options)
{
	adjust_small(options);
	options->logger_name = "";
	options->log_file_name = "";
}

static void adjust_windows7(struct maker_options *options)
{
	options->os = 0x0601;
	options->build = 7601;
}

/* Processors */

static void adjust_processors(struct maker_options *options)
{
	options->processors = 300;
	options->buffer_bytes = 1024;
}

static void fill_processors(struct maker *maker)
{
	preset_stream(maker, 300, T0, 10, 900);
}

static void fill_equal_times(struct maker *maker)
{
	preset_stream(maker, 2, T0, 0, 40);
	preset_stream(maker, 2, T0 + 10, 0, 40);
}

/* A processor that was idle: its only buffer, with events of the beginning, comes last. */
static void fill_idle_processor(struct maker *maker)
{
	add(maker, 1, T0 + 1, 0xFFFF);
	preset_stream(maker, 1, T0, 100, 60);
}

/* Loss */

static void adjust_loss(struct maker_options *options)
{
	adjust_small(options);
	options->events_lost = 41;
	options->buffers_lost = 3;
}

static void fill_loss(struct maker *maker)
{
	preset_stream(maker, 2, T0, 100, 8);
	maker_flag(maker, 0, WIRE_BUFFER_EVENTS_LOST);
	maker_flush_all(maker);
	preset_stream(maker, 2, T0 + 10000, 100, 8);
	maker_flag(maker, 1, WIRE_BUFFER_BUFFER_LOST);
	maker_flush_all(maker);
	preset_stream(maker, 2, T0 + 20000, 100, 8);
	maker_flag(maker, 0,
		   WIRE_BUFFER_EVENTS_LOST | WIRE_BUFFER_BUFFER_LOST |
			   WIRE_BUFFER_RTBACKUP_CORRUPT);
}

static void adjust_lost_only_counted(struct maker_options *options)
{
	adjust_small(options);
	options->events_lost = 41;
}

/* File modes */

static void adjust_append(struct maker_options *options)
{
	adjust_clock_system(options);
	options->mode = 1 | 4;
}

static void fill_append(struct maker *maker)
{
	for (int64_t segment = 0; segment < 3; segment++) {
		preset_stream(maker, 2,
			      INT64_C(133000000000000000) + segment * 60 * ETW_FILETIME_PER_SECOND,
			      1000, 20);
		if (segment < 2)
			maker_append(maker);
	}
}

static void adjust_new_file(struct maker_options *options)
{
	adjust_small(options);
	options->mode = 1 | 8;
	options->logger_name = "series";
	options->log_file_name = "C:\\logs\\series.1.etl";
}

static void adjust_new_file_2(struct maker_options *options)
{
	adjust_new_file(options);
	options->log_file_name = "C:\\logs\\series.2.etl";
	options->first_sequence = 7; /* the first file has six */
	options->header_pid = 4;
	options->events_lost = 5;
}

static void fill_new_file_2(struct maker *maker)
{
	preset_stream(maker, 2, T0 + 60 * 100, 100, 60);
}

static void adjust_circular(struct maker_options *options)
{
	adjust_small(options);
	options->slots = 5;
}

static void fill_wrapped(struct maker *maker)
{
	preset_stream(maker, 2, T0, 100, 95);
}

static void adjust_crashed(struct maker_options *options)
{
	adjust_small(options);
	options->is_crashed = true;
}

static void adjust_crashed_cut(struct maker_options *options)
{
	adjust_crashed(options);
	options->cut_bytes = 700;
}

static void adjust_preallocated(struct maker_options *options)
{
	adjust_crashed(options);
	options->preallocated = 16 * 1024;
}

static void adjust_no_per_processor(struct maker_options *options)
{
	adjust_small(options);
	options->processors = 1;
	options->mode = 0x10000001;
}

static void fill_one_stream(struct maker *maker)
{
	preset_stream(maker, 1, T0, 100, 60);
}

/* Compression */

static void adjust_literal(struct maker_options *options)
{
	options->packing = MAKER_LITERAL;
}

static void adjust_greedy(struct maker_options *options)
{
	options->packing = MAKER_GREEDY;
	options->buffer_bytes = 0x10000;
}

static void adjust_greedy_small(struct maker_options *options)
{
	options->packing = MAKER_GREEDY;
	options->buffer_bytes = 2048;
}

static void adjust_relogged(struct maker_options *options)
{
	options->is_relogged = true;
}

static void fill_greedy(struct maker *maker)
{
	preset_stream(maker, 2, T0, 100, 1000);
}

/* Buffers of the types that newer Windows no longer writes, all with events. */
static void fill_buffer_types(struct maker *maker)
{
	static const uint16_t types[] = {WIRE_BUFFER_RUNDOWN, WIRE_BUFFER_CONTEXT_SWAP,
					 WIRE_BUFFER_BATCHED, WIRE_BUFFER_GENERIC};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		preset_stream(maker, 1, T0 + 1000 * (int64_t)i, 100, 5);
		maker_type(maker, 0, types[i]);
		maker_flush(maker, 0);
	}
}

const struct preset presets_file[] = {
	{"plain", "two processors, 60 events, small buffers", adjust_small, fill_plain, true},
	{"clock-1818300", "QPC at 1.8183 MHz over 400 days", adjust_clock_1818300,
	 fill_clock_1818300, true},
	{"clock-2994853", "QPC at 2.994853 MHz over 400 days", adjust_clock_2994853,
	 fill_clock_2994853, true},
	{"clock-2600mhz", "QPC at 2.6 GHz over 400 days", adjust_clock_2600mhz, fill_clock_2600mhz,
	 true},
	{"clock-system", "system time", adjust_clock_system, fill_clock_system, true},
	{"clock-cycle", "CPU cycles at 1992 MHz over 400 days", adjust_clock_cycle,
	 fill_clock_cycle, true},
	{"companions", "every companion of the header event", adjust_companions, fill_plain, true},
	{"no-names", "empty logger and file names", adjust_names, fill_plain, true},
	{"windows7", "processor number and alignment in place of an index", adjust_windows7,
	 fill_plain, true},
	{"processors-300", "more than 256 processors: layout 2.0", adjust_processors,
	 fill_processors, true},
	{"equal-times", "many events at one time on two processors", adjust_small, fill_equal_times,
	 true},
	{"idle-processor", "the last buffer holds the first event", adjust_small,
	 fill_idle_processor, true},
	{"loss", "buffers flagged with every kind of loss", adjust_loss, fill_loss, false},
	{"loss-counted", "events lost by the header's count alone", adjust_lost_only_counted,
	 fill_plain, true},
	{"append", "three sessions appended to one file", adjust_append, fill_append, true},
	{"new-file-1", "the first file of a series", adjust_new_file, fill_plain, true},
	{"new-file-2", "the second file of the series", adjust_new_file_2, fill_new_file_2, true},
	{"wrapped-circular", "a circular file that wrapped", adjust_circular, fill_wrapped, true},
	{"crashed", "EndTime 0, the header never rewritten", adjust_crashed, fill_plain, false},
	{"crashed-cut", "the same, cut within the last buffer", adjust_crashed_cut, fill_plain,
	 false},
	{"preallocated", "a crash left unwritten buffers behind", adjust_preallocated, fill_plain,
	 false},
	{"one-stream", "no per-processor buffers", adjust_no_per_processor, fill_one_stream, true},
	{"compressed-literal", "compressed without a single match", adjust_literal, fill_plain,
	 true},
	{"compressed", "compressed, buffers of 64 KiB", adjust_greedy, fill_greedy, true},
	{"compressed-small", "compressed, buffers of 2 KiB", adjust_greedy_small, fill_plain, true},
	{"relogged", "written by the relogger, uncompressed", adjust_relogged, fill_plain, true},
	{"buffer-types", "buffers of types 1, 2 and 5", adjust_small, fill_buffer_types, false},
};
const unsigned presets_file_count = ARRAY_SIZE(presets_file);
