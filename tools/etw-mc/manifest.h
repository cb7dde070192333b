/* SPDX-License-Identifier: MIT */
/* One instrumentation manifest: read, checked, and made into files. */
#ifndef ETW_TOOLS_ETW_MC_MANIFEST_H
#define ETW_TOOLS_ETW_MC_MANIFEST_H

#include <stdbool.h>

#include "tools/etw-mc/options.h"
#include "tools/etw-mc/outputs.h"

/*
 * mc_manifest_compile() - adds the outputs of a manifest.
 *
 * Errors and warnings are told on standard error, in the order of their lines. Returns whether all outputs were
 * added, which no error allows.
 */
bool mc_manifest_compile(const struct mc_options *options, const char *path,
			 struct mc_outputs *outputs);

#endif
