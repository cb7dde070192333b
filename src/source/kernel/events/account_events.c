/* SPDX-License-Identifier: MIT */
#include "source/kernel/events/account_events.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "source/kernel/probe/classes.h"
#include "wire/etl_event.h"

#define MS_PER_SECOND UINT64_C(1000)
#define LINE_BYTES    256

/* "cpu  10 20 ...", in ticks. */
static int take_numbers(const char *at, uint64_t ret[WIRE_PROCESSOR_USES])
{
	const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);

	for (unsigned i = 0; i < WIRE_PROCESSOR_USES; i++) {
		char *end;

		ret[i] = strtoull(at, &end, 10) * MS_PER_SECOND / ticks;
		if (end == at)
			return -EBADMSG;
		at = end;
	}
	return 0;
}

int etw_kernel_processor_time_read(const char *root, struct wire_processor_time *ret)
{
	struct wire_processor_time time = {0};
	char path[PATH_MAX], line[LINE_BYTES];
	int r = -EBADMSG;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/stat", root) >= (int)sizeof(path))
		return -ENOENT;
	file = fopen(path, "re");
	if (!file)
		return -ENOENT;
	if (fgets(line, sizeof(line), file) && strncmp(line, "cpu ", 4) == 0)
		r = take_numbers(line + 4, time.ms);
	while (fgets(line, sizeof(line), file) && strncmp(line, "cpu", 3) == 0)
		time.processors += isdigit((unsigned char)line[3]) != 0;
	(void)fclose(file);
	if (!r)
		*ret = time;
	return r;
}

void etw_kernel_write_processor_time(struct etw_kernel_out *out, const char *root)
{
	uint8_t event[WIRE_KERNEL_ACCOUNT_BYTES_MAX], *room;
	struct wire_processor_time time;
	uint32_t bytes;

	if (etw_kernel_processor_time_read(root, &time))
		return;
	bytes = wire_processor_time_encode(&time, event);
	room = etw_kernel_out_add(out, bytes, offsetof(struct wire_event_header, time_raw));
	if (room)
		memcpy(room, event, bytes);
}

static void hand_out(uint8_t *event, uint32_t bytes, int64_t time_raw, etw_source_put_fn *put,
		     void *context)
{
	const struct etw_source_event handed = {
		.bytes = event, .byte_count = bytes, .time_raw = time_raw};

	etw_store64(event + offsetof(struct wire_event_header, time_raw), (uint64_t)time_raw);
	put(context, 0, &handed);
}

void etw_kernel_tell_processor_time(const char *root, int64_t time_raw, etw_source_put_fn *put,
				    void *context)
{
	uint8_t event[WIRE_KERNEL_ACCOUNT_BYTES_MAX];
	struct wire_processor_time time;

	if (etw_kernel_processor_time_read(root, &time))
		return;
	time.is_end = true;
	hand_out(event, wire_processor_time_encode(&time, event), time_raw, put, context);
}

void etw_kernel_tell_stack_account(const struct etw_kernel_stack_account *account, int64_t time_raw,
				   etw_source_put_fn *put, void *context)
{
	uint8_t event[WIRE_KERNEL_ACCOUNT_BYTES_MAX];
	struct wire_stack_account told;

	for (uint32_t row = 1; etw_kernel_stack_account_get(account, row, &told); row++)
		hand_out(event, wire_stack_account_encode(&told, event), time_raw, put, context);
}
