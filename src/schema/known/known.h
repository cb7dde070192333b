/* SPDX-License-Identifier: MIT */
/*
 * Known providers: what is publicly known of the providers of Windows, from an index that is mapped and never read
 * as a whole (wire/known.h; docs/design/known-providers.md). Here: opening, finding and listing, as the table has it.
 * Schemas are made of it in known_schema.h.
 *
 * Each access is checked. Where the index turns out to be damaged, a function returns -EBADMSG and the index remembers
 * the first damage with its place: etw_known_damage(). Everything else goes on.
 *
 * Text is UTF-8, borrowed until the index is closed, and "" where the table says nothing.
 * Context: any thread; an open index is never changed but for its first damage.
 */
#ifndef ETW_SCHEMA_KNOWN_KNOWN_H
#define ETW_SCHEMA_KNOWN_KNOWN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guiddef.h>

#include "base/bytes.h"
#include "base/fault.h"
#include "wire/known.h"

#define ETW_KNOWN_BYTES_MAX (64u << 20) /* of an index */

struct etw_known;

/*
 * etw_known_open() - opens the index of known providers.
 *
 * @path: NULL: as $ETW_KNOWN_PROVIDERS says, else where the installation or the build tree of this program or library
 *        has it; an empty variable means that there is none
 *
 * Returns 0; -ENOENT: there is none, which is no error; -EBADMSG for a damaged head, -EPROTONOSUPPORT for another
 * version, and -EINVAL for what is no regular file, all with @reterr; -ENOMEM; what opening or mapping fails with.
 */
int etw_known_open(const char *path, struct etw_known **ret, struct etw_fault *reterr);

/* etw_known_open_bytes() - an index in memory, borrowed until it is closed. Returns as etw_known_open(). */
int etw_known_open_bytes(struct etw_bytes bytes, struct etw_known **ret, struct etw_fault *reterr);

/* etw_known_close() - takes NULL. */
void etw_known_close(struct etw_known *known);

/* etw_known_closep() - for CLEANUP. */
void etw_known_closep(struct etw_known **known);

/*
 * etw_known_locate() - where etw_known_open() looks without a path; @ret is made the path.
 *
 * Returns false where there is none, or none is wanted.
 */
bool etw_known_locate(char ret[PATH_MAX]);

/* etw_known_path() - where the index lies; "" in memory. */
const char *etw_known_path(const struct etw_known *known);

/*
 * etw_known_damage() - the first damage that was met; false: none so far.
 *
 * Tools and stores ask when they have finished, and say it once.
 */
bool etw_known_damage(const struct etw_known *known, struct etw_fault *ret);

/* A provider. The counts are those of the lists that the functions below read. */
struct etw_known_provider {
	uint32_t index; /* among all, etw_known_provider_at() */
	bool has_guid;  /* of some only the name is known */
	GUID guid;
	const char *name;
	const char *formerly; /* an older name */
	const char *builds;   /* "7600-9600,10240-28000": Windows builds that have it */
	const char *sources;  /* names with a blank between them */
	uint32_t event_count;
	uint32_t class_count; /* classic (MOF) events */
	uint32_t map_count;
	uint32_t named_counts[WIRE_KNOWN_LISTS];                   /* keywords, tasks ... */
	uint32_t first_event, first_class, first_map, first_named; /* of known.c */
};

/* etw_known_provider_count() - how many there are: by GUID, those without one by name behind them. */
size_t etw_known_provider_count(const struct etw_known *known);

/* etw_known_provider_at() - one of them. Returns 0; -ENOENT beyond the last; -EBADMSG. */
int etw_known_provider_at(struct etw_known *known, size_t index, struct etw_known_provider *ret);

/* etw_known_find() - the provider with this GUID. Returns 0, -ENOENT, or -EBADMSG. */
int etw_known_find(struct etw_known *known, const GUID *guid, struct etw_known_provider *ret);

/*
 * etw_known_find_name() - the provider of this name, or that once had it; A to Z are a to z.
 *
 * @nth: 0 for the first; a few names belong to two providers
 *
 * Returns 0, -ENOENT, or -EBADMSG.
 */
int etw_known_find_name(struct etw_known *known, const char *name, size_t nth,
			struct etw_known_provider *ret);

/* A number with its name. */
struct etw_known_named {
	uint64_t value;
	const char *name;
	uint16_t task; /* of opcodes: whose own it is */
	bool has_task;
};

/* etw_known_named_at() - one of a list of a provider. Returns 0; -ENOENT beyond the last; -EBADMSG. */
int etw_known_named_at(struct etw_known *known, const struct etw_known_provider *provider,
		       enum wire_known_list list, size_t index, struct etw_known_named *ret);

/* A map; entries without a text have a value that is in use and whose name is not known. */
struct etw_known_map {
	uint32_t index; /* among the maps of all providers */
	const char *name;
	bool is_bits;
	uint32_t entry_count;
	uint32_t first_entry; /* of known.c */
};

/* etw_known_map_at() - one of a provider's maps, by name. Returns 0; -ENOENT beyond the last; -EBADMSG. */
int etw_known_map_at(struct etw_known *known, const struct etw_known_provider *provider,
		     size_t index, struct etw_known_map *ret);

