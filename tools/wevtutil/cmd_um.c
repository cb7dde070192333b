/* SPDX-License-Identifier: MIT */
/* `wevtutil um`: takes out what a file defines, or a provider by name. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/guid.h"
#include "base/macros.h"
#include "base/path.h"
#include "registry/registry.h"
#include "tools/common/installed.h"
#include "tools/common/program.h"
#include "tools/wevtutil/change.h"
#include "tools/wevtutil/find.h"
#include "tools/wevtutil/verb.h"

static int remove_file(struct etw_registry_change *change, const char *path)
{
	CLEANUP(etw_registry_item_done) struct etw_registry_item item = {0};
	struct etw_fault fault = {0};
	size_t removed = 0;
	int r = etw_registry_item_read(path, NULL, &item, &fault);

	if (r < 0) {
		wevtutil_complain("", path, r, &fault);
		return -1;
	}
	for (size_t i = 0; i < item.row_count; i++)
		removed += etw_registry_change_remove(change, &item.rows[i].guid);
	if (!removed)
		etw_program_error("nothing that %s defines is installed", path);
	return removed ? 0 : -1;
}

static int remove_provider(struct etw_registry_change *change, const char *word)
{
	CLEANUP(etw_registry_closep) struct etw_registry *registry = NULL;
	GUID guid;

	if (etw_installed_open(&registry) < 0)
		return -1;
	if (wevtutil_find(registry, word, &guid) && etw_registry_change_remove(change, &guid))
		return 0;
	etw_program_error("there is no file and no installed provider %s", word);
	return -1;
}

static int run(const struct wevtutil_words *words)
{
	CLEANUP(etw_registry_change_endp) struct etw_registry_change *change = NULL;

	if (wevtutil_change_begin(&change) < 0)
		return ETW_EXIT_FAILED;
	for (size_t i = 0; i < words->count; i++) {
		CLEANUP(freep) char *path = NULL;
		int r;

		if (etw_path_resolve(words->at[i], &path) < 0 || access(path, F_OK) < 0)
			r = remove_provider(change, words->at[i]);
		else
			r = remove_file(change, path);
		if (r < 0)
			return ETW_EXIT_FAILED;
	}
	return wevtutil_change_commit(change) < 0 ? ETW_EXIT_FAILED : ETW_EXIT_OK;
}

const struct wevtutil_verb wevtutil_um = {
	.brief = "um",
	.full = "uninstall-manifest",
	.help = "usage: wevtutil um FILE|PROVIDER...\n"
		"\n"
		"Takes the providers out again that a file defines, or one by its name or GUID.\n",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run,
};
