/* SPDX-License-Identifier: MIT */
/* Presets about single events: every header type, item, option and size. */
#include <string.h>

#include "base/macros.h"
#include "synthetic/kernel_event.h"
#include "synthetic/presets.h"

#define T0 1000000

static struct made_event event;

static const struct made_ids ids = {1000, 1004, 5, 6};
static const GUID parent_class = {0xAABBCCDD, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static void fill_header_types(struct maker *maker)
{
	static const enum wire_header_type systems[] = {WIRE_HEADER_SYSTEM32, WIRE_HEADER_SYSTEM64,
							WIRE_HEADER_COMPACT32,
							WIRE_HEADER_COMPACT64};
	static const struct made_descriptor descriptor = {.provider = &preset_provider,
							  .activity = &parent_class,
							  .id = 1000,
							  .version = 1,
							  .channel = 11,
							  .level = 5,
							  .opcode = 2,
							  .task = 300,
							  .keyword = UINT64_C(1) << 63};
	struct made_message message = {
		.number = 10, .options = 0x2B, .sequence = 7, .guid = &preset_class, .ids = ids};
	int64_t now = T0;

	for (size_t i = 0; i < ARRAY_SIZE(systems); i++) {
		made_system(&event, systems[i], 0x0501, 3, now += 10, &ids);
		made_fill(&event, (uint8_t)i, 20 + i);
		maker_add(maker, i % 2, &event);
	}
	for (unsigned is_64 = 0; is_64 < 2; is_64++) {
		made_perfinfo(&event, is_64 ? WIRE_HEADER_PERFINFO64 : WIRE_HEADER_PERFINFO32,
			      0x0F2E, 2, now += 10, NULL, 0);
		made_fill(&event, 1, 16);
		maker_add(maker, is_64, &event);
		made_full(&event, is_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32, &preset_class, 7,
			  4, 3, now += 10, &ids);
		made_put(&event, "abc", 3);
		maker_add(maker, is_64, &event);
		made_full(&event, is_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32, &preset_class, 7,
			  4, 3, now += 10, &ids);
		made_instance(&event, 77, 88, &parent_class);
		made_put(&event, "instance", 8);
		maker_add(maker, is_64, &event);
		made_modern(&event, is_64 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32, &descriptor,
			    now += 10, &ids);
		made_put(&event, "modern", 6);
		maker_add(maker, is_64, &event);
		message.options = is_64 ? 0xAB : 0x6B;
		made_wpp(&event, &message, now += 10);
		made_put(&event, "%s\0", 4);
		maker_add(maker, is_64, &event);
	}
}

/* Every combination of options that a writer may use, with a timed event before the untimed ones. */
static void fill_messages(struct maker *maker)
{
	struct made_message message = {
		.guid = &preset_class, .sequence = 1, .component = 0xC0FFEE, .ids = ids};
	int64_t now = T0;

	for (unsigned options = 0; options < 0x100; options++) {
		if ((options & 6) == 6)
			continue;
		preset_event(&event, now += 10, 1, options);
		maker_add(maker, options & 1, &event);
		message.number = (uint16_t)options;
		message.options = (uint16_t)options;
		made_wpp(&event, &message, now += 10);
		made_fill(&event, (uint8_t)options, options % 11);
		maker_add(maker, options & 1, &event);
		message.sequence++;
	}
}

/* Messages without a time at a buffer's start: they take the first time that follows. */
static void fill_untimed(struct maker *maker)
{
	struct made_message message = {.number = 1, .options = 2, .guid = &preset_class};

	for (unsigned i = 0; i < 3; i++) {
		made_wpp(&event, &message, T0);
		made_u32(&event, i);
		maker_add(maker, 0, &event);
	}
	preset_event(&event, T0 + 500, 1, 0);
	maker_add(maker, 0, &event);
	made_wpp(&event, &message, T0);
	made_u32(&event, 3);
	maker_add(maker, 0, &event);
	preset_event(&event, T0 + 200, 1, 1);
	maker_add(maker, 1, &event);
	maker_flush_all(maker);
	for (unsigned i = 0; i < 2; i++) { /* a buffer in which nothing has a time */
		made_wpp(&event, &message, T0);
		made_u32(&event, 4 + i);
		maker_add(maker, 0, &event);
	}
	maker_flush(maker, 0);
	preset_event(&event, T0 + 1000, 1, 2);
	maker_add(maker, 1, &event);
}

static void add_items(struct maker *maker, int64_t now, const uint16_t *types, size_t count,
		      size_t payload)
{
	static const struct made_descriptor descriptor = {.provider = &preset_provider, .id = 2};
	static const uint8_t sizes[0x13] = {
		[1] = 16, [2] = 12,  [3] = 4,  [4] = 24,  [5] = 20,  [6] = 32,
		[7] = 8,  [8] = 24,  [9] = 10, [10] = 8,  [11] = 31, [12] = 25,
		[13] = 8, [14] = 16, [15] = 8, [16] = 16, [17] = 16, [18] = 16};
	uint8_t data[64];

	made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, now, &ids);
	for (size_t i = 0; i < count; i++) {
		memset(data, (int)(0x20 + types[i]), sizeof(data));
		if (types[i] == 11 || types[i] == 12) /* their data begins with its own size */
			etw_store16(data, sizes[types[i]]);
		made_item(&event, types[i], data, sizes[types[i]]);
	}
	made_fill(&event, 0x77, payload);
	maker_add(maker, 0, &event);
}

