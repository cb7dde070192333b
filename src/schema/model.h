/* SPDX-License-Identifier: MIT */
/*
 * The one model of "which fields has this event". Every schema reader (kernel classes, TraceLogging,
 * in-trace metadata, manifests ...) builds it, the decoder runs it, TDH renders it. It has the shape
 * of TRACE_EVENT_INFO: one flat array of fields, the top-level ones first, the members of structs
 * behind them, contiguous per struct. Text is UTF-8. Types, flags and numbers are those of tdh.h.
 *
 * A schema is immutable once it is in a store, but for maps that arrive later and what the store itself keeps in it. It lives as long as the store, one
 * that was lent to it (schema/store/store_installed.h) until it is taken back.
 */
#ifndef ETW_SCHEMA_MODEL_H
#define ETW_SCHEMA_MODEL_H

#include <stdint.h>

#include <evntprov.h>
#include <guiddef.h>
#include <tdh.h>

/*
 * Bits of etw_field.flags besides PROPERTY_FLAGS. Classic kernel events need them; they are stripped
 * where a TRACE_EVENT_INFO is made.
 */
#define ETW_FIELD_OPTIONAL UINT32_C(0x01000000) /* absent when the payload has ended before it */
#define ETW_FIELD_TO_END   UINT32_C(0x02000000) /* array of as many elements as the payload holds */

/* Who says what an event looks like. Where several do, the higher one is asked first (docs/design/schema-store.md). */
enum etw_schema_origin {
	ETW_SCHEMA_ORIGIN_NONE,      /* in no store */
	ETW_SCHEMA_ORIGIN_KNOWN,     /* the table of known providers */
	ETW_SCHEMA_ORIGIN_INSTALLED, /* a definition that is installed on this machine */
	ETW_SCHEMA_ORIGIN_LOADED,    /* one that the process has loaded, and may unload */
	ETW_SCHEMA_ORIGIN_USER,      /* a file that the user named */
	ETW_SCHEMA_ORIGIN_EMBEDDED,  /* a manifest that the provider wrote into the trace */
	ETW_SCHEMA_ORIGIN_TRACE,     /* event metadata of a merged trace */
	ETW_SCHEMA_ORIGIN_EVENT,     /* the event itself: TraceLogging, or one plain string */
	ETW_SCHEMA_ORIGIN_BUILT_IN,  /* the kernel's classic events */
};

/* What is doubtful about a schema; bits of etw_schema.marks. */
enum etw_schema_mark {
	ETW_SCHEMA_INCOMPLETE = 1, /* fields behind the last one are not known */
	ETW_SCHEMA_INFERRED = 2,   /* a length was concluded, not said */
	ETW_SCHEMA_DOUBTFUL = 4,   /* a field's type may be another one */
	ETW_SCHEMA_MENDED = 8, /* a known error of the definition was put right (schema/mend.h) */
};

/* Limits that every reader of outside bytes enforces. */
#define ETW_SCHEMA_FIELDS_MAX      4096 /* fields of one event, struct members included */
#define ETW_SCHEMA_DEPTH_MAX       16   /* structs within structs (TraceLogging only) */
#define ETW_SCHEMA_MAP_ENTRIES_MAX 65536

struct etw_map_entry {
	uint32_t value;   /* manifest: the value or mask; MOF BitMap: bit number */
	const char *text; /* without the trailing space that TDH shows */
};

struct etw_map {
	const char *name;
	uint32_t flags; /* MAP_FLAGS: EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP and the like */
	uint32_t count;
	const struct etw_map_entry *entries;
};

/* What a writer says of the insides of a field, in a form of its own; decoding goes by the in-type. */
struct etw_custom_schema {
	uint16_t protocol;
	uint16_t bytes;
	const uint8_t *at;
};

struct etw_field {
	const char *name;
	const struct etw_map *map; /* NULL: none, or named but unknown */
	const char *map_name;      /* NULL: none */
	uint32_t flags;            /* PROPERTY_FLAGS and ETW_FIELD_* */
	uint32_t tags;             /* valid with PropertyHasTags, 28 bits */
	uint16_t in_type;          /* TDH_INTYPE_*; unused for a struct */
	uint16_t out_type;         /* TDH_OUTTYPE_*; 0 only where the in-type has no default */
	uint16_t count;            /* elements, or with PropertyParamCount the index of a field */
	uint16_t
		length; /* units of the in-type, or with PropertyParamLength the index of a field */
	uint16_t struct_first;                  /* with PropertyStruct: index of the first member */
	uint16_t struct_count;                  /* with PropertyStruct: number of members */
	const struct etw_custom_schema *custom; /* with PropertyHasCustomSchema, else NULL */
};

struct etw_provider_schema;
struct etw_wpp_message;

struct etw_schema {
	GUID provider;   /* who writes it (manifest provider, MOF class, TraceLogging provider) */
	GUID event_guid; /* as TRACE_EVENT_INFO.EventGuid */
	EVENT_DESCRIPTOR descriptor; /* classic events: Version and Opcode only */
	DECODING_SOURCE source;
	uint32_t template_flags;   /* TEMPLATE_FLAGS low bits, event tags in the upper 28 */
	uint32_t index;            /* ascending within its store: which source brought it */
	const char *provider_name; /* names: NULL when unknown */
	const char *task_name;     /* MOF: class display name; TraceLogging: event name */
	const char *opcode_name;   /* MOF: event type name */
	const char *event_name;    /* manifest `name` attribute; TraceLogging: event name */
	const char *level_name;
	const char *channel_name;
	const char *keywords;         /* names joined by "; " */
	const char *message;          /* inserts kept as %1, without the trailing space */
	const char *provider_message; /* learnt from the trace; else it is the owner's */
	const char *attributes;       /* "KEY=value;KEY=value", as TDH shows them */
	const char *symbol;           /* manifest: C name; MOF: class of the event type */
	const char *activity_id_name; /* MOF: the field that is an activity's id; NULL: none */
	const char *related_activity_id_name;
	const struct etw_provider_schema *owner; /* NULL: learnt from the trace, or built in */
	const struct etw_wpp_message *wpp;       /* with DecodingSourceWPP, else NULL */
	uint16_t field_count;                    /* all, struct members included */
	uint16_t top_count;                      /* top-level ones; they come first */
	const struct etw_field *fields;

	/* Set by the store that has it. */
	uint8_t origin; /* enum etw_schema_origin */
	uint8_t marks;  /* enum etw_schema_mark; incomplete ones are marked by their reader */
	uint32_t order; /* within an origin: the higher one is later */
	const char
		*builds; /* Windows builds that have a known layout: "7600-9600,10240"; else NULL */
	struct etw_schema
		*next; /* another layout of the same event, tried after this one; NULL: none */
};

/* Whether the field holds an array, whatever the number of its elements turns out to be. */
static inline int etw_field_is_array(const struct etw_field *field)
{
	return field->count != 1 ||
	       (field->flags & (PropertyParamCount | PropertyParamFixedCount | ETW_FIELD_TO_END));
}

#endif
