/* SPDX-License-Identifier: MIT */
/* etw/reader.h: making readers, their sources and callbacks. Runs are in reader_run.c. */
#include <errno.h>
#include <etw/predicate.h>
#include <etw/schemas.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/friendly/error.h"
#include "api/friendly/predicate.h"
#include "api/friendly/reader.h"
#include "api/friendly/schemas.h"
#include "base/atomic.h"
#include "base/macros.h"
#include "base/path.h"
#include "base/time.h"

static void reader_freep(struct libetw_reader **reader)
{
	libetw_reader_free(*reader);
}

int libetw_reader_create(struct libetw_schemas *schemas, struct libetw_reader **ret)
{
	CLEANUP(reader_freep) struct libetw_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return etw_friendly_fail(-ENOMEM, "no memory for a reader");
	reader->from_ft = INT64_MIN;
	reader->to_ft = INT64_MAX;
	if (schemas)
		reader->schemas = etw_schemas_ref(schemas);
	else
		TRY(libetw_schemas_create(&reader->schemas));
	reader->losses = calloc(1, sizeof(*reader->losses));
	if (!reader->losses || etw_pin_account_create(LIBETW_PIN_LIMIT_BYTES, &reader->pins) ||
	    !etw_arena_alloc(&reader->event.scratch, 1))
		return etw_friendly_fail(-ENOMEM, "no memory for a reader");
	reader->event.empty = etw_arena_mark(&reader->event.scratch);
	reader->event.schemas = reader->schemas;
	reader->event.account = reader->pins;
	reader->event.more = &reader->more;
	reader->more = (struct etw_more_schemas){reader, etw_reader_search};
	*ret = TAKE(reader);
	return 0;
}

void libetw_reader_free(struct libetw_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->source_count; i++) {
		etw_trace_close(reader->sources[i].trace);
		etw_loss_source_done(&reader->sources[i].loss);
	}
	while (reader->woken) {
		struct woken *next = reader->woken->next;

		free(reader->woken);
		reader->woken = next;
	}
	for (size_t i = 0; i < reader->handler_count; i++)
		libetw_predicate_free(reader->handlers[i].predicate);
	for (size_t i = 0; i < reader->providers.room; i++)
		free(reader->providers.slots[i].item);
	etw_table_done(&reader->providers);
	if (reader->losses)
		etw_loss_done(reader->losses);
	free(reader->losses);
	free(reader->sources);
	free(reader->handlers);
	etw_arena_done(&reader->event.scratch);
	etw_text_done(&reader->event.text);
	etw_pin_account_unref(reader->pins);
	etw_processes_free(reader->processes);
	libetw_schemas_free(reader->schemas);
	free(reader);
}

static int fail_running(void)
{
	return etw_friendly_fail(-EBUSY, "the reader is running");
}

static struct source *grow_sources(struct libetw_reader *reader)
{
	struct source *grown = realloc(reader->sources,
				       (reader->source_count + 1) * sizeof(*grown));

	if (grown)
		reader->sources = grown;
	return grown;
}

/* Lets libetw_reader_stop() know of a session; pairs with its load. */
static void add_woken(struct libetw_reader *reader, struct woken *woken, struct etw_trace *trace)
{
	*woken = (struct woken){trace, reader->woken};
	store_release(&reader->woken, woken);
}

/* Puts a source behind the others of its kind; takes the trace. */
static int add_source(struct libetw_reader *reader, struct etw_trace *trace)
{
	const bool is_file = !etw_trace_is_live(trace);
	size_t count = reader->source_count, at = is_file ? reader->file_count : count;
	struct woken *woken = is_file ? NULL : malloc(sizeof(*woken));
	struct source *grown = is_file || woken ? grow_sources(reader) : NULL;

	if (!grown) {
		free(woken);
		etw_trace_close(trace);
		return etw_friendly_fail(-ENOMEM, "no memory for a source");
	}
	memmove(&grown[at + 1], &grown[at], (count - at) * sizeof(*grown));
	grown[at] = (struct source){.trace = trace};
	reader->source_count++;
	if (is_file) {
		reader->file_count++;
	} else {
		grown[at].lost_before = etw_trace_header(trace)->events_lost;
		add_woken(reader, woken, trace);
	}
	reader->is_searched = false;
	return 0;
}

