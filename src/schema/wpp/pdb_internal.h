/* SPDX-License-Identifier: MIT */
/* What the reader of a PDB's symbols (pdb.c) and that of its types (pdb_types.c) share. */
#ifndef ETW_SCHEMA_PDB_INTERNAL_H
#define ETW_SCHEMA_PDB_INTERNAL_H

#include <stdbool.h>

#include "base/text.h"
#include "schema/wpp/msf.h"
#include "schema/wpp/pdb.h"
#include "schema/wpp/tmf_internal.h"

/* etw_pdb_note() - counts damage that costs no more than itself. */
void etw_pdb_note(struct etw_pdb *pdb, uint64_t offset, const char *structure,
		  const char *sentence);

/* etw_pdb_take_string() - the next NUL-terminated string; false: the bytes end before its NUL. */
bool etw_pdb_take_string(struct etw_bytes *bytes, struct tmf_span *ret);

/* etw_pdb_copy_name() - a name as UTF-8 on one line, or NULL without memory. @scratch: for the conversion. */
char *etw_pdb_copy_name(struct etw_arena *arena, struct etw_text *scratch, struct tmf_span span);

/*
 * etw_pdb_name_enums() - gives arguments that are enumerations their names, out of the type stream.
 *
 * @pdb:    its messages are complete; what is damaged is noted
 * @global: stream of the global symbols, which hold the typedefs; others than streams do no harm
 *
 * Returns 0 or -ENOMEM. Source: docs/format/wpp.md "PDB files".
 */
int etw_pdb_name_enums(const struct etw_msf *msf, uint16_t global, struct etw_arena *arena,
		       struct etw_pdb *pdb);

#endif
