/* SPDX-License-Identifier: MIT */
#include "tools/etw/complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "control/control.h"
#include "control/instance.h"
#include "registry/registry.h"
#include "schema/provider_names.h"
#include "tools/common/output.h"
#include "tools/etw/complete_trace.h"
#include "tools/etw/record_keywords.h"
#include "tools/etw/record_tracepoints.h"
#include "tools/etw/verb.h"
#include "wire/well_known.h"

#define INSTANCES_MAX 2
/* In the help texts: two blanks, the option, and what it means from here on. */
#define HELP_COLUMN 22

struct line {
	char *const *words;
	size_t count, at;
	const char *word;            /* as far as it was typed; "" for a new one */
	const struct etw_verb *verb; /* NULL: it is the verb that is typed */
	const char *provider;        /* of --provider; NULL */
	char **files;                /* owned list of borrowed words */
	size_t file_count;
	size_t plain;    /* words before the place that are neither options nor their values */
	bool is_command; /* the place is behind `--` */
	struct etw_text *text;
};

/* Values that are words of the tool itself. */
static const struct {
	const char *option;
	const char *values[32];
} value_lists[] = {
	{"color", {"auto", "always", "never"}},
	{"time", {"utc", "local", "relative", "raw"}},
	{"kernel",
	 {"process", "thread",    "loader", "cswitch",  "dispatcher",  "profile",  "pmc_profile",
	  "syscall", "interrupt", "dpc",    "priority", "idle_states", "power",    "diskio",
	  "fileio",  "network",   "memory", "Latency",  "SysProf",     "DiagEasy", "Base"}},
	{"stacks",
	 {"Profile",       "CSwitch",       "ReadyThread",   "PmcInterrupt", "SyscallEnter",
	  "SyscallExit",   "ThreadCreate",  "ProcessCreate", "ImageLoad",    "DiskReadInit",
	  "DiskWriteInit", "DiskFlushInit", "DiskRead",      "DiskWrite",    "DiskFlush",
	  "FileRead",      "FileWrite",     "TcpSend",       "TcpReceive",   "TcpConnect",
	  "TcpAccept",     "UdpSend",       "UdpReceive",    "VirtualAlloc", "PagefaultDemandZero",
	  "HardFault",     "none"}},
	{"unwind", {"dwarf", "frame-pointers"}},
	{"profile-source",
	 {"PageFaults", "PageFaultsMajor", "ContextSwitches", "CpuMigrations", "TotalCycles",
	  "InstructionRetired", "CacheMisses", "LLCMisses", "BranchMispredictions"}},
};

static void put(struct line *line, const char *candidate, const char *meaning)
{
	etw_text_puts(line->text, candidate);
	if (meaning) {
		etw_text_putc(line->text, '\t');
		etw_text_append(line->text, meaning, strcspn(meaning, "\n"));
	}
	etw_text_putc(line->text, '\n');
}

static const struct option *find_option(const struct etw_verb *verb, const char *word)
{
	size_t length = strcspn(word, "=");

	for (const struct option *option = verb->options; option && option->name; option++) {
		if (!strncmp(word, "--", 2) && strlen(option->name) == length - 2 &&
		    !strncmp(word + 2, option->name, length - 2))
			return option;
		if (word[0] == '-' && word[1] == 'o' && !word[2] && !strcmp(option->name, "output"))
			return option;
	}
	return NULL;
}

/* The line of an option in the help text; NULL: it is there to be told of, not to be used. */
static const char *help_line(const struct etw_verb *verb, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = verb->help; at && *at; at = strchr(at, '\n'), at += at ? 1 : 0) {
		/* "  --output FILE   the file", or "  -o, --output FILE   the file" */
		size_t skipped = !strncmp(at, "  -", 3) && at[3] != '-' ? 6 : 2;

		if (!strncmp(at, "  -", 3) && strcspn(at, "\n") >= skipped + 2 + length &&
		    !strncmp(at + skipped, "--", 2) && !strncmp(at + skipped + 2, name, length) &&
		    strchr(" \n", at[skipped + 2 + length]))
			return at;
	}
	return NULL;
}

static void put_options(struct line *line)
{
	for (const struct option *option = line->verb->options; option && option->name; option++) {
		const char *help = help_line(line->verb, option->name);
		char word[64];

		if (!help)
			continue;
		(void)snprintf(word, sizeof(word), "--%s", option->name);
		put(line, word, strcspn(help, "\n") > HELP_COLUMN ? help + HELP_COLUMN : NULL);
	}
}

static void put_known_providers(struct line *line)
{
	for (size_t i = 0; i < etw_provider_name_count(); i++)
		put(line, etw_provider_name_at(i)->name, NULL);
}

/* Of Windows' providers those that Linux has the events of. */
static void put_kernel_providers(struct line *line)
{
	static const GUID guids[] = {WIRE_PROVIDER_KERNEL_PROCESS, WIRE_PROVIDER_KERNEL_FILE,
				     WIRE_PROVIDER_KERNEL_NETWORK, WIRE_PROVIDER_KERNEL_DISK,
				     WIRE_PROVIDER_KERNEL_MEMORY};

	for (size_t i = 0; i < ARRAY_SIZE(guids); i++)
		put(line, etw_provider_name_find(&guids[i]), NULL);
}

static void put_installed_providers(struct line *line)
{
	CLEANUP(etw_registry_closep) struct etw_registry *registry = NULL;

	if (etw_registry_open(&registry))
		return;
	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		struct etw_registry_entry entry = etw_registry_entry(registry, i);

		if (!entry.row.name || !*entry.row.name)
			continue;
		etw_output_clean(line->text, entry.row.name);
		etw_text_putc(line->text, '\n');
	}
}

