/* SPDX-License-Identifier: MIT */
#include "provider/filters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "provider/thread.h"

int etw_filters_make(struct etw_bytes list, struct etw_filters *present, struct etw_filters **ret)
{
	struct etw_filters *made;

	*ret = NULL;
	if (!list.left)
		return 0;
	if (present && present->bytes == list.left &&
	    memcmp(present->list, list.at, list.left) == 0) {
		*ret = present;
		return 0;
	}
	made = calloc(1, sizeof(*made) + list.left);
	if (!made)
		return -ENOMEM;
	made->bytes = list.left;
	memcpy(made->list, list.at, list.left);
	if (wire_event_filter_read((struct etw_bytes){made->list, made->bytes}, &made->filter) <
	    0) {
		free(made);
		return -EPROTO;
	}
	*ret = made;
	return 0;
}

static void free_filters(struct etw_retired *retired)
{
	free((uint8_t *)retired - offsetof(struct etw_filters, retired));
}

void etw_filters_retire(struct etw_filters *filters)
{
	if (!filters)
		return;
	filters->retired = (struct etw_retired){.epoch = etw_thread_begin_epoch(),
						.free = free_filters};
	if (etw_reclaim_is_over(filters->retired.epoch))
		free_filters(&filters->retired);
	else
		etw_reclaim_later(&filters->retired);
}
