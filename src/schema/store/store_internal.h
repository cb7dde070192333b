/* SPDX-License-Identifier: MIT */
/*
 * The inside of a store: store.c (finding), store_choice.c (several layouts of one event), store_class.c (classic
 * events), store_learn.c (what traces and manifests teach), store_wpp.c, store_binary.c, store_ask.c (the registry,
 * when nothing else has an answer) and store_known.c (the table of known providers). Above it are store_installed.c,
 * what the registry gives, and store_loans.c, what may be taken back.
 *
 * In names, "stored" is what the store holds of any source, "known" is the table of known providers.
 */
#ifndef ETW_SCHEMA_STORE_INTERNAL_H
#define ETW_SCHEMA_STORE_INTERNAL_H

#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/table.h"
#include "schema/known/known.h"
#include "schema/manifest/embedded.h"
#include "schema/provider_schema.h"
#include "schema/store/registry_hooks.h"
#include "schema/store/store.h"

struct etw_schema_loan;
struct etw_schema_registered;

#define STORE_CACHE_SLOTS 256 /* power of two */

/*
 * Memory for what events carry or cause: schemas that they bring along, notes about GUIDs. What is handed out
 * lives as long as the store, so that nothing can make way. What the user names is not counted.
 */
#define STORE_KEPT_BYTES_MAX ((size_t)128 << 20)
#define STORE_NOTE_BYTES     64 /* that a small entry and its place in a table take */

/* What an event is looked up by, besides the GUID. */
enum store_kind {
	STORE_MANIFEST = 1, /* id, version */
	STORE_CLASS,        /* opcode, version */
	STORE_STRING,       /* nothing */
	STORE_MESSAGE,      /* number of a WPP message */
	STORE_CLASS_LATEST, /* opcode: the highest version that a MOF file gives */
};

/* Layouts of one event that a trace may bring, of each origin; the poorest makes way. */
#define STORE_LAYOUTS_MAX 16

struct store_key {
	uint64_t guid[2];
	uint64_t event; /* enum store_kind and the numbers that belong to it */
};

/* An event and all layouts that are known of it. */
struct stored_event {
	struct store_key key;
	struct etw_schema *first; /* as etw_store_insert() orders them; NULL: taken back */
	bool is_known_asked;      /* the table of known providers; it says the same at all times */
};

/* A name that outlives the loan which gave it. */
struct lent_name {
	struct lent_name *next;
	const char *name;
};

struct stored_provider {
	GUID guid;
	const char *name;                         /* NULL: unknown */
	enum etw_schema_origin name_origin;       /* who gave the name */
	struct lent_name *lent_names;             /* all that loans have given, each once */
	bool has_events;                          /* manifest events, of whatever source */
	const struct etw_provider_schema *schema; /* NULL: no definition names it */
	enum etw_schema_origin schema_origin;
	uint32_t schema_order;
	struct stored_provider *next; /* in the order in which they became known */
};

/* A field whose map had not arrived when its event did. */
struct waiting_field {
	struct waiting_field *next;
	struct etw_field *field;
};

/* Who says what the values of a map are called. */
enum store_map_rank {
	STORE_MAP_NONE,
	STORE_MAP_KNOWN,      /* the table of known providers */
	STORE_MAP_DEFINITION, /* a manifest or the like */
	STORE_MAP_TRACE,      /* the recording machine: final */
};

struct stored_map {
	GUID provider;
	const char *name;
	const struct etw_map *map;     /* NULL: not arrived yet */
	enum store_map_rank rank;      /* of it: a higher one takes its place */
	bool is_known_asked;           /* the table of known providers */
	struct waiting_field *waiting; /* for a map, or for one of a higher rank */
};

/* TraceLogging metadata seen before, good or bad. */
struct stored_blob {
	GUID provider;
	EVENT_DESCRIPTOR descriptor;
	struct etw_bytes metadata;       /* own copy */
	const struct etw_schema *schema; /* NULL: unreadable */
};

/* A built-in class with an index of this store. */
struct stored_class {
	const struct etw_schema *built_in;
	struct etw_schema schema;
};

/* An embedded manifest seen before: EventSource writes the same one again and again. */
struct stored_text {
	uint64_t hashes[2];
	size_t bytes;
};

struct cached_event {
	struct store_key key; /* event 0: free */
	const struct etw_schema *schema;
	enum etw_schema_miss why;
	uint8_t alone; /* enum store_alone */
};

/* Whether an event has one layout. */
enum store_alone {
	STORE_NOBODY_ASKED,
	STORE_ALONE,
	STORE_NOT_ALONE,
};

/* A GUID that the registry was asked for. */
struct asked {
	GUID guid;
	uint32_t round; /* the store's when it was answered; another one: it is to be asked */
	int error;      /* of the answer */
};

