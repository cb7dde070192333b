/* SPDX-License-Identifier: MIT */
/*
 * The usual writes that are not plain (provider/event_plain.h): several sessions; a related activity; the traits and
 * the metadata of TraceLogging; flags of the header. As quick as they can be: of several sessions each
 * piece of the event is loaded once, and stored in all rings; and the rings get one time. Whatever else a session or an
 * event asks for is left to etw_provider_write().
 */
#ifndef ETW_PROVIDER_EVENT_USUAL_H
#define ETW_PROVIDER_EVENT_USUAL_H

#include <stdint.h>

#include "provider/event.h"
#include "provider/registrations.h"

/*
 * etw_provider_write_usual() - as etw_provider_write(), which does whatever is not so simple.
 *
 * Context: any thread, signal-safe.
 */
int etw_provider_write_usual(uint64_t handle, const struct etw_event_request *request);

/*
 * etw_provider_write_unusual() - as etw_provider_write(), for who has found out that the event is not usual.
 *
 * Context: any thread, signal-safe.
 */
int etw_provider_write_unusual(uint64_t handle, const struct etw_event_request *request);

/*
 * etw_provider_write_payload() - etw_provider_write_plain() for several sessions.
 *
 * Returns 0, or -EAGAIN: not so simple, and nothing has happened. Context: any thread, signal-safe.
 */
int etw_provider_write_payload(uint64_t handle, const EVENT_DESCRIPTOR *descriptor,
			       const EVENT_DATA_DESCRIPTOR *data, uint32_t data_count,
			       const GUID *activity);

#endif
