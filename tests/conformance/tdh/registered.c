/* SPDX-License-Identifier: MIT */
#include "registered.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "registry/change.h"

void registered_import(const char *folder, enum wire_registry_kind kind, const char *text)
{
	CLEANUP(etw_registry_change_endp) struct etw_registry_change *change = NULL;
	const struct etw_bytes bytes = {(const uint8_t *)text, strlen(text)};
	struct etw_registry_item item;

	assert_int_equal(etw_registry_item_parse(kind, bytes, "/made", &item, NULL), 0);
	assert_int_equal(etw_registry_change_begin(folder, &change, NULL), 0);
	assert_int_equal(etw_registry_change_add(change, &item), 0);
	assert_int_equal(etw_registry_change_commit(change), 0);
	etw_registry_item_done(&item);
}
