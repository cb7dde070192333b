/* SPDX-License-Identifier: MIT */
/* See session/common/claims.h. */
#include "session/common/claims.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/time.h"
#include "session/common/notes.h"

#define OWNER   0
#define ROOT    1
#define SEVERAL UINT32_MAX /* the uid of the last place */
#define NOBODY \
	(ETW_STATE_USERS + 1) /* whose impossible claims are not counted: of what is no loss */
#define TEXT_MAX 160

static struct etw_state_user *user_at(const struct etw_session_sets *sets, uint32_t place)
{
	return &sets->context->state.head->users[place];
}

static bool has_rings(const struct etw_session_sets *sets, uint32_t user)
{
	const struct etw_state_head *head = sets->context->state.head;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		if (load_relaxed(&head->sets[i].status) != ETW_STATE_SET_FREE &&
		    head->sets[i].user == user)
			return true;
	}
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		if (head->pages[i].status != ETW_STATE_PAGE_FREE && head->pages[i].user == user)
			return true;
	}
	return false;
}

/* A place whose user never claimed anything, and has nothing to claim with, is another's. */
static bool is_free(const struct etw_session_sets *sets, uint32_t place)
{
	const struct etw_state_user *user = user_at(sets, place);

	if (!user->is_used)
		return true;
	return user->no_buffer == 0 && user->too_large == 0 && user->replaced == 0 &&
	       user->filtered == 0 && user->disregarded == 0 && !has_rings(sets, place);
}

uint32_t etw_claims_user(struct etw_session_sets *sets, uid_t uid)
{
	if (uid == sets->context->state.head->uid)
		return OWNER;
	if (uid == 0)
		return ROOT;
	for (uint32_t i = ROOT + 1; i < ETW_STATE_USERS; i++) {
		if (user_at(sets, i)->is_used && user_at(sets, i)->uid == uid)
			return i;
	}
	for (uint32_t i = ROOT + 1; i < ETW_STATE_USERS; i++) {
		if (!is_free(sets, i))
			continue;
		*user_at(sets, i) = (struct etw_state_user){.uid = uid, .is_used = 1};
		return i;
	}
	return ETW_STATE_USERS;
}

static uint32_t uid_of(const struct etw_session_sets *sets, uint32_t place)
{
	if (place == OWNER)
		return sets->context->state.head->uid;
	if (place == ROOT)
		return 0;
	return place == ETW_STATE_USERS ? SEVERAL : user_at(sets, place)->uid;
}

/* "user 1000" */
static void put_user(const struct etw_session_sets *sets, uint32_t place, char text[TEXT_MAX])
{
	if (place == ETW_STATE_USERS)
		(void)snprintf(text, TEXT_MAX, "further users");
	else
		(void)snprintf(text, TEXT_MAX, "user %u", (unsigned)uid_of(sets, place));
}

void etw_claims_begin(struct etw_session_sets *sets, const struct etw_session_set *set)
{
	uint64_t now_ns = etw_monotonic_ns();

	for (uint32_t i = 0; i < set->stream_count; i++) {
		struct etw_state_claims *claims = etw_state_claims(&sets->context->state, set->slot,
								   i);

		claims->no_buffer = (struct etw_state_claim){.since_ns = now_ns};
		claims->too_large = (struct etw_state_claim){.since_ns = now_ns};
		claims->filtered = (struct etw_state_claim){.since_ns = now_ns};
	}
}

/* Holding lock, as everything below that is static. The complaint is made when it is let go. */
static void disregard(struct etw_session_sets *sets, uint32_t place, uint64_t events)
{
	struct etw_state_user *user;

	if (place == NOBODY)
		return;
	user = user_at(sets, place);
	user->disregarded = etw_sum_saturated(user->disregarded, events);
	if (!user->has_disregarded)
		sets->has_new_disregarded = true;
	user->has_disregarded = 1;
}

/* What processors can have counted since the last look, and a few that counted while it was made. */
static uint64_t most_since(const struct etw_session_sets *sets, const struct etw_state_claim *claim,
			   uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns > claim->since_ns ? now_ns - claim->since_ns : 0;

	return elapsed_ns / ETW_CLAIM_NS * sets->context->plan.cpu_count + ETW_CLAIM_LATE;
}

