/* SPDX-License-Identifier: MIT */
#include "api/control/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <winerror.h>

#include "api/win32_error.h"
#include "base/atomic.h"
#include "control/control.h"
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

int etw_hosts_start(const struct wire_session_config *config, struct wire_session_info *ret)
{
	enum etw_instance instances[2];
	bool may_start[2];
	bool is_there = false;
	size_t count = etw_control_start_order(etw_system_logger_is(config), instances, may_start);
	int result = -EACCES;

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
