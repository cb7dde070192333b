/* SPDX-License-Identifier: MIT */
/* Names and encodings of the files that are written. */
#ifndef ETW_TOOLS_ETW_MC_NAMES_H
#define ETW_TOOLS_ETW_MC_NAMES_H

#include "base/text.h"
#include "tools/etw-mc/options.h"

/* mc_base_name() - owned: what -z says, else the input's name without folder and extension; NULL: no memory. */
char *mc_base_name(const struct mc_options *options, const char *path);

/* mc_encode() - makes UTF-8 text what @encoding says, with its byte order mark. */
void mc_encode(enum mc_encoding encoding, struct etw_text *text);

/* mc_script_encoding() - of a resource script: resource compilers read no UTF-8 with a byte order mark. */
enum mc_encoding mc_script_encoding(enum mc_encoding encoding);

#endif
