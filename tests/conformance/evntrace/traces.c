/* SPDX-License-Identifier: MIT */
#include "traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "synthetic/maker.h"
#include "wire/etl_buffer.h"

const GUID trace_provider = {
	0x11111111, 0x2222, 0x3333, {0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55}};
const GUID trace_class = {
	0xAAAAAAAA, 0xBBBB, 0xCCCC, {0xDD, 0xDD, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE}};

static const char *const names[] = {"plain.etl", "later.etl", "lossy.etl", "damaged.etl"};

char *trace_path(const struct trace_folder *folder, const char *name)
{
	static char paths[4][2 * TRACE_PATH_BYTES];
	static unsigned next;
	char *path = paths[next++ % 4];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder->path, name);
	return path;
}

static FILE *create(const struct trace_folder *folder, const char *name)
{
	FILE *file = fopen(trace_path(folder, name), "w+b");

	if (!file)
		abort();
	return file;
}

static struct maker *open_maker(FILE *file)
{
	struct maker_options options = {
		.processors = TRACE_PROCESSORS,
		.t0_raw = TRACE_T0_RAW,
		.start_ft = TRACE_START_FT,
		.build = TRACE_BUILD,
		.companions = MAKER_GROUP_MASKS | MAKER_PARTITION | MAKER_DROPPED_TIMES,
		.events_lost = 7,
		.buffers_lost = 2,
	};

	return maker_open(&options, file);
}

/* Modern and classic events in turn, on the processors in turn. */
static void add_event(struct maker *maker, unsigned number, int64_t time_raw)
{
	static struct made_event event;
	struct made_descriptor descriptor = {.provider = &trace_provider, .id = (uint16_t)number};
	struct made_ids ids = {.process_id = 100 + number, .thread_id = 200 + number};

	if (number % 2)
		made_full(&event, WIRE_HEADER_FULL64, &trace_class, (uint8_t)number, 4, 3, time_raw,
			  &ids);
	else
		made_modern(&event, WIRE_HEADER_EVENT64, &descriptor, time_raw, &ids);
	made_u32(&event, number);
	maker_add(maker, number / 2 % TRACE_PROCESSORS, &event);
}

static void make_plain(const struct trace_folder *folder, const char *name, int64_t shift_raw)
{
	FILE *file = create(folder, name);
	struct maker *maker = open_maker(file);

	for (unsigned i = 0; i < TRACE_EVENTS; i++)
		add_event(maker, i, TRACE_T0_RAW + shift_raw + (int64_t)(i + 1) * TRACE_STEP_RAW);
	(void)maker_close(maker, NULL);
	(void)fclose(file);
}

static void make_lossy(const struct trace_folder *folder)
{
	FILE *file = create(folder, "lossy.etl");
	struct maker *maker = open_maker(file);

	add_event(maker, 0, TRACE_T0_RAW + TRACE_STEP_RAW);
	maker_flag(maker, 0,
		   WIRE_BUFFER_EVENTS_LOST | WIRE_BUFFER_BUFFER_LOST |
			   WIRE_BUFFER_RTBACKUP_CORRUPT);
	(void)maker_close(maker, NULL);
	(void)fclose(file);
}

void trace_folder_make(struct trace_folder *folder)
{
	(void)snprintf(folder->path, sizeof(folder->path), "/tmp/etw-consumer-XXXXXX");
	if (!mkdtemp(folder->path))
		abort();
	make_plain(folder, "plain.etl", 0);
	make_plain(folder, "later.etl", TRACE_STEP_RAW / 2);
	make_lossy(folder);

	FILE *file = create(folder, "damaged.etl");

	(void)fprintf(file, "%02000d", 7);
	(void)fclose(file);
}

void trace_folder_remove(struct trace_folder *folder)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlink(trace_path(folder, names[i]));
	(void)rmdir(folder->path);
}
