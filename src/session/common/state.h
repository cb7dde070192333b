/* SPDX-License-Identifier: MIT */
/*
 * What of a session outlives its host: one memfd that the keeper holds.
 *
 *	0            struct etw_state_head
 *	header_at    the file's header buffer
 *	sources_at   struct etw_state_source of each processor, and one more, of source 0; of source 1 ...
 *	history_at   of a buffering session: the buffers that it keeps
 *	outputs_at   struct etw_state_output, two records, the output buffer; the next at output_stride ...
 *	durables_at  struct etw_ring_durable of ring set 0: outputs of them; of ring set 1 ...
 *	providers_at struct etw_source_provider: what is enabled of providers that sources own
 *	places_at    struct etw_state_place of each place in a circular file
 *
 * An *output* is a processor, or the one of a session with one stream for all. Which of an output's two
 * records holds says one word: a record is written while the other one holds, then the word is flipped, so
 * that positions, fill and counts change together however a host dies. Native byte order; the keeper is
 * trusted, but a state of another version is refused.
 * Source: docs/design/recording.md "The session engine".
 */
#ifndef ETW_SESSION_COMMON_STATE_H
#define ETW_SESSION_COMMON_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/source.h"
#include "ring/reader.h"
#include "session/common/config.h"
#include "wire/message.h"

#define ETW_STATE_MAGIC     UINT32_C(0x53455345) /* "ESES" */
#define ETW_STATE_VERSION   21
#define ETW_STATE_SETS      64  /* ring sets of a session at once, retired ones included */
#define ETW_STATE_PAGES     128 /* control pages of replaced ring sets */
#define ETW_STATE_USERS     64 /* whose claims are kept apart; the rest together in one place more */
#define ETW_STATE_CONSUMERS 8
#define ETW_STATE_PROVIDERS (ETW_SOURCE_PROVIDERS_MAX + 1) /* a change takes a free place first */

enum etw_state_set_status {
	ETW_STATE_SET_FREE = 0,
	ETW_STATE_SET_LIVE = 1,
	ETW_STATE_SET_RETIRED = 2, /* nobody reserves any more; processes may still map it */
	ETW_STATE_SET_CLOSING = 3, /* read to its end; closed_next is valid */
};

/* A counter that writers raise, and what of it is disregarded: believed is the difference (session/common/claims.h). */
struct etw_state_claim {
	uint64_t seen;
	uint64_t offset;
	uint64_t since_ns; /* CLOCK_MONOTONIC, when it last changed */
};

/* Of one ring. */
struct etw_state_claims {
	struct etw_state_claim no_buffer, too_large;
	struct etw_state_claim
		filtered;   /* no loss: judged when somebody asks, and when the set is closed */
	uint64_t full_seen; /* see etw_ring_reader_was_full() */
	/* While the set is being closed: those of the ring's processor, with what this one claims. */
	uint64_t closed_no_buffer_next, closed_too_large_next;
};

/* What a user's processes claimed through rings and pages that are gone; what of it could not be. */
struct etw_state_user {
	uint32_t uid;
	uint32_t is_used;
	uint32_t has_disregarded, is_told; /* is_told: a complaint said so */
	uint64_t no_buffer, too_large, replaced;
	uint64_t filtered;
	uint64_t disregarded;
};

/* One ring set's place. */
struct etw_state_set {
	uint32_t id; /* as processes know it; 0: none yet */
	uint32_t uid;
	uint32_t status; /* enum etw_state_set_status; atomic */
	uint32_t user;   /* whose it is: a place in `users` */
	uint64_t closed_no_buffer_next, closed_too_large_next; /* the user's, with this set's */
	uint64_t closed_filtered_next;
};

enum etw_state_page_status {
	ETW_STATE_PAGE_FREE = 0,
	ETW_STATE_PAGE_KEPT = 1,
	ETW_STATE_PAGE_CLOSING = 2, /* closed_next is valid */
};

/* A ring set that was replaced, closed by now or not, whose control page counts on. */
struct etw_state_page {
	uint32_t set_id; /* 0: free */
	uint32_t status; /* enum etw_state_page_status; atomic */
	uint32_t user;   /* a place in `users` */
	uint32_t uid;    /* the set's */
	struct etw_state_claim refused;
	uint64_t closed_next; /* the user's `replaced`, with this page's */
};

enum etw_state_consumer_status {
	ETW_STATE_CONSUMER_FREE = 0,
	ETW_STATE_CONSUMER_LIVE = 1,    /* missed_next is valid */
	ETW_STATE_CONSUMER_LEAVING = 2, /* unread_next, too */
};

/*
 * A place for a real-time consumer. How many slots of its delivery memory are filled is the sum of `written`
 * over the outputs' records, less what it was when the consumer came.
 */
