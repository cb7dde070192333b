/* SPDX-License-Identifier: MIT */
/* See autologgers.h. */
#include "daemon/autologgers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <evntrace.h>

#include "autologger/config.h"
#include "autologger/folder.h"
#include "autologger/status.h"
#include "base/guid.h"
#include "base/macros.h"
#include "daemon/enable.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "daemon/source_providers.h"
#include "wire/win32_error.h"

/* One file of configuration. */
struct etwd_autologger {
	struct etwd_start_watch watch; /* first */
	struct etwd_autologger *next;
	const struct etwd_autologgers *all; /* borrowed */
	char *name;                         /* owned: of the file; names the status */
	struct etw_autologger settings;
	struct etw_autologger_status status;
};

static void free_one(struct etwd_autologger *one)
{
	etw_autologger_done(&one->settings);
	free(one->name);
	free(one);
}

static void write_status(const struct etwd_autologger *one)
{
	int r = etw_autologger_status_write(one->all->state_folder, one->name, &one->status);

	if (r < 0)
		etwd_log("the status of autologger \"%s\" cannot be written to %s: %s", one->name,
			 one->all->state_folder, strerror(-r));
}

static void fail(struct etwd_autologger *one, int result, const struct etw_fault *fault)
{
	char *reason = one->status.reason;
	size_t room = sizeof(one->status.reason);
	int chars = 0;

	if (fault && fault->offset != 0)
		chars = snprintf(reason, room, "line %" PRIu64 ": ", fault->offset);
	if (fault && fault->sentence)
		(void)snprintf(reason + chars, room - (size_t)chars, "%s%s%s",
			       fault->field ? fault->field : "", fault->field ? ": " : "",
			       fault->sentence);
	else
		(void)snprintf(reason, room, "%s", strerror(-result));
	one->status.status = etw_win32_from_start(result);
	etwd_log("autologger \"%s\" is not started: %s", one->name, reason);
	write_status(one);
}

static void enable_provider(const struct etwd_autologger *one, struct etwd_session *session,
			    const struct etw_autologger_provider *provider)
{
	const struct wire_enable_provider request = {
		.handle = session->id,
		.provider = provider->guid,
		.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
		.level = provider->level,
		.match_any = provider->match_any,
		.match_all = provider->match_all,
		.property = provider->property,
		.filters = {provider->filters.list, provider->filters.bytes},
	};
	char text[ETW_GUID_BRACED_BYTES];
	const struct etwd_session_parts *parts = one->all->parts;
	int r = etwd_source_provider_is(parts, &request)
			? etwd_source_provider_enable_own(parts, session, &request)
			: etwd_enable_own(parts->enable, session, &request);

	if (r == 0)
		return;
	etw_guid_format_braced(&provider->guid, text);
	etwd_log("autologger \"%s\" cannot enable provider %s: %s", one->name, text, strerror(-r));
}

static void note_stop(struct etwd_session *session)
{
	etw_autologger_boot_id(session->autologger->status.stopped_in);
	write_status(session->autologger);
}

static void take_session(struct etwd_autologger *one, struct etwd_session *session)
{
	session->autologger = one;
	session->stopped = note_stop;
}

static void started(struct etwd_start_watch *watch, struct etwd_session *session, int result,
		    const char *sentence)
{
	struct etwd_autologger *one = (struct etwd_autologger *)(void *)watch;
	const struct etw_fault fault = {.sentence = sentence};

	if (result < 0) {
		fail(one, result, &fault);
		return;
	}
	take_session(one, session);
	for (size_t i = 0; i < one->settings.provider_count; i++) {
		if (one->settings.providers[i].is_enabled)
			enable_provider(one, session, &one->settings.providers[i]);
	}
	one->status.status = 0;
	one->status.reason[0] = '\0';
	one->status.stopped_in[0] = '\0';
	if (one->settings.file_max)
		one->status.file_counter++;
	write_status(one);
}

