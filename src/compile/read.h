/* SPDX-License-Identifier: MIT */
/* From the text of a manifest to its model. */
#ifndef ETW_COMPILE_READ_H
#define ETW_COMPILE_READ_H

#include <stddef.h>

#include "compile/model.h"

/*
 * etw_compile_read() - reads and checks a manifest.
 *
 * @ret: returned owned also when the manifest has errors: its complaints say which. Nothing may be
 *       generated from it unless error_count is 0.
 *
 * Returns 0 or -ENOMEM.
 */
int etw_compile_read(const char *text, size_t bytes, struct mc_manifest **ret);

/* etw_compile_free() - takes NULL. */
void etw_compile_free(struct mc_manifest *manifest);
void etw_compile_freep(struct mc_manifest **manifest);

#endif
