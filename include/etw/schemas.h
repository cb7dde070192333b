/* SPDX-License-Identifier: MIT */
/*
 * What is known of events: schemas from manifests, binaries, TMF files and PDBs, and their enumeration.
 * Part of the friendly layer; etw/etw.h has the whole.
 *
 * Context: one thread at a time uses a struct libetw_schemas and the readers and builders that share it. What it
 * gave, schemas, fields, maps and names, may be read by any thread as long as it lives.
 */
#ifndef ETW_SCHEMAS_H
#define ETW_SCHEMAS_H

#include <stddef.h>
#include <stdint.h>

#include <etw/wintypes.h>
#include <evntprov.h>
#include <guiddef.h>

ETW_EXTERN_C_BEGIN

struct libetw_schemas;
struct libetw_schema;
struct libetw_map;

/*
 * libetw_schemas_create() - the built-in schemas, and the providers that are installed on this machine.
 *
 * Built in are the kernel's classes and the names of Windows' providers. Installed is what `wevtutil im` has put
 * into the user's or the system's registry (ETW_PROVIDERS_DIR names another) before this call; a definition is
 * read when its first event comes. Known is the table of Windows' providers that comes with the library
 * (ETW_KNOWN_PROVIDERS names another, or none when it is empty). What a trace says of an event goes before what is
 * added, that before what is installed, and that before what is known; of all these the first counts whose layout uses up
 * the event's payload, of several of one kind the one that says more.
 * Known errors of genuine manifests are put right where a payload shows them, as etw does.
 * Returns 0 with a reference of the caller's, or -ENOMEM. A registry that cannot be used is left out:
 * libetw_schemas_trouble().
 */
ETW_API int libetw_schemas_create(struct libetw_schemas **ret);

#define LIBETW_SCHEMAS_NOT_INSTALLED \
	0x1 /* nothing of what is installed: the same on every machine */

#define LIBETW_SCHEMAS_NOT_KNOWN \
	0x2 /* nothing of the table of known providers: as etw --no-known-providers */

/*
 * libetw_schemas_create_with() - the same with options.
 *
 * @options: LIBETW_SCHEMAS_..., or 0
 *
 * Returns the same; -EINVAL: there is no such option.
 */
ETW_API int libetw_schemas_create_with(uint32_t options, struct libetw_schemas **ret);

/* How the functions of tdh.h use the table of known providers, in this process. */
enum libetw_tdh_known {
	LIBETW_TDH_KNOWN_EVENTS, /* the default: for events, and for questions about one provider */
	LIBETW_TDH_KNOWN_LISTED, /* TdhEnumerateProviders and TdhEnumerateProvidersForDecodingSource list them as well */
	LIBETW_TDH_KNOWN_OFF,    /* not at all: as if there were no table */
};

/*
 * libetw_tdh_use_known() - sets that.
 *
 * @use: enum libetw_tdh_known
 *
 * Counts for calls that begin later, of all threads. Returns 0; -EINVAL: there is no such use.
 */
ETW_API int libetw_tdh_use_known(uint32_t use);

/*
 * libetw_schemas_trouble() - the sentence about what was left out because it cannot be read: a registry of
 * installed providers, a definition in it, the table of known providers, or schemas that a trace carries.
 *
 * Returns NULL when nothing was left out so far. Valid until the next call for these schemas.
 */
ETW_API const char *libetw_schemas_trouble(struct libetw_schemas *schemas);

/*
 * libetw_schemas_free() - gives the caller's reference back; takes NULL. Context: any thread.
 *
 * Readers, builders and kept events have references of their own.
 */
ETW_API void libetw_schemas_free(struct libetw_schemas *schemas);

/*
 * libetw_schemas_add_file() - reads an instrumentation manifest, a PE file with compiled schemas, a
 * WEVT_TEMPLATE resource, a MOF file (*.mof), or WPP messages from a TMF file (*.tmf) or a PDB (*.pdb).
 *
 * @path: of Linux, or of Windows as etw/etw.h says
 *
 * Returns 0; -ENODATA: a PE file or MOF file without schemas; -EBADMSG: it is damaged, libetw_error() says
 * where; -EISDIR; -EINVAL: it is no regular file, or NULL; -EFBIG: more than 64 MiB of text, 1 GiB, or 4 GiB of PDB;
 * -ENOMEM; what opening and reading fail with (-ENOENT, -EACCES ...). On failure nothing is added.
 */
ETW_API int libetw_schemas_add_file(struct libetw_schemas *schemas, const char *path);

/*
 * libetw_schemas_add_manifest() - reads a manifest of @bytes in memory; @text is borrowed for the call.
 *
 * Returns 0; -EBADMSG: it is damaged, libetw_error() says in which line; -ENOMEM. On failure nothing is added.
 */
ETW_API int libetw_schemas_add_manifest(struct libetw_schemas *schemas, const char *text,
					size_t bytes);

/*
 * libetw_schemas_find_provider() - the GUID of a provider.
 *
 * @schemas: NULL: the names of Windows and hashed ones alone
 * @name: one that the manifests or the installed providers define or that Windows has, in any case; a GUID; or
 *        any other name, which is hashed as EventSource and TraceLogging do; one behind a `*` always is
 *
 * Returns 0; -EINVAL: no name of a provider; -ENOMEM.
 */
