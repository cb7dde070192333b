/* SPDX-License-Identifier: MIT */
/*
 * What the friendly layer costs an event: a predicate of provider and id, and two fields through handles, against
 * a raw callback that knows the layout; and what one field by name costs.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <etw/etw.h>

#define ROUNDS 5000000

static const GUID provider = {
	0x11112222, 0x3333, 0x4444, {0x55, 0x55, 0x66, 0x66, 0x77, 0x77, 0x88, 0x88}};

static const char manifest[] =
	"<instrumentationManifest><instrumentation><events>"
	"<provider name='P' guid='{11112222-3333-4444-5555-666677778888}'>"
	"<templates><template tid='T'><data name='Process' inType='win:UInt32'/>"
	"<data name='Thread' inType='win:UInt32'/><data name='Address' inType='win:Pointer'/>"
	"<data name='Size' inType='win:UInt64'/></template></templates>"
	"<events><event value='1' template='T'/><event value='2' template='T'/></events>"
	"</provider></events></instrumentation></instrumentationManifest>";

struct sums {
	struct libetw_field *process, *size;
	uint64_t sum;
};

static double now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* What a callback of ProcessTrace does that knows where the fields lie. */
static void raw_callback(const EVENT_RECORD *record, struct sums *sums)
{
	uint32_t process;
	uint64_t size;

	if (memcmp(&record->EventHeader.ProviderId, &provider, sizeof(provider)) ||
	    record->EventHeader.EventDescriptor.Id != 1)
		return;
	memcpy(&process, record->UserData, sizeof(process));
	memcpy(&size, (const uint8_t *)record->UserData + 16, sizeof(size));
	sums->sum += process + size;
}

static int by_handle(void *context, struct libetw_event *event)
{
	struct sums *sums = context;
	uint32_t process;
	uint64_t size;

	if (!libetw_read_u32(event, sums->process, &process) &&
	    !libetw_read_u64(event, sums->size, &size))
		sums->sum += process + size;
	return 0;
}

static int by_name(void *context, struct libetw_event *event)
{
	struct sums *sums = context;
	uint32_t process;
	uint64_t size;

	if (!libetw_get_u32(event, "Process", &process) && !libetw_get_u64(event, "Size", &size))
		sums->sum += process + size;
	return 0;
}

static void report(const char *name, double begin, double end, const struct sums *sums)
{
	printf("%-34s %6.1f ns an event (sum %llu)\n", name, (end - begin) / ROUNDS,
	       (unsigned long long)sums->sum);
}

/* A kept event is decoded already: what is measured is predicate, dispatch and fields. */
static int measure(struct libetw_schemas *schemas, struct libetw_event *event, const char *name,
		   libetw_event_callback callback, struct sums *sums)
{
	struct libetw_reader *reader;
	double begin;

	if (libetw_reader_create(schemas, &reader) ||
	    libetw_reader_on(reader, libetw_and(libetw_provider(&provider), libetw_id(1)), callback,
			     sums))
		return -1;
	sums->sum = 0;
	begin = now_ns();
	for (int i = 0; i < ROUNDS; i++)
		(void)libetw_reader_deliver(reader, event);
	report(name, begin, now_ns(), sums);
	libetw_reader_free(reader);
	return 0;
}

/* The same with the lookup of the schema and the walk over the payload, event by event. */
static int measure_whole(struct libetw_schemas *schemas, struct libetw_event *event,
			 struct sums *sums)
{
	double begin = now_ns();

	sums->sum = 0;
	for (int i = 0; i < ROUNDS; i++) {
		struct libetw_event *again;

		if (libetw_event_of_record(schemas, libetw_event_record(event), &again))
			return -1;
		(void)by_handle(sums, again);
		libetw_event_release(again);
	}
	report("copied, decoded, two by handle", begin, now_ns(), sums);
	return 0;
}

/* Nothing is to be done. */
static int ignore(void *context, struct libetw_event *event)
{
	(void)context;
	(void)event;
	return 0;
}

/* A whole trace, each event asked for a field: bench/friendly FILE.etl. */
static int measure_file(const char *path)
{
	struct libetw_reader *reader;
	struct libetw_stats stats;
	double begin;

	if (libetw_reader_create(NULL, &reader) || libetw_reader_add_file(reader, path) ||
	    libetw_reader_on(reader, libetw_unsigned_in("ProcessId", 1, 100), ignore, NULL))
		return -1;
	begin = now_ns();
	if (libetw_reader_run(reader))
		return -1;
	libetw_reader_stats(reader, &stats);
	printf("%-34s %6.1f ns an event (%llu events)\n", path,
	       (now_ns() - begin) / (double)stats.events, (unsigned long long)stats.events);
	libetw_reader_free(reader);
	return 0;
}

static int measure_all(struct libetw_schemas *schemas, struct libetw_event *event)
{
	const EVENT_RECORD *volatile record = libetw_event_record(event);
	struct sums sums = {0};
	double begin = now_ns();
	int result;

	for (int i = 0; i < ROUNDS; i++)
		raw_callback(record, &sums);
	report("raw callback", begin, now_ns(), &sums);
	if (libetw_field_create("Process", &sums.process) ||
	    libetw_field_create("Size", &sums.size))
		return -1;
	result = measure(schemas, event, "predicate, two fields by handle", by_handle, &sums);
	if (!result)
		result = measure(schemas, event, "predicate, two fields by name", by_name, &sums);
	if (!result)
		result = measure_whole(schemas, event, &sums);
	libetw_field_free(sums.process);
	libetw_field_free(sums.size);
	return result;
}

int main(int argc, char **argv)
{
	struct libetw_schemas *schemas;
	struct libetw_builder *builder;
	struct libetw_event *event;
	int result = 0;

	if (libetw_schemas_create(&schemas) ||
	    libetw_schemas_add_manifest(schemas, manifest, sizeof(manifest) - 1) ||
	    libetw_builder_create(schemas, &builder) ||
	    libetw_builder_begin(builder, &provider, 1, 0) ||
	    libetw_builder_set_unsigned(builder, "Process", 3) ||
	    libetw_builder_set_unsigned(builder, "Size", 4) ||
	    libetw_builder_finish(builder, &event))
		result = -1;
	else
		result = measure_all(schemas, event);
	for (int i = 1; i < argc && !result; i++)
		result = measure_file(argv[i]);
	if (result) {
		fprintf(stderr, "friendly: %s\n", libetw_error());
		return 1;
	}
	libetw_event_release(event);
	libetw_builder_free(builder);
	libetw_schemas_free(schemas);
	return 0;
}