struct etw_state_consumer {
	uint32_t status; /* enum etw_state_consumer_status; atomic; all else is written before */
	uint32_t slot_count;
	uint64_t consumer;                 /* its own number */
	uint64_t written_base, slots_base; /* of the sums, when it came */
	uint64_t pieces_base; /* handed out before what was for it; free: before it left */
	uint64_t pieces_was, events_was; /* handed out when it came */
	uint64_t flagged;                /* buffers that it lost, as it was last told by a flag */
	uint64_t awaited_until_ns;       /* it was a dead host's; CLOCK_MONOTONIC; 0: it is here */
	/* Buffers lost between two memories, by all consumers that were here; atomic, as the next two. */
	uint64_t missed, missed_next;
	/* What lay in memories of consumers that died, or that never came. */
	uint64_t unread, unread_next;
	uint32_t is_backlog; /* nobody's so far: what is kept for the next consumer */
	uint32_t reserved_pad;
};

/* A file of the session: what it is called, and how far it is written. */
struct etw_state_file {
	uint64_t next_offset; /* behind the last buffer that is known to be written */
	int32_t status;       /* why it ended before the session; 0 */
	uint32_t last_flags;  /* of the last buffer in it */
	uint32_t
		number; /* in its series, from 1; 0: it is in none, and its names are no patterns */
	uint32_t buffers;     /* in it, the header buffer too */
	uint64_t last_offset; /* of the last one of them; 0: of the header buffer */
	uint32_t uid;         /* of who named it: it is made and written with this user's rights */
	uint32_t mode; /* permissions that it is made with, as the controller said; 0: 0600 */
	/* What sessions before this one have lost, of a file to which it appends. */
	uint32_t events_lost_before, buffers_lost_before;
	char name[WIRE_MESSAGE_NAME_MAX +
		  1]; /* path, or pattern of a series (session/common/file_pattern.h) */
	char shown[WIRE_MESSAGE_NAME_MAX +
		   1]; /* the same as the controller gave it; empty: as it is */
};

/* A place for a buffer in a circular file: what is there. */
struct etw_state_place {
	uint32_t events;
	uint32_t output;
	uint64_t
		file; /* `files_left` + 1 when it was written; others are of a former file, or empty */
};

struct etw_state_head {
	uint32_t magic, version;
	uint64_t total_bytes;
	uint32_t session_id, uid;
	uint32_t output_count, cpu_count;
	uint32_t buffer_bytes;
	uint32_t record_bytes; /* with the marks behind it */
	uint64_t header_at, sources_at, history_at, durables_at, providers_at, places_at,
		outputs_at, output_stride;
	uint32_t sources_opened;  /* bits of sources that were open: they may have something yet */
	uint32_t has_providers;   /* memory for their places was reserved */
	uint64_t provider_serial; /* of the place that was written last */
	uint64_t provider_serials[ETW_STATE_PROVIDERS]; /* atomic; 0: the place is free */
	struct etw_session_plan plan;
	struct wire_session_config config;
	int64_t t0_raw, start_ft;
	uint64_t next_sequence; /* of sealed buffers, from 1 */
	int64_t last_flush_raw; /* time of the buffer sealed last */
	int64_t boot_ft;        /* as the first file's header has it */
	uint64_t hosts;         /* that have run this session */
	/*
	 * The session's file is files[files_left & 1]: the other one is filled in first, then that is counted, so that a
	 * host that dies has kept the one or gone on in the next, and nothing between (session/file/change.c).
	 */
	uint64_t files_left; /* atomic: how many files the session has left behind */
	uint64_t
		header_of; /* what `files_left` is for the header buffer; UINT64_MAX: it is being written */
	struct etw_state_file files[2];
	/* Real time. */
	uint64_t batch; /* closed last, from 1 */
	struct etw_state_consumer consumers[ETW_STATE_CONSUMERS];
	struct etw_state_set sets[ETW_STATE_SETS];
	struct etw_state_page pages[ETW_STATE_PAGES];
	struct etw_state_user
		users[ETW_STATE_USERS + 1]; /* written holding the lock of the session */
};

/* What a source lost on a processor; the last one: what no processor is known of. */
struct etw_state_source {
	struct etw_source_loss
		former; /* by those of former hosts, as far as the present one does not count it, too */
	struct etw_source_loss now; /* by the present one; each number atomic, like the next one */
	uint64_t lost;              /* events of both */
};

/* How far a ring was read; valid for the set of this id only. */
struct etw_state_position {
	uint32_t set_id;
	uint32_t offset;
	uint64_t slots;
};

