/* SPDX-License-Identifier: MIT */
/* See support.h. */
#include "integration/daemon/support.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "ipc/runtime.h"

#define STEP_MS 5

static char home[256], runtime[300], log_file[300];

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

int home_make(void **state)
{
	(void)state;
	snprintf(home, sizeof(home), "%s/etwd-test-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(home) || chmod(home, 0755) != 0)
		return -1;
	snprintf(runtime, sizeof(runtime), "%s/run", home);
	snprintf(log_file, sizeof(log_file), "%s/log", home);
	setenv("ETW_RUNTIME_DIR", runtime, 1);
	setenv("ETWD_LOG", log_file, 1);
	setenv("ETWD_IDLE_MS", "10000", 1);
	/* Whoever kills hosts one after another does not wait for the keeper to try again. */
	setenv("ETWD_STEADY_MS", "0", 1);
	return 0;
}

const char *home_path(void)
{
	return home;
}

const char *runtime_path(void)
{
	return runtime;
}

static void sleep_ms(long ms)
{
	const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	(void)nanosleep(&pause, NULL);
}

bool wait_until(bool (*is_so)(void *context), void *context)
{
	for (int waited = 0; waited < WAIT_MS; waited += STEP_MS) {
		if (is_so(context))
			return true;
		sleep_ms(STEP_MS);
	}
	return is_so(context);
}

static bool is_gone(void *context)
{
	pid_t pid = *(pid_t *)context;
	char path[64], state = 0;
	FILE *file;

	(void)waitpid(pid, NULL, WNOHANG);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'Z'; /* somebody else's to wait for */
}

enum process {
	PROCESS_KEEPER,
	PROCESS_STANDBY,
	PROCESS_HOST
};

static pid_t find_pid(enum process process)
{
	const struct wire_discovery_page *page;
	pid_t pid = 0;

	if (etw_runtime_page(runtime, &page) < 0)
		return 0;
	pid = (pid_t)load_relaxed(process == PROCESS_KEEPER    ? &page->keeper_pid
				  : process == PROCESS_STANDBY ? &page->standby_pid
							       : &page->host_pid);
	etw_runtime_page_unmap(page);
	return pid > 0 && kill(pid, 0) == 0 ? pid : 0;
}

pid_t keeper_pid(void)
{
	return find_pid(PROCESS_KEEPER);
}

pid_t standby_pid(void)
{
	return find_pid(PROCESS_STANDBY);
}

pid_t host_pid(void)
{
	return keeper_pid() ? find_pid(PROCESS_HOST) : 0;
}

static bool has_standby(void *context)
{
	pid_t pid = standby_pid();

	return pid && pid != *(pid_t *)context;
}

pid_t await_standby(pid_t other)
{
	assert_true(wait_until(has_standby, &other));
	return standby_pid();
}

void keepers_kill(void)
{
	pid_t keeper = keeper_pid(), standby = await_standby(0);

	/* Stopped, so that it makes no other one. */
	assert_int_equal(kill(keeper, SIGSTOP), 0);
	assert_int_equal(kill(standby, SIGKILL), 0);
	assert_int_equal(kill(keeper, SIGKILL), 0);
	assert_true(wait_until(is_gone, &keeper));
}

static bool is_another_host(void *context)
{
	pid_t pid = host_pid();
	struct wire_welcome welcome;
	int fd;

	if (pid == 0 || pid == *(pid_t *)context ||
	    etw_runtime_connect(runtime, WIRE_ROLE_PROVIDER, &fd, &welcome, NULL) < 0)
		return false;
	close(fd);
	return true;
}

void host_kill(void)
{
	pid_t pid = host_pid();

	assert_int_not_equal(pid, 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(wait_until(is_another_host, &pid));
}

static void print_log(void)
{
	FILE *file = fopen(log_file, "re");
	char line[1100];

	while (file && fgets(line, sizeof(line), file))
		fputs(line, stderr);
	if (file)
		fclose(file);
}

int home_remove(void **state)
{
	pid_t keeper = keeper_pid();
	pid_t host = host_pid();
	int r = 0;

	(void)state;
	if (getenv("ETW_SHOW_TEST_LOG"))
		print_log();
	if (keeper) {
		kill(keeper, SIGTERM);
		if (!wait_until(is_gone, &keeper)) {
			fprintf(stderr, "the keeper did not end\n");
			print_log();
			kill(keeper, SIGKILL);
			if (host)
				kill(host, SIGKILL);
			r = -1;
		}
	}
	if (!getenv("ETW_KEEP_TEST_HOME"))
		(void)nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return r;
}

static bool is_in_log(void *context)
{
	FILE *file = fopen(log_file, "re");
	char line[1100];
	bool is_there = false;

	while (file && !is_there && fgets(line, sizeof(line), file))
		is_there = strstr(line, context) != NULL;
	if (file)
		fclose(file);
	return is_there;
}

bool log_holds(const char *text)
{
	return is_in_log((void *)(uintptr_t)text);
}

bool log_has(const char *text)
{
	return wait_until(is_in_log, (void *)(uintptr_t)text);
}

int etwd_run(const char *first, const char *second)
{
	const char *program = getenv("ETW_ETWD");
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execl(program, "etwd", first, second, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

bool is_unhosted(void *context)
{
	(void)context;
	return keeper_pid() == 0;
}

struct etw_controller *controller(void)
{
	struct etw_controller *opened = NULL;

	assert_int_equal(etw_controller_open(ETW_INSTANCE_USER, true, NULL, &opened), 0);
	return opened;
}

struct wire_session_config *config_of(const char *name)
{
	static struct wire_session_config config;

	memset(&config, 0, sizeof(config));
	snprintf(config.name, sizeof(config.name), "%s", name);
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	config.buffer_kib = 4;
	config.minimum_buffers = config.maximum_buffers = 8;
	return &config;
}

uint64_t start_session(struct etw_controller *from, const char *name)
{
	static struct wire_session_info info;

	assert_int_equal(etw_control_start(from, config_of(name), &info), 0);
	assert_true(info.handle);
	return info.handle;
}

int control_session(struct etw_controller *from, uint64_t handle, uint32_t code,
		    struct wire_session_info *ret)
{
	static struct wire_control control;
	static struct wire_session_info info;

	memset(&control, 0, sizeof(control));
	control.code = code;
	control.handle = handle;
	return etw_control(from, &control, ret ? ret : &info);
}

GUID guid_of(uint32_t number)
{
	return (GUID){number, 0x1234, 0x4567, {1, 2, 3, 4, 5, 6, 7, 8}};
}

struct wire_enable_provider enable_of(uint64_t handle, const GUID *provider)
{
	return (struct wire_enable_provider){
		.handle = handle,
		.provider = *provider,
		.code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
		.level = 5,
	};
}

void add_filter(struct wire_enable_provider *enable, uint32_t type, const void *data, size_t bytes)
{
	static uint8_t list[WIRE_FILTER_BYTES_MAX];
	const struct wire_filter filter = {type, {data, bytes}};
	const size_t taken = wire_filter_put(list + enable->filters.left,
					     sizeof(list) - enable->filters.left, &filter);

	assert_true(taken > 0);
	enable->filters = (struct etw_bytes){list, enable->filters.left + taken};
}
