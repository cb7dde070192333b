/* SPDX-License-Identifier: MIT */
#include "api/control/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <winerror.h>

#include "api/win32_error.h"
#include "base/atomic.h"
#include "base/guid.h"
#include "base/macros.h"
#include "control/control.h"
#include "control/enumerated.h"
#include "control/instance.h"
#include "wire/system_logger.h"

#define INSTANCES 2

/* A connection that no call uses now. One that a fork brought along belongs to the parent. */
struct line {
	struct etw_controller *controller; /* owned */
	enum etw_instance instance;
	bool may_start; /* it starts a host where there is none */
	pid_t pid;
};

/* Owned; taken and given back by exchange, so that neither threads nor a fork meet a lock. */
static struct line *idle_lines[INSTANCES][2];

static void line_free(struct line *line)
{
	if (!line)
		return;
	etw_controller_close(line->controller);
	free(line);
}

static void line_freep(struct line **line)
{
	line_free(*line);
}

static int take_line(enum etw_instance instance, bool may_start, struct line **ret)
{
	/* Pairs with give_line(). */
	CLEANUP(line_freep)
	struct line *line = exchange_acq_rel(&idle_lines[instance][may_start], (struct line *)NULL);

	if (line && line->pid != getpid()) {
		/* Ends nothing for the parent, whose connection this copy would keep alive. */
		line_free(line);
		line = NULL;
	}
	if (!line) {
		line = calloc(1, sizeof(*line));
		if (!line)
			return -ENOMEM;
		TRY(etw_controller_open(instance, may_start, NULL, &line->controller));
		line->instance = instance;
		line->may_start = may_start;
		line->pid = getpid();
	}
	*ret = TAKE(line);
	return 0;
}

/* Keeps the line unless the conversation failed, or another one is kept already. */
static void give_line(struct line *line, int result)
{
	if (result != -EPIPE && result != -EPROTO && result != -ECONNRESET)
		line = exchange_acq_rel(&idle_lines[line->instance][line->may_start], line);
	line_free(line);
}

/* Whether a host said nothing about a session because it is not there. */
static bool is_absent(int result)
{
	return result == -ENOENT || result == -ECONNREFUSED;
}

static int start_in(enum etw_instance instance, bool may_start,
		    const struct wire_session_config *config, struct wire_session_info *ret,
		    bool *ret_is_there)
{
	struct line *line;
	int result;

	*ret_is_there = false;
	TRY(take_line(instance, may_start, &line));
	result = etw_control_start(line->controller, config, ret);
	*ret_is_there = result != -ECONNREFUSED; /* the host of a kept line may have left */
	give_line(line, result);
	return result;
}

/*
 * A user's own host gets a session, unless EventAccessControl granted this user a session of this GUID at the system's.
 */
static bool start_as_granted(const struct wire_session_config *config,
			     struct wire_session_info *ret, int *ret_result)
{
	bool is_there;

	if (etw_guid_is_null(&config->guid))
		return false;
	*ret_result = start_in(ETW_INSTANCE_SYSTEM, /* may_start= */ false, config, ret, &is_there);
	return is_there && *ret_result != -EACCES;
}

int etw_hosts_start(const struct wire_session_config *config, struct wire_session_info *ret)
{
	enum etw_instance instances[2];
	bool may_start[2];
	bool is_there = false;
	size_t count = etw_control_start_order(etw_system_logger_is(config), instances, may_start);
	int result = -EACCES;

	if (instances[0] == ETW_INSTANCE_USER && start_as_granted(config, ret, &result))
		return result;
	for (size_t i = 0; i < count; i++) {
		result = start_in(instances[i], may_start[i], config, ret, &is_there);
		if (is_there || !is_absent(result))
			return result;
	}
	return may_start[count - 1] ? result : -EACCES;
}

typedef int (*asker)(struct etw_controller *controller, const void *question, void *ret);

static int ask_instance(enum etw_instance instance, asker ask, const void *question, void *ret)
{
	struct line *line;
	int result;

	TRY(take_line(instance, /* may_start= */ false, &line));
	result = ask(line->controller, question, ret);
	give_line(line, result);
	return result;
}

/*
 * One call in the instances by turn, until one knows the session. No result is a reason to ask again: the
 * controller has done that with what may be repeated.
 */
static int ask_each(asker ask, const void *question, void *ret)
{
	enum etw_instance instances[2];
	size_t count = etw_control_lookup_order(instances);

	for (size_t i = 0; i < count; i++) {
		int result = ask_instance(instances[i], ask, question, ret);

		if (!is_absent(result))
			return result;
	}
	return -ENOENT;
}

static int ask_control(struct etw_controller *controller, const void *question, void *ret)
{
	return etw_control(controller, question, ret);
}