static void put_host_sessions(struct line *line, struct etw_controller *host)
{
	CLEANUP(freep) struct wire_session_info *info = calloc(1, sizeof(*info));
	CLEANUP(freep) struct wire_control *control = calloc(1, sizeof(*control));
	struct wire_sessions list;

	if (!info || !control || etw_control_list(host, &list))
		return;
	control->code = WIRE_CONTROL_QUERY;
	for (uint32_t i = 0; i < list.count && i < WIRE_LIST_SESSIONS_MAX; i++) {
		control->handle = list.handles[i];
		if (etw_control(host, control, info))
			continue;
		etw_output_clean(line->text, info->config.name);
		etw_text_putc(line->text, '\n');
	}
}

static void put_sessions(struct line *line)
{
	enum etw_instance instances[INSTANCES_MAX];
	size_t count = etw_control_lookup_order(instances);

	/* Nobody waits for a host that hangs to complete a word. */
	(void)setenv("ETW_HOST_TIMEOUT_MS", "1000", /* overwrite= */ 0);
	for (size_t i = 0; i < count; i++) {
		struct etw_controller *host;

		if (etw_controller_open(instances[i], /* is_starting= */ false, NULL, &host))
			continue;
		put_host_sessions(line, host);
		etw_controller_close(host);
	}
}

static bool is_verb(const struct line *line, const char *name)
{
	return !strcmp(line->verb->name, name);
}

/* The values of an option. */
static enum complete_more put_values(struct line *line, const char *option)
{
	for (size_t i = 0; i < ARRAY_SIZE(value_lists); i++) {
		if (strcmp(value_lists[i].option, option) != 0)
			continue;
		for (size_t j = 0; value_lists[i].values[j]; j++)
			put(line, value_lists[i].values[j], NULL);
		return COMPLETE_NOTHING;
	}
	if (!strcmp(option, "provider") && is_verb(line, "record")) {
		put_installed_providers(line);
		put_kernel_providers(line);
		record_tracepoints_complete(line->word, line->text);
		record_keywords_complete(line->word, line->text);
	} else if (!strcmp(option, "provider") && line->file_count)
		(void)complete_trace_providers(line->files, line->file_count, line->text);
	else if (!strcmp(option, "event") && line->file_count)
		(void)complete_trace_events(line->files, line->file_count, line->provider,
					    line->text);
	else if (!strcmp(option, "manifest") || !strcmp(option, "output"))
		return COMPLETE_FILES;
	return COMPLETE_NOTHING;
}

/* The words of the line that are no options: files, and how many stand before the place. */
static void read_words(struct line *line)
{
	size_t first = is_verb(line, "summary") && !etw_verb_find(line->words[1]) ? 1 : 2;

	for (size_t i = first; i < line->count; i++) {
		const char *word = line->words[i];
		const struct option *option;

		if (i == line->at)
			continue;
		if (!strcmp(word, "--")) {
			line->is_command |= is_verb(line, "record") && i < line->at;
			if (is_verb(line, "record"))
				break;
			continue;
		}
		option = word[0] == '-' && word[1] ? find_option(line->verb, word) : NULL;
		if (option && option->has_arg && !strchr(word, '=')) {
			if (!strcmp(option->name, "provider") && i + 1 < line->count &&
			    i + 1 != line->at)
				line->provider = line->words[i + 1];
			i++;
			continue;
		}
		if (word[0] == '-')
			continue;
		line->plain += i < line->at;
		if (!access(word, R_OK))
			line->files[line->file_count++] = line->words[i];
	}
}

static void put_verbs(struct line *line)
{
	const struct etw_verb *verb;

	for (size_t i = 0; (verb = etw_verb_at(i)) != NULL; i++)
		put(line, verb->name, verb->one_line);
}

/* A word that is neither an option nor the value of one. */
static enum complete_more put_plain(struct line *line)
{
	if (is_verb(line, "help")) {
		if (!line->plain)
			put_verbs(line);
		return COMPLETE_NOTHING;
	}
	if (is_verb(line, "sessions")) {
		if (!line->plain)
			put(line, "stop", "ends sessions");
		else
			put_sessions(line);
		return COMPLETE_NOTHING;
	}
	if (is_verb(line, "providers")) {
		put_installed_providers(line);
		put_known_providers(line);
		return COMPLETE_NOTHING;
	}
	return is_verb(line, "record") ? COMPLETE_COMMANDS : COMPLETE_FILES;
}

enum complete_more complete_line(char *const *words, size_t count, size_t at, struct etw_text *text)
{
	struct line line = {
		.words = words,
		.count = count,
		.at = at,
		.word = at < count ? words[at] : "",
		.text = text,
	};
	CLEANUP(freep) char **files = NULL;
	const struct option *option;

	if (at < 2) {
		if (*line.word == '-') {
			put(&line, "--help", "all verbs");
			put(&line, "--version", "the version, and what was built");
			return COMPLETE_NOTHING;
		}
		put_verbs(&line);
		return COMPLETE_FILES;
	}
	files = calloc(count + 1, sizeof(*files));
	if (!files)
		return COMPLETE_NOTHING;
	line.files = files;
	line.verb = etw_verb_find(words[1]);
	if (!line.verb)
		line.verb = etw_verb_find("summary"); /* `etw FILE` */
	read_words(&line);
	if (line.is_command)
		return COMPLETE_COMMANDS;
	option = find_option(line.verb, words[at - 1]);
	if (option && option->has_arg && !strchr(words[at - 1], '='))
		return put_values(&line, option->name);
	if (*line.word == '-') {
		put_options(&line);
		return COMPLETE_NOTHING;
	}
	return put_plain(&line);
}
