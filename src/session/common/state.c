/* SPDX-License-Identifier: MIT */
/* The memory of a session that outlives its host; see session/common/state.h. */
#include "session/common/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/guid.h"
#include "base/macros.h"
#include "base/sched_point.h"
#include "wire/etl_buffer.h"

#define PAGE_BYTES      4096u
#define PLACES_RESERVED 4096u /* of a circular file at once */

static uint64_t durables_of_set(const struct etw_state_head *head)
{
	return ALIGN_UP((uint64_t)head->output_count *
				(sizeof(struct etw_ring_durable) + sizeof(struct etw_state_claims)),
			PAGE_BYTES);
}

/* Two records in front of the output buffer. */
static uint64_t buffer_at(const struct etw_state_head *head)
{
	return ALIGN_UP(sizeof(struct etw_state_output) + UINT64_C(2) * head->record_bytes,
			PAGE_BYTES);
}

/* Of one source in a record. */
static uint32_t marks_of(const struct etw_state_head *head)
{
	return head->output_count == 1 ? head->cpu_count : 1;
}

static void lay_out(struct etw_state_head *head)
{
	uint32_t marks = marks_of(head) * ETW_SOURCES_MAX;

	head->record_bytes = (uint32_t)ALIGN_UP(
		sizeof(struct etw_state_record) + marks * sizeof(struct etw_source_mark), 64);
	head->header_at = ALIGN_UP(sizeof(*head), PAGE_BYTES);
	head->sources_at = ALIGN_UP(head->header_at + head->buffer_bytes, PAGE_BYTES);
	head->history_at = ALIGN_UP(head->sources_at + ETW_SOURCES_MAX *
							       (head->cpu_count + UINT64_C(1)) *
							       sizeof(struct etw_state_source),
				    PAGE_BYTES);
	head->outputs_at = ALIGN_UP(head->history_at + (uint64_t)head->plan.history_buffers *
							       head->buffer_bytes,
				    PAGE_BYTES);
	head->output_stride = ALIGN_UP(buffer_at(head) + head->buffer_bytes, PAGE_BYTES);
	/* Last, because they are sparse: most places of ring sets are never used, and those of a file come in time. */
	head->durables_at = head->outputs_at + head->output_count * head->output_stride;
	head->providers_at = head->durables_at + ETW_STATE_SETS * durables_of_set(head);
	head->places_at = head->providers_at +
			  ETW_STATE_PROVIDERS * sizeof(struct etw_source_provider);
	head->total_bytes =
		ALIGN_UP(head->places_at + head->plan.file_places * sizeof(struct etw_state_place),
			 PAGE_BYTES);
}

uint64_t etw_state_memory(const struct etw_session_plan *plan)
{
	struct etw_state_head head = {.output_count = plan->output_count,
				      .cpu_count = plan->cpu_count,
				      .buffer_bytes = plan->buffer_bytes,
				      .plan = *plan};

	lay_out(&head);
	return head.durables_at;
}

static int map_state(struct etw_state *state, uint64_t bytes)
{
	void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, state->fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	state->memory = memory;
	state->head = memory;
	return 0;
}

struct etw_state_source *etw_state_source(const struct etw_state *state, uint32_t source,
					  uint32_t cpu)
{
	return (struct etw_state_source *)(void *)(state->memory + state->head->sources_at) +
	       source * (state->head->cpu_count + UINT64_C(1)) + cpu;
}

uint64_t etw_state_source_loss(const struct etw_state *state, uint32_t cpu, unsigned cause,
			       unsigned class_number)
{
	uint64_t events = 0;

	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		const struct etw_state_source *source = etw_state_source(state, i, cpu);

		events += load_relaxed(&source->former.events[cause][class_number]) +
			  load_relaxed(&source->now.events[cause][class_number]);
	}
	return events;
}

uint32_t etw_state_mark(const struct etw_state *state, uint32_t source, uint32_t cpu)
{
	return source * marks_of(state->head) + (state->head->output_count == 1 ? cpu : 0);
}

static uint64_t lost_on(const struct etw_state *state, uint32_t cpu)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		lost += load_relaxed(&etw_state_source(state, i, cpu)->lost);
	return lost;
}

