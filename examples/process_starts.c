/* SPDX-License-Identifier: MIT */
/*
 * process_starts FILE.etl... - prints every process that started while the traces were recorded: files merged by
 * time, one callback, fields by name. Builds with `pkg-config --cflags --libs etw`.
 */
#include <inttypes.h>
#include <stdio.h>

#include <etw/etw.h>

static int print_start(void *context, struct libetw_event *event)
{
	const char *image = "?";
	uint32_t pid;

	(void)context;
	/* An event that lacks it is told of, and skipped. */
	if (libetw_get_u32(event, "ProcessId", &pid)) {
		fprintf(stderr, "process_starts: %s\n", libetw_error());
		return 0;
	}
	(void)libetw_get_string(event, "ImageFileName", &image, NULL);
	printf("%" PRId64 " ns: %" PRIu32 " %s\n", libetw_event_time_ns(event), pid, image);
	return 0;
}

static int run(struct libetw_reader *reader, char **paths)
{
	struct libetw_stats stats;
	int result = 0;

	for (; *paths && !result; paths++)
		result = libetw_reader_add_file(reader, *paths);
	if (!result)
		result = libetw_reader_on(reader, libetw_event_named("Process/Start"), print_start,
					  NULL);
	if (!result)
		result = libetw_reader_run(reader);
	if (result)
		return result;
	libetw_reader_stats(reader, &stats);
	printf("%" PRIu64 " events, %" PRIu64 " lost\n", stats.events, stats.events_lost);
	return 0;
}

int main(int argc, char **argv)
{
	struct libetw_reader *reader;
	int result;

	if (argc < 2) {
		fprintf(stderr, "usage: process_starts FILE.etl...\n");
		return 2;
	}
	result = libetw_reader_create(NULL, &reader);
	if (!result) {
		result = run(reader, argv + 1);
		libetw_reader_free(reader);
	}
	if (result)
		fprintf(stderr, "process_starts: %s\n", libetw_error());
	return result != 0;
}