static void fill_items(struct maker *maker)
{
	static const uint16_t all[] = {1,  2,  3,  6,  7,  8,  9,  10, 12,
				       11, 13, 14, 15, 16, 17, 18, 5,  4};
	int64_t now = T0;

	for (uint16_t type = 1; type < 0x13; type++)
		add_items(maker, now += 10, &type, 1, type % 9);
	add_items(maker, now += 10, all, 16, 5);
	add_items(maker, now += 10, all, 3, 0);
}

static void fill_counters(struct maker *maker)
{
	static const uint64_t words[8] = {0x1111, 0x2222, 0x3333, 0x4444,
					  0x5555, 0x6666, 0x7777, 0x8888};
	int64_t now = T0;

	for (unsigned i = 0; i < 16; i++) {
		unsigned count = i & 7;
		uint16_t version = (uint16_t)(2 | count << 8 |
					      (i & 8 ? WIRE_PERFINFO_PEBS_INDEX : 0));

		made_perfinfo(&event, WIRE_HEADER_PERFINFO64, 0x0F33, version, now += 10, words,
			      count + (i >> 3));
		made_u64(&event, 0xFFFFF80012345678);
		maker_add(maker, 0, &event);
	}
}

static void adjust_large(struct maker_options *options)
{
	options->buffer_bytes = 0x11000;
}

static void fill_sizes(struct maker *maker)
{
	static const struct made_descriptor descriptor = {.provider = &preset_provider, .id = 3};
	static const uint32_t sizes[] = {0,     1,     2,     3,          4,          5,
					 6,     7,     8,     9,          15,         16,
					 17,    255,   256,   257,        4095,       4096,
					 32767, 32768, 65000, 65527 - 80, 65528 - 80, 65535 - 80};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, T0 + 10 * (int64_t)i, &ids);
		made_fill(&event, (uint8_t)(i + 1), sizes[i]);
		maker_add(maker, 0, &event);
	}
}

/* A 64-bit system with a 32-bit process, as WOW64 makes them. */
static void fill_mixed(struct maker *maker)
{
	static const struct made_descriptor descriptor = {.provider = &preset_provider, .id = 4};

	for (unsigned i = 0; i < 20; i++) {
		bool is_64 = i % 3;

		made_modern(&event, is_64 ? WIRE_HEADER_EVENT64 : WIRE_HEADER_EVENT32, &descriptor,
			    T0 + 20 * (int64_t)i, &ids);
		made_pointer(&event, is_64 ? 8 : 4, 0x7FF612345678);
		maker_add(maker, i % 2, &event);
		made_full(&event, is_64 ? WIRE_HEADER_FULL64 : WIRE_HEADER_FULL32, &preset_class, 1,
			  4, 0, T0 + 20 * (int64_t)i + 10, &ids);
		made_pointer(&event, is_64 ? 8 : 4, 0x7FF612345678);
		maker_add(maker, i % 2, &event);
	}
}

static void adjust_header32(struct maker_options *options)
{
	options->pointer_bytes = 4;
	options->os = 0x0601;
	options->build = 7600;
}

static void fill_single(struct maker *maker)
{
	preset_event(&event, T0 + 5, 1, 99);
	maker_add(maker, 0, &event);
}

/* Messages with arguments, as tests/cli/etw/wpp_driver.tmf describes them. */
static void fill_wpp(struct maker *maker)
{
	struct made_message message = {
		.number = 10, .options = 0xAB, .sequence = 1, .guid = &preset_class, .ids = ids};
	int64_t now = T0;

	made_wpp(&event, &message, now += 10);
	maker_add(maker, 0, &event);
	message.number = 11;
	made_wpp(&event, &message, now += 10);
	made_u32(&event, 0xC0000022);
	made_ansi(&event, "path with \"quotes\"");
	made_pointer(&event, 8, UINT64_C(0xFFFF95820BE02120));
	maker_add(maker, 1, &event);
	message.number = 12;
	made_wpp(&event, &message, now += 10);
	made_u8(&event, 2);
	made_utf16(&event, "wide");
	made_u64(&event, UINT64_C(0x3FF8000000000000));
	maker_add(maker, 0, &event);
	made_wpp(&event, &message, now += 10); /* cut within the last argument */
	made_u8(&event, 1);
	made_utf16(&event, "cut");
	made_u32(&event, 0);
	maker_add(maker, 0, &event);
	message.number = 13; /* described by nobody */
	made_wpp(&event, &message, now += 10);
	made_u32(&event, 7);
	maker_add(maker, 0, &event);
	message.number = 14;
	message.options = 0x6B;
	made_wpp(&event, &message, now + 10);
	made_pointer(&event, 4, 0x80001000);
	maker_add(maker, 0, &event);
}

static void adjust_small(struct maker_options *options)
{
	options->buffer_bytes = 1024;
}

const struct preset presets_event[] = {
	{"header-types", "one event of every header type", adjust_small, fill_header_types, true},
	{"messages", "WPP messages of every combination of options", NULL, fill_messages, true},
	{"untimed-messages", "WPP messages without a time, also where none precedes", adjust_small,
	 fill_untimed, true},
	{"wpp", "WPP messages with arguments", NULL, fill_wpp, true},
	{"extended-items", "every type of extended item, alone and together", NULL, fill_items,
	 false},
	{"counters", "PERFINFO events with PEBS and PMC words, all combinations", adjust_small,
	 fill_counters, true},
	{"payload-sizes", "payloads from nothing to 64 KB", adjust_large, fill_sizes, true},
	{"mixed-bitness", "32-bit events in a 64-bit trace", NULL, fill_mixed, true},
	{"header-32", "a 32-bit header event, Windows 7", adjust_header32, fill_mixed, true},
	{"single-event", "one event", adjust_small, fill_single, true},
	{"empty", "a header buffer and nothing else", adjust_small, NULL, true},
};
const unsigned presets_event_count = ARRAY_SIZE(presets_event);