uint64_t etw_state_source_lost(const struct etw_state *state, uint32_t output)
{
	const struct etw_state_head *head = state->head;
	bool is_one = head->output_count == 1;
	uint64_t lost = 0;

	if (output == 0)
		lost = lost_on(state, head->cpu_count);
	for (uint32_t i = is_one ? 0 : output; i < (is_one ? head->cpu_count : output + 1); i++)
		lost += lost_on(state, i);
	return lost;
}

struct etw_state_output *etw_state_output(const struct etw_state *state, uint32_t output)
{
	const struct etw_state_head *head = state->head;

	return (void *)(state->memory + head->outputs_at + output * head->output_stride);
}

static struct etw_state_record *record_at(const struct etw_state *state, uint32_t output,
					  uint64_t index)
{
	return (void *)((uint8_t *)etw_state_output(state, output) +
			sizeof(struct etw_state_output) + index * state->head->record_bytes);
}

static int make_memory(struct etw_state *state, const struct etw_state_head *head)
{
	state->fd = memfd_create("etw-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (state->fd < 0)
		return -errno;
	if (ftruncate(state->fd, (off_t)head->total_bytes) < 0)
		return -errno;
	/* A state that shrinks would end the next host at its first look into what is missing. */
	if (fcntl(state->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	/* All but the durables, so that no store can fail later. */
	if (fallocate(state->fd, 0, 0, (off_t)head->durables_at) < 0)
		return -errno;
	return map_state(state, head->total_bytes);
}

int etw_state_create(uint32_t session_id, uint32_t uid, const struct wire_session_config *config,
		     const struct etw_session_plan *plan, int64_t t0_raw, struct etw_state *ret)
{
	CLEANUP(etw_state_done) struct etw_state state = {.fd = -1};
	CLEANUP(freep) struct etw_state_head *head = calloc(1, sizeof(*head));

	if (!head)
		return -ENOMEM;
	head->magic = ETW_STATE_MAGIC;
	head->version = ETW_STATE_VERSION;
	head->session_id = session_id;
	head->uid = uid;
	head->output_count = plan->output_count;
	head->cpu_count = plan->cpu_count;
	head->buffer_bytes = plan->buffer_bytes;
	head->plan = *plan;
	head->config = *config;
	head->t0_raw = t0_raw;
	head->last_flush_raw = t0_raw;
	head->next_sequence = 1;
	head->files[0].number = config->log_file_mode & EVENT_TRACE_FILE_MODE_NEWFILE ? 1 : 0;
	head->files[0].uid = uid;
	head->files[0].mode = config->file_mode;
	memcpy(head->files[0].name, config->log_file, sizeof(head->files[0].name));
	memcpy(head->files[0].shown, config->log_file_shown, sizeof(head->files[0].shown));
	lay_out(head);
	TRY(make_memory(&state, head));
	memcpy(state.memory, head, sizeof(*head));
	for (uint32_t i = 0; i < head->output_count; i++) {
		struct etw_state_record *record = record_at(&state, i, 0);

		record->fill = WIRE_BUFFER_HEADER_BYTES;
		record->delivered = WIRE_BUFFER_HEADER_BYTES;
		record->last_time_raw = t0_raw;
	}
	*ret = state;
	state = (struct etw_state){.fd = -1};
	return 0;
}

/* Whether the numbers are those that this build would have laid out. */
static bool is_sound(const struct etw_state_head *head, uint64_t bytes)
{
	struct etw_state_head expected;

	if (head->magic != ETW_STATE_MAGIC || head->version != ETW_STATE_VERSION)
		return false;
	if (head->cpu_count == 0 || head->cpu_count > WIRE_RING_CPUS_MAX ||
	    head->output_count == 0 || head->output_count > head->cpu_count)
		return false;
	if (head->buffer_bytes < ETW_SESSION_BUFFER_KIB_MIN * 1024 ||
	    head->buffer_bytes > ETW_SESSION_BUFFER_KIB_MAX * 1024)
		return false;
	expected = *head;
	lay_out(&expected);
	return expected.record_bytes == head->record_bytes &&
	       expected.header_at == head->header_at && expected.history_at == head->history_at &&
	       expected.outputs_at == head->outputs_at &&
	       expected.output_stride == head->output_stride &&
	       expected.durables_at == head->durables_at &&
	       expected.providers_at == head->providers_at &&
	       expected.places_at == head->places_at && expected.total_bytes == head->total_bytes &&
	       head->total_bytes <= bytes;
}

static struct etw_source_provider *provider_at(const struct etw_state *state, uint32_t index)
{
	return (struct etw_source_provider *)(void *)(state->memory + state->head->providers_at) +
	       index;
}

const struct etw_source_provider *etw_state_provider(const struct etw_state *state, uint32_t index)
{
	/* Pairs with etw_state_put_provider(). */
	return load_acquire(&state->head->provider_serials[index]) ? provider_at(state, index)
								   : NULL;
}

/* All places of a provider but those of @serial: a host that died in a change may have left two. */
static void free_others(struct etw_state *state, const GUID *guid, uint64_t serial)
{
	uint64_t *serials = state->head->provider_serials;

	for (uint32_t i = 0; i < ETW_STATE_PROVIDERS; i++) {
		if (serials[i] && serials[i] != serial &&
		    etw_guid_equal(&provider_at(state, i)->guid, guid))
			store_release(&serials[i], UINT64_C(0));
	}
}

static int reserve_providers(struct etw_state *state)
{
	struct etw_state_head *head = state->head;

	if (head->has_providers)
		return 0;
	if (fallocate(state->fd, 0, (off_t)head->providers_at,
		      ETW_STATE_PROVIDERS * (off_t)sizeof(struct etw_source_provider)) < 0)
		return -ENOMEM;
	head->has_providers = 1;
	return 0;
}

int etw_state_put_provider(struct etw_state *state, const struct etw_source_provider *wanted)
{
	struct etw_state_head *head = state->head;
	uint32_t used = 0, place = ETW_STATE_PROVIDERS;

	TRY(reserve_providers(state));
	for (uint32_t i = 0; i < ETW_STATE_PROVIDERS; i++) {
		if (!head->provider_serials[i])
			place = i;
		else
			used += !etw_guid_equal(&provider_at(state, i)->guid, &wanted->guid);
	}
	if (used >= ETW_SOURCE_PROVIDERS_MAX || place == ETW_STATE_PROVIDERS)
		return -ENOSPC;
	*provider_at(state, place) = *wanted;
	head->provider_serial++;
	/* Pairs with etw_state_provider(): the place holds all of it before it counts. */
	store_release(&head->provider_serials[place], head->provider_serial);
	SCHED_POINT("session.provider.put");
	free_others(state, &wanted->guid, head->provider_serial);
	return 0;
}

void etw_state_remove_provider(struct etw_state *state, const GUID *guid)
{
	free_others(state, guid, /* serial= */ 0);
}

/* Of two places of one provider the later one holds. */
static void settle_providers(struct etw_state *state)
{
	const struct etw_state_head *head = state->head;

	for (uint32_t i = 0; i < ETW_STATE_PROVIDERS; i++) {
		uint64_t last = head->provider_serials[i];

		for (uint32_t j = 0; last && j < ETW_STATE_PROVIDERS; j++) {
			if (head->provider_serials[j] > last &&
			    etw_guid_equal(&provider_at(state, i)->guid,
					   &provider_at(state, j)->guid))
				last = head->provider_serials[j];
		}
		if (last)
			free_others(state, &provider_at(state, i)->guid, last);
	}
}

int etw_state_adopt(int fd, struct etw_state *ret)
{
	CLEANUP(etw_state_done) struct etw_state state = {.fd = fd};
	struct stat stat;
	const struct etw_state_record *record;

	if (fstat(fd, &stat) < 0)
		return -errno;
	if ((uint64_t)stat.st_size < sizeof(struct etw_state_head))
		return -EPROTO;
	TRY(map_state(&state, (uint64_t)stat.st_size));
	if (!is_sound(state.head, (uint64_t)stat.st_size) ||
	    state.head->total_bytes != (uint64_t)stat.st_size) {
		munmap(state.memory, (size_t)stat.st_size);
		state.memory = NULL;
		return -EPROTO;
	}
	for (uint32_t i = 0; i < ETW_STATE_PROVIDERS; i++) {
		const struct etw_source_provider *provider = etw_state_provider(&state, i);

		if (provider && provider->filter_bytes > sizeof(provider->filters))
			return -EPROTO;
	}
	for (uint32_t i = 0; i < state.head->output_count; i++) {
		record = etw_state_holding(&state, i);
		if (record->fill < WIRE_BUFFER_HEADER_BYTES ||
		    record->fill > state.head->buffer_bytes || record->fill % 8 != 0 ||
		    record->delivered < WIRE_BUFFER_HEADER_BYTES ||
		    record->delivered > record->fill)
			return -EPROTO;
	}
	settle_providers(&state);
	*ret = state;
	state = (struct etw_state){.fd = -1};
	return 0;
}

void etw_state_done(struct etw_state *state)
{
	if (state->memory)
		munmap(state->memory, (size_t)state->head->total_bytes);
	if (state->fd >= 0)
		close(state->fd);
	*state = (struct etw_state){.fd = -1};
}

int etw_state_reserve_set(struct etw_state *state, uint32_t slot)
{
	uint64_t bytes = durables_of_set(state->head);
	uint64_t at = state->head->durables_at + slot * bytes;

	if (fallocate(state->fd, 0, (off_t)at, (off_t)bytes) < 0)
		return -ENOMEM;
	memset(state->memory + at, 0, bytes);
	return 0;
}

int etw_state_reserve_place(struct etw_state *state, uint64_t index)
{
	uint64_t at = state->head->places_at + index * sizeof(struct etw_state_place);
	uint64_t end = MIN(at + PLACES_RESERVED * sizeof(struct etw_state_place),
			   state->head->total_bytes);

	if (index % PLACES_RESERVED != 0)
		return 0;
	return fallocate(state->fd, 0, (off_t)at, (off_t)(end - at)) < 0 ? -ENOMEM : 0;
}

struct etw_state_place *etw_state_place(const struct etw_state *state, uint64_t index)
{
	return (struct etw_state_place *)(void *)(state->memory + state->head->places_at) + index;
}

struct etw_ring_durable *etw_state_durable(const struct etw_state *state, uint32_t slot,
					   uint32_t output)
{
	uint64_t at = state->head->durables_at + slot * durables_of_set(state->head);

	return (struct etw_ring_durable *)(void *)(state->memory + at) + output;
}

/* Behind the durables of the same set. */
struct etw_state_claims *etw_state_claims(const struct etw_state *state, uint32_t slot,
					  uint32_t output)
{
	struct etw_ring_durable *end = etw_state_durable(state, slot, state->head->output_count);

	static_assert(sizeof(*end) % alignof(struct etw_state_claims) == 0, "one behind the other");
	return (struct etw_state_claims *)(void *)end + output;
}

const struct etw_state_record *etw_state_holding(const struct etw_state *state, uint32_t output)
{
	/* Pairs with etw_state_commit(). */
	return record_at(state, output,
			 load_acquire(&etw_state_output(state, output)->holding) & 1);
}

void etw_state_counts(const struct etw_state *state, uint32_t output, struct etw_state_counts *ret)
{
	const struct etw_state_output *place = etw_state_output(state, output);
	uint64_t holding;

	do {
		const uint64_t *from;

		holding = load_acquire(&place->holding);
		from = (const void *)&record_at(state, output, holding & 1)->counts;
		for (size_t i = 0; i < sizeof(*ret) / sizeof(*from); i++)
			((uint64_t *)ret)[i] = load_relaxed(&from[i]);
		fence_acquire(); /* pairs with etw_state_commit() */
	} while (load_relaxed(&place->holding) != holding);
}

void etw_state_commit(struct etw_state *state, uint32_t output,
		      const struct etw_state_record *record)
{
	struct etw_state_output *place = etw_state_output(state, output);
	const uint64_t next = load_relaxed(&place->holding) + 1;
	const uint64_t *from = (const void *)record;
	uint64_t *to = (void *)record_at(state, output, next & 1);

	SCHED_POINT("session.commit.before");
	/* Word by word: whoever reads the numbers of a record meanwhile finds that out afterwards. */
	fence_release(); /* pairs with etw_state_counts() */
	for (uint32_t i = 0; i < state->head->record_bytes / sizeof(*to); i++)
		store_relaxed(&to[i], from[i]);
	SCHED_POINT("session.commit.written");
	store_release(&place->holding, next); /* pairs with etw_state_holding() */
	SCHED_POINT("session.commit.done");
}

void etw_state_publish_file(struct etw_state *state)
{
	store_release(&state->head->files_left, state->head->files_left + 1);
}

struct etw_state_filed *etw_state_filed(const struct etw_state *state, uint32_t output,
					bool is_next)
{
	uint64_t left = load_relaxed(&state->head->files_left) + is_next;

	return &etw_state_output(state, output)->filed[left & 1];
}

uint8_t *etw_state_buffer(const struct etw_state *state, uint32_t output)
{
	return (uint8_t *)etw_state_output(state, output) + buffer_at(state->head);
}
