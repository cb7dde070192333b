/* SPDX-License-Identifier: MIT */
/*
 * A buffer is checked by the thread that adds it, once. What it brings to the order of events:
 *
 * - Of one processor no event runs back, so a later buffer has nothing before the last event of this one.
 * - The last buffer of a live batch says what its session has promised (wire/etl_buffer.h).
 *
 * So the watermark is the best of the last promise and, when every processor of the trace has had a buffer, of the
 * lowest of their last events.
 */
#include "consumer/pushed.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/macros.h"

#define PROCESSORS_MAX        (WIRE_BUFFER_PROCESSOR_MASK + 1)
#define MODE_NO_PER_PROCESSOR 0x10000000u /* EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING */

/* A buffer that was added and is not done. */
struct entry {
	struct etw_etl_block block; /* its bytes are borrowed; handed over when it is taken */
	const uint8_t *at;
	uint32_t number;
	int64_t watermark_raw; /* once it is taken */
	struct entry *next;
};

struct etw_pushed {
	etw_pushed_done done;
	void *context;
	int fd;
	pthread_mutex_t lock; /* protects all below */
	struct entry *first;  /* owned; taken ones, then those that wait, in the order of adding */
	struct entry **end;
	struct entry *waiting; /* the first that was not taken; NULL: all were */
	uint32_t next_number;
	uint32_t processors;       /* by the header; so many last events are waited for */
	uint32_t known_processors; /* how many of them had a buffer */
	int64_t *last_raw;         /* owned; by processor; INT64_MIN: none */
	uint32_t processor_end;    /* behind the highest that has one */
	int64_t promise_raw;
	bool has_header, is_ended;
};

int etw_pushed_create(etw_pushed_done done, void *context, struct etw_pushed **ret)
{
	struct etw_pushed *pushed = calloc(1, sizeof(*pushed));
	int result = -ENOMEM;

	if (!pushed)
		return -ENOMEM;
	pushed->done = done;
	pushed->context = context;
	pushed->end = &pushed->first;
	pushed->promise_raw = INT64_MIN;
	pushed->last_raw = malloc(PROCESSORS_MAX * sizeof(*pushed->last_raw));
	if (pushed->last_raw) {
		for (size_t i = 0; i < PROCESSORS_MAX; i++)
			pushed->last_raw[i] = INT64_MIN;
		pushed->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		result = pushed->fd < 0 ? -errno : 0;
	}
	if (result) {
		free(pushed->last_raw);
		free(pushed);
		return result;
	}
	(void)pthread_mutex_init(&pushed->lock, NULL);
	*ret = pushed;
	return 0;
}

static void free_entry(struct entry *entry)
{
	etw_etl_block_done(&entry->block);
	free(entry);
}

void etw_pushed_free(struct etw_pushed *pushed)
{
	if (!pushed)
		return;
	while (pushed->first) {
		struct entry *entry = pushed->first;

		pushed->first = entry->next;
		pushed->done(entry->at, pushed->context);
		free_entry(entry);
	}
	(void)pthread_mutex_destroy(&pushed->lock);
	(void)close(pushed->fd);
	free(pushed->last_raw);
	free(pushed);
}

static void wake(struct etw_pushed *pushed)
{
	const uint64_t one = 1;

	(void)!write(pushed->fd, &one, sizeof(one));
}

/* Checks a buffer and all events in it. */
static int check(const uint8_t *at, size_t bytes, struct etw_etl_block *ret)
{
	struct etw_findings findings = {0};
	struct etw_etl_buffer buffer;

	if (bytes < WIRE_BUFFER_HEADER_BYTES)
		return -EBADMSG;
	etw_etl_buffer_read(at, &buffer);
	if (etw_etl_buffer_fault(&buffer))
		return -EBADMSG;
	TRY(etw_etl_block_borrow(at, bytes, &buffer, ret, &findings));
	/* What cannot be read would be lost, and nobody else could tell the program. */
	return findings.counts[ETW_FINDING_EVENTS] || findings.counts[ETW_FINDING_CUT] ? -EBADMSG
										       : 0;
}

static int read_header(const struct etw_etl_block *block, struct etw_etl_header *ret)
{
	int result = -EBADMSG;

	if (block->count)
		result = etw_etl_header_parse(block->events, block->event_bytes, ret, NULL);
	return result;
}

/* Under the lock. Takes over what the header says. */
static void begin(struct etw_pushed *pushed, const struct etw_etl_header *header)
{
	bool is_one = header->log_file_mode & MODE_NO_PER_PROCESSOR;

	pushed->processors = is_one ? 1 : header->processors;
	if (!pushed->processors || pushed->processors > PROCESSORS_MAX)
		pushed->processors = PROCESSORS_MAX;
	pushed->has_header = true;
}