/* @before_ns: before the counter was read. A host that dies in here has done one of the two, and lost no rise. */
static void judge(struct etw_session_sets *sets, struct etw_state_claim *claim, uint32_t place,
		  uint64_t raw, uint64_t before_ns, bool is_possible)
{
	uint64_t rise = raw - claim->seen;

	if (raw < claim->seen) {
		disregard(sets, place, 1);
		claim->offset += rise;
	} else if (!is_possible || rise > most_since(sets, claim, etw_monotonic_ns())) {
		disregard(sets, place, rise);
		claim->offset += rise;
	}
	store_relaxed(&claim->seen, raw); /* looked at without the lock, too */
	claim->since_ns = before_ns;
}

/* Whether the ring can have refused so many events for want of a buffer. *@full_seen is of the state. */
static bool can_have_refused(struct etw_session_stream *stream, uint64_t raw,
			     const struct etw_state_claim *claim, uint64_t *full_seen)
{
	if (etw_ring_reader_was_full(stream->reader, full_seen)) {
		stream->late = ETW_CLAIM_LATE;
		return true;
	}
	if (raw < claim->seen || raw - claim->seen > stream->late)
		return false;
	stream->late -= (uint32_t)(raw - claim->seen);
	return true;
}

static void look_at_ring(struct etw_session_sets *sets, struct etw_session_stream *stream)
{
	const struct wire_ring *ring = etw_ring_reader_head(stream->reader);
	uint32_t place = sets->context->state.head->sets[stream->set->slot].user;
	struct etw_state_claims *claims = stream->claims;
	uint64_t before_ns, raw, full_seen = claims->full_seen;

	/* Its memory is given back, and its counters fall to nothing. */
	if (load_relaxed(&sets->context->state.head->sets[stream->set->slot].status) ==
	    ETW_STATE_SET_CLOSING)
		return;
	if (load_relaxed(&ring->lost_no_buffer) == claims->no_buffer.seen &&
	    load_relaxed(&ring->lost_too_large) == claims->too_large.seen)
		return;
	before_ns = etw_monotonic_ns();
	raw = load_acquire(&ring->lost_no_buffer);
	if (raw != claims->no_buffer.seen)
		judge(sets, &claims->no_buffer, place, raw, before_ns,
		      can_have_refused(stream, raw, &claims->no_buffer, &full_seen));
	/* Only now: the next host must not miss it, should this one have died before it judged. */
	store_release(&claims->full_seen, full_seen);
	raw = load_acquire(&ring->lost_too_large);
	if (raw != claims->too_large.seen)
		judge(sets, &claims->too_large, place, raw, before_ns,
		      /* is_possible= */ true);
}

void etw_claims_look_at_filtered(struct etw_session_sets *sets, const struct etw_session_set *set)
{
	/* As in look_at_ring(). */
	if (load_relaxed(&sets->context->state.head->sets[set->slot].status) ==
	    ETW_STATE_SET_CLOSING)
		return;
	for (uint32_t i = 0; i < set->stream_count; i++) {
		const struct wire_ring *ring = etw_ring_reader_head(set->streams[i].reader);
		struct etw_state_claim *claim = &set->streams[i].claims->filtered;
		uint64_t before_ns = etw_monotonic_ns();
		uint64_t raw = load_acquire(&ring->filtered);

		if (raw != claim->seen)
			judge(sets, claim, NOBODY, raw, before_ns, /* is_possible= */ true);
	}
}

/* Says once of a user that it claims what cannot be. Not holding `lock`. */
static void complain(struct etw_session_sets *sets)
{
	for (uint32_t i = 0; i <= ETW_STATE_USERS; i++) {
		struct etw_state_user *user = user_at(sets, i);
		char who[TEXT_MAX], text[TEXT_MAX + 64];
		bool is_new;

		pthread_mutex_lock(&sets->lock);
		is_new = user->has_disregarded && !user->is_told;
		user->is_told |= user->has_disregarded;
		pthread_mutex_unlock(&sets->lock);
		if (!is_new)
			continue;
		put_user(sets, i, who);
		(void)snprintf(text, sizeof(text), "%s claims lost events that cannot have been",
			       who);
		etw_context_complain(sets->context, text, 0, NULL);
	}
}

