/* SPDX-License-Identifier: MIT */
/* Which control GUID enables a WPP message: the message does not say, its flag does. */
#ifndef ETW_SCHEMA_CONTROLS_H
#define ETW_SCHEMA_CONTROLS_H

#include "schema/wpp/wpp.h"

/*
 * etw_wpp_attach_controls() - gives messages their `control`: the only one, or the first one that has their flag.
 *
 * @messages: not handed out yet
 * @controls: of the same program; live as long as the messages
 *
 * Returns 0 or -ENOMEM; some messages may then have theirs. Source: docs/format/wpp.md "PDB files".
 */
int etw_wpp_attach_controls(const struct etw_wpp_messages *messages,
			    const struct etw_provider_schema *controls, size_t control_count);

#endif
