/* SPDX-License-Identifier: MIT */
/*
 * friendly_snippets TRACE - calls what docs/friendly.md shows. check_snippets includes that in front, a function
 * behind the other, and runs this where a leak is told of. The live one is called when a host is there.
 */
#include <stdio.h>
#include <stdlib.h>

#include <etw/etw.h>

static int count(void *context, struct libetw_event *event)
{
	(void)event;
	++*(unsigned *)context;
	return 0;
}

/* The first event that comes is enough. */
static int stop(void *context, struct libetw_event *event)
{
	(void)event;
	libetw_reader_stop(context);
	return 0;
}

static int check(int is_met, const char *what)
{
	if (!is_met)
		fprintf(stderr, "FAILED %s: %s\n", what, libetw_error());
	return !is_met;
}

/* A provider that nobody has: it is enabled for the day when somebody does. */
static int check_session(struct libetw_schemas *schemas)
{
	const struct libetw_session_options options = {.name = "snippets", .is_real_time = 1};
	struct libetw_session *session;
	int failed;

	if (libetw_session_start(&options, &session))
		return check(0, "libetw_session_start");
	failed = check(!enable_warnings(session, schemas), "options");
	failed += check(!libetw_session_stop(session, NULL), "libetw_session_stop");
	libetw_session_close(session);
	return failed;
}

static int check_reader(struct libetw_schemas *schemas, struct libetw_reader *reader,
			const char *path)
{
	uint64_t bytes = UINT64_MAX;
	unsigned reads = 0;
	int failed = 0;

	failed += check(!on_big_executables(reader, schemas, print_fields), "predicates");
	failed += check(!libetw_reader_on(reader, libetw_provider(&disk_class), count, &reads),
			"libetw_reader_on");
	failed += check(!deliver_read(schemas, reader) && reads == 1, "a built event");
	failed += check(
		!libetw_reader_on(reader, libetw_event_named("Process/Start"), print_fields, NULL),
		"libetw_reader_on");
	failed += check(!libetw_reader_add_file(reader, path), path);
	failed += check(!add_transfers(reader, &bytes) && bytes != UINT64_MAX, "a handle");
	return failed;
}

int main(int argc, char **argv)
{
	static const char *const providers[] = {"{2b7f4f6e-8f0c-4a5e-9d11-6f1f5c0a7e31}",
						"Snippet-Other"};
	struct libetw_schemas *schemas = NULL;
	struct libetw_reader *reader = NULL;
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: friendly_snippets TRACE\n");
		return 2;
	}
	failed += check(!print_starts(argv[1]), "print_starts");
	failed += check(print_starts("/nowhere.etl") < 0, "a file that is not there");
	failed += check(!libetw_schemas_create(&schemas), "libetw_schemas_create");
	failed += check(!libetw_reader_create(schemas, &reader), "libetw_reader_create");
	if (!failed)
		failed += check_reader(schemas, reader, argv[1]);
	if (getenv("ETW_ETWD")) {
		failed += check_session(schemas);
		failed += check(!watch(providers, 2, stop), "a session");
	}
	libetw_reader_free(reader);
	libetw_schemas_free(schemas);
	return failed != 0;
}
