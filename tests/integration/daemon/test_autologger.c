/* SPDX-License-Identifier: MIT */
/* Sessions that a host starts from files of configuration: when, with which providers, and what is written back. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntprov.h>
#include <evntrace.h>

#include "integration/daemon/support.h"
#include "integration/daemon/talk.h"

#define SESSION "Boot trace"

static char config_folder[300], status_folder[300];

static int set_up(void **state)
{
	if (home_make(state))
		return -1;
	snprintf(config_folder, sizeof(config_folder), "%s/autologger.d", home_path());
	snprintf(status_folder, sizeof(status_folder), "%s/status", home_path());
	return mkdir(config_folder, 0755) || setenv("ETW_AUTOLOGGER_DIR", config_folder, 1) ||
	       setenv("ETW_AUTOLOGGER_STATE", status_folder, 1);
}

static void put(const char *name, const char *text)
{
	char path[400];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.conf", config_folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fchmod(fileno(file), 0644), 0);
	fclose(file);
}

struct wanted {
	const char *name, *text;
};

/* Whether the status of a session has this text. */
static bool status_has(void *context)
{
	const struct wanted *wanted = context;
	char path[400], text[1024];
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", status_folder, wanted->name);
	file = fopen(path, "r");
	if (!file)
		return false;
	bytes = fread(text, 1, sizeof(text) - 1, file);
	text[bytes] = '\0';
	fclose(file);
	return strstr(text, wanted->text) != NULL;
}

static void expect_status(const char *name, const char *text)
{
	struct wanted wanted = {name, text};

	assert_true(wait_until(status_has, &wanted));
}

static int query(struct etw_controller *from, const char *name, struct wire_session_info *ret)
{
	static struct wire_control control;

	memset(&control, 0, sizeof(control));
	control.code = WIRE_CONTROL_QUERY;
	snprintf(control.name, sizeof(control.name), "%s", name);
	return etw_control(from, &control, ret);
}

static void put_session(const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "Guid = {11111111-2222-3333-4444-555555555555}\nStart = 1\nBufferSize = 32\n%s",
		 more);
	put(SESSION, text);
}

static void end_host(void)
{
	assert_int_equal(kill(keeper_pid(), SIGTERM), 0);
	assert_true(wait_until(is_unhosted, NULL));
}

static void test_autologger__session_runs_with_its_providers(void **state)
{
	static struct wire_session_info info;
	char text[600];
	struct etw_controller *opened;
	const GUID provider = guid_of(1);
	struct wire_enable enable;
	struct talk *talk;
	unsigned sets;

	(void)state;
	snprintf(text, sizeof(text),
		 "FileName = %s/boot.etl\nFileMax = 2\n"
		 "[{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}]\n"
		 "Enabled = 1\nEnableLevel = 3\nMatchAnyKeyword = 0x30\n",
		 home_path(), provider.Data1, provider.Data2, provider.Data3, provider.Data4[0],
		 provider.Data4[1], provider.Data4[2], provider.Data4[3], provider.Data4[4],
		 provider.Data4[5], provider.Data4[6], provider.Data4[7]);
	put_session(text);
	opened = controller();
	expect_status(SESSION, "Status=0\nFileCounter=1\n");
	assert_int_equal(query(opened, SESSION, &info), 0);
	assert_int_equal(info.config.buffer_kib, 32);
	snprintf(text, sizeof(text), "%s/boot.etl.0001", home_path());
	assert_int_equal(access(text, R_OK), 0);
	talk = talk_open(WIRE_ROLE_PROVIDER);
	assert_int_equal(talk_register(talk, 1, &provider), 0);
	talk_take_enable(talk, &enable, &sets);
	assert_int_equal(enable.slots[0].is_used, 1);
	assert_int_equal(enable.slots[0].level, 3);
	assert_int_equal(enable.slots[0].match_any, 0x30);
	talk_close(talk);
	etw_controller_close(opened);
	/* Told to leave and started again in the same boot: it runs again, in the next file. */
	end_host();
	opened = controller();
	expect_status(SESSION, "Status=0\nFileCounter=2\n");
	assert_int_equal(query(opened, SESSION, &info), 0);
	etw_controller_close(opened);
}

/* A session with a provider and its filters. */
static void put_provider(const GUID *provider, const char *filters)
{
	char name[64], text[600];

	snprintf(name, sizeof(name), "{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}",
		 provider->Data1, provider->Data2, provider->Data3, provider->Data4[0],
		 provider->Data4[1], provider->Data4[2], provider->Data4[3], provider->Data4[4],
		 provider->Data4[5], provider->Data4[6], provider->Data4[7]);
	snprintf(text, sizeof(text), "LogFileMode = 0x100\n[%s]\nEnabled = 1\n[%s\\Filters]\n%s",
		 name, name, filters);
	put_session(text);
}

