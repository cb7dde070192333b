/* SPDX-License-Identifier: MIT */
#include "synthetic/made_tracefs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 256

static char folder[] = "/tmp/etw-tracefs-XXXXXX";

static int write_file(const char *name, const char *file, const char *text)
{
	char path[PATH_BYTES];
	FILE *to;

	(void)snprintf(path, sizeof(path), "%s/made/%s/%s", folder, name, file);
	to = fopen(path, "we");
	if (!to)
		return -1;
	if (fputs(text, to) < 0) {
		(void)fclose(to);
		return -1;
	}
	return fclose(to) ? -1 : 0;
}

int made_tracefs_add(const char *name)
{
	static const char format[] =
		"name: %s\nID: %u\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
		"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"comm=%%s pid=%%d\", REC->comm, REC->pid\n";
	static unsigned number = 1000;
	char path[PATH_BYTES], text[2048];

	(void)snprintf(path, sizeof(path), "%s/made/%s", folder, name);
	(void)snprintf(text, sizeof(text), format, name, number++);
	if (mkdir(path, 0700))
		return -1;
	return write_file(name, "enable", "0\n") || write_file(name, "format", text) ? -1 : 0;
}

int made_tracefs_begin(void)
{
	char path[PATH_BYTES];

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	if (!mkdtemp(folder) || setenv("ETW_TRACEFS", folder, 1))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/made", folder);
	return mkdir(path, 0700) || made_tracefs_add("begin") || made_tracefs_add("finish") ? -1
											    : 0;
}

int made_tracefs_end(void)
{
	char command[PATH_BYTES];

	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || setenv("ETW_TRACEFS", "", 1) ? -1 : 0;
}
