/* SPDX-License-Identifier: MIT */
/* What users' processes say that they lost, told as theirs: for every command that tells of a running session. */
#ifndef ETW_TOOLS_ETW_CLAIMS_H
#define ETW_TOOLS_ETW_CLAIMS_H

#include "base/text.h"
#include "wire/message.h"

/*
 * claims_write() - a line for each user but the session's owner and root, and one for what nobody can have lost.
 *
 * @indent: in front of each
 */
void claims_write(struct etw_text *text, const struct wire_session_loss *loss, const char *indent);

/* claims_write_json() - ,"events_lost_known":n,"events_lost_claimed":[...],"claims_disregarded":n */
void claims_write_json(struct etw_text *text, const struct wire_session_loss *loss);

#endif
