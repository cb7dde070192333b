/* SPDX-License-Identifier: MIT */
/* `wevtutil gp`: what is installed of one provider, as an indented tree or as XML. */
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "tools/common/installed_providers.h"
#include "tools/common/output.h"
#include "tools/common/program.h"
#include "tools/wevtutil/find.h"
#include "tools/wevtutil/publisher.h"
#include "tools/wevtutil/verb.h"

enum {
	OPTION_EVENTS,
	OPTION_MESSAGES,
	OPTION_FORMAT
};

/* A module has one row for each of its source files. */
static void count_messages(const struct etw_registry *registry, struct etw_registry_entry *entry)
{
	uint32_t count = 0;

	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_entry other = etw_registry_entry(registry, i);

		if (other.folder == entry->folder && other.row.file == entry->row.file &&
		    other.row.role == WIRE_REGISTRY_EVENTS)
			count += other.row.counts[WIRE_REGISTRY_COUNT_EVENTS];
	}
	entry->row.counts[WIRE_REGISTRY_COUNT_EVENTS] = count;
}

static int show(struct wevtutil_publisher *publisher, bool is_xml)
{
	struct etw_output output;
	int status;

	if (etw_output_open(NULL, &output))
		return ETW_EXIT_FAILED;
	wevtutil_publisher_write(publisher, is_xml, &output.text);
	status = etw_output_tell(&output, etw_output_flush(&output));
	etw_output_done(&output);
	return status;
}

static int show_provider(struct etw_schema_store *store, struct wevtutil_publisher *publisher,
			 bool is_xml)
{
	int r = etw_schema_store_demand_provider(store, &publisher->entry->row.guid,
						 &publisher->schema);

	/* Messages have no provider that is described. */
	if (r < 0 && r != -ESRCH) {
		if (r == -ENOMEM)
			etw_program_message("out of memory");
		return ETW_EXIT_FAILED;
	}
	return show(publisher, is_xml);
}

static int run(const struct wevtutil_words *words)
{
	CLEANUP(etw_schema_store_freep) struct etw_schema_store *store = NULL;
	CLEANUP(etw_text_done) struct etw_text hint = {0};
	const char *format = words->values[OPTION_FORMAT];
	struct wevtutil_publisher publisher = {
		.has_events = wevtutil_is_on(words->values[OPTION_EVENTS]),
		.has_messages = wevtutil_is_on(words->values[OPTION_MESSAGES]),
	};
	struct etw_registry_entry entry;
	struct etw_registry *registry;

	if (format && strcasecmp(format, "xml") != 0 && strcasecmp(format, "text") != 0) {
		etw_program_message("/f wants xml or text, not \"%s\"", format);
		return ETW_EXIT_USAGE;
	}
	if (etw_schema_store_create(&store) < 0) {
		etw_program_message("out of memory");
		return ETW_EXIT_FAILED;
	}
	if (etw_installed_providers_open(&registry) < 0)
		return ETW_EXIT_FAILED;
	etw_registry_attach(registry, store);
	if (!wevtutil_find(registry, words->at[0], &entry)) {
		wevtutil_find_hint(registry, words->at[0], &hint);
		etw_program_message("the provider %s is not installed%s", words->at[0],
				    etw_text_string(&hint));
		return ETW_EXIT_FAILED;
	}
	if (entry.row.source == DecodingSourceWPP)
		count_messages(registry, &entry);
	publisher.entry = &entry;
	return show_provider(store, &publisher, format && !strcasecmp(format, "xml"));
}

const struct wevtutil_verb wevtutil_gp = {
	.brief = "gp",
	.full = "get-publisher",
	.help = "usage: wevtutil gp PROVIDER [/ge[:true|false]] [/gm[:true|false]] [/f:xml|text]\n"
		"\n"
		"Shows what is installed of a provider, named by its name or GUID, or of a module "
		"with WPP\n"
		"messages.\n"
		"\n"
		"  /ge        its events too (getevents)\n"
		"  /gm        with their messages (getmessage)\n"
		"  /f:FORMAT  text, the default, or xml (format)\n",
	.options = {[OPTION_EVENTS] = {"ge", "getevents", true},
		    [OPTION_MESSAGES] = {"gm", "getmessage", true},
		    [OPTION_FORMAT] = {"f", "format", false}},
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
