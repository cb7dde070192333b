/* SPDX-License-Identifier: MIT */
/*
 * What uids may use of the host, in one place: an account for each uid that uses something, with a limit for
 * each resource. One account with subordinate ids has 65,536 uids, so that all uids but the host's own and root
 * share a limit too, which leaves root room in every table.
 *
 * Turns: how many messages of whom are read in a round of the loop. Who has had its turn is not refused; its
 * socket is read in the next round.
 *
 * Nothing here talks to anybody. Context: owner thread (the host's loop).
 */
#ifndef ETW_DAEMON_BUDGET_H
#define ETW_DAEMON_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ETWD_BUDGET_BUCKETS 1024

/* Of everybody together; what one uid and all that are not trusted may use is a part of these. */
#define ETWD_PEERS_MAX         4096 /* fewer when the host may have fewer descriptors */
#define ETWD_REGISTRATIONS_MAX 262144
#define ETWD_REGISTRATION_BYTES \
	512 /* that one costs at most, with a provider and a group of its own */
#define ETWD_GRANTS_MAX       65536
#define ETWD_SESSIONS_DEFAULT 64
#define ETWD_SESSIONS_MAX     256 /* as far as the host may be told to go; Windows ends there too */
#define ETWD_ENABLES_MAX      8192              /* over all sessions */
#define ETWD_FILTER_BYTES_MAX (4 * 1024 * 1024) /* over all enables */

/* Messages read in a round of the loop, of those who are not trusted: of one uid, and of all. */
#define ETWD_TURN_UID_MAX    32
#define ETWD_TURN_OTHERS_MAX 128
/*
 * After this time the round of those who are not trusted is over, behind at least one message: one that has a
 * session make rings costs a thousand times another's.
 */
#define ETWD_TURN_NS UINT64_C(5000000)

/* Lines about those who are not trusted: one of a uid in this time, and so many of all of them. */
#define ETWD_TELL_MS        1000
#define ETWD_TELL_LINES_MAX 20

enum etwd_resource {
	ETWD_CONNECTIONS,
	ETWD_REGISTRATIONS,
	ETWD_GRANTS,
	ETWD_SESSIONS,
	ETWD_ENABLES,
	ETWD_FILTER_BYTES,   /* of enables */
	ETWD_DELIVERY_BYTES, /* memory of real-time consumers */
	ETWD_QUEUED_BYTES,   /* messages that peers have not read */
	ETWD_QUEUED_FDS,     /* descriptors with them */
	ETWD_IMAGES,         /* bytes of what processes announced of their code */
	ETWD_RESOURCES,
};

struct etwd_limit {
	uint64_t all;    /* everybody together */
	uint64_t others; /* all uids together that are not trusted */
	uint64_t each;   /* one uid that is not trusted */
};

/* One uid. There while it uses something, and then until its lines may be told again. */
struct etwd_account {
	struct etwd_account *next;
	uid_t uid;
	uint64_t used[ETWD_RESOURCES];
	uint64_t round; /* the last one with a turn */
	unsigned turn;  /* messages read in it */
	uint64_t tell_again_ms;
};

struct etwd_budget {
	struct etwd_limit limits[ETWD_RESOURCES];
	uint64_t used[ETWD_RESOURCES], used_by_others[ETWD_RESOURCES];
	uid_t owner; /* whose host it is: trusted, as root is */
	uint64_t round;
	unsigned turn;        /* messages of others read in this round */
	uint64_t turn_end_ns; /* of this round, once there was one */
	uint64_t tell_again_ms;
	unsigned told; /* lines before then */
	size_t account_count;
	struct etwd_account *buckets[ETWD_BUDGET_BUCKETS];
};

/*
 * etwd_budget_init() - nothing is used.
 *
 * @owner: whose host it is
 * @files: descriptors that the host may have
 */
void etwd_budget_init(struct etwd_budget *budget, uid_t owner, uint64_t files);

/* etwd_budget_set_sessions() - another number of sessions than ETWD_SESSIONS_DEFAULT. */
void etwd_budget_set_sessions(struct etwd_budget *budget, uint32_t sessions);

/* etwd_budget_done() - frees the accounts. */
void etwd_budget_done(struct etwd_budget *budget);

/* etwd_budget_trusts() - root, and whose host it is: only the limits for everybody hold for them. */
bool etwd_budget_trusts(const struct etwd_budget *budget, uid_t uid);

/*
 * etwd_budget_take() - a uid uses so much more.
 *
 * @budget: NULL: nothing is limited
 *
 * Returns 0; -ETOOMANYREFS: the uid's limit; -EUSERS: that of all who are not trusted, or of everybody; -ENOMEM.
 * Nothing was taken on an error.
 */
int etwd_budget_take(struct etwd_budget *budget, uid_t uid, enum etwd_resource resource,
		     uint64_t amount);

/* etwd_budget_give() - a uid uses so much less, which it had taken. */
void etwd_budget_give(struct etwd_budget *budget, uid_t uid, enum etwd_resource resource,
		      uint64_t amount);

/* etwd_budget_used() - what a uid uses. */
uint64_t etwd_budget_used(const struct etwd_budget *budget, uid_t uid, enum etwd_resource resource);

/* etwd_budget_next_round() - everybody has a turn again. */
void etwd_budget_next_round(struct etwd_budget *budget);

/* etwd_budget_take_turn() - whether one message more of this uid, which has a connection, may be read now. */
bool etwd_budget_take_turn(struct etwd_budget *budget, uid_t uid, uint64_t now_ns);

/* etwd_budget_has_turns() - whether the round of those who are not trusted goes on. */
bool etwd_budget_has_turns(const struct etwd_budget *budget, uint64_t now_ns);

/* etwd_budget_may_tell() - whether a line may be logged now about what this uid does; of trusted ones, always. */
bool etwd_budget_may_tell(struct etwd_budget *budget, uid_t uid, uint64_t now_ms);

#endif