ETW_API int libetw_schemas_find_provider(const struct libetw_schemas *schemas, const char *name,
					 GUID *ret);

/* libetw_schemas_provider_name() - the best known name, or NULL. Lives as long as the schemas. */
ETW_API const char *libetw_schemas_provider_name(const struct libetw_schemas *schemas,
						 const GUID *provider);

/*
 * libetw_schemas_each_provider() - every provider that a manifest or the like has defined so far, then those
 * that are installed besides, then the systems of this machine's tracepoints (linux:sched ...), for who may read tracefs.
 *
 * @provider: returns other than 0 to stop; @guid is borrowed for the call, @name, which may be NULL, as long as the
 *            schemas live. It may ask for the provider's events
 *
 * Returns 0, or what the callback returned; -ENOMEM.
 */
ETW_API int libetw_schemas_each_provider(const struct libetw_schemas *schemas,
					 int (*provider)(void *context, const GUID *guid,
							 const char *name, size_t event_count),
					 void *context);

/*
 * libetw_schemas_each_event() - every kind of event of a provider, or of a built-in class, or of a system of tracepoints.
 *
 * @event: returns other than 0 to stop
 *
 * Returns 0, also when nothing is known of it; -ENOMEM; or what the callback returned.
 */
ETW_API int libetw_schemas_each_event(const struct libetw_schemas *schemas, const GUID *provider,
				      int (*event)(void *context,
						   const struct libetw_schema *schema),
				      void *context);

/* libetw_schema_provider() - who writes such events; of classic events their class. */
ETW_API const GUID *libetw_schema_provider(const struct libetw_schema *schema);

/* libetw_schema_descriptor() - id, version, channel, level, opcode, task, keyword. */
ETW_API const EVENT_DESCRIPTOR *libetw_schema_descriptor(const struct libetw_schema *schema);

enum libetw_schema_text {
	LIBETW_SCHEMA_PROVIDER_NAME,
	LIBETW_SCHEMA_EVENT_NAME,
	LIBETW_SCHEMA_TASK_NAME, /* of classic events their class: "Process" */
	LIBETW_SCHEMA_OPCODE_NAME,
	LIBETW_SCHEMA_LEVEL_NAME,
	LIBETW_SCHEMA_CHANNEL_NAME,
	LIBETW_SCHEMA_KEYWORDS, /* names, joined by "; " */
	LIBETW_SCHEMA_MESSAGE,  /* with its inserts: %1 ... */
	LIBETW_SCHEMA_SYMBOL,
	LIBETW_SCHEMA_ORIGIN, /* who says it: "trace", "embedded", "file", "installed", "known", "event", "built-in" */
	LIBETW_SCHEMA_MARKS,  /* "incomplete", or what else is doubtful about it; several joined by ", " */
};

/* libetw_schema_text() - a name or text, or NULL where none is given. Lives as long as the schemas. */
ETW_API const char *libetw_schema_text(const struct libetw_schema *schema,
				       enum libetw_schema_text which);

/*
 * libetw_schema_name() - the event's name in one: its own, or task and opcode as "Process/Start".
 *
 * @text: room for @bytes; always NUL-terminated when there are any, cut where it does not fit
 *
 * Returns its length without the NUL, uncut.
 */
ETW_API size_t libetw_schema_name(const struct libetw_schema *schema, char *text, size_t bytes);

/* A field of a schema. Top-level ones come first, the members of each struct behind them in a row. */
struct libetw_field_info {
	const char *name;
	const char *map_name;         /* NULL: none */
	const struct libetw_map *map; /* NULL: none, or nobody knows it */
	uint32_t flags;               /* PROPERTY_FLAGS of tdh.h */
	uint16_t in_type, out_type;   /* TDH_INTYPE_*, TDH_OUTTYPE_*; of structs 0 */
	uint16_t count;  /* elements; with PropertyParamCount the index of the field that says it */
	uint16_t length; /* likewise with PropertyParamLength */
	uint16_t first_member, member_count; /* of structs: indexes; else 0 */
	uint8_t is_array, is_struct;
	uint8_t reserved[6];
};

/* libetw_schema_field_count() - of all fields, and of the top-level ones. */
ETW_API size_t libetw_schema_field_count(const struct libetw_schema *schema);
ETW_API size_t libetw_schema_top_count(const struct libetw_schema *schema);

/* libetw_schema_field() - fills @ret; its names live as long as the schemas. Returns 0, or -ENOENT. */
ETW_API int libetw_schema_field(const struct libetw_schema *schema, size_t index,
				struct libetw_field_info *ret);

/* libetw_map_count() - how many entries a map has. */
ETW_API size_t libetw_map_count(const struct libetw_map *map);

/* libetw_map_is_bits() - whether the values of a map are bits that may come together. */
ETW_API int libetw_map_is_bits(const struct libetw_map *map);

/*
 * libetw_map_entry() - an entry's text, borrowed, or NULL behind the last one.
 *
 * @ret_value: may be NULL; what the text stands for: a value, or of a map of bits a mask. 0 where a class numbers
 *             a bit beyond 31
 */
ETW_API const char *libetw_map_entry(const struct libetw_map *map, size_t index,
				     uint32_t *ret_value);

ETW_EXTERN_C_END

#endif
