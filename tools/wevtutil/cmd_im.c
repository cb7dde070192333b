/* SPDX-License-Identifier: MIT */
/* `wevtutil im`: installs what a file defines, or all files of a folder. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"
#include "registry/import.h"
#include "tools/common/complaint.h"
#include "tools/common/conflict.h"
#include "tools/common/number.h"
#include "tools/common/program.h"
#include "tools/common/terminal.h"
#include "tools/wevtutil/change.h"
#include "tools/wevtutil/verb.h"

enum {
	OPTION_RESOURCE,
	OPTION_MESSAGE,
	OPTION_PARAMETER
};

struct command {
	struct etw_registry_change *change;
	struct etw_registry_import totals;
	struct etw_progress progress;
	const char *words[WEVTUTIL_OPTIONS_MAX]; /* resolved */
	bool has_folder;
};

static void warn(void *context, const char *path, int error, const struct etw_fault *fault)
{
	(void)context;
	etw_complaint_error("warning: ", path, error, fault);
}

static void warn_of_conflict(void *context, const GUID *provider, const char *path,
			     const char *name, const struct etw_registry_defined *before)
{
	(void)context;
	etw_conflict_tell(provider, path, name, before->from, before->name);
}

static bool tell_progress(void *context, const struct etw_registry_import *import)
{
	struct command *command = context;

	(void)import;
	etw_progress_add(&command->progress, 1);
	return true;
}

static int import_folder(struct command *command, const char *path)
{
	int r;

	command->has_folder = true;
	etw_progress_start(&command->progress, "Looking for providers", 0);
	r = etw_registry_import_folder(&command->totals, path);
	etw_progress_end(&command->progress);
	if (r < 0)
		etw_program_message("cannot import %s: %s", path, strerror(-r));
	return r < 0 ? ETW_EXIT_FAILED : ETW_EXIT_OK;
}

static void tell_defined(const char *path, const GUID *provider,
			 const struct etw_registry_defined *defined)
{
	char guid[ETW_GUID_BRACED_BYTES];
	const char *name = *defined->name ? defined->name : guid;

	etw_guid_format_braced(provider, guid);
	if (defined->is_new)
		etw_program_message("%s and %s both define the provider %s", defined->from, path,
				    name);
	else
		etw_program_message("The provider %s is already installed with GUID %s.", name,
				    guid);
}

/*
 * As on Windows, what is installed is not replaced behind the user's back. Several PDBs have the same WPP
 * provider, though: a component is made of many files.
 */
static int refuse_installed(const struct etw_registry_change *change, const char *path,
			    const struct etw_registry_item *item)
{
	bool is_installed = false, is_new = false;

	for (size_t i = 0; i < item->row_count; i++) {
		const struct etw_registry_row *row = &item->rows[i];
		struct etw_registry_defined defined;

		if (row->role != WIRE_REGISTRY_PROVIDER || row->source == DecodingSourceWPP ||
		    !etw_registry_change_find(change, &row->guid, &defined))
			continue;
		tell_defined(path, &row->guid, &defined);
		is_new |= defined.is_new;
		is_installed |= !defined.is_new;
	}
	if (is_installed)
		etw_program_message("nothing was installed; wevtutil um takes it out first");
	else if (is_new)
		etw_program_message("nothing was installed; give one of them, or their folder: the "
				    "one that fits an event counts then");
	return is_installed || is_new ? -1 : 0;
}

/* One file may have everything, and be named by several options. */
static bool is_named_before(const struct command *command, size_t option)
{
	for (size_t i = 0; i < option; i++) {
		if (command->words[i] && !strcmp(command->words[i], command->words[option]))
			return true;
	}
	return false;
}

static void warn_of_resources(const struct command *command, const struct etw_registry_item *item)
{
	for (size_t i = 0; i < WEVTUTIL_OPTIONS_MAX; i++) {
		if (!command->words[i] || is_named_before(command, i) ||
		    !access(command->words[i], R_OK))
			continue;
		for (size_t j = 0; j < item->row_count; j++) {
			if (item->rows[j].role == WIRE_REGISTRY_PROVIDER)
				(void)fprintf(stderr,
					      "**** Warning: Publisher %s resources could not be "
					      "found or are not accessible: %s\n",
					      item->rows[j].name ? item->rows[j].name : "",
					      command->words[i]);
		}
	}
}