static void test_autologger__filters_are_applied(void **state)
{
	static const uint8_t ids[] = {1, 0, 2, 0, 1, 0, 3, 0};
	const GUID provider = guid_of(1);
	struct etw_controller *opened;
	struct wire_enable enable;
	struct talk *talk;
	char pids[64];
	struct etw_bytes data;
	unsigned sets;

	(void)state;
	snprintf(pids, sizeof(pids), "PID = 1, %d\nEVENT_ID = in 1 3\nSCHEMATIZED = hex:aa,bb\n",
		 (int)getpid());
	put_provider(&provider, pids);
	opened = controller();
	expect_status(SESSION, "Status=0\n");
	talk = talk_open(WIRE_ROLE_PROVIDER);
	assert_int_equal(talk_register(talk, 1, &provider), 0);
	talk_take_enable(talk, &enable, &sets);
	assert_int_equal(enable.slots[0].is_used, 1);
	assert_true(wire_filter_find(enable.slots[0].filters, EVENT_FILTER_TYPE_EVENT_ID, &data));
	assert_int_equal(data.left, sizeof(ids));
	assert_memory_equal(data.at, ids, sizeof(ids));
	assert_int_equal(enable.filter_type, EVENT_FILTER_TYPE_SCHEMATIZED);
	assert_int_equal(enable.filter.left, 2);
	talk_close(talk);
	etw_controller_close(opened);
	end_host();
}

static void test_autologger__stopped_session_stays_stopped(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened;

	(void)state;
	put_session("LogFileMode = 0x100\n");
	opened = controller();
	expect_status(SESSION, "Status=0\n");
	assert_int_equal(query(opened, SESSION, &info), 0);
	host_kill();
	assert_int_equal(query(opened, SESSION, &info), 0);
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_STOP, NULL), 0);
	host_kill();
	assert_int_equal(query(opened, SESSION, &info), -ENOENT);
	etw_controller_close(opened);
	end_host();
	opened = controller();
	assert_int_equal(query(opened, SESSION, &info), -ENOENT);
	etw_controller_close(opened);
}

static void test_autologger__nonstoppable_session_cannot_be_stopped(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened;
	struct wire_session_config *config;

	(void)state;
	put_session("LogFileMode = 0x140\n");
	opened = controller();
	expect_status(SESSION, "Status=0\n");
	assert_int_equal(query(opened, SESSION, &info), 0);
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_STOP, NULL), -EACCES);
	host_kill();
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_STOP, NULL), -EACCES);
	assert_int_equal(control_session(opened, info.handle, WIRE_CONTROL_FLUSH, NULL), 0);
	/* No controller can start one. */
	config = config_of("other");
	config->log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_NONSTOPPABLE_MODE;
	assert_int_equal(etw_control_start(opened, config, &info), -EINVAL);
	etw_controller_close(opened);
	end_host();
}

static void test_autologger__what_cannot_start_says_why(void **state)
{
	static struct wire_session_info info;
	struct etw_controller *opened;

	(void)state;
	put("no guid", "Start = 1\n");
	put("no folder", "Guid = {22222222-2222-3333-4444-555555555555}\nStart = 1\n"
			 "FileName = /nowhere/at/all.etl\n");
	put("not stoppable file", "Guid = {33333333-2222-3333-4444-555555555555}\nStart = 1\n"
				  "LogFileMode = 0x41\n");
	put("not built", "Guid = {55555555-2222-3333-4444-555555555555}\nStart = 1\n"
			 "[{66666666-2222-3333-4444-555555555555}]\n"
			 "[{66666666-2222-3333-4444-555555555555}\\Filters]\nCONTAINER = hex:01\n");
	put("not now", "Guid = {44444444-2222-3333-4444-555555555555}\nStart = 0\n");
	put_session("LogFileMode = 0x100\n");
	opened = controller();
	expect_status("no guid", "Status=87\n");
	expect_status("no guid", "Reason=Guid: the session has no GUID\n");
	expect_status("no folder", "Status=3\n");
	expect_status("not stoppable file", "Status=87\n");
	expect_status("not built", "Status=50\n");
	expect_status("not built", "Reason=line 5: Filters: filters of this type are not built\n");
	expect_status(SESSION, "Status=0\n");
	assert_int_equal(query(opened, SESSION, &info), 0);
	assert_int_equal(query(opened, "not now", &info), -ENOENT);
	etw_controller_close(opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_autologger__session_runs_with_its_providers,
						set_up, home_remove),
		cmocka_unit_test_setup_teardown(test_autologger__filters_are_applied, set_up,
						home_remove),
		cmocka_unit_test_setup_teardown(test_autologger__stopped_session_stays_stopped,
						set_up, home_remove),
		cmocka_unit_test_setup_teardown(
			test_autologger__nonstoppable_session_cannot_be_stopped, set_up,
			home_remove),
		cmocka_unit_test_setup_teardown(test_autologger__what_cannot_start_says_why, set_up,
						home_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
