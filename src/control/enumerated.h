/* SPDX-License-Identifier: MIT */
/*
 * What a host says of providers, as a controller takes it. A host may be another user's, or one that was overwritten:
 * its records are looked at once, here, before anybody follows an offset or believes a count.
 */
#ifndef ETW_CONTROL_ENUMERATED_H
#define ETW_CONTROL_ENUMERATED_H

#include <stdint.h>

#include "control/control.h"

#define ETW_ENUMERATED_PARTS_MAX 4096 /* of one list; a host that is full needs fewer than 1000 */

/*
 * etw_enumerated_check() - whether a part of a list is whole records, as many as it says.
 *
 * @code: WIRE_ENUMERATE_*. Of WIRE_ENUMERATE_INSTANCES each record's NextOffset is where its enables end and the next
 *        record begins, the last one's too
 *
 * Returns 0; -EPROTO.
 * Context: any thread.
 */
int etw_enumerated_check(uint32_t code, const struct etw_control_answer *part);

#endif
