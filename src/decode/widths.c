/* SPDX-License-Identifier: MIT */
#include "decode/widths.h"

#include <errno.h>
#include <stdlib.h>

#include "base/guid.h"
#include "base/macros.h"

#define PROOF_SHARE 4 /* one in so many must prove it */

static const GUID all_classes;

void etw_widths_done(struct etw_widths *widths)
{
	free(widths->rows);
	*widths = (struct etw_widths){0};
}

static struct etw_widths_row *find_row(const struct etw_widths *widths, uint32_t file,
				       const GUID *class_guid)
{
	for (uint32_t i = 0; i < widths->count; i++) {
		struct etw_widths_row *row = &widths->rows[i];

		if (row->class_guid.Data1 == class_guid->Data1 && row->file == file &&
		    etw_guid_equal(&row->class_guid, class_guid))
			return row;
	}
	return NULL;
}

bool etw_widths_wants(const struct etw_widths *widths, uint32_t file)
{
	const struct etw_widths_row *row = find_row(widths, file, &all_classes);

	return !row || row->seen < ETW_WIDTHS_EVENTS_MAX;
}

static int make_row(struct etw_widths *widths, uint32_t file, const GUID *class_guid,
		    struct etw_widths_row **ret)
{
	*ret = find_row(widths, file, class_guid);
	if (*ret || widths->count == ETW_WIDTHS_ROWS_MAX)
		return 0;
	if (!widths->rows) {
		widths->rows = calloc(ETW_WIDTHS_ROWS_MAX, sizeof(*widths->rows));
		if (!widths->rows)
			return -ENOMEM;
	}
	*ret = &widths->rows[widths->count++];
	**ret = (struct etw_widths_row){.class_guid = *class_guid, .file = file};
	return 0;
}

static bool prevails(const struct etw_widths_row *row)
{
	return row->wide > row->narrow && row->wide >= row->seen / PROOF_SHARE;
}

static int add_to_row(struct etw_widths *widths, uint32_t file, const GUID *class_guid,
		      bool is_narrow, bool is_wide)
{
	struct etw_widths_row *row;

	TRY(make_row(widths, file, class_guid, &row));
	if (!row)
		return 0;
	row->seen++;
	row->narrow += is_narrow && !is_wide;
	row->wide += is_wide && !is_narrow;
	widths->has_wide |= prevails(row);
	return 0;
}

int etw_widths_add(struct etw_widths *widths, uint32_t file, const GUID *class_guid, bool is_narrow,
		   bool is_wide)
{
	/* Counted only: what one class proves says nothing of another. */
	TRY(add_to_row(widths, file, &all_classes, /* is_narrow= */ true, /* is_wide= */ true));
	return add_to_row(widths, file, class_guid, is_narrow, is_wide);
}

bool etw_widths_is_wide(const struct etw_widths *widths, uint32_t file, const GUID *class_guid)
{
	const struct etw_widths_row *row = find_row(widths, file, class_guid);

	return row && prevails(row);
}
