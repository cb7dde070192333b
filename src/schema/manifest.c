/* SPDX-License-Identifier: MIT */
/* Not built yet. */
#include "schema/manifest.h"

#include <errno.h>

int etw_manifest_parse(struct etw_arena *arena, const char *text, size_t bytes,
		       struct etw_manifest **ret, struct etw_fault *reterr)
{
	(void)arena;
	(void)text;
	(void)bytes;
	(void)ret;
	return etw_fault_set(reterr, -EBADMSG, 1, "manifest", NULL, "manifests are not read yet");
}
