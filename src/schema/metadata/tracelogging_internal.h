/* SPDX-License-Identifier: MIT */
/* Private to the reader of TraceLogging metadata. */
#ifndef ETW_SCHEMA_METADATA_TRACELOGGING_INTERNAL_H
#define ETW_SCHEMA_METADATA_TRACELOGGING_INTERNAL_H

#include <stdint.h>

/*
 * etw_tracelogging_out_type() - TDH's out-type of a field.
 *
 * @in_type: TDH_INTYPE_*, of this model
 * @out:     the metadata's out-type byte
 *
 * A pair that means nothing gives the in-type's own.
 */
uint16_t etw_tracelogging_out_type(uint8_t in_type, uint8_t out);

#endif
