/* SPDX-License-Identifier: MIT */
/*
 * short_writers COUNT - processes that register, write one event and end, one after the other. Prints how many
 * of their EventWrites succeeded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <evntprov.h>

#include "recording/enabled.h"

static const GUID provider_guid = {
	0x5e1c9b1a, 0x3d53, 0x4c7e, {0x9a, 0x41, 0x0c, 0x6f, 0x7d, 0x21, 0x88, 0x17}};

static void be_writer(void)
{
	EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};
	REGHANDLE handle;

	if (EventRegister(&provider_guid, NULL, NULL, &handle) || !becomes_enabled(handle))
		_exit(2);
	_exit(EventWrite(handle, &descriptor, 0, NULL) == 0 ? 0 : 1);
}

int main(int argument_count, char **arguments)
{
	int count = argument_count == 2 ? atoi(arguments[1]) : 0;
	int written = 0;

	for (int i = 0; i < count; i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			be_writer();
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) > 1)
			return 1;
		written += WEXITSTATUS(status) == 0;
	}
	printf("%d\n", written);
	return 0;
}
