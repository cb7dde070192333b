/* SPDX-License-Identifier: MIT */
/* The names of in-types and out-types, and which go together. */
#ifndef ETW_SCHEMA_MANIFEST_TYPES_H
#define ETW_SCHEMA_MANIFEST_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* etw_manifest_in_type() / _out_type() - the type of this name; false when there is none. */
bool etw_manifest_in_type(const char *name, uint16_t *ret);
bool etw_manifest_out_type(const char *name, uint16_t *ret);

/* etw_manifest_is_pair() - whether a compiler takes the out-type with this in-type. */
bool etw_manifest_is_pair(uint16_t in_type, uint16_t out_type);

/*
 * etw_manifest_in_type_name() / _out_type_name() - "win:UInt32", as manifests call a type.
 *
 * Static; NULL when a manifest cannot say this type.
 */
const char *etw_manifest_in_type_name(uint16_t in_type);
const char *etw_manifest_out_type_name(uint16_t out_type);

#endif
