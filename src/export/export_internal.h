/* SPDX-License-Identifier: MIT */
/* What the formats share. Private to src/export. */
#ifndef ETW_EXPORT_EXPORT_INTERNAL_H
#define ETW_EXPORT_EXPORT_INTERNAL_H

#include "export/export.h"

#define NO_ID 0xFFFFFFFFu /* process and thread of events whose header has no field for them */

/* etw_export_hex() - @bytes bytes as pairs of lower-case digits. */
void etw_export_hex(const void *at, size_t bytes, struct etw_text *text);

/* etw_export_hex64() - "0x" and the number in lower case, without leading zeros. */
void etw_export_hex64(uint64_t value, struct etw_text *text);

/* etw_export_guid() - without braces. */
void etw_export_guid(const GUID *guid, struct etw_text *text);

/* etw_export_item() - the event's extended item of this type, or NULL. */
const EVENT_HEADER_EXTENDED_DATA_ITEM *etw_export_item(const EVENT_RECORD *record, unsigned type);

/* etw_export_trimmed() - bytes of a name without the blanks that some schemas end names with. */
size_t etw_export_trimmed(const char *name);

#endif
