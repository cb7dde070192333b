/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints that change and go while a session has them, as those of modules do; here they are uprobes of this program, which
 * the kernel makes and takes away as it is told. What was recorded decodes by the format of its time; one that is recorded cannot
 * go; one that is gone is refused; and one that joins the list takes nobody's number in the trace.
 *
 * Exit status: 0; 1 with a sentence; 77 with the reason why it cannot run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <etw/etw.h>

#define UPROBES "/sys/kernel/tracing/uprobe_events"
#define SKIPPED 77
#define HITS    3
#define WAIT_MS 60000

static char group[40]; /* the system of this process alone */
static char file[64];
static uint64_t offset; /* in this program's file, of hit() */

/* Where the kernel puts its probes. */
__attribute__((noinline)) static void hit(void)
{
	__asm__ volatile("" ::: "memory");
}

static int tell_kernel(const char *line)
{
	int fd = open(UPROBES, O_WRONLY | O_APPEND | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, line, strlen(line)) < 0)
		r = -errno;
	(void)close(fd);
	return r;
}

static int define(const char *name, const char *fields)
{
	char line[512], path[256];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (bytes < 0)
		return -errno;
	path[bytes] = '\0';
	(void)snprintf(line, sizeof(line), "p:%s/%s %s:0x%" PRIx64 " %s\n", group, name, path,
		       offset, fields);
	return tell_kernel(line);
}

static int take_away(const char *name)
{
	char line[128];

	(void)snprintf(line, sizeof(line), "-:%s/%s\n", group, name);
	return tell_kernel(line);
}

/* What was recorded is closed in the background. */
static int await_away(const char *name)
{
	int r = take_away(name);

	for (int i = 0; i < WAIT_MS && r == -EBUSY; i++) {
		(void)usleep(1000);
		r = take_away(name);
	}
	return r;
}

static void clean_up(void)
{
	(void)await_away("one");
	(void)await_away("before");
	(void)unlink(file);
}

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, libetw_error());
	clean_up();
	exit(1);
}

/* Returns whether hit() was found in the file. */
static bool find_offset(void)
{
	const uint64_t at = (uint64_t)(uintptr_t)hit;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && !offset && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, from;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &from) ==
			    3 &&
		    at >= start && at < end)
			offset = at - start + from;
	}
	if (maps)
		(void)fclose(maps);
	return offset != 0;
}

static int enable(struct libetw_session *session, const char *name)
{
	char text[128];

	(void)snprintf(text, sizeof(text), "linux:%s%s%s", group, name ? ":" : "",
		       name ? name : "");
	return libetw_session_enable_named(session, NULL, text, NULL);
}

static void disable(struct libetw_session *session)
{
	char text[128];
	GUID guid;

	(void)snprintf(text, sizeof(text), "linux:%s", group);
	if (libetw_schemas_find_provider(NULL, text, &guid) ||
	    libetw_session_disable(session, &guid))
		fail("disabling");
}

static void hit_often(void)
{
	for (int i = 0; i < HITS; i++)
		hit();
}

/* Of each field that an event may have: how many had it, with the value that its format gave. */
struct counts {
	int first, second, before, unknown;
};

static int count(void *context, struct libetw_event *event)
{
	const struct libetw_schema *schema = libetw_event_schema(event);
	struct counts *counts = context;
	int64_t value;

	if (!schema)
		counts->unknown++;
	else if (!strcmp(libetw_schema_text(schema, LIBETW_SCHEMA_TASK_NAME), "before"))
		counts->before += !libetw_get_i64(event, "other", &value) && value == 77;
	else if (!libetw_get_i64(event, "small", &value))
		counts->first += value == 7;
	else if (!libetw_get_i64(event, "large", &value))
		counts->second += value == INT64_C(0x100000009);
	else
		counts->unknown++;
	return 0;
}

static void check_trace(void)
{
	struct libetw_schemas *schemas = NULL;
	struct libetw_reader *reader = NULL;
	struct counts counts = {0};
	char name[64];

	(void)snprintf(name, sizeof(name), "linux:%s", group);
	if (libetw_schemas_create_with(LIBETW_SCHEMAS_NOT_INSTALLED | LIBETW_SCHEMAS_NOT_KNOWN,
				       &schemas) ||
	    libetw_reader_create(schemas, &reader) || libetw_reader_add_file(reader, file))
		fail("a reader");
	if (libetw_reader_on(reader, libetw_provider_named(schemas, name), count, &counts) ||
	    libetw_reader_run(reader))
		fail("reading");
	libetw_reader_free(reader);
	libetw_schemas_free(schemas);
	printf("%d events of the first format, %d of the second, %d of the one that came, %d "
	       "others\n",
	       counts.first, counts.second, counts.before, counts.unknown);
	if (counts.first != HITS || counts.second != 2 * HITS || counts.before != HITS ||
	    counts.unknown)
		fail("the events are not those that were made");
}

static void record(struct libetw_session *session)
{
	if (enable(session, NULL))
		fail("enabling");
	hit_often();
	if (take_away("one") != -EBUSY)
		fail("one that is recorded could be taken away");
	disable(session);
	if (await_away("one") || define("one", "large=\\0x100000009:s64 small_no_more=\\1:u8"))
		fail("another format");
	if (enable(session, "one"))
		fail("enabling what has another format");
	hit_often();
	/* Its place in the list is that of the other one, which goes on. */
	if (define("before", "other=\\77:u32") || enable(session, NULL))
		fail("enabling one more");
	hit_often();
	disable(session);
	if (await_away("one") || await_away("before"))
		fail("taking them away");
	if (!enable(session, NULL))
		fail("what is gone was enabled");
}

int main(void)
{
	struct libetw_session_options options = {.file = file};
	struct libetw_session *session;

	if (geteuid() != 0) {
		printf("SKIP: tracepoints are recorded by root\n");
		return SKIPPED;
	}
	(void)snprintf(group, sizeof(group), "etw_change_%d", (int)getpid());
	(void)snprintf(file, sizeof(file), "/tmp/etw-change-%d.etl", (int)getpid());
	if (!find_offset() || define("one", "small=\\7:u32")) {
		printf("SKIP: the kernel makes no uprobes, which stand for a module's "
		       "tracepoints\n");
		return SKIPPED;
	}
	options.name = group;
	if (libetw_session_start(&options, &session))
		fail("a session");
	record(session);
	if (libetw_session_stop(session, NULL))
		fail("stopping");
	libetw_session_close(session);
	check_trace();
	clean_up();
	return 0;
}