/* The session of this name, if there is one already: an adopted one, or that of another file. */
static struct etwd_session *find_session(const struct etwd_autologger *one)
{
	const struct etwd_sessions *sessions = one->all->parts->sessions;
	CLEANUP(freep) char *key = NULL;

	if (etwd_name_fold(one->settings.config.name, &key) < 0)
		return NULL;
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (sessions->table[i] && strcmp(sessions->table[i]->key, key) == 0)
			return sessions->table[i];
	}
	return NULL;
}

static bool was_stopped_in_this_boot(const struct etw_autologger_status *status)
{
	char boot[ETW_AUTOLOGGER_BOOT_BYTES];

	etw_autologger_boot_id(boot);
	return *status->stopped_in && strcmp(status->stopped_in, boot) == 0;
}

/* Returns a copy for the session's start, which takes it. */
static int make_config(struct etwd_autologger *one, struct wire_session_config **ret,
		       struct etw_fault *reterr)
{
	struct wire_session_config *config;

	TRY(etw_autologger_place(one->all->state_folder, one->status.file_counter, &one->settings,
				 reterr));
	config = malloc(sizeof(*config));
	if (!config)
		return -ENOMEM;
	*config = one->settings.config;
	config->file_mode = 0600;
	*ret = config;
	return 0;
}

static void start_one(struct etwd_autologger *one)
{
	struct etwd_session *session = find_session(one);
	struct wire_session_config *config = NULL;
	struct etw_fault fault = {.sentence = "another session has this name"};
	int r;

	if (session && (session->autologger || session->uid != geteuid())) {
		fail(one, -EEXIST, &fault);
		return;
	}
	if (session) {
		take_session(one, session);
		return;
	}
	if (!one->settings.starts || was_stopped_in_this_boot(&one->status))
		return;
	fault.sentence = NULL;
	r = make_config(one, &config, &fault);
	if (r == 0)
		r = etwd_session_start_own(one->all->parts, config, &one->watch);
	if (r < 0)
		fail(one, r, &fault);
	else
		take_session(one, find_session(one));
}

static int read_one(struct etwd_autologgers *all, const char *name)
{
	struct etwd_autologger *one = calloc(1, sizeof(*one));
	struct etw_fault fault = {0};
	int r;

	if (!one)
		return -ENOMEM;
	one->all = all;
	one->watch.started = started;
	one->name = strdup(name);
	if (!one->name) {
		free_one(one);
		return -ENOMEM;
	}
	one->next = all->first;
	all->first = one;
	r = etw_autologger_status_read(all->state_folder, name, &one->status);
	if (r < 0)
		etwd_log("the status of autologger \"%s\" cannot be read: %s", name, strerror(-r));
	r = etw_autologger_read(all->config_folder, name, &one->settings, &fault);
	if (r < 0)
		fail(one, r, &fault);
	else
		start_one(one);
	return 0;
}

void etwd_autologgers_start(struct etwd_autologgers *autologgers, bool is_system,
			    const struct etwd_session_parts *parts)
{
	char **names = NULL;
	size_t count = 0;
	int r;

	autologgers->parts = parts;
	if (etw_autologger_folders(is_system, &autologgers->config_folder,
				   &autologgers->state_folder) < 0)
		return;
	r = etw_autologger_names(autologgers->config_folder, &names, &count);
	for (size_t i = 0; i < count && r == 0; i++)
		r = read_one(autologgers, names[i]);
	if (r < 0)
		etwd_log("autologgers of %s are not started: %s", autologgers->config_folder,
			 etw_autologger_names_sentence(r));
	etw_autologger_names_free(names, count);
}

void etwd_autologgers_done(struct etwd_autologgers *autologgers)
{
	while (autologgers->first) {
		struct etwd_autologger *one = autologgers->first;

		autologgers->first = one->next;
		free_one(one);
	}
	free(autologgers->config_folder);
	free(autologgers->state_folder);
	autologgers->config_folder = autologgers->state_folder = NULL;
}
