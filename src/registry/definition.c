/* SPDX-License-Identifier: MIT */
#include "registry/definition.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "registry/wpp_controls.h"
#include "schema/compiled/message_table.h"
#include "schema/compiled/wevt.h"
#include "schema/manifest/manifest.h"
#include "schema/mof/mof.h"
#include "schema/wpp/tmf.h"

static int refuse(struct etw_fault *reterr, uint64_t offset, const char *field,
		  const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, offset, "stored resource", field, sentence);
}

/* Takes a part out of the container; false when it does not hold so much. */
static bool take_part(struct etw_bytes *rest, uint32_t bytes, struct etw_bytes *ret)
{
	const uint8_t *at = etw_bytes_take(rest, bytes);

	*ret = (struct etw_bytes){at, bytes};
	return at != NULL;
}

static int parse_parts(struct etw_arena *arena, struct etw_arena *scratch, struct etw_bytes bytes,
		       struct etw_definition **ret, struct etw_fault *reterr)
{
	struct etw_message_table tables[WIRE_REGISTRY_TABLES_MAX];
	const struct wire_registry_table *sizes;
	struct etw_bytes rest = bytes, blob, table;
	struct wire_registry_binary head;
	uint32_t count;
	int r;

	if (bytes.left < sizeof(head) ||
	    memcmp(bytes.at, WIRE_REGISTRY_BINARY_MAGIC, WIRE_REGISTRY_MAGIC_BYTES) != 0)
		return refuse(reterr, 0, "magic", "this is no stored resource");
	memcpy(&head, etw_bytes_take(&rest, sizeof(head)), sizeof(head));
	count = le32_get(head.table_count);
	if (count > WIRE_REGISTRY_TABLES_MAX)
		return refuse(reterr, 12, "table_count", "there are too many message tables");
	sizes = (const struct wire_registry_table *)etw_bytes_take(&rest, count * sizeof(*sizes));
	if (!sizes)
		return refuse(reterr, 12, "table_count", "the list of message tables was cut");
	if (!take_part(&rest, le32_get(head.template_bytes), &blob))
		return refuse(reterr, 8, "template_bytes", "the resource was cut");
	for (uint32_t i = 0; i < count; i++) {
		if (!take_part(&rest, le32_get(sizes[i].bytes), &table))
			return refuse(reterr, 16, "bytes", "a message table was cut");
		r = etw_message_table_open(scratch, table, &tables[i], reterr);
		if (r < 0)
			return r;
	}
	return etw_wevt_parse(arena, blob, tables, count, ret, reterr);
}

static int parse_binary(struct etw_arena *arena, struct etw_bytes bytes,
			struct etw_definition **ret, struct etw_fault *reterr)
{
	CLEANUP(etw_arena_done) struct etw_arena scratch = {0};

	return parse_parts(arena, &scratch, bytes, ret, reterr);
}

int etw_registry_definition_parse(struct etw_arena *arena, enum wire_registry_kind kind,
				  struct etw_bytes bytes, struct etw_registry_definition *ret,
				  struct etw_fault *reterr)
{
	const char *text = (const char *)bytes.at;

	*ret = (struct etw_registry_definition){0};
	switch (kind) {
	case WIRE_REGISTRY_MANIFEST:
		return etw_manifest_parse(arena, text, bytes.left, &ret->definition, reterr);
	case WIRE_REGISTRY_BINARY:
		return parse_binary(arena, bytes, &ret->definition, reterr);
	case WIRE_REGISTRY_MOF:
		return etw_mof_parse(arena, text, bytes.left, &ret->definition, reterr);
	default:
		TRY(etw_registry_controls_read(arena, bytes, &ret->definition));
		if (ret->definition && !etw_registry_has_messages(bytes))
			return 0;
		return etw_tmf_parse(arena, text, bytes.left, &ret->messages, reterr);
	}
}
