/* SPDX-License-Identifier: MIT */
/* One message text file (.mc): read, checked, and made into files. */
#ifndef ETW_TOOLS_ETW_MC_TEXT_FILE_H
#define ETW_TOOLS_ETW_MC_TEXT_FILE_H

#include <stdbool.h>

#include "tools/etw-mc/options.h"
#include "tools/etw-mc/outputs.h"

/* mc_text_file_compile() - adds the outputs; tells and returns as mc_manifest_compile(). */
bool mc_text_file_compile(const struct mc_options *options, const char *path,
			  struct mc_outputs *outputs);

#endif
