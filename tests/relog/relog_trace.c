/* SPDX-License-Identifier: MIT */
/*
 * relog_trace [--compress] OUTPUT INPUT..   copies the events of all inputs into one trace
 *
 * Exit status 0, 2 with a sentence when it failed.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "relog/relog.h"

static int put(void *context, struct etw_relog_event *event)
{
	return etw_relog_put(context, event);
}

static int fail(const char *what, int result)
{
	(void)fprintf(stderr, "relog_trace: %s: %s\n", what, strerror(-result));
	return 2;
}

static int relog_files(struct etw_relog *relog, const struct etw_relog_form *form, char **names)
{
	struct etw_relog_sink sink = {.context = relog, .event = put};
	size_t stream;
	int result;

	for (char **name = names + 1; *name; name++) {
		result = etw_relog_add_file(relog, *name, NULL, &stream, NULL);
		if (result < 0)
			return fail(*name, result);
	}
	etw_relog_set_output(relog, names[0], form);
	result = etw_relog_run(relog, &sink);
	return result < 0 ? fail(names[0], result) : 0;
}

int main(int count, char **arguments)
{
	bool is_compressed = count > 1 && strcmp(arguments[1], "--compress") == 0;
	struct etw_relog_form form = {.is_compressed = is_compressed};
	struct etw_relog *relog;
	int status;

	arguments += is_compressed ? 2 : 1;
	if (count - is_compressed < 3) {
		(void)fputs("usage: relog_trace [--compress] OUTPUT INPUT..\n", stderr);
		return 2;
	}
	if (etw_relog_create(&relog))
		return fail("memory", -ENOMEM);
	status = relog_files(relog, &form, arguments);
	etw_relog_free(relog);
	return status;
}