static int import_file(struct command *command, const char *path)
{
	CLEANUP(etw_registry_item_done) struct etw_registry_item item = {0};
	const struct etw_registry_words words = {command->words[OPTION_RESOURCE],
						 command->words[OPTION_MESSAGE],
						 command->words[OPTION_PARAMETER]};
	struct etw_fault fault = {0};
	int r = etw_registry_item_read(path, &words, &item, &fault);

	if (r < 0) {
		etw_complaint_error("", path, r, &fault);
		return ETW_EXIT_FAILED;
	}
	/* Named twice, or by its folder too. */
	if (etw_registry_change_is_new(command->change, &item)) {
		command->totals.same++;
		return ETW_EXIT_OK;
	}
	/* One that was lost is replaced by itself. */
	if (!etw_registry_change_is_lost(command->change, &item) &&
	    refuse_installed(command->change, path, &item) < 0)
		return ETW_EXIT_FAILED;
	warn_of_resources(command, &item);
	etw_complaint_list(path, item.complaints, item.complaint_count, item.complaint_total, NULL);
	r = etw_registry_import_item(&command->totals, &item);
	if (r < 0) {
		etw_program_message("cannot store %s: %s", path, strerror(-r));
		return ETW_EXIT_FAILED;
	}
	return ETW_EXIT_OK;
}

static int import_one(struct command *command, const char *word)
{
	CLEANUP(freep) char *path = NULL;
	struct stat info;
	int r = etw_path_resolve(word, &path);

	if (!r && stat(path, &info) < 0)
		r = -errno;
	if (r < 0) {
		etw_program_message("cannot read %s: %s", path ? path : word, strerror(-r));
		return ETW_EXIT_FAILED;
	}
	return S_ISDIR(info.st_mode) ? import_folder(command, path) : import_file(command, path);
}

static void tell_totals(const struct etw_registry_import *totals)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	etw_number_count(&text, totals->added, "definition");
	etw_text_puts(&text, " installed, with ");
	etw_number_count(&text, totals->providers, "provider");
	etw_text_puts(&text, " and ");
	etw_number_count(&text, totals->events, "event");
	etw_text_printf(&text, "\n%" PRIu64 " already there, ", totals->same);
	etw_number_count(&text, totals->stepped_over, "file");
	etw_text_printf(&text, " stepped over, %" PRIu64 " could not be read\n", totals->failed);
	(void)fputs(etw_text_string(&text), stdout);
}

static int resolve_words(struct command *command, const struct wevtutil_words *words, char **owned)
{
	for (size_t i = 0; i < WEVTUTIL_OPTIONS_MAX; i++) {
		int r = words->values[i] ? etw_path_resolve(words->values[i], &owned[i]) : 0;

		if (r < 0) {
			etw_program_message("cannot read %s: %s", words->values[i], strerror(-r));
			return -1;
		}
		command->words[i] = owned[i];
	}
	return 0;
}

static int run_change(struct command *command, const struct wevtutil_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		int status = import_one(command, words->at[i]);

		if (status != ETW_EXIT_OK)
			return status;
	}
	if (wevtutil_change_commit(command->change) < 0)
		return ETW_EXIT_FAILED;
	if (command->has_folder)
		tell_totals(&command->totals);
	return command->totals.failed ? ETW_EXIT_DAMAGED : ETW_EXIT_OK;
}

static int run(const struct wevtutil_words *words)
{
	CLEANUP(etw_registry_change_endp) struct etw_registry_change *change = NULL;
	char *owned[WEVTUTIL_OPTIONS_MAX] = {NULL};
	struct command command = {0};
	int status = ETW_EXIT_FAILED;

	if (wevtutil_change_begin(&change) == 0 && resolve_words(&command, words, owned) == 0) {
		command.change = change;
		command.totals = (struct etw_registry_import){
			.change = change,
			.complain = warn,
			.conflict = warn_of_conflict,
			.progress = tell_progress,
			.context = &command,
		};
		status = run_change(&command, words);
	}
	for (size_t i = 0; i < WEVTUTIL_OPTIONS_MAX; i++)
		free(owned[i]);
	return status;
}

const struct wevtutil_verb wevtutil_im = {
	.brief = "im",
	.full = "install-manifest",
	.help = "usage: wevtutil im PATH... [/rf:FILE] [/mf:FILE] [/pf:FILE]\n"
		"\n"
		"Installs the providers that a file defines: an instrumentation manifest, a PE "
		"file or\n"
		"WEVT_TEMPLATE resource, MOF or TMF text, a PDB; or those of all such files below "
		"a "
		"folder,\n"
		"for example the System32 of a mounted Windows disk. Root installs for everybody, "
		"other\n"
		"users for themselves.\n"
		"\n"
		"  /rf:FILE   the binary with the provider's schemas, to be shown by gp "
		"(resourceFilePath)\n"
		"  /mf:FILE   where the messages of a binary are (messageFilePath)\n"
		"  /pf:FILE   where its parameter strings are, to be shown by gp "
		"(parameterFilePath)\n",
	.options = {[OPTION_RESOURCE] = {"rf", "resourceFilePath", false},
		    [OPTION_MESSAGE] = {"mf", "messageFilePath", false},
		    [OPTION_PARAMETER] = {"pf", "parameterFilePath", false}},
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run,
};