/* Cumulative over the session's life. */
struct etw_state_counts {
	uint64_t events;   /* taken into output buffers */
	uint64_t gaps;     /* lost in gaps */
	uint64_t rejected; /* refused by the check */
	/* Of these, such as uids made that are not trusted. */
	uint64_t others_gaps, others_rejected;
	uint64_t raised;      /* times that ran back by an instant */
	uint64_t too_large;   /* a source's events that no buffer can hold */
	uint64_t file_events; /* taken, but not in the file */
	uint64_t file_buffers;
	uint64_t notes;   /* of the events, such as the host itself wrote */
	uint64_t buffers; /* sealed: written, or lost to the file */
	/* Of what was in the file, such as later buffers took the place of: circular files are made to lose it. */
	uint64_t overwritten_events, overwritten_buffers;
	/* Of real time. A piece is a buffer as consumers get it: what a buffer got since the last one. */
	uint64_t pieces,
		piece_events; /* that went by, notes left out: to consumers, or to nobody */
	/* Pieces for which a consumer had no room, and the events in them; notes are nobody's loss. */
	uint64_t slow_pieces, slow_events;
	/* Pieces that came while there was no consumer, and for which there was no room to keep them for one. */
	uint64_t unheard_pieces, unheard_events;
};

struct etw_state_record {
	uint32_t fill;          /* bytes of the output buffer in use, its header included */
	uint32_t delivered;     /* of these, the consumers' */
	uint32_t buffer_events; /* in it */
	uint32_t piece_events;  /* of these, behind `delivered`; notes too */
	uint32_t is_sealed;     /* has its number and place; being written */
	uint32_t buffer_notes;  /* of its events, such as the host itself wrote */
	/*
	 * What notes have said of the kernel's events: which are not collected, how many kinds have no stacks, which options do
	 * not hold, and 1 where stacks were followed by tables of unwinding.
	 */
	uint32_t noted_missing[WIRE_GROUP_MASKS_WORDS], noted_stacks, noted_options, noted_tables;
	uint32_t piece_notes; /* of the notes, those behind `delivered` */
	uint32_t file_place;  /* of the sealed buffer: how many are before it in the file */
	/*
	 * Whose buffer was in the place of the sealed one (of a circular file): output + 1, or 0, and what is overwritten of
	 * that output's then. Assigned to its counts, so that it may be done twice.
	 */
	uint32_t replaced_output;
	uint64_t replaced_events, replaced_buffers;
	uint64_t sequence, offset; /* of the sealed buffer; offset 0: none in the file */
	int64_t last_time_raw;     /* of the last event taken, or T0 */
	uint64_t closed_loss;      /* what the writers of closed rings had counted here */
	uint64_t flagged_loss;     /* events lost here when a buffer last said so */
	uint64_t told_loss;        /* the same, of what consumers get */
	struct etw_state_counts counts;
	/* Pieces put into each consumer's memory, and slots that were used up for them, ever. */
	uint64_t written[ETW_STATE_CONSUMERS], slots[ETW_STATE_CONSUMERS];
	struct etw_state_position positions[ETW_STATE_SETS];
	/* Of source 0, of one processor, or of all with one output; then those of source 1 ... */
	struct etw_source_mark marks[];
};

/* What of an output is in files that the session has left behind. */
struct etw_state_filed {
	uint64_t events, buffers;
};

struct etw_state_output {
	uint64_t holding; /* atomic: commits so far; its low bit is the record that holds */
	/* What is believed of the claims of rings that are closed; the ring sets' lock. */
	uint64_t closed_no_buffer, closed_too_large;
	/* By the low bit of what `files_left` is when they count. */
	struct etw_state_filed filed[2];
	uint64_t reserved_pad[1];
};

/* A mapped state. */
struct etw_state {
	int fd; /* owned; -1: none */
	uint8_t *memory;
	struct etw_state_head *head; /* in it */
};

/* etw_state_memory() - bytes that the state of such a session takes from its start; what is sparse comes later. */
uint64_t etw_state_memory(const struct etw_session_plan *plan);

/*
 * etw_state_create() - a new session's state: laid out, its first records holding empty buffers.
 *
 * @config: borrowed, already rounded (session/common/config.h)
 *
 * Returns 0; -ENOMEM or the errno of memfd_create, fallocate, mmap.
 */
int etw_state_create(uint32_t session_id, uint32_t uid, const struct wire_session_config *config,
		     const struct etw_session_plan *plan, int64_t t0_raw, struct etw_state *ret);

/*
 * etw_state_adopt() - maps the state that another host left.
 *
 * @fd: taken in every case
 *
 * Returns 0; -EPROTO when it is no state of this version; the errno of fstat, mmap.
 */
int etw_state_adopt(int fd, struct etw_state *ret);

/* etw_state_done() - unmaps and closes; harmless on one that is done. */
void etw_state_done(struct etw_state *state);

