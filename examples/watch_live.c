/* SPDX-License-Identifier: MIT */
/*
 * watch_live MANIFEST PROVIDER COUNT - starts a session of its own, enables a provider in it, and prints the first
 * COUNT events that are informational or graver, or what comes until Ctrl-C. Builds with `pkg-config --cflags --libs etw`.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <etw/etw.h>

struct watch {
	struct libetw_reader *reader;
	unsigned long left;
};

static int print_event(void *context, struct libetw_event *event)
{
	const struct libetw_schema *schema = libetw_event_schema(event);
	struct watch *watch = context;
	struct libetw_field_info field;
	const char *text;

	printf("%s", libetw_event_title(event));
	for (size_t i = 0; schema && i < libetw_schema_top_count(schema); i++) {
		if (!libetw_schema_field(schema, i, &field) &&
		    !libetw_get_text(event, field.name, &text, NULL))
			printf(" %s=%s", field.name, text);
	}
	printf("\n");
	if (!--watch->left)
		libetw_reader_stop(watch->reader);
	return 0;
}

static struct libetw_reader *running; /* for the handler of Ctrl-C */

static void stop_running(int number)
{
	(void)number;
	libetw_reader_stop(running);
}

/* A run that has not begun yet is stopped as well. */
static void handle_signals(void (*handler)(int number))
{
	(void)signal(SIGINT, handler);
	(void)signal(SIGTERM, handler);
}

/* Reads the session until enough has come. */
static int watch(struct libetw_schemas *schemas, struct libetw_session *session,
		 const char *provider, unsigned long count)
{
	struct watch watch = {NULL, count};
	int result = libetw_reader_create(schemas, &watch.reader);

	if (result)
		return result;
	running = watch.reader;
	handle_signals(stop_running);
	result = libetw_reader_add_session(watch.reader, libetw_session_name(session));
	if (!result)
		result = libetw_reader_on(
			watch.reader,
			libetw_and(libetw_provider_named(schemas, provider), libetw_level(4)),
			print_event, &watch);
	if (!result)
		result = libetw_session_enable_named(session, schemas, provider, NULL);
	if (!result)
		result = libetw_reader_run(watch.reader);
	handle_signals(SIG_IGN); /* a second Ctrl-C leaves no session behind either */
	libetw_reader_free(watch.reader);
	return result == LIBETW_STOPPED ? 0 : result;
}

static int start_and_watch(char **arguments, struct libetw_schemas *schemas)
{
	struct libetw_session_options options = {0};
	struct libetw_session *session;
	char name[32];
	int result;

	result = libetw_schemas_add_file(schemas, arguments[0]);
	if (result)
		return result;
	(void)snprintf(name, sizeof(name), "watch_live %d", (int)getpid());
	options.name = name;
	options.is_real_time = 1;
	options.flush_ms = 100;
	result = libetw_session_start(&options, &session);
	if (result)
		return result;
	result = watch(schemas, session, arguments[1], strtoul(arguments[2], NULL, 10));
	/* It would run on without this program. */
	(void)libetw_session_stop(session, NULL);
	libetw_session_close(session);
	return result;
}

int main(int argc, char **argv)
{
	struct libetw_schemas *schemas;
	int result;

	if (argc != 4) {
		fprintf(stderr, "usage: watch_live MANIFEST PROVIDER COUNT\n");
		return 2;
	}
	result = libetw_schemas_create(&schemas);
	if (!result) {
		result = start_and_watch(argv + 1, schemas);
		libetw_schemas_free(schemas);
	}
	if (result)
		fprintf(stderr, "watch_live: %s\n", libetw_error());
	return result != 0;
}