/* Gives up `lock`; a complaint is made without it. */
static void unlock_and_complain(struct etw_session_sets *sets)
{
	bool has_new_disregarded = sets->has_new_disregarded;

	sets->has_new_disregarded = false;
	pthread_mutex_unlock(&sets->lock);
	if (UNLIKELY(has_new_disregarded))
		complain(sets);
}

void etw_claims_look(struct etw_session_sets *sets, struct etw_session_stream *stream)
{
	const struct etw_state_claims *claims = stream->claims;

	if (LIKELY((stream->counts.lost_no_buffer | stream->counts.lost_too_large |
		    load_relaxed(&claims->no_buffer.seen) |
		    load_relaxed(&claims->too_large.seen)) == 0))
		return;
	pthread_mutex_lock(&sets->lock);
	look_at_ring(sets, stream);
	stream->counts.lost_no_buffer = etw_claim_believed(&claims->no_buffer);
	stream->counts.lost_too_large = etw_claim_believed(&claims->too_large);
	unlock_and_complain(sets);
}

uint64_t etw_claims_page(struct etw_session_sets *sets, uint32_t place)
{
	struct etw_state_page *durable = &sets->context->state.head->pages[place];
	struct etw_state_claim *claim = &durable->refused;
	uint64_t before_ns, raw;

	if (etw_session_sets_page_count(sets, place, claim->seen) == claim->seen)
		return etw_claim_believed(claim);
	before_ns = etw_monotonic_ns();
	raw = etw_session_sets_page_count(sets, place, claim->seen);
	if (raw != claim->seen)
		judge(sets, claim, durable->user, raw, before_ns, /* is_possible= */ true);
	return etw_claim_believed(claim);
}

/* What each user claims: of rings that are gone, and of those that are there. */
static void gather(struct etw_session_sets *sets, struct etw_state_user users[ETW_STATE_USERS + 1])
{
	const struct etw_state_head *head = sets->context->state.head;

	/* The looks first: they may add to what is disregarded. */
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		for (uint32_t j = 0; sets->table[i] && j < sets->table[i]->stream_count; j++)
			look_at_ring(sets, &sets->table[i]->streams[j]);
	}
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++)
		(void)etw_claims_page(sets, i);
	memcpy(users, head->users, sizeof(head->users));
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		struct etw_state_user *user = &users[head->sets[i].user];

		for (uint32_t j = 0; sets->table[i] && j < sets->table[i]->stream_count; j++) {
			const struct etw_state_claims *claims = sets->table[i]->streams[j].claims;

			user->no_buffer = etw_sum_saturated(user->no_buffer,
							    etw_claim_believed(&claims->no_buffer));
			user->too_large = etw_sum_saturated(user->too_large,
							    etw_claim_believed(&claims->too_large));
		}
	}
	for (uint32_t i = 0; i < ETW_STATE_PAGES; i++) {
		struct etw_state_user *user = &users[head->pages[i].user];

		user->replaced = etw_sum_saturated(user->replaced,
						   etw_claim_believed(&head->pages[i].refused));
	}
}

static uint64_t sum_of(const struct etw_state_user *user)
{
	return etw_sum_saturated(etw_sum_saturated(user->no_buffer, user->too_large),
				 user->replaced);
}

/* The largest first, as many as there is room for. */
static void add_claim(struct wire_session_loss *loss, const struct wire_claim *claim)
{
	struct wire_claim next = *claim;

	for (uint32_t i = 0; i < WIRE_CLAIMS_MAX; i++) {
		struct wire_claim *at = &loss->claims[i];
		bool is_empty = at->events == 0 && at->disregarded == 0;

		if (!is_empty && at->events >= next.events)
			continue;

		struct wire_claim moved = *at;

		*at = next;
		next = moved;
		if (is_empty)
			return;
	}
}