int etw_hosts_control(const struct wire_control *control, struct wire_session_info *ret)
{
	return ask_each(ask_control, control, ret);
}

static int ask_enable(struct etw_controller *controller, const void *question, void *ret)
{
	(void)ret;
	return etw_control_enable(controller, question);
}

int etw_hosts_enable(const struct wire_enable_provider *enable)
{
	return ask_each(ask_enable, enable, NULL);
}

static int ask_list(struct etw_controller *controller, const void *question, void *ret)
{
	(void)question;
	return etw_control_list(controller, ret);
}

int etw_hosts_list(uint64_t *ret, size_t room, size_t *ret_count)
{
	enum etw_instance instances[2];
	size_t count = etw_control_lookup_order(instances);
	struct wire_sessions sessions;

	*ret_count = 0;
	for (size_t i = 0; i < count; i++) {
		int result = ask_instance(instances[i], ask_list, NULL, &sessions);

		if (is_absent(result))
			continue;
		TRY(result);
		for (uint32_t at = 0; at < sessions.count && at < WIRE_LIST_SESSIONS_MAX; at++) {
			if (*ret_count < room)
				ret[*ret_count] = sessions.handles[at];
			++*ret_count;
		}
	}
	return 0;
}

static int ask_in(enum etw_instance instance, bool may_start, asker ask, const void *question,
		  void *ret, bool *ret_is_there)
{
	struct line *line;
	int result;

	*ret_is_there = false;
	TRY(take_line(instance, may_start, &line));
	result = ask(line->controller, question, ret);
	*ret_is_there = result != -ECONNREFUSED;
	give_line(line, result);
	return result;
}

/* One call in the instance where a session would be started, whose host is, too. */
static int ask_starting(bool is_kernel, asker ask, const void *question, void *ret)
{
	enum etw_instance instances[2];
	bool may_start[2];
	bool is_there = false;
	size_t count = etw_control_start_order(is_kernel, instances, may_start);
	int result = -EACCES;

	for (size_t i = 0; i < count; i++) {
		result = ask_in(instances[i], may_start[i], ask, question, ret, &is_there);
		if (is_there || !is_absent(result))
			break;
	}
	return result;
}

static int ask_access(struct etw_controller *controller, const void *question, void *ret)
{
	return etw_control_access(controller, question, ret);
}

int etw_hosts_access(const struct wire_access *access, struct etw_control_answer *ret)
{
	return ask_starting(/* is_kernel= */ false, ask_access, access, ret);
}

static int ask_enumerate(struct etw_controller *controller, const void *question, void *ret)
{
	const struct wire_enumerate *enumerate = question;

	TRY(etw_control_enumerate(controller, enumerate, ret));
	return etw_enumerated_check(enumerate->code, ret);
}

static int enumerate_in(enum etw_instance instance, struct wire_enumerate *enumerate,
			etw_hosts_visit *visit, void *context, struct etw_control_answer *part)
{
	enumerate->cursor = 0;
	for (unsigned i = 0; i < ETW_ENUMERATED_PARTS_MAX; i++) {
		TRY(ask_instance(instance, ask_enumerate, enumerate, part));
		TRY(visit(context, part));
		if (!part->next)
			return 0;
		enumerate->cursor = part->next;
	}
	return -EPROTO; /* a list without end */
}

int etw_hosts_enumerate(uint32_t code, const GUID *guid, etw_hosts_visit *visit, void *context)
{
	CLEANUP(freep) struct etw_control_answer *part = malloc(sizeof(*part));
	struct wire_enumerate enumerate = {.code = code, .guid = *guid};
	enum etw_instance instances[2];
	size_t count = etw_control_lookup_order(instances);

	if (!part)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int result = enumerate_in(instances[i], &enumerate, visit, context, part);

		if (!is_absent(result))
			TRY(result);
	}
	return 0;
}

static int ask_inform(struct etw_controller *controller, const void *question, void *ret)
{
	return etw_control_inform(controller, question, ret);
}

int etw_hosts_inform(const struct wire_inform *inform, struct etw_control_answer *ret)
{
	return ask_each(ask_inform, inform, ret);
}

int etw_hosts_inform_machine(const struct wire_inform *inform, struct etw_control_answer *ret)
{
	int result = ask_starting(/* is_kernel= */ true, ask_inform, inform, ret);

	return is_absent(result) ? -EACCES : result;
}

ULONG etw_hosts_error(int result)
{
	switch (result) {
	case -ENOENT:
		return ERROR_WMI_INSTANCE_NOT_FOUND;
	case -EBUSY:
		return ERROR_ACTIVE_CONNECTIONS;
	case -ENOSPC:
		return ERROR_NO_SYSTEM_RESOURCES;
	case -ETXTBSY: /* another session writes to the file */
		return ERROR_BAD_PATHNAME;
	default:
		return etw_win32_from_result(result);
	}
}
