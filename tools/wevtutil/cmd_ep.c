/* SPDX-License-Identifier: MIT */
/* `wevtutil ep`: the names of the installed providers, and of modules with WPP messages, one a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "tools/common/installed_providers.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/wevtutil/find.h"
#include "tools/wevtutil/verb.h"

static int compare(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcasecmp(*a, *b) ? strcasecmp(*a, *b) : strcmp(*a, *b);
}

/* A provider without name goes by its GUID. */
static char *name_of(const struct etw_registry_row *row)
{
	char guid[ETW_GUID_BRACED_BYTES];

	etw_guid_format_braced(&row->guid, guid);
	return strdup(row->name ? row->name : guid);
}

static int collect(const struct etw_registry *registry, char **names, size_t *ret_count)
{
	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_entry entry = etw_registry_entry(registry, i);

		if (!wevtutil_is_listed(&entry.row))
			continue;
		names[*ret_count] = name_of(&entry.row);
		if (!names[*ret_count])
			return -1;
		++*ret_count;
	}
	return 0;
}

static int put_names(char **names, size_t count)
{
	struct etw_output output;
	int status;

	if (etw_output_open(NULL, &output))
		return ETW_EXIT_FAILED;
	for (size_t i = 0; i < count; i++) {
		if (i && !strcmp(names[i], names[i - 1]))
			continue;
		etw_output_clean(&output.text, names[i]);
		etw_text_putc(&output.text, '\n');
	}
	status = etw_output_tell(&output, etw_output_flush(&output));
	etw_output_done(&output);
	return status;
}

static int run(const struct wevtutil_words *words)
{
	CLEANUP(etw_registry_closep) struct etw_registry *registry = NULL;
	char **names;
	size_t count = 0;
	int status = ETW_EXIT_FAILED;

	(void)words;
	if (etw_installed_providers_open(&registry) < 0)
		return status;
	names = calloc(etw_registry_count(registry) + 1, sizeof(*names));
	if (!names || collect(registry, names, &count) < 0) {
		etw_program_message("out of memory");
	} else {
		qsort(names, count, sizeof(*names), compare);
		status = put_names(names, count);
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return status;
}

const struct wevtutil_verb wevtutil_ep = {
	.brief = "ep",
	.full = "enum-publishers",
	.help = "usage: wevtutil ep\n"
		"\n"
		"Names the installed providers and the modules whose WPP messages are installed, "
		"one a\n"
		"line; what has no name, by its GUID.\n",
	.run = run,
};