/* Everything the tables point to lives in the arena, but for loans. */
struct etw_schema_store {
	struct cached_event cache[STORE_CACHE_SLOTS]; /* emptied whenever something is learnt */
	const struct stored_blob *cached_blobs[STORE_CACHE_SLOTS]; /* NULL: free */
	struct etw_arena arena;
	struct etw_table events;    /* struct stored_event */
	struct etw_table providers; /* struct stored_provider */
	struct stored_provider *first_provider;
	struct stored_provider *last_provider;
	struct etw_table maps;                      /* struct stored_map */
	struct etw_table blobs;                     /* struct stored_blob */
	struct etw_table classes;                   /* struct stored_class */
	struct etw_table texts;                     /* struct stored_text */
	struct etw_table asked;                     /* struct asked */
	const struct etw_schema_registry *registry; /* with its context, owned; NULL: none */
	uint32_t round;                             /* how often the registry was new; from 1 */
	struct etw_schema_registered *registered;
	struct etw_schema_loan *loans; /* borrowed */
	uint32_t loan_count;           /* ever */
	struct etw_known *known;       /* owned_known, or NULL while it is left out */
	struct etw_known *owned_known;
	uint32_t build;  /* of the trace at hand; 0: not known */
	bool has_builds; /* there were several, so that answers that depend on it are not cached */
	struct etw_embedded embedded;
	uint64_t seed; /* of all hashes, so that a file cannot choose collisions */
	uint32_t schema_count;
	size_t kept_bytes; /* because of events; nothing new is kept above STORE_KEPT_BYTES_MAX */
	size_t damage_count;
	struct etw_fault first_damage;
};

static inline struct store_key store_key_of(const GUID *guid, enum store_kind kind, uint32_t id,
					    uint8_t version)
{
	struct store_key key;

	memcpy(key.guid, guid, sizeof(key.guid));
	key.event = (uint64_t)kind << 32 | (uint64_t)id << 8 | version;
	return key;
}

static inline uint64_t store_key_hash(const struct etw_schema_store *store,
				      const struct store_key *key)
{
	uint64_t hash = etw_hash_mix(store->seed, key->guid[0]);

	return etw_hash_mix(etw_hash_mix(hash, key->guid[1]), key->event);
}

static inline bool store_key_equal(const struct store_key *left, const struct store_key *right)
{
	return left->guid[0] == right->guid[0] && left->guid[1] == right->guid[1] &&
	       left->event == right->event;
}

/*
 * etw_store_is_open() - whether the registry may know better what an event looks like.
 *
 * What it has said so far may have come in with a definition that was read for another GUID.
 */
static inline bool etw_store_is_open(const struct stored_event *stored)
{
	return !stored || !stored->first || stored->first->origin <= ETW_SCHEMA_ORIGIN_INSTALLED;
}

/* etw_store_has_room() - whether an event may still add to the store. */
static inline bool etw_store_has_room(const struct etw_schema_store *store)
{
	return store->kept_bytes < STORE_KEPT_BYTES_MAX;
}

/* etw_store_charge() - counts what an event has added since the arena held @held_bytes. */
static inline void etw_store_charge(struct etw_schema_store *store, size_t held_bytes)
{
	store->kept_bytes += etw_arena_bytes(&store->arena) - held_bytes;
}

/* etw_store_find_event() - the event with this key as it was learnt, or NULL. */
struct stored_event *etw_store_find_event(const struct etw_schema_store *store,
					  const struct store_key *key);

/* etw_store_find_provider() - what is known of a provider, or NULL. */
struct stored_provider *etw_store_find_provider(const struct etw_schema_store *store,
						const GUID *guid);

/* etw_store_make_provider() - the same, added when it is new. Returns 0 or -ENOMEM. */
int etw_store_make_provider(struct etw_schema_store *store, const GUID *guid,
			    struct stored_provider **ret);

/*
 * etw_store_keep_definition() - takes in what a reader has built.
 *
 * @definition: in the arena of the store
 *
 * Manifest events (STORE_MANIFEST) and classes (STORE_CLASS) become known by their keys, the providers
 * with their names. What is known already stays, and is tried first where its origin is the higher one. Schemas of
 * other decoding sources are not looked up by key and are left to the caller.
 * Returns 0, or -ENOMEM; the answers of the store are then unchanged.
 */
int etw_store_keep_definition(struct etw_schema_store *store,
			      const struct etw_definition *definition,
			      enum etw_schema_origin origin);

/*
 * etw_store_find_class() - the schema of a classic event, in store_class.c.
 *
 * @is_open: as etw_store_is_open(); set in every case, as *why is
 */
const struct etw_schema *etw_store_find_class(struct etw_schema_store *store,
					      const struct store_key *key,
					      const EVENT_HEADER *header, bool *is_open,
					      enum etw_schema_miss *why);

/*
 * etw_store_share_maps() - maps fill gaps: those of a definition in fields that the trace brought, and the other way.
 *
 * @definition: in the arena of the store, taken in once
 *
 * A field that names a map and has none takes the one of its provider that has the name, now or when it becomes
 * known. Returns 0 or -ENOMEM, after which some fields may lack their maps.
 */
int etw_store_share_maps(struct etw_schema_store *store, const struct etw_definition *definition);

/*
 * etw_store_known_map() - a map of the table of known providers.
 *
 * @ret: in the arena; NULL: there is none of this name
 *
 * Returns 0 or -ENOMEM.
 */
