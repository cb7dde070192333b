/* SPDX-License-Identifier: MIT */
/* The inside of a change, shared by change.c and index_write.c. */
#ifndef ETW_REGISTRY_CHANGE_INTERNAL_H
#define ETW_REGISTRY_CHANGE_INTERNAL_H

#include "base/table.h"
#include "base/text.h"
#include "registry/change.h"

struct change_file {
	struct etw_registry_file row;
	uint32_t number; /* in the new index */
	bool is_new;
	bool is_gone;
	bool has_providers; /* ever */
};

struct change_row {
	struct etw_registry_row row;
	struct change_file *file;
	bool is_gone;
};

struct etw_registry_change {
	int folder_fd;
	int lock_fd;
	bool has_begun; /* the mark of a change is there */
	bool is_changed;
	bool is_committed;
	struct etw_registry_index old; /* strings of old rows are its */
	struct etw_arena arena;
	struct change_row **rows; /* owned list, items in the arena */
	size_t row_count;
	struct change_file **files;
	size_t file_count;
	struct etw_table by_content; /* struct change_file */
	struct etw_table by_guid;    /* struct change_row of providers */
};

/*
 * etw_registry_change_index() - the index as it is to become, appended to @text.
 *
 * Returns 0; -EFBIG when offsets would not fit; -ENOMEM.
 */
int etw_registry_change_index(struct etw_registry_change *change, struct etw_text *text);

/* etw_registry_change_sweep() - removes definitions that the index in force does not name. */
void etw_registry_change_sweep(struct etw_registry_change *change);

#endif
