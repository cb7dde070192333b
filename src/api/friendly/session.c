/* SPDX-License-Identifier: MIT */
/* etw/session.h: the controller's side in a few calls; the conversation is api/control/hosts.c's. */
#include <etw/session.h>

#include <errno.h>
#include <etw/schemas.h>
#include <evntrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/control/hosts.h"
#include "api/friendly/error.h"
#include "api/friendly/times.h"
#include "api/provider/meet.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/path.h"
#include "schema/tracepoint/machine.h"
#include "wire/well_known.h"

#define NAME_UNITS_MAX     1024
#define USE_MS_FLUSH_TIMER UINT32_C(0x00000010)

struct libetw_session {
	uint64_t handle;
	char *name; /* owned */
};

/* The sentence for what a host answered. */
static int fail(int result, const char *what, const char *name)
{
	switch (result) {
	case 0:
		return 0;
	case -ENOENT:
		return etw_friendly_fail(result, "cannot %s \"%s\": there is no such session", what,
					 name);
	case -ENOEXEC:
		return etw_friendly_fail(result, "cannot %s \"%s\": etwd is not to be found", what,
					 name);
	case -EUSERS:
		return etw_friendly_fail(result, "cannot %s \"%s\": too many sessions run", what,
					 name);
	case -ETOOMANYREFS:
		return etw_friendly_fail(result,
					 "cannot %s \"%s\": this user has as many sessions or "
					 "connections as one may have",
					 what, name);
	default:
		return etw_friendly_fail(result, "cannot %s \"%s\": %s", what, name,
					 strerror(-result));
	}
}

static int create(const char *name, uint64_t handle, struct libetw_session **ret)
{
	struct libetw_session *session = calloc(1, sizeof(*session));

	if (session)
		session->name = strdup(name);
	if (!session || !session->name) {
		free(session);
		return etw_friendly_fail(-ENOMEM, "no memory for a session's handle");
	}
	session->handle = handle;
	*ret = session;
	return 0;
}

/* The host needs an absolute path; the header says what was given. */
static int set_file(struct wire_session_config *config, const char *file)
{
	CLEANUP(freep) char *path = NULL;
	CLEANUP(freep) char *folder = NULL;
	int length;

	TRY(etw_path_resolve(file, &path));
	if (path[0] != '/') {
		folder = getcwd(NULL, 0);
		if (!folder)
			return -errno;
	}
	length = snprintf(config->log_file, sizeof(config->log_file), "%s%s%s",
			  folder ? folder : "", folder ? "/" : "", path);
	if (length < 0 || (size_t)length >= sizeof(config->log_file))
		return -ENAMETOOLONG;
	(void)snprintf(config->log_file_shown, sizeof(config->log_file_shown), "%s",
		       strcmp(path, file) ? file : config->log_file);
	return 0;
}

/* Whether a name has 1 to 1024 UTF-16 units, which is what Windows allows. */
static bool is_name(const char *name)
{
	size_t units = 0;

	for (const char *at = name ? name : ""; *at && units <= NAME_UNITS_MAX; at++) {
		uint8_t byte = (uint8_t)*at;

		/* Of a character's bytes the first counts; one of four bytes is two units. */
		units += (byte & 0xC0) != 0x80;
		units += byte >= 0xF0;
	}
	return units && units <= NAME_UNITS_MAX && strlen(name) <= WIRE_MESSAGE_NAME_MAX;
}

/* What is reserved may mean something one day: a program that sets it now would be surprised then. */
static int check_zero(const uint8_t *reserved, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (reserved[i])
			return etw_friendly_fail(-EINVAL,
						 "what is reserved in the options is not zero");
	}
	return 0;
}

