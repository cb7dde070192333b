/* SPDX-License-Identifier: MIT */
/* `etw providers`: what is known and installed of providers. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/number.h"
#include "schema/known/known.h"
#include "tools/common/overwrite.h"
#include "tools/common/program.h"
#include "tools/etw/cmd.h"
#include "tools/etw/providers.h"

enum {
	OPTION_EVENT = ETW_OPTION_OWN,
	OPTION_KEYWORD,
	OPTION_SEARCH,
	OPTION_BUILD,
	OPTION_INSTALLED,
	OPTION_KNOWN,
	OPTION_MANIFEST,
	OPTION_JSON,
	OPTION_OUTPUT,
	OPTION_FORCE,
};

static const struct option options[] = {
	{"help", no_argument, NULL, ETW_OPTION_HELP},
	{"color", required_argument, NULL, ETW_OPTION_COLOUR},
	{"colour", required_argument, NULL, ETW_OPTION_COLOUR},
	{"no-pager", no_argument, NULL, ETW_OPTION_NO_PAGER},
	{"event", required_argument, NULL, OPTION_EVENT},
	{"keyword", required_argument, NULL, OPTION_KEYWORD},
	{"search", required_argument, NULL, OPTION_SEARCH},
	{"build", required_argument, NULL, OPTION_BUILD},
	{"installed", no_argument, NULL, OPTION_INSTALLED},
	{"known", no_argument, NULL, OPTION_KNOWN},
	{"manifest", no_argument, NULL, OPTION_MANIFEST},
	{"json", no_argument, NULL, OPTION_JSON},
	{"output", required_argument, NULL, OPTION_OUTPUT},
	{"force", no_argument, NULL, OPTION_FORCE},
	{NULL, 0, NULL, 0},
};

struct command {
	struct etw_shared_options shared;
	struct provider_filter filter;
	enum fact_source source;
	uint64_t build;
	bool is_manifest;
	bool is_json;
	const char *path; /* of the output; NULL: standard output */
	bool force;       /* whatever it holds */
	struct catalogue catalogue;
	struct provider_look look;
	struct etw_output output;
};

static void command_done(struct command *command)
{
	etw_words_done(&command->shared.manifests);
	etw_words_done(&command->filter.events);
	etw_words_done(&command->filter.keywords);
	etw_output_done(&command->output);
}

static bool add_word(struct etw_words *words)
{
	if (etw_words_add(words, optarg) == 0)
		return true;
	etw_program_message("out of memory");
	return false;
}

static bool take_option(void *context, int code)
{
	struct command *command = context;

	switch (code) {
	case OPTION_EVENT:
		return add_word(&command->filter.events);
	case OPTION_KEYWORD:
		return add_word(&command->filter.keywords);
	case OPTION_SEARCH:
		command->filter.search = optarg;
		break;
	case OPTION_BUILD:
		if (etw_number_parse(optarg, UINT32_MAX, &command->build) && command->build)
			break;
		etw_program_message("--build wants the number of a Windows build, not \"%s\"",
				    optarg);
		return false;
	case OPTION_INSTALLED:
		command->source = FACTS_INSTALLED;
		break;
	case OPTION_KNOWN:
		command->source = FACTS_KNOWN;
		break;
	case OPTION_MANIFEST:
		command->is_manifest = true;
		break;
	case OPTION_FORCE:
		command->force = true;
		return true;
	case OPTION_JSON:
		command->is_json = true;
		break;
	default:
		command->path = optarg;
	}
	return true;
}

static bool is_consistent(const struct command *command, size_t word_count)
{
	if (command->filter.search && !*command->filter.search) {
		etw_program_message("--search wants a word");
		return false;
	}
	if (command->is_manifest && word_count != 1) {
		etw_program_message("--manifest wants one provider");
		return false;
	}
	if (command->is_manifest && command->is_json) {
		etw_program_message("--manifest and --json are two forms; one at a time");
		return false;
	}
	if (command->is_manifest && !provider_filter_is_empty(&command->filter)) {
		etw_program_message(
			"--manifest writes all events of a provider; --event, --keyword "
			"and --search do not go with it");
		return false;
	}
	if (command->build && !command->is_manifest) {
		etw_program_message(
			"--build chooses what --manifest writes; without it all layouts "
			"are shown");
		return false;
	}
	return true;
}

/* Whether an entry is of the source that is asked for. */
static bool is_wanted(const struct command *command, const struct catalogue_entry *entry)
{
	if (command->source == FACTS_INSTALLED)
		return entry->is_installed;
	return command->source == FACTS_BEST || entry->is_known;
}

static void tell_other_source(const struct command *command, const char *word)
{
	if (command->source == FACTS_INSTALLED)
		etw_program_message("%s is not installed; without --installed, what is known of it "
				    "is shown",
				    word);
	else
		etw_program_message("of %s nothing is known but what is installed, or its name",
				    word);
}