/* etw_state_reserve_set() - memory for the durables of a set's place, zeroed. Returns 0 or -ENOMEM. */
int etw_state_reserve_set(struct etw_state *state, uint32_t slot);

/*
 * etw_state_reserve_place() - memory for what is noted of a place in a circular file.
 *
 * @index: from 0; places are reserved in order
 *
 * Returns 0 or -ENOMEM.
 */
int etw_state_reserve_place(struct etw_state *state, uint64_t index);

/* etw_state_place() - of a place that was reserved. */
struct etw_state_place *etw_state_place(const struct etw_state *state, uint64_t index);

/*
 * etw_state_source() - what a source lost.
 *
 * @source: below ETW_SOURCES_MAX
 * @cpu:    below cpu_count, or equal: what no processor is known of
 */
struct etw_state_source *etw_state_source(const struct etw_state *state, uint32_t source,
					  uint32_t cpu);

/* etw_state_source_loss() - what all sources lost on a processor (as above) of one cause and class. Any thread. */
uint64_t etw_state_source_loss(const struct etw_state *state, uint32_t cpu, unsigned cause,
			       unsigned class_number);

/* etw_state_mark() - where the record has the mark of a source's processor. */
uint32_t etw_state_mark(const struct etw_state *state, uint32_t source, uint32_t cpu);

/* etw_state_put_provider() - what is wanted of a provider from now on. Returns 0; -ENOSPC; -ENOMEM. Owner thread. */
int etw_state_put_provider(struct etw_state *state, const struct etw_source_provider *wanted);

/* etw_state_remove_provider() - nothing is wanted of it any more. Owner thread. */
void etw_state_remove_provider(struct etw_state *state, const GUID *guid);

/* etw_state_provider() - what is in place @index below ETW_STATE_PROVIDERS; NULL: it is free. Owner thread. */
const struct etw_source_provider *etw_state_provider(const struct etw_state *state, uint32_t index);

/*
 * etw_state_source_lost() - events that sources lost and that an output would have had: of its processor, and with
 * output 0 what no processor is known of. Any thread.
 */
uint64_t etw_state_source_lost(const struct etw_state *state, uint32_t output);

/* etw_state_durable() - the reader's memory for one ring. */
struct etw_ring_durable *etw_state_durable(const struct etw_state *state, uint32_t slot,
					   uint32_t output);

/* etw_state_claims() - what is believed of its counters. */
struct etw_state_claims *etw_state_claims(const struct etw_state *state, uint32_t slot,
					  uint32_t output);

/* etw_state_output() - what of an output is in no record. */
struct etw_state_output *etw_state_output(const struct etw_state *state, uint32_t output);

/* etw_state_holding() - the record that holds. Owner thread. */
const struct etw_state_record *etw_state_holding(const struct etw_state *state, uint32_t output);

/* etw_state_counts() - the numbers of the record that holds, all of one moment. Any thread. */
void etw_state_counts(const struct etw_state *state, uint32_t output, struct etw_state_counts *ret);

/*
 * etw_state_commit() - makes @record the one that holds: all of it, or nothing, is what the next host
 * sees. Order: everything written before is seen by who sees the flip.
 */
void etw_state_commit(struct etw_state *state, uint32_t output,
		      const struct etw_state_record *record);

/* etw_state_file() - the file that the session has now. */
static inline struct etw_state_file *etw_state_file(const struct etw_state *state)
{
	/* Pairs with etw_state_publish_file(). */
	return &state->head->files[load_acquire(&state->head->files_left) & 1];
}

/* etw_state_next_file() - where the next one is to be filled in. Owner thread. */
static inline struct etw_state_file *etw_state_next_file(const struct etw_state *state)
{
	return &state->head->files[~load_relaxed(&state->head->files_left) & 1];
}

/* etw_state_publish_file() - what was filled in is the session's file from now on. */
void etw_state_publish_file(struct etw_state *state);

/* etw_state_filed() - of the files that were left behind; @is_next: once the present one is, too. */
struct etw_state_filed *etw_state_filed(const struct etw_state *state, uint32_t output,
					bool is_next);

/* etw_state_buffer() - an output's buffer. */
uint8_t *etw_state_buffer(const struct etw_state *state, uint32_t output);

/*
 * etw_state_history() - the place of the buffer with a sequence number among those that a buffering session keeps: that
 * of the oldest one, once all places are taken.
 */
static inline uint8_t *etw_state_history(const struct etw_state *state, uint64_t sequence)
{
	const struct etw_state_head *head = state->head;
	uint64_t place = (sequence - 1) % head->plan.history_buffers;

	return state->memory + head->history_at + place * head->buffer_bytes;
}

/* etw_state_header_buffer() - the file's header buffer. */
static inline uint8_t *etw_state_header_buffer(const struct etw_state *state)
{
	return state->memory + state->head->header_at;
}

#endif
