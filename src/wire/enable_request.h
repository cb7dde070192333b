/* SPDX-License-Identifier: MIT */
/*
 * What of EnableTraceEx2 this implementation honours. The API checks a request before it asks a host, and the
 * host checks it again: a client of another version, or one that does not use the API, gets the same refusal.
 */
#ifndef ETW_WIRE_ENABLE_REQUEST_H
#define ETW_WIRE_ENABLE_REQUEST_H

#include "wire/message.h"

/*
 * etw_enable_request_check() - whether everything that a request asks for is built.
 *
 * Returns 0; -EINVAL: no such control code, properties that contradict each other, filters that
 * wire_filter_list_check() does not take; -EOPNOTSUPP: an enable property, a kind of filter or a system provider that is not built.
 * Source: docs/refused.md "EnableTraceEx2".
 */
int etw_enable_request_check(const struct wire_enable_provider *request);

/*
 * etw_enable_property_of() - the properties that a process is told of: without SOURCE_CONTAINER_TRACKING where it is in no
 * container, so that its events have no such item.
 *
 * @container: null: none
 */
uint32_t etw_enable_property_of(uint32_t property, const GUID *container);

#endif