int etw_store_known_map(struct etw_schema_store *store, const GUID *provider, const char *name,
			const struct etw_map **ret);

/* etw_store_keep_definition_of() - the same with the order within its origin. */
int etw_store_keep_definition_of(struct etw_schema_store *store,
				 const struct etw_definition *definition,
				 enum etw_schema_origin origin, uint32_t order);

/*
 * etw_store_keep_classes() - the same; classes also serve versions that nobody knows.
 *
 * Returns as etw_store_keep_definition().
 */
int etw_store_keep_classes(struct etw_schema_store *store, const struct etw_definition *definition,
			   enum etw_schema_origin origin, uint32_t order);

/*
 * etw_store_keep_providers() - what a definition says of its providers as a whole, without their events.
 *
 * Each has an entry already, so that nothing needs memory.
 */
void etw_store_keep_providers(struct etw_schema_store *store,
			      const struct etw_definition *definition,
			      enum etw_schema_origin origin, uint32_t order);

/*
 * etw_store_insert() - puts a schema among the layouts of its event, in store_choice.c.
 *
 * Higher origins come first, of one origin the richer layout (schema/layout.h), of equally rich ones the later,
 * but of those of the trace's metadata the first. Of WPP messages, the later one comes first. A schema that is in the
 * list already moves to where it belongs now.
 */
void etw_store_insert(struct stored_event *stored, struct etw_schema *schema,
		      enum etw_schema_origin origin, uint32_t order);

/* etw_store_remove() - takes a schema out of the layouts of its event. */
void etw_store_remove(struct stored_event *stored, struct etw_schema *schema);

/*
 * etw_store_has_place() - whether a layout that a trace brings is worth a place in the list.
 *
 * Makes one where the list is full, and takes out what the new one replaces.
 */
bool etw_store_has_place(struct stored_event *stored, const struct etw_schema *schema,
			 enum etw_schema_origin origin);

/* etw_store_key_of_schema() - false when the schema is of a kind that is never looked up by numbers. */
bool etw_store_key_of_schema(const struct etw_schema *schema, struct store_key *ret);

/*
 * etw_store_add_tmf() - etw_schema_store_add_tmf() with an origin; returns the same.
 *
 * @controls: the control GUIDs of the same program, in the arena of the store; NULL: not known
 */
int etw_store_add_tmf(struct etw_schema_store *store, struct etw_bytes text,
		      const struct etw_definition *controls, enum etw_schema_origin origin,
		      uint32_t order, struct etw_fault *reterr);

/*
 * etw_store_ask_registry() - asks the registry for a GUID, if it has not answered yet.
 *
 * Returns 1 when looking again makes sense; 0 when it does not; a shortage: then it is asked again.
 */
int etw_store_ask_registry(struct etw_schema_store *store, const GUID *guid);

/* etw_store_find_asked() - the note that the registry was asked for a GUID, or NULL. */
struct asked *etw_store_find_asked(const struct etw_schema_store *store, const GUID *guid);

/* etw_store_ask_again() - asks for what was asked for before. Returns 0; a shortage leaves the question open. */
int etw_store_ask_again(struct etw_schema_store *store, struct asked *asked);

/* etw_store_key_of_event() - what an event is looked up by; false when it carries its schema. */
bool etw_store_key_of_event(const EVENT_RECORD *record, struct store_key *ret,
			    enum store_kind *ret_kind);

/*
 * etw_store_next_class() - as etw_schema_store_next(), of a classic event, in store_class.c.
 */
const struct etw_schema *etw_store_next_class(struct etw_schema_store *store,
					      const struct store_key *key,
					      const EVENT_HEADER *header,
					      const struct etw_schema *after);

/*
 * etw_store_ask_known() - takes in what the table of known providers says of an event, in store_known.c.
 *
 * Returns 1 when there is something new; 0; -ENOMEM.
 */
int etw_store_ask_known(struct etw_schema_store *store, const struct store_key *key);

/* etw_store_has_known_provider() - whether the table has events of a provider. */
bool etw_store_has_known_provider(const struct etw_schema_store *store, const GUID *provider);

/* etw_store_known_provider() - all that the table says of a provider, kept. Returns 0; -ENOENT; -EBADMSG; -ENOMEM. */
int etw_store_known_provider(struct etw_schema_store *store, const GUID *guid);

/*
 * etw_store_next_known() - of the layouts of an event that are of the table, the one behind @after.
 *
 * @after: NULL: the first. Those of the store's build come first, then those of the nearest builds
 */
const struct etw_schema *etw_store_next_known(const struct etw_schema_store *store,
					      const struct stored_event *stored,
					      const struct etw_schema *after);

/* etw_store_first() - the layout of an event that is tried first; NULL: there is none. */
const struct etw_schema *etw_store_first(const struct etw_schema_store *store,
					 const struct stored_event *stored);

/* etw_store_forget_answers() - empties the cache. */
void etw_store_forget_answers(struct etw_schema_store *store);

/* etw_store_report() - counts damage and keeps the first reason. */
void etw_store_report(struct etw_schema_store *store, const struct etw_fault *fault);

#endif