static int set_options(struct wire_session_config *config,
		       const struct libetw_session_options *options)
{
	static const GUID kernel_guid = WIRE_KERNEL_LOGGER_GUID;
	int result;

	if (!options || !is_name(options->name))
		return etw_friendly_fail(-EINVAL,
					 "a session needs a name of up to 1024 characters");
	if (!options->file && !options->is_real_time)
		return etw_friendly_fail(
			-EINVAL, "the session \"%s\" has neither a file nor is it read live",
			options->name);
	TRY(check_zero((const uint8_t *)options->reserved, sizeof(options->reserved)));
	(void)snprintf(config->name, sizeof(config->name), "%s", options->name);
	if (!strcasecmp(options->name, KERNEL_LOGGER_NAMEA))
		config->guid = kernel_guid;
	config->buffer_kib = options->buffer_kib;
	config->minimum_buffers = options->minimum_buffers;
	config->maximum_buffers = options->maximum_buffers;
	config->maximum_file_size = options->maximum_file_mib;
	config->enable_flags = options->kernel_flags;
	config->log_file_mode = (options->file ? EVENT_TRACE_FILE_MODE_SEQUENTIAL : 0) |
				(options->is_real_time ? EVENT_TRACE_REAL_TIME_MODE : 0) |
				(options->kernel_flags ? EVENT_TRACE_SYSTEM_LOGGER_MODE : 0);
	if (options->flush_ms) {
		config->flush_timer = options->flush_ms;
		config->log_file_mode |= USE_MS_FLUSH_TIMER;
	}
	config->controller_pid = (uint32_t)getpid();
	config->controller_tid = (uint32_t)gettid();
	config->file_mode = (uint32_t)etw_file_mode();
	result = options->file ? set_file(config, options->file) : 0;
	return result ? etw_friendly_fail(result, "cannot write %s: %s", options->file,
					  strerror(-result))
		      : 0;
}

int libetw_session_start(const struct libetw_session_options *options, struct libetw_session **ret)
{
	CLEANUP(freep) struct wire_session_config *config = calloc(1, sizeof(*config));
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	int result;

	if (!config || !info)
		return etw_friendly_fail(-ENOMEM, "no memory to start a session");
	TRY(set_options(config, options));
	result = etw_hosts_start(config, info);
	if (result == -ENOENT && options->file)
		return etw_friendly_fail(result, "cannot write %s: its folder is not there",
					 options->file);
	if (result == -EEXIST)
		return etw_friendly_fail(result, "a session \"%s\" runs already", options->name);
	TRY(fail(result, "start the session", options->name));
	return create(options->name, info->handle, ret);
}

void libetw_session_close(struct libetw_session *session)
{
	if (!session)
		return;
	free(session->name);
	free(session);
}

const char *libetw_session_name(const struct libetw_session *session)
{
	return session->name;
}

static void tell(const struct wire_session_info *info, struct libetw_session_info *ret)
{
	static _Thread_local char complaint[sizeof(info->complaint)];
	int64_t start_ns = 0;

	(void)snprintf(complaint, sizeof(complaint), "%s", info->complaint);
	(void)etw_time_ns_of_filetime((int64_t)info->start_ft, &start_ns);
	*ret = (struct libetw_session_info){
		.events = info->events,
		.bytes = info->bytes,
		.events_lost = info->events_lost,
		.buffers_written = info->buffers_written,
		.real_time_buffers_lost = info->real_time_buffers_lost,
		.start_ns = start_ns,
		.buffer_kib = info->config.buffer_kib,
		.minimum_buffers = info->config.minimum_buffers,
		.maximum_buffers = info->config.maximum_buffers,
		.buffers = info->number_of_buffers,
		.free_buffers = info->free_buffers,
		.is_kernel = info->is_kernel,
		.file_status = info->file_status,
		.complaint = complaint[0] ? complaint : NULL,
	};
}

/* By handle, or by name where it is 0. */
static int control(uint32_t code, uint64_t handle, const char *name, const char *what,
		   struct wire_session_info **ret)
{
	CLEANUP(freep) struct wire_control *request = calloc(1, sizeof(*request));
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));

	if (!request || !info)
		return etw_friendly_fail(-ENOMEM, "no memory to %s", what);
	request->code = code;
	request->handle = handle;
	if (!handle)
		(void)snprintf(request->name, sizeof(request->name), "%s", name);
	TRY(fail(etw_hosts_control(request, info), what, name));
	*ret = TAKE(info);
	return 0;
}

