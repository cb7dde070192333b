/* SPDX-License-Identifier: MIT */
/* `wevtutil um`: takes out what a file defines, what came from a folder, or a provider by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/path.h"
#include "tools/common/complaint.h"
#include "tools/common/installed_providers.h"
#include "tools/common/number.h"
#include "tools/common/program.h"
#include "tools/wevtutil/change.h"
#include "tools/wevtutil/find.h"
#include "tools/wevtutil/verb.h"

static int remove_file(struct etw_registry_change *change, const char *path, const char *full)
{
	CLEANUP(etw_registry_item_done) struct etw_registry_item item = {0};
	struct etw_fault fault = {0};
	int r = etw_registry_item_read(path, NULL, &item, &fault);

	if (!r && etw_registry_change_remove_item(change, &item))
		return 0;
	/* What cannot be read now has been readable once. */
	if (r < 0 && etw_registry_change_remove_from(change, full, NULL))
		return 0;
	if (r < 0)
		etw_complaint_error("", path, r, &fault);
	else
		etw_program_message("nothing that %s defines is installed", path);
	return -1;
}

/* @definitions: gains how many went */
static int remove_folder(struct etw_registry_change *change, const char *path, const char *full,
			 size_t *definitions)
{
	size_t count;

	if (!etw_registry_change_remove_from(change, full, &count)) {
		etw_program_message("nothing that is installed came from below %s", path);
		return -1;
	}
	*definitions += count;
	return 0;
}

static void tell_removed(size_t definitions)
{
	CLEANUP(etw_text_done) struct etw_text text = {0};

	etw_number_count(&text, definitions, "definition");
	etw_text_puts(&text, " taken out\n");
	(void)fputs(etw_text_string(&text), stdout);
}

static int remove_path(struct etw_registry_change *change, const char *path, size_t *definitions)
{
	CLEANUP(freep) char *full = realpath(path, NULL);
	struct stat info;

	if (!full || stat(full, &info) < 0) {
		etw_program_message("cannot read %s: %m", path);
		return -1;
	}
	return S_ISDIR(info.st_mode) ? remove_folder(change, path, full, definitions)
				     : remove_file(change, path, full);
}

/* A file or folder that is gone is known by the path that it had. */
static bool remove_gone(struct etw_registry_change *change, const char *path)
{
	CLEANUP(freep) char *folder = NULL;
	CLEANUP(freep) char *full = NULL;

	if (*path == '/')
		return etw_registry_change_remove_from(change, path, NULL) != 0;
	folder = getcwd(NULL, 0);
	if (!folder || asprintf(&full, "%s/%s", folder, path) < 0) {
		full = NULL;
		return false;
	}
	return etw_registry_change_remove_from(change, full, NULL) != 0;
}

static int remove_provider(struct etw_registry_change *change, const char *word, const char *path)
{
	CLEANUP(etw_registry_closep) struct etw_registry *registry = NULL;
	CLEANUP(etw_text_done) struct etw_text hint = {0};
	const struct wevtutil_name name = wevtutil_name_of(word);
	const char *folder = NULL;
	size_t removed = 0;

	if (etw_installed_providers_open(&registry) < 0)
		return -1;
	for (size_t i = 0; i < etw_registry_count(registry); i++) {
		const struct etw_registry_entry entry = etw_registry_entry(registry, i);

		if (!wevtutil_is_called(&entry.row, &name))
			continue;
		folder = entry.folder;
		removed += etw_registry_change_remove(change, &entry.row.guid);
	}
	if (removed || (path && remove_gone(change, path)))
		return 0;
	if (folder) {
		etw_program_message("%s is installed in %s, which only root changes", word, folder);
		return -1;
	}
	wevtutil_find_hint(registry, word, &hint);
	etw_program_message("there is no file %s, and no such provider is installed%s", word,
			    etw_text_string(&hint));
	return -1;
}

static int run(const struct wevtutil_words *words)
{
	CLEANUP(etw_registry_change_endp) struct etw_registry_change *change = NULL;
	size_t definitions = 0;

	if (wevtutil_change_begin(&change) < 0)
		return ETW_EXIT_FAILED;
	for (size_t i = 0; i < words->count; i++) {
		CLEANUP(freep) char *path = NULL;
		int r;

		if (etw_path_resolve(words->at[i], &path) < 0 || access(path, F_OK) < 0)
			r = remove_provider(change, words->at[i], path);
		else
			r = remove_path(change, path, &definitions);
		if (r < 0)
			return ETW_EXIT_FAILED;
	}
	if (wevtutil_change_commit(change) < 0)
		return ETW_EXIT_FAILED;
	if (definitions)
		tell_removed(definitions);
	return ETW_EXIT_OK;
}

const struct wevtutil_verb wevtutil_um = {
	.brief = "um",
	.full = "uninstall-manifest",
	.help = "usage: wevtutil um FILE|FOLDER|PROVIDER...\n"
		"\n"
		"Takes out what a file defines, all that was installed from below a folder, or a "
		"provider\n"
		"by its name or GUID. WPP messages go by the name of their module or provider, "
		"with the\n"
		"whole TMF or PDB file that they came from.\n",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run,
};
