/* SPDX-License-Identifier: MIT */
/*
 * The inside of a store: store.c (finding), store_class.c (classic events), store_learn.c (what traces and manifests
 * teach), store_wpp.c, store_binary.c, and store_registry.c (what is asked last or taken back).
 */
#ifndef ETW_SCHEMA_STORE_INTERNAL_H
#define ETW_SCHEMA_STORE_INTERNAL_H

#include <string.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/table.h"
#include "schema/manifest/embedded.h"
#include "schema/provider_schema.h"
#include "schema/store/store.h"
#include "schema/store/store_registry.h"

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

/* Who says what an event looks like; the higher one is believed. */
enum store_rank {
	STORE_RANK_REGISTRY, /* installed on this machine */
	STORE_RANK_LOAN,     /* lent by the user, may go again */
	STORE_RANK_USER,     /* a manifest that the user named */
	STORE_RANK_EMBEDDED, /* a manifest in the trace */
	STORE_RANK_TRACE,    /* the recording machine's own TDH */
};

struct store_key {
	uint64_t guid[2];
	uint64_t event; /* enum store_kind and the numbers that belong to it */
};

struct known_event {
	struct store_key key;
	enum store_rank rank;
	uint32_t order;            /* within REGISTRY and LOAN: the higher one is believed */
	struct etw_schema *schema; /* NULL: it was taken back */
};

/* A name that outlives the loan which gave it. */
struct lent_name {
	struct lent_name *next;
	const char *name;
};

struct known_provider {
	GUID guid;
	const char *name;                         /* NULL: unknown */
	struct lent_name *lent_names;             /* all that loans have given, each once */
	bool has_events;                          /* manifest events, of whatever source */
	const struct etw_provider_schema *schema; /* NULL: no definition names it */
	enum store_rank schema_rank;
	uint32_t schema_order;
	struct known_provider *next; /* in the order in which they became known */
};

/* A field whose map had not arrived when its event did. */
struct waiting_field {
	struct waiting_field *next;
	struct etw_field *field;
};

struct known_map {
	GUID provider;
	const char *name;
	const struct etw_map *map; /* NULL: not arrived yet */
	struct waiting_field *waiting;
};

/* TraceLogging metadata seen before, good or bad. */
struct known_blob {
	GUID provider;
	EVENT_DESCRIPTOR descriptor;
	struct etw_bytes metadata;       /* own copy */
	const struct etw_schema *schema; /* NULL: unreadable */
};

/* A built-in class with an index of this store. */
struct known_class {
	const struct etw_schema *built_in;
	struct etw_schema schema;
};

/* An embedded manifest seen before: EventSource writes the same one again and again. */
struct known_text {
	uint64_t hashes[2];
	size_t bytes;
};

struct cached_event {
	struct store_key key; /* event 0: free */
	const struct etw_schema *schema;
	enum etw_schema_miss why;
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
	const struct known_blob *cached_blobs[STORE_CACHE_SLOTS]; /* NULL: free */
	struct etw_arena arena;
	struct etw_table events;    /* struct known_event */
	struct etw_table providers; /* struct known_provider */
	struct known_provider *first_provider;
	struct known_provider *last_provider;
	struct etw_table maps;                      /* struct known_map */
	struct etw_table blobs;                     /* struct known_blob */
	struct etw_table classes;                   /* struct known_class */
	struct etw_table texts;                     /* struct known_text */
	struct etw_table asked;                     /* struct asked */
	const struct etw_schema_registry *registry; /* with its context, owned; NULL: none */
	uint32_t round;                             /* how often the registry was new; from 1 */
	struct etw_schema_registered *registered;
	struct etw_schema_loan *loans; /* borrowed */
	uint32_t loan_count;           /* ever */
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
static inline bool etw_store_is_open(const struct known_event *known)
{
	return !known || !known->schema || known->rank == STORE_RANK_REGISTRY;
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

/* etw_store_find_known() - the event with this key as it was learnt, or NULL. */
struct known_event *etw_store_find_known(const struct etw_schema_store *store,
					 const struct store_key *key);

/* etw_store_find_provider() - what is known of a provider, or NULL. */
struct known_provider *etw_store_find_provider(const struct etw_schema_store *store,
					       const GUID *guid);

/* etw_store_make_provider() - the same, added when it is new. Returns 0 or -ENOMEM. */
int etw_store_make_provider(struct etw_schema_store *store, const GUID *guid,
			    struct known_provider **ret);

/*
 * etw_store_keep_definition() - takes in what a reader has built.
 *
 * @definition: in the arena of the store
 *
 * Manifest events (STORE_MANIFEST) and classes (STORE_CLASS) become known by their keys, the providers
 * with their names. What is known already stays where its rank is higher. Schemas of other decoding
 * sources are not looked up by key and are left to the caller.
 * Returns 0, or -ENOMEM; the answers of the store are then unchanged.
 */
int etw_store_keep_definition(struct etw_schema_store *store,
			      const struct etw_definition *definition, enum store_rank rank);

/*
 * etw_store_find_class() - the schema of a classic event, in store_class.c.
 *
 * @is_open: as etw_store_is_open(); set in every case, as *why is
 */
const struct etw_schema *etw_store_find_class(struct etw_schema_store *store,
					      const struct store_key *key,
					      const EVENT_HEADER *header, bool *is_open,
					      enum etw_schema_miss *why);

/* etw_store_keep_definition_of() - the same with the order within the ranks that have one. */
int etw_store_keep_definition_of(struct etw_schema_store *store,
				 const struct etw_definition *definition, enum store_rank rank,
				 uint32_t order);

/*
 * etw_store_keep_classes() - the same; classes also serve versions that nobody knows.
 *
 * Returns as etw_store_keep_definition().
 */
int etw_store_keep_classes(struct etw_schema_store *store, const struct etw_definition *definition,
			   enum store_rank rank, uint32_t order);

/* etw_store_yields() - whether what is known of an event gives way to a schema of this rank and order. */
bool etw_store_yields(const struct known_event *known, enum store_rank rank, uint32_t order);

/* etw_store_key_of_schema() - false when the schema is of a kind that is never looked up by numbers. */
bool etw_store_key_of_schema(const struct etw_schema *schema, struct store_key *ret);

/*
 * etw_store_add_tmf() - etw_schema_store_add_tmf() with a rank; returns the same.
 *
 * @controls: the control GUIDs of the same program, in the arena of the store; NULL: not known
 */
int etw_store_add_tmf(struct etw_schema_store *store, struct etw_bytes text,
		      const struct etw_definition *controls, enum store_rank rank, uint32_t order,
		      struct etw_fault *reterr);

/*
 * etw_store_ask_registry() - asks the registry for a GUID, if it has not answered yet.
 *
 * Returns 1 when looking again makes sense; 0 when it does not; a shortage: then it is asked again.
 */
int etw_store_ask_registry(struct etw_schema_store *store, const GUID *guid);

/* etw_store_forget_answers() - empties the cache. */
void etw_store_forget_answers(struct etw_schema_store *store);

/* etw_store_report() - counts damage and keeps the first reason. */
void etw_store_report(struct etw_schema_store *store, const struct etw_fault *fault);

#endif