int libetw_session_open(const char *name, struct libetw_session **ret)
{
	CLEANUP(freep) struct wire_session_info *info = NULL;

	if (!is_name(name))
		return etw_friendly_fail(-EINVAL, "a session's name has up to 1024 characters");
	TRY(control(WIRE_CONTROL_QUERY, 0, name, "open the session", &info));
	return create(name, info->handle, ret);
}

int libetw_session_stop(struct libetw_session *session, struct libetw_session_info *ret)
{
	CLEANUP(freep) struct wire_session_info *info = NULL;

	TRY(control(WIRE_CONTROL_STOP, session->handle, session->name, "stop the session", &info));
	if (ret)
		tell(info, ret);
	return 0;
}

int libetw_session_query(struct libetw_session *session, struct libetw_session_info *ret)
{
	CLEANUP(freep) struct wire_session_info *info = NULL;

	TRY(control(WIRE_CONTROL_QUERY, session->handle, session->name, "query the session",
		    &info));
	tell(info, ret);
	return 0;
}

int libetw_session_flush(struct libetw_session *session)
{
	CLEANUP(freep) struct wire_session_info *info = NULL;

	return control(WIRE_CONTROL_FLUSH, session->handle, session->name, "flush the session",
		       &info);
}

/* Filters while they are collected. */
struct filters {
	uint8_t bytes[WIRE_FILTER_LIST_BYTES_MAX];
	size_t count;
};

static int add_filter(struct filters *filters, uint32_t type, const void *at, size_t bytes)
{
	const struct wire_filter filter = {type, {at, bytes}};
	const size_t taken = wire_filter_put(filters->bytes + filters->count,
					     sizeof(filters->bytes) - filters->count, &filter);

	filters->count += taken;
	return taken ? 0 : -EINVAL;
}

static int add_pids(struct filters *filters, const struct libetw_enable_options *options)
{
	uint8_t pids[WIRE_FILTER_PIDS_MAX * 4];

	if (!options->pid_count)
		return 0;
	if (options->pid_count > WIRE_FILTER_PIDS_MAX || !options->pids)
		return etw_friendly_fail(-EINVAL, "a session can choose %d processes at most",
					 WIRE_FILTER_PIDS_MAX);
	for (size_t i = 0; i < options->pid_count; i++)
		etw_store32(pids + i * 4, options->pids[i]);
	return add_filter(filters, EVENT_FILTER_TYPE_PID, pids, options->pid_count * 4);
}

static int add_ids(struct filters *filters, const struct libetw_enable_options *options)
{
	uint8_t ids[4 + WIRE_FILTER_IDS_MAX * 2] = {[0] = 1}; /* EVENT_FILTER_EVENT_ID: FilterIn */

	if (!options->event_id_count)
		return 0;
	if (options->event_id_count > WIRE_FILTER_IDS_MAX || !options->event_ids)
		return etw_friendly_fail(-EINVAL, "a session can choose %d event ids at most",
					 WIRE_FILTER_IDS_MAX);
	etw_store16(ids + 2, (uint16_t)options->event_id_count);
	for (size_t i = 0; i < options->event_id_count; i++)
		etw_store16(ids + 4 + i * 2, options->event_ids[i]);
	return add_filter(filters, EVENT_FILTER_TYPE_EVENT_ID, ids,
			  4 + options->event_id_count * 2);
}

static int set_filters(struct wire_enable_provider *enable, struct filters *filters,
		       const struct libetw_enable_options *options)
{
	int result;

	TRY(add_pids(filters, options));
	TRY(add_ids(filters, options));
	if (options->filter_bytes && !options->filter)
		return etw_friendly_fail(-EINVAL, "a filter has no data");
	if (options->filter_bytes || options->filter_type)
		TRY(add_filter(filters, options->filter_type, options->filter,
			       options->filter_bytes));
	enable->filters = (struct etw_bytes){filters->bytes, filters->count};
	result = wire_filter_list_check(enable->filters);
	if (result == -EOPNOTSUPP)
		return etw_friendly_fail(result, "sessions have no filters of type 0x%X",
					 (unsigned)options->filter_type);
	if (result < 0)
		return etw_friendly_fail(result,
					 "the filter of type 0x%X is not of that type's "
					 "form, or larger than it may be",
					 (unsigned)options->filter_type);
	return 0;
}