/* A pipe would keep the caller waiting for a writer, and cannot be read again for schemas. */
static int check_file(const char *path)
{
	struct stat info;

	if (stat(path, &info))
		return -errno;
	if (S_ISDIR(info.st_mode))
		return -EISDIR;
	return S_ISFIFO(info.st_mode) ? -EINVAL : 0;
}

int libetw_reader_add_file(struct libetw_reader *reader, const char *path)
{
	CLEANUP(freep) char *resolved = NULL;
	struct etw_fault fault = {0};
	struct etw_trace *trace;
	int result;

	if (reader->is_running)
		return fail_running();
	if (!path)
		return etw_friendly_fail(-EINVAL, "a file's path is missing");
	result = etw_path_resolve(path, &resolved);
	if (!result)
		result = check_file(resolved);
	if (!result)
		result = etw_trace_open(resolved, &trace, &fault);
	if (result == -EINVAL)
		return etw_friendly_fail(result, "cannot open %s: it is no file", path);
	if (result == -EBADMSG)
		return etw_friendly_fail(result, "%s is no .etl file: %s", path,
					 fault.sentence ? fault.sentence : "damaged");
	if (result)
		return etw_friendly_fail(result, "cannot open %s: %s", path, strerror(-result));
	return add_source(reader, trace);
}

int libetw_reader_add_session(struct libetw_reader *reader, const char *name)
{
	CLEANUP(etw_trace_closep) struct etw_trace *trace = NULL;
	int result;

	if (reader->is_running)
		return fail_running();
	if (!name)
		return etw_friendly_fail(-EINVAL, "a session's name is missing");
	result = etw_trace_open_live(name, &trace);
	if (!result)
		result = etw_trace_attach(trace);
	if (result == -ENOENT)
		return etw_friendly_fail(result, "there is no session \"%s\"", name);
	if (result == -EINVAL)
		return etw_friendly_fail(result, "the session \"%s\" is no real-time session",
					 name);
	if (result)
		return etw_friendly_fail(result, "cannot read the session \"%s\": %s", name,
					 strerror(-result));
	return add_source(reader, TAKE(trace));
}

static int64_t floor_divide(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

void libetw_reader_set_window(struct libetw_reader *reader, int64_t from_ns, int64_t to_ns)
{
	reader->from_ft = from_ns == INT64_MIN
				  ? INT64_MIN
				  : floor_divide(from_ns, ETW_NS_PER_FT) + ETW_FILETIME_UNIX_EPOCH;
	reader->to_ft = to_ns == INT64_MAX
				? INT64_MAX
				: floor_divide(to_ns, ETW_NS_PER_FT) +
					  (to_ns % ETW_NS_PER_FT != 0) + ETW_FILETIME_UNIX_EPOCH;
}

static int add_handler(struct libetw_reader *reader, const struct handler *handler)
{
	struct handler *grown;

	if (reader->is_running)
		return fail_running();
	if (!handler->callback)
		return etw_friendly_fail(-EINVAL, "a callback is missing");
	grown = realloc(reader->handlers, (reader->handler_count + 1) * sizeof(*grown));
	if (!grown)
		return etw_friendly_fail(-ENOMEM, "no memory for a callback");
	reader->handlers = grown;
	grown[reader->handler_count++] = *handler;
	reader->wants_unknown |= !handler->predicate;
	reader->wants_processes |= handler->predicate &&
				   etw_filter_asks_process(handler->predicate->filter);
	return 0;
}

int libetw_reader_on(struct libetw_reader *reader, struct libetw_predicate *predicate,
		     libetw_event_callback callback, void *context)
{
	int result;

	if (!predicate)
		return -EINVAL; /* whose sentence was made where it failed */
	result = add_handler(reader, &(struct handler){predicate, callback, context});
	if (result)
		libetw_predicate_free(predicate);
	return result;
}

int libetw_reader_on_unknown(struct libetw_reader *reader, libetw_event_callback callback,
			     void *context)
{
	return add_handler(reader, &(struct handler){NULL, callback, context});
}

void libetw_reader_stop(struct libetw_reader *reader)
{
	int error = errno; /* of whom a signal interrupted */

	/* Relaxed: only whether to go on. */
	store_relaxed(&reader->stop, 1);
	/* Sources may be added meanwhile: the run that one belongs to asks first whether it may begin. */
	for (const struct woken *at = load_acquire(&reader->woken); at; at = at->next)
		etw_trace_wake(at->trace);
	errno = error;
}

void libetw_reader_set_pin_limit(struct libetw_reader *reader, uint64_t bytes)
{
	reader->pins->limit = bytes;
}
