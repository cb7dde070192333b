/* SPDX-License-Identifier: MIT */
/* Provider traits, as extended item 12 of an event holds them. */
#ifndef ETW_SCHEMA_METADATA_TRAITS_H
#define ETW_SCHEMA_METADATA_TRAITS_H

#include <guiddef.h>
#include <stdbool.h>

#include "base/bytes.h"

/*
 * etw_traits_decode_guid() - which provider's manifest describes the event, where the traits say so.
 *
 * Providers with a control GUID are enabled, and write, under that one. Returns false, with @ret untouched, when
 * there is no such trait.
 */
bool etw_traits_decode_guid(struct etw_bytes traits, GUID *ret);

#endif