/* Entries that the words mean, in a list that the caller frees; an error is told. */
static int gather(const struct command *command, char *const *words,
		  const struct catalogue_entry ***ret, size_t *ret_count)
{
	static char *const all[] = {NULL};
	const struct catalogue *catalogue = &command->catalogue;
	const struct catalogue_entry **list = calloc(catalogue->count + 1, sizeof(void *));
	bool *is_taken = calloc(catalogue->count + 1, sizeof(*is_taken));
	int status = list && is_taken ? ETW_EXIT_OK : ETW_EXIT_FAILED;
	char *const *word = *words ? words : all;

	*ret_count = 0;
	do {
		const struct catalogue_entry *entry, *other = NULL;
		bool is_found = false;
		size_t place = 0;

		while (!status && (entry = catalogue_next(catalogue, *word, &place)) != NULL) {
			if (!is_wanted(command, entry)) {
				other = entry;
				continue;
			}
			is_found = true;
			if (!is_taken[place - 1])
				list[(*ret_count)++] = entry;
			is_taken[place - 1] = true;
		}
		if (!is_found && *word && !status) {
			if (other)
				tell_other_source(command, *word);
			else
				catalogue_miss(catalogue, *word);
			status = ETW_EXIT_FAILED;
		}
	} while (*word && *++word);
	free(is_taken);
	*ret = list;
	return status;
}

/* A name that two providers have. */
static int refuse_ambiguous(const struct catalogue_entry *const *entries, size_t count,
			    const char *word)
{
	CLEANUP(etw_text_done) struct etw_text guids = {0};
	char guid[ETW_GUID_BARE_BYTES];

	for (size_t i = 0; i < count; i++) {
		if (i)
			etw_text_puts(&guids, ", ");
		etw_guid_format(&entries[i]->guid, guid);
		etw_text_puts(&guids, entries[i]->has_guid ? guid : "one without a GUID");
	}
	etw_program_message("%zu providers are called %s; say which by its GUID: %s", count, word,
			    etw_text_string(&guids));
	return ETW_EXIT_FAILED;
}

/* @is_one: of several, damage is told once, by the catalogue */
static int open_facts(const struct command *command, const struct catalogue_entry *entry,
		      bool is_one, struct facts *ret)
{
	int r = facts_open(ret, &command->catalogue, entry, command->source,
			   (uint32_t)command->build);

	if (!r || r == -ENOENT)
		return ETW_EXIT_OK;
	if (r != -EBADMSG)
		etw_program_message("cannot read what is there of %s: %s",
				    entry->name ? entry->name : "a provider", strerror(-r));
	else if (is_one)
		etw_program_message("what is there of %s is damaged",
				    entry->name ? entry->name : "a provider");
	return r == -EBADMSG ? ETW_EXIT_DAMAGED : ETW_EXIT_FAILED;
}

static int show_one(struct command *command, const struct catalogue_entry *entry)
{
	struct etw_text *text = &command->output.text;
	struct facts facts = {0};
	int status = open_facts(command, entry, /* is_one= */ true, &facts);
	size_t count = 0;

	if (status) {
		facts_close(&facts);
		return status;
	}
	if (command->is_manifest)
		status = provider_manifest_write(&facts, (uint32_t)command->build, text);
	else if (command->is_json)
		count = provider_json_write(&facts, &command->filter, text);
	else
		count = provider_page_write(&facts, &command->filter, &command->look, text);
	if (!status && !count && !provider_filter_is_empty(&command->filter)) {
		etw_text_clear(text);
		etw_program_message("no event of %s is like that; without --event, --keyword and "
				    "--search all are shown",
				    entry->name ? entry->name : "this provider");
		status = ETW_EXIT_FAILED;
	}
	facts_close(&facts);
	return status;
}

/* Lines of what a provider has of the events that are asked for. */
static int show_events(struct command *command, const struct catalogue_entry *entry, size_t *count)
{
	struct facts facts = {0};
	int status;

	if (!entry->is_known && !entry->is_installed && !entry->system)
		return ETW_EXIT_OK;
	status = open_facts(command, entry, /* is_one= */ false, &facts);
	if (!status)
		*count += provider_rows_write(&facts, &command->filter, &command->look,
					      &command->output.text);
	facts_close(&facts);
	return status;
}

/* One that is damaged does not keep the others from being shown. */
static int search(struct command *command, const struct catalogue_entry *const *entries,
		  size_t count)
{
	int status = ETW_EXIT_OK, one;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		one = show_events(command, entries[i], &found);
		status = one ? one : status;
		if (etw_output_continue(&command->output))
			return status;
	}
	if (!found && !status) {
		etw_program_message("no event of the %zu providers is like that", count);
		return ETW_EXIT_FAILED;
	}
	return status;
}

static int show(struct command *command, char *const *words)
{
	const struct catalogue_entry **entries;
	const bool is_one = words[0] && !words[1] && !catalogue_is_pattern(words[0]);
	size_t count;
	int status = gather(command, words, &entries, &count);

	if (!status && is_one && count > 1)
		status = refuse_ambiguous(entries, count, words[0]);
	else if (!status && is_one)
		status = show_one(command, entries[0]);
	else if (!status && command->is_manifest)
		status = refuse_ambiguous(entries, count, words[0]);
	else if (!status && !provider_filter_is_empty(&command->filter))
		status = search(command, entries, count);
	else if (!status)
		providers_list_write(entries, count, &command->look, &command->output.text);
	free(entries);
	return status;
}

