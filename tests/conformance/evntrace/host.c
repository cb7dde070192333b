/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <winerror.h>

#define SESSIONS_MAX 64
#define FOLDERS_OPEN 8

static char folder[64];

const char *host_path(const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

void host_block_init(struct host_block *block, const char *file)
{
	memset(block, 0, sizeof(*block));
	block->properties.Wnode.BufferSize = sizeof(*block);
	block->properties.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	block->properties.LoggerNameOffset = offsetof(struct host_block, logger);
	block->properties.LogFileNameOffset = offsetof(struct host_block, file);
	block->properties.LogFileMode = file ? EVENT_TRACE_FILE_MODE_SEQUENTIAL
					     : EVENT_TRACE_REAL_TIME_MODE;
	if (file)
		(void)snprintf(block->file, sizeof(block->file), "%s", file);
}

ULONG host_start(const char *name, const GUID *guid, ULONG mode, TRACEHANDLE *ret)
{
	struct host_block block;

	host_block_init(&block, NULL);
	block.properties.LogFileMode |= mode;
	block.properties.BufferSize = 4;
	if (guid)
		block.properties.Wnode.Guid = *guid;
	return StartTraceA(ret, name, &block.properties);
}

ULONG host_control(TRACEHANDLE handle, ULONG code)
{
	struct host_block block;

	host_block_init(&block, NULL);
	return ControlTraceA(handle, NULL, &block.properties, code);
}

ULONG host_stop(TRACEHANDLE handle)
{
	return host_control(handle, EVENT_TRACE_CONTROL_STOP);
}

bool host_is_root(void)
{
	if (geteuid() == 0)
		return true;
	fprintf(stderr, "what another user may do is not tried: that takes root\n");
	return false;
}

ULONG host_as_stranger(ULONG (*call)(void *context), void *context)
{
	ULONG result = ERROR_GEN_FAILURE;
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return ERROR_GEN_FAILURE;
	child = fork();
	if (!child) {
		if (setgroups(0, NULL) || setgid(HOST_STRANGER) || setuid(HOST_STRANGER))
			_exit(1);
		result = call(context);
		_exit(write(ends[1], &result, sizeof(result)) != (ssize_t)sizeof(result));
	}
	close(ends[1]);
	if (child > 0) {
		if (read(ends[0], &result, sizeof(result)) != (ssize_t)sizeof(result))
			result = ERROR_GEN_FAILURE;
		(void)waitpid(child, NULL, 0);
	}
	close(ends[0]);
	return result;
}

/* Other users must get to the host's socket. */
static int make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/etw-conformance-XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755))
		return -1;
	(void)setenv("ETW_RUNTIME_DIR", folder, 1);
	(void)setenv("ETWD_LOG", host_path("etwd.log"), 0);
	/* Longer than a controller takes to connect on a busy machine: a host that left would be waited for in vain. */
	(void)setenv("ETWD_IDLE_MS", "3000", 1);
	return 0;
}

static void stop_all(void)
{
	static struct host_block blocks[SESSIONS_MAX];
	EVENT_TRACE_PROPERTIES *pointers[SESSIONS_MAX];
	ULONG count = 0;

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		host_block_init(&blocks[i], NULL);
		pointers[i] = &blocks[i].properties;
	}
	(void)QueryAllTracesA(pointers, SESSIONS_MAX, &count);
	for (unsigned i = 0; i < count && i < SESSIONS_MAX; i++)
		(void)host_stop(blocks[i].properties.Wnode.HistoricalContext);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info;
	(void)kind;
	(void)at;
	(void)remove(path);
	return 0;
}

int host_run(int (*tests)(void), unsigned limit_s)
{
	int status = 1;
	pid_t child;

	if (make_folder())
		return 1;
	child = fork();
	if (!child) {
		(void)alarm(limit_s);
		exit(tests());
	}
	if (child > 0)
		(void)waitpid(child, &status, 0);
	stop_all();
	(void)nftw(folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