static int ask(struct libetw_session *session, struct wire_enable_provider *enable)
{
	int result;

	enable->handle = session->handle;
	/* A provider of this very process is to be there by then. */
	etw_provider_meet_hosts();
	result = etw_hosts_enable(enable);
	if (result == -ENOSPC)
		return etw_friendly_fail(result, "8 sessions have the provider already");
	if (result == -ETIMEDOUT)
		return etw_friendly_fail(result, "a provider's callback did not return in time");
	return fail(result, "change a provider in", session->name);
}

/* @event: of tracepoints, which alone are wanted; NULL: all */
static int add_event_name(struct filters *filters, const char *event)
{
	size_t taken;

	if (!event)
		return 0;
	taken = wire_filter_put_names(filters->bytes, sizeof(filters->bytes),
				      (struct etw_bytes){(const uint8_t *)event, strlen(event) + 1},
				      1);
	filters->count = taken;
	return taken ? 0 : etw_friendly_fail(-EINVAL, "the name of a tracepoint is too long");
}

static int enable(struct libetw_session *session, const GUID *provider, const char *event,
		  const struct libetw_enable_options *options)
{
	struct wire_enable_provider enable = {
		.provider = *provider,
		.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
	};
	CLEANUP(freep) struct filters *filters = calloc(1, sizeof(*filters));

	if (!filters)
		return etw_friendly_fail(-ENOMEM, "no memory");
	TRY(add_event_name(filters, event));
	enable.filters = (struct etw_bytes){filters->bytes, filters->count};
	if (options) {
		TRY(check_zero(options->reserved_bytes, sizeof(options->reserved_bytes)));
		TRY(check_zero((const uint8_t *)options->reserved, sizeof(options->reserved)));
		enable.level = options->level;
		enable.match_any = options->match_any;
		enable.match_all = options->match_all;
		enable.timeout_ms = options->timeout_ms;
		TRY(set_filters(&enable, filters, options));
	}
	return ask(session, &enable);
}

int libetw_session_enable(struct libetw_session *session, const GUID *provider,
			  const struct libetw_enable_options *options)
{
	return enable(session, provider, NULL, options);
}

/* Who cannot read tracefs is told by the session's complaint. */
static int find_tracepoints(const char *name, const char *system, const char *event, GUID *ret)
{
	CLEANUP(etw_tracefs_names_done) struct etw_tracefs_names names = {0};
	CLEANUP(etw_file_closep) int fd = -1;
	int result;

	if (etw_tracefs_guid(system, ret) < 0)
		return etw_friendly_fail(-EINVAL, "\"%s\" is no name of tracepoints", name);
	if (etw_tracefs_open(NULL, &fd, NULL) < 0)
		return 0;
	result = etw_tracefs_events(fd, system, &names);
	if (result == -ENOENT || (!result && event && !etw_tracepoint_names_match(&names, event)))
		return etw_friendly_fail(-ESRCH, "this machine has no tracepoints \"%s\"", name);
	return 0;
}

int libetw_session_enable_named(struct libetw_session *session,
				const struct libetw_schemas *schemas, const char *name,
				const struct libetw_enable_options *options)
{
	char system[ETW_TRACEPOINT_NAME_BYTES_MAX + 1];
	const char *event = NULL;
	GUID provider;
	int result = name ? etw_tracepoint_name_split(name, system, &event) : -ESRCH;

	if (result == -EINVAL)
		return etw_friendly_fail(result, "\"%s\" is no name of tracepoints", name);
	if (result == 0)
		TRY(find_tracepoints(name, system, event, &provider));
	else
		TRY(libetw_schemas_find_provider(schemas, name, &provider));
	return enable(session, &provider, event, options);
}

int libetw_session_disable(struct libetw_session *session, const GUID *provider)
{
	struct wire_enable_provider disable = {
		.provider = *provider,
		.code = EVENT_CONTROL_CODE_DISABLE_PROVIDER,
	};

	return ask(session, &disable);
}