/* A table, a page, objects, or lines of events. */
static bool is_own_output(const char *head, size_t bytes)
{
	(void)bytes;
	return !strncmp(head, "{\"provider\":", 12) || !strncmp(head, "  provider  ", 12) ||
	       strstr(head, "\nGUID      ") != NULL;
}

/* The index is mapped while it is printed, and belongs to every program. */
static bool spares_index(const char *path)
{
	char index[PATH_MAX];

	return !etw_known_locate(index) ||
	       etw_overwrite_spares(path, index, "the index of known providers");
}

static bool may_write(const struct command *command)
{
	if (!command->path)
		return true;
	if (!spares_index(command->path))
		return false;
	if (command->force)
		return true;
	if (command->is_manifest)
		return etw_overwrite_allowed(command->path, etw_overwrite_is_manifest,
					     "a manifest");
	return etw_overwrite_allowed(command->path, is_own_output, "the output of etw providers");
}

/* A manifest is written as a whole or not at all. */
static int print(struct command *command, char *const *words)
{
	int status = ETW_EXIT_OK, result;

	if (!may_write(command))
		return ETW_EXIT_FAILED;
	if (!command->is_manifest && !command->path && !command->shared.no_pager)
		(void)etw_pager_start();
	result = command->is_manifest ? 0 : etw_output_open(command->path, &command->output);
	if (!result)
		status = show(command, words);
	if (!result && command->is_manifest && !status) {
		struct etw_text text = command->output.text;

		command->output.text = (struct etw_text){0};
		result = etw_output_open(command->path, &command->output);
		command->output.text = text;
	}
	if (!result && (!command->is_manifest || !status))
		result = etw_output_flush(&command->output);
	etw_pager_wait();
	if (result)
		return etw_output_tell(&command->output, result);
	return status;
}

static int run(int argc, char **argv)
{
	CLEANUP(command_done) struct command command = {0};
	int status = etw_verb_parse(&etw_verb_providers, argc, argv, &command.shared, &command);
	bool has_colour;

	if (status != ETW_VERB_GOES_ON)
		return status;
	if (!is_consistent(&command, (size_t)(argc - optind)))
		return ETW_EXIT_USAGE;
	has_colour = !command.path && etw_colour_wanted(STDOUT_FILENO, command.shared.colour);
	command.look = (struct provider_look){
		.width = !command.path && isatty(STDOUT_FILENO) ? etw_terminal_width(STDOUT_FILENO)
								: 0,
		.bold = has_colour ? "\033[1m" : "",
		.plain = has_colour ? "\033[0m" : "",
		.is_json = command.is_json,
	};
	status = ETW_EXIT_FAILED;
	if (catalogue_open(&command.catalogue) == 0)
		status = print(&command, argv + optind);
	if (catalogue_close(&command.catalogue) && status == ETW_EXIT_OK)
		status = ETW_EXIT_DAMAGED;
	return status;
}

const struct etw_verb etw_verb_providers = {
	.name = "providers",
	.arguments = "[NAME...]",
	.one_line = "what is known and installed of providers; their manifests",
	.help = "NAME is a name, an older one, a GUID, or a pattern with *. One name shows the "
		"provider;\n"
		"patterns, several names or none list providers.\n\n"
		"  --search WORD       events with the word in their names, or in those of their\n"
		"                      fields, keywords and maps, of all providers or of NAME\n"
		"  --event WHICH       events by id or by name, which may have *; may be repeated\n"
		"  --keyword WHICH     events by a keyword's name or mask; may be repeated\n"
		"  --installed         only what is installed (wevtutil im)\n"
		"  --known             only what is known of Windows, also where it is installed\n"
		"  --manifest          write a manifest of the provider, which can be loaded "
		"again\n"
		"  --build N           with --manifest: where a version has several layouts, the\n"
		"                      one of this Windows build\n"
		"  --json              objects, for programs\n"
		"  -o, --output FILE   write to this file\n"
		"  --force             overwrite a file that etw providers did not write\n"
		"  --color WHEN        auto (the default), always, never\n"
		"  --no-pager          do not show long output through a pager\n"
		"  --help              this text\n"
		"\nExit status 1: nothing is called so, or no event is like that, or several "
		"providers\n"
		"have the name, or no manifest can be written. 3: the table of known providers is\n"
		"damaged; what could be read was shown.\n"
		"\nExamples:\n"
		"  etw providers '*kernel*'\n"
		"  etw providers Microsoft-Windows-Kernel-Process --event 1\n"
		"  etw providers linux:sched\n"
		"  etw providers --search ParentProcessID\n"
		"  etw providers Microsoft-Windows-DNS-Client --manifest --output dns.man\n",
	.run = run,
	.options = options,
	.take = take_option,
};
