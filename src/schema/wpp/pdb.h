/* SPDX-License-Identifier: MIT */
/*
 * The WPP records of a PDB: the messages (TMF) and control GUIDs (TMC) that the compiler left there as
 * annotations, in the symbols of each module. A damaged module or annotation costs only itself.
 * Source: docs/format/wpp.md "PDB files".
 */
#ifndef ETW_SCHEMA_PDB_H
#define ETW_SCHEMA_PDB_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "schema/wpp/wpp.h"

#define ETW_PDB_CONTROLS_MAX      256 /* control GUIDs */
#define ETW_PDB_CONTROL_FLAGS_MAX 64  /* of one: bits there are */

struct etw_pdb {
	GUID guid;                        /* that a trace's image identity names */
	uint32_t age;                     /* as the debug directory of the image has it */
	struct etw_wpp_messages messages; /* each GUID and number once */
	/* Control GUIDs with their names; the flags are keywords, the first one bit 0. */
	const struct etw_provider_schema *controls;
	size_t control_count;
	size_t damage_count; /* modules, annotations and enumerations that could not be read */
	struct etw_fault first_damage;
};

/*
 * etw_pdb_read() - collects the WPP records.
 *
 * @file: the whole file, borrowed for the call
 *
 * A PDB without any WPP record is read as well, and has no messages.
 * Returns 0; -EBADMSG with @reterr (offset in the file or in the stream that the structure names) when the
 * container, the PDB stream or the list of modules cannot be read; -ENOMEM. On failure the arena is as it was.
 */
int etw_pdb_read(struct etw_arena *arena, struct etw_bytes file, struct etw_pdb *ret,
		 struct etw_fault *reterr);

#endif
