/* SPDX-License-Identifier: MIT */
/* The text that a resource compiler makes resources of: which binary files go where. */
#ifndef ETW_COMPILE_RC_H
#define ETW_COMPILE_RC_H

#include "base/fault.h"
#include "base/text.h"
#include "compile/model.h"

/*
 * etw_compile_message_file() - appends the name of a culture's message table, "MSG00001.bin".
 *
 * @base: put before it, as the option -b of mc asks for; NULL: nothing
 */
void etw_compile_message_file(const struct mc_culture *culture, const char *base,
			      struct etw_text *out);

/* etw_compile_wevt_file() - appends the name of the binary resource, "baseTEMP.BIN". */
void etw_compile_wevt_file(const char *base, struct etw_text *out);

/*
 * etw_compile_rc() - appends the text of the .rc file.
 *
 * @base:         name of the outputs
 * @is_base_used: whether names of message tables begin with it
 *
 * Returns 0; -EOPNOTSUPP with @reterr when a culture has no number; -ENOMEM.
 */
int etw_compile_rc(const struct mc_manifest *manifest, const char *base, bool is_base_used,
		   struct etw_text *out, struct etw_fault *reterr);

#endif
