/* SPDX-License-Identifier: MIT */
/*
 * Control GUIDs of WPP, with the names of their flags: a PDB has them, a TMF file does not. In a stored TMF text
 * they stand as comments, which readers of messages pass over:
 *
 *     // TMC: 81c6a1a3-... Driver
 *     // TMC_FLAG: INIT
 */
#ifndef ETW_REGISTRY_WPP_CONTROLS_H
#define ETW_REGISTRY_WPP_CONTROLS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"
#include "schema/wpp/pdb.h"

/* etw_registry_controls_write() - appends the comments; what is beyond the limits of a PDB is left out. */
void etw_registry_controls_write(const struct etw_provider_schema *controls, size_t count,
				 struct etw_text *text);

/*
 * etw_registry_controls_read() - reads them out of a stored text.
 *
 * @ret: in @arena; NULL when there are none
 *
 * What looks like none of them is passed over. Returns 0 or -ENOMEM.
 */
int etw_registry_controls_read(struct etw_arena *arena, struct etw_bytes text,
			       struct etw_definition **ret);

/*
 * etw_registry_has_messages() - whether there is a message to read.
 *
 * A PDB may have control GUIDs alone; for readers of TMF text one without messages is none.
 */
bool etw_registry_has_messages(struct etw_bytes text);

#endif