/* Under the lock. What the buffer says of the times to come. */
static void note_times(struct etw_pushed *pushed, const struct etw_etl_block *block)
{
	int64_t *last = &pushed->last_raw[block->buffer.processor];
	struct wire_buffer_header header;

	memcpy(&header, block->raw, sizeof(header));
	if (le64_get(header.reference_start) == WIRE_BUFFER_PROMISE &&
	    (int64_t)le64_get(header.reference_clock) > pushed->promise_raw)
		pushed->promise_raw = (int64_t)le64_get(header.reference_clock);
	if (!block->count)
		return;
	pushed->known_processors += *last == INT64_MIN;
	*last = block->last_raw;
	if (pushed->processor_end <= block->buffer.processor)
		pushed->processor_end = block->buffer.processor + 1;
}

/* Under the lock. */
static int64_t watermark(const struct etw_pushed *pushed)
{
	int64_t lowest = INT64_MAX;

	if (pushed->known_processors < pushed->processors)
		return pushed->promise_raw;
	for (size_t i = 0; i < pushed->processor_end; i++) {
		if (pushed->last_raw[i] > INT64_MIN && pushed->last_raw[i] < lowest)
			lowest = pushed->last_raw[i];
	}
	return lowest > pushed->promise_raw ? lowest : pushed->promise_raw;
}

/* Under the lock. */
static int admit(struct etw_pushed *pushed, struct entry *entry, struct etw_etl_header *ret_header)
{
	struct etw_etl_block *block = &entry->block;

	if (pushed->is_ended)
		return -ESHUTDOWN;
	if (!pushed->has_header) {
		TRY(read_header(block, ret_header));
		begin(pushed, ret_header);
		/* Its events are those of every file, and of no processor. */
	} else {
		if (block->count && block->first_raw < pushed->last_raw[block->buffer.processor])
			return -ERANGE;
		note_times(pushed, block);
	}
	block->buffer.number = entry->number = pushed->next_number++;
	entry->watermark_raw = watermark(pushed);
	*pushed->end = entry;
	pushed->end = &entry->next;
	if (!pushed->waiting)
		pushed->waiting = entry;
	return 0;
}

int etw_pushed_add(struct etw_pushed *pushed, const uint8_t *at, size_t bytes,
		   struct etw_etl_header *ret_header)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	int result;

	if (!entry)
		return -ENOMEM;
	entry->at = at;
	result = check(at, bytes, &entry->block);
	if (!result) {
		(void)pthread_mutex_lock(&pushed->lock);
		result = admit(pushed, entry, ret_header);
		(void)pthread_mutex_unlock(&pushed->lock);
	}
	if (result)
		free_entry(entry);
	else
		wake(pushed);
	return result;
}

void etw_pushed_end(struct etw_pushed *pushed)
{
	(void)pthread_mutex_lock(&pushed->lock);
	pushed->is_ended = true;
	(void)pthread_mutex_unlock(&pushed->lock);
	wake(pushed);
}

int etw_pushed_take(struct etw_pushed *pushed, struct etw_etl_block *block,
		    int64_t *ret_watermark_raw)
{
	struct entry *entry;
	uint64_t count;
	int result = 0;

	/* Before the look, so that what comes behind it makes it readable again. */
	(void)!read(pushed->fd, &count, sizeof(count));
	(void)pthread_mutex_lock(&pushed->lock);
	entry = pushed->waiting;
	if (entry) {
		pushed->waiting = entry->next;
		etw_etl_block_done(block);
		*block = entry->block;
		entry->block = (struct etw_etl_block){0};
		*ret_watermark_raw = entry->watermark_raw;
	} else {
		result = pushed->is_ended ? ETW_END : -EAGAIN;
	}
	(void)pthread_mutex_unlock(&pushed->lock);
	return result;
}

bool etw_pushed_has_header(struct etw_pushed *pushed)
{
	bool result;

	(void)pthread_mutex_lock(&pushed->lock);
	result = pushed->has_header;
	(void)pthread_mutex_unlock(&pushed->lock);
	return result;
}

/* Takes an entry out that was taken: the first one whose number is from @from to @to. NULL: there is none. */
static struct entry *remove_taken(struct etw_pushed *pushed, uint32_t from, uint32_t to)
{
	struct entry **at = &pushed->first, *entry;

	(void)pthread_mutex_lock(&pushed->lock);
	while (*at && *at != pushed->waiting && ((*at)->number < from || (*at)->number > to))
		at = &(*at)->next;
	entry = *at == pushed->waiting ? NULL : *at;
	if (entry) {
		*at = entry->next;
		if (!entry->next)
			pushed->end = at;
	}
	(void)pthread_mutex_unlock(&pushed->lock);
	return entry;
}

static void tell(struct etw_pushed *pushed, struct entry *entry)
{
	pushed->done(entry->at, pushed->context);
	free_entry(entry);
}

void etw_pushed_give_back(struct etw_pushed *pushed, const struct etw_etl_block *block)
{
	uint32_t number = block->buffer.number;
	struct entry *entry = remove_taken(pushed, number, number);

	if (entry)
		tell(pushed, entry);
}

void etw_pushed_give_back_all(struct etw_pushed *pushed)
{
	struct entry *entry;

	while ((entry = remove_taken(pushed, 0, UINT32_MAX)) != NULL)
		tell(pushed, entry);
}

int etw_pushed_fd(const struct etw_pushed *pushed)
{
	return pushed->fd;
}