static void add_user(struct etw_session_sets *sets, uint32_t place,
		     const struct etw_state_user *user, struct wire_session_loss *loss)
{
	uint64_t events = sum_of(user);
	struct wire_claim claim = {uid_of(sets, place), events, user->disregarded};

	loss->disregarded = etw_sum_saturated(loss->disregarded, user->disregarded);
	if (place <= ROOT) {
		loss->no_buffer = etw_sum_saturated(loss->no_buffer, user->no_buffer);
		loss->too_large = etw_sum_saturated(loss->too_large, user->too_large);
		loss->replaced = etw_sum_saturated(loss->replaced, user->replaced);
		return;
	}
	if (events == 0 && user->disregarded == 0)
		return;
	loss->others = etw_sum_saturated(loss->others, events);
	loss->others_counted += events < ETW_CLAIM_COUNTED_MAX ? events : ETW_CLAIM_COUNTED_MAX;
	add_claim(loss, &claim);
}

void etw_claims_sum(struct etw_session_sets *sets, struct wire_session_loss *loss)
{
	struct etw_state_user users[ETW_STATE_USERS + 1];

	pthread_mutex_lock(&sets->lock);
	gather(sets, users);
	for (uint32_t i = 0; i <= ETW_STATE_USERS; i++)
		add_user(sets, i, &users[i], loss);
	unlock_and_complain(sets);
}

void etw_claims_filtered(struct etw_session_sets *sets, uint64_t *ret_own, uint64_t *ret_others)
{
	const struct etw_state_head *head = sets->context->state.head;
	uint64_t own = 0, others = 0;

	pthread_mutex_lock(&sets->lock);
	for (uint32_t i = 0; i <= ETW_STATE_USERS; i++) {
		uint64_t *sum = i <= ROOT ? &own : &others;

		*sum = etw_sum_saturated(*sum, head->users[i].filtered);
	}
	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		uint64_t *sum = head->sets[i].user <= ROOT ? &own : &others;

		if (!sets->table[i])
			continue;
		etw_claims_look_at_filtered(sets, sets->table[i]);
		for (uint32_t j = 0; j < sets->table[i]->stream_count; j++)
			*sum = etw_sum_saturated(
				*sum,
				etw_claim_believed(&sets->table[i]->streams[j].claims->filtered));
	}
	pthread_mutex_unlock(&sets->lock);
	*ret_own = own;
	*ret_others = others;
}

void etw_claims_of_output(const struct etw_session_sets *sets, uint32_t output,
			  uint64_t *ret_no_buffer, uint64_t *ret_too_large)
{
	const struct etw_state *state = &sets->context->state;
	const struct etw_state_output *closed = etw_state_output(state, output);
	uint64_t no_buffer = closed->closed_no_buffer, too_large = closed->closed_too_large;

	for (uint32_t i = 0; i < ETW_STATE_SETS; i++) {
		const struct etw_state_claims *claims;

		if (!sets->table[i] || output >= sets->table[i]->stream_count)
			continue;
		claims = sets->table[i]->streams[output].claims;
		no_buffer = etw_sum_saturated(no_buffer, etw_claim_believed(&claims->no_buffer));
		too_large = etw_sum_saturated(too_large, etw_claim_believed(&claims->too_large));
	}
	*ret_no_buffer = no_buffer;
	*ret_too_large = too_large;
}

void etw_claims_gather(struct etw_session_sets *sets,
		       struct etw_state_user users[ETW_STATE_USERS + 1])
{
	pthread_mutex_lock(&sets->lock);
	gather(sets, users);
	unlock_and_complain(sets);
}

bool etw_claims_note(const struct etw_session_sets *sets,
		     const struct etw_state_user users[ETW_STATE_USERS + 1], uint32_t place,
		     struct wire_session_note *ret)
{
	const struct etw_state_user *user = &users[place];
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {uid_of(sets, place), sum_of(user),
							     user->disregarded};
	char who[TEXT_MAX], impossible[TEXT_MAX] = "";

	if (user->disregarded == 0 && (place <= ROOT || sum_of(user) == 0))
		return false;
	put_user(sets, place, who);
	if (user->disregarded)
		(void)snprintf(
			impossible, sizeof(impossible),
			"; %llu more that they claimed cannot have been, and are not counted",
			(unsigned long long)user->disregarded);
	etw_note_make(ret, WIRE_NOTE_CLAIMED_LOSS, numbers,
		      "processes of %s say that they lost %llu events%s", who,
		      (unsigned long long)sum_of(user), impossible);
	return true;
}
