/* SPDX-License-Identifier: MIT */
#include "registry/import.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "registry/folder_walk.h"

static void complain(struct etw_registry_import *import, const char *path, int error,
		     const struct etw_fault *fault)
{
	import->failed++;
	if (import->complain)
		import->complain(import->context, path, error, fault);
}

int etw_registry_import_item(struct etw_registry_import *import,
			     const struct etw_registry_item *item)
{
	int r = etw_registry_change_add(import->change, item);

	TRY(r);
	if (r == ETW_REGISTRY_SAME) {
		import->same++;
		return 0;
	}
	import->added++;
	import->events += item->event_count;
	for (size_t i = 0; i < item->row_count; i++)
		import->providers += item->rows[i].role == WIRE_REGISTRY_PROVIDER;
	return 0;
}

/* Within a folder both are installed: which of them an event takes is decided when it is decoded. */
static void tell_conflicts(const struct etw_registry_import *import, const char *path,
			   const struct etw_registry_item *item)
{
	for (size_t i = 0; import->conflict && i < item->row_count; i++) {
		const struct etw_registry_row *row = &item->rows[i];
		struct etw_registry_defined before;

		if (row->role != WIRE_REGISTRY_PROVIDER || row->source != DecodingSourceXMLFile ||
		    !row->name || !etw_registry_change_find(import->change, &row->guid, &before))
			continue;
		if (*before.name && strcmp(before.name, row->name) != 0)
			import->conflict(import->context, &row->guid, path, row->name, &before);
	}
}

static int import_file(void *context, const char *path)
{
	CLEANUP(etw_registry_item_done) struct etw_registry_item item = {0};
	struct etw_registry_import *import = context;
	struct etw_fault fault = {0};
	int r;

	if (import->progress && !import->progress(import->context, import))
		return -ECANCELED;
	import->looked_at++;
	r = etw_registry_item_read(path, NULL, &item, &fault);
	if (r == -ENODATA || r == -EINVAL) {
		import->stepped_over++;
		return 0;
	}
	if (r < 0 && r != -ENOMEM) {
		complain(import, path, r, &fault);
		return 0;
	}
	TRY(r);
	tell_conflicts(import, path, &item);
	return etw_registry_import_item(import, &item);
}

static void pass_over(void *context)
{
	struct etw_registry_import *import = context;

	import->stepped_over++;
}

static void complain_of_path(void *context, const char *path, int error)
{
	complain(context, path, error, NULL);
}

int etw_registry_import_folder(struct etw_registry_import *import, const char *folder)
{
	const struct etw_registry_walk walk = {
		.context = import,
		.file = import_file,
		.pass_over = pass_over,
		.complain = complain_of_path,
	};

	return etw_registry_walk(&walk, folder);
}