/* etw_known_map_get() - the map of this number among those of all providers. Returns as above. */
int etw_known_map_get(struct etw_known *known, uint32_t index, struct etw_known_map *ret);

/* etw_known_entry_at() - one entry. @ret_text: NULL: none is known. Returns 0; -ENOENT; -EBADMSG. */
int etw_known_entry_at(struct etw_known *known, const struct etw_known_map *map, size_t index,
		       uint32_t *ret_value, const char **ret_text);

/* An event of a manifest. Names are given where only they are known; the lists have those of the numbers. */
struct etw_known_event {
	uint32_t index; /* among the events of all providers */
	uint16_t id;
	uint8_t version, level, opcode, channel;
	uint16_t task;
	uint64_t keywords;         /* without the bits of channels */
	const char *task_name;     /* "": the number says it */
	const char *opcode_name;   /* "": the number says it */
	const char *channel_name;  /* "": the number says it, or there is none */
	const char *keyword_names; /* those whose masks are not known, with '\n' between them */
	const char *symbol;
	uint32_t layout_count; /* 1 and more */
	uint32_t template;     /* of the first layout */
	const char *builds;    /* of the first layout */
	const char *source;    /* of the first layout */
	uint32_t first_other;  /* of known.c */
};

/* etw_known_event_at() - one of a provider's events, by id and version. Returns 0; -ENOENT; -EBADMSG. */
int etw_known_event_at(struct etw_known *known, const struct etw_known_provider *provider,
		       size_t index, struct etw_known_event *ret);

/* etw_known_event_find() - the event with this id and version. Returns 0; -ENOENT; -EBADMSG. */
int etw_known_event_find(struct etw_known *known, const struct etw_known_provider *provider,
			 uint16_t id, uint8_t version, struct etw_known_event *ret);

/* One layout of an event. */
struct etw_known_layout {
	uint32_t template;    /* WIRE_KNOWN_NONE: no fields */
	uint32_t marks;       /* enum wire_known_mark */
	uint32_t field_count; /* top-level ones, of the table */
	const char *builds;   /* "": those of the provider, unless the source has none */
	const char *source;   /* "": not of a single one */
};

/* etw_known_layout_at() - one of an event's layouts, the newest first. Returns 0; -ENOENT; -EBADMSG. */
int etw_known_layout_at(struct etw_known *known, const struct etw_known_event *event, size_t index,
			struct etw_known_layout *ret);

/* A field as the table has it. */
struct etw_known_field {
	const char *name;
	uint16_t in_type, out_type; /* TDH_*; an out-type that no source names is the default one */
	uint16_t flags;             /* enum wire_known_field_flag */
	uint16_t length, count;     /* a number, or the place of a field in the same list */
	uint32_t link;              /* map, or template of the members */
};

/* etw_known_field_at() - a field of a template of manifest events. Returns 0; -ENOENT; -EBADMSG. */
int etw_known_field_at(struct etw_known *known, uint32_t template, size_t index,
		       struct etw_known_field *ret);

/* etw_known_template() - fields and marks of a template; those of WIRE_KNOWN_NONE: none. Returns 0 or -EBADMSG. */
int etw_known_template(struct etw_known *known, uint32_t template, uint32_t *ret_count,
		       uint32_t *ret_marks);

/* A classic event. */
struct etw_known_class {
	GUID guid; /* of the event class */
	uint32_t provider;
	uint16_t type;
	uint16_t version; /* UINT16_MAX: none is given */
	const char *name;
	const char *opcode_name;
	uint32_t template;
	uint32_t marks;
	uint32_t field_count;
};

/* etw_known_class_at() - one of a provider's classic events. Returns 0; -ENOENT; -EBADMSG. */
int etw_known_class_at(struct etw_known *known, const struct etw_known_provider *provider,
		       size_t index, struct etw_known_class *ret);

/*
 * etw_known_class_find() - the classic event of this class, type and version.
 *
 * @version: where there is none of it, the one without a version is given
 *
 * Returns 0, -ENOENT, or -EBADMSG.
 */
int etw_known_class_find(struct etw_known *known, const GUID *guid, uint16_t type, uint16_t version,
			 struct etw_known_class *ret);

/* A property of a classic event, in MOF's words. */
struct etw_known_class_field {
	const char *name;
	const char *type;
	const char *extension;
	const char *termination;
	const char *format;
	uint32_t count; /* elements; 0: not given */
};

/* etw_known_class_field_at() - a field of a template of classic events. Returns 0; -ENOENT; -EBADMSG. */
int etw_known_class_field_at(struct etw_known *known, uint32_t template, size_t index,
			     struct etw_known_class_field *ret);

/*
 * etw_known_build_distance() - how far a build is from those of a list such as "7600-9600,10240".
 *
 * Returns 0 when it is one of them; UINT32_MAX when the list is empty or @build is 0, which means that it is unknown.
 */
uint32_t etw_known_build_distance(const char *builds, uint32_t build);

/* etw_known_has_build() - whether the build is one of such a list; "" has none. */
static inline bool etw_known_has_build(const char *builds, uint32_t build)
{
	return etw_known_build_distance(builds, build) == 0;
}

#endif
