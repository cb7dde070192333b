/* SPDX-License-Identifier: MIT */
/*
 * Files of two kinds: those whose buffers are all of one size (what a session writes), and those whose
 * buffers each have their own (compressed). In the first kind the size is known twice over, from the
 * first buffer and from the header event, and a buffer's place never depends on the one before it. In the
 * second a damaged size breaks the chain, and the next buffer is searched for.
 */
#include "etl/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "etl/block.h"
#include "etl/mend.h"
#include "wire/etl_logfile.h"

/* How far into a file without a sound head a buffer is looked for before it is called no .etl file. */
#define HEAD_SEARCH_BYTES (64u * 1024 * 1024)
#define HEAD_BYTES_MAX    (64u * 1024) /* the header buffer holds one event and a few companions */

#define STRIDES_TRIED 8 /* so many buffers are looked at to learn the size of all */

#define ETW_AGAIN 2 /* something was skipped; the walk goes on */

static const char no_buffer[] = "these bytes belong to no buffer";

/* Whether a buffer could begin at @offset: at the end of the file too, or where none was ever written. */
static bool begins_buffer(const struct etw_etl_file *file, uint64_t offset,
			  struct etw_etl_buffer *ret)
{
	uint8_t raw[WIRE_BUFFER_HEADER_BYTES];
	size_t count;

	*ret = (struct etw_etl_buffer){0};
	if (offset == file->bytes)
		return true;
	if (etw_etl_file_read(file, offset, raw, sizeof(raw), &count) || count < sizeof(raw))
		return false;
	if (etw_etl_buffer_is_unwritten(raw))
		return true;
	etw_etl_buffer_read(raw, ret);
	return !etw_etl_buffer_fault(ret) && ret->valid_bytes % 4 == 0;
}

/* Whether the file's first buffers bear out that all of them have this size. */
static bool is_stride(const struct etw_etl_file *file, uint32_t stride)
{
	unsigned tried = 0, good = 0;

	if (stride < WIRE_BUFFER_HEADER_BYTES || stride > WIRE_BUFFER_BYTES_MAX)
		return false;
	for (uint64_t at = stride; at < file->bytes && tried < STRIDES_TRIED; at += stride) {
		struct etw_etl_buffer buffer;

		tried++;
		if (begins_buffer(file, at, &buffer) && buffer.stride == stride)
			good++;
	}
	return good && good >= tried / 2;
}

/*
 * Decides between one size for all and a size for each, from the first buffer's own size and the one
 * in the header event. Either may be damaged.
 */
static uint32_t decide_stride(const struct etw_etl_file *file, uint32_t own,
			      const struct etw_etl_header *header)
{
	uint32_t told = header->buffer_bytes;
	bool is_packed = header->log_file_mode & WIRE_LOGFILE_MODE_COMPRESSED;
	bool is_told = told >= WIRE_BUFFER_HEADER_BYTES && told <= WIRE_BUFFER_BYTES_MAX;

	if (own == told && is_told && !is_packed)
		return told;
	if (is_stride(file, told))
		return told;
	if (is_stride(file, own))
		return own;
	return is_told && !is_packed && file->bytes % told == 0 ? told : 0;
}

/* Reads the header event that the first buffer holds. */
static int read_head(const struct etw_etl_file *file, struct etw_etl_buffer *ret_buffer,
		     struct etw_etl_header *ret_header, struct etw_fault *reterr)
{
	size_t room = file->bytes < HEAD_BYTES_MAX ? (size_t)file->bytes : HEAD_BYTES_MAX;
	CLEANUP(freep) uint8_t *head = malloc(room + 1);
	size_t count;

	if (!head)
		return -ENOMEM;
	TRY(etw_etl_file_read(file, 0, head, room, &count));
	if (!count)
		return etw_fault_set(reterr, -EBADMSG, 0, "file", NULL, "the file is empty");
	if (count < WIRE_BUFFER_HEADER_BYTES)
		return etw_fault_set(reterr, -EBADMSG, count, "file", NULL,
				     "the file ends within the first buffer header");
	etw_etl_buffer_read(head, ret_buffer);

	size_t valid = ret_buffer->valid_bytes;
	bool is_limited = valid > WIRE_BUFFER_HEADER_BYTES && valid < count;
	int result = etw_etl_header_parse(head + WIRE_BUFFER_HEADER_BYTES,
					  (is_limited ? valid : count) - WIRE_BUFFER_HEADER_BYTES,
					  ret_header, reterr);

	/* A damaged Offset is no reason to go without the clock. */
	if (result == -EBADMSG && is_limited)
		result = etw_etl_header_parse(head + WIRE_BUFFER_HEADER_BYTES,
					      count - WIRE_BUFFER_HEADER_BYTES, ret_header, reterr);
	if (result == -EBADMSG && reterr)
		reterr->offset += WIRE_BUFFER_HEADER_BYTES;
	return result;
}

/*
 * No header event: an .etl file all the same when a sound buffer follows. Its place tells the size of
 * the buffers, if they are all of one size.
 */
static int start_headless(const struct etw_etl_file *file, struct etw_etl_walk *walk,
			  struct etw_etl_header *header, struct etw_fault *reterr)
{
	uint64_t limit = file->bytes < HEAD_SEARCH_BYTES ? file->bytes : HEAD_SEARCH_BYTES;
	struct etw_fault why = *reterr;
	struct etw_etl_buffer buffer;
	int result = etw_etl_search_buffer(&walk->search, 0, limit, &buffer);

	if (result < 0)
		return result;
	if (result == ETW_END) {
		*reterr = why;
		return -EBADMSG;
	}
	*header = (struct etw_etl_header){.buffer_bytes = buffer.stride,
					  .clock_type = ETW_CLOCK_QPC};
	header->logger_name = strdup("");
	header->log_file_name = strdup("");
	if (!header->logger_name || !header->log_file_name) {
		etw_etl_header_done(header);
		return -ENOMEM;
	}
	etw_clock_init(&header->clock, ETW_CLOCK_QPC, 0, 0, 0, 0);
	if (!(buffer.flags & WIRE_BUFFER_COMPRESSED) && buffer.offset % buffer.stride == 0 &&
	    (is_stride(file, buffer.stride) || file->bytes % buffer.stride == 0))
		walk->fixed_stride = buffer.stride;
	etw_findings_add(walk->findings, ETW_FINDING_HEADER, why.offset, 0, 0, why.sentence);
	return 0;
}

/*
 * Whether the chain of sizes holds from the first buffer to the end and gives as many buffers as the
 * header event counts. One damaged size can lead on to a later buffer, and only this tells.
 */
static bool is_chain_whole(const struct etw_etl_file *file, const struct etw_etl_header *header)
{
	struct etw_etl_buffer buffer;
	uint64_t offset = 0;
	uint32_t count = 0;

	while (offset < file->bytes && count <= header->buffers_written) {
		if (!begins_buffer(file, offset, &buffer) || !buffer.stride)
			return false;
		offset += buffer.stride;
		count++;
	}
	return offset == file->bytes && count == header->buffers_written;
}

/* How many buffers there is room for in a file of this size, the header buffer included. */
static uint32_t places_of(const struct etw_etl_header *header)
{
	uint64_t unit = header->log_file_mode & WIRE_LOGFILE_MODE_KBYTES ? 1024 : 1024 * 1024;
	uint64_t places = header->buffer_bytes
				  ? header->maximum_file_size * unit / header->buffer_bytes
				  : 0;

	return places < UINT32_MAX ? (uint32_t)places : UINT32_MAX;
}

/* Whether a circular file has wrapped: then its header counts more buffers than there are places. */
static bool has_wrapped(const struct etw_etl_header *header)
{
	return (header->log_file_mode & WIRE_LOGFILE_MODE_CIRCULAR) &&
	       header->buffers_written > places_of(header);
}

int etw_etl_walk_start(const struct etw_etl_file *file, struct etw_findings *findings,
		       struct etw_etl_walk *ret_walk, struct etw_etl_header *ret_header,
		       struct etw_fault *reterr)
{
	struct etw_etl_walk walk = {.file = file, .findings = findings};
	CLEANUP(etw_etl_header_done) struct etw_etl_header header = {0};
	struct etw_etl_buffer first = {0};
	struct etw_fault fault = {0};
	int result = read_head(file, &first, &header, &fault);

	etw_etl_search_init(&walk.search, file);
	if (!result)
		walk.fixed_stride = decide_stride(file, first.stride, &header);
	else if (result == -EBADMSG && file->bytes > WIRE_BUFFER_HEADER_BYTES)
		result = start_headless(file, &walk, &header, &fault);
	if (result) {
		if (result == -EBADMSG && reterr)
			*reterr = fault;
		return result;
	}
	/* A crashed session left no count. */
	if (header.end_ft)
		walk.told_buffers = has_wrapped(&header) ? places_of(&header)
							 : header.buffers_written;
	walk.is_preallocated = !header.end_ft &&
			       header.log_file_mode & WIRE_LOGFILE_MODE_PREALLOCATE;
	/* Whether a session that appends counts those before it is not known from any genuine file. */
	walk.is_counted_up_to = walk.told_buffers &&
				!(header.log_file_mode & WIRE_LOGFILE_MODE_APPEND);
	walk.is_thorough = !walk.fixed_stride && !is_chain_whole(file, &header);
	*ret_walk = walk;
	*ret_header = header;
	header = (struct etw_etl_header){0};
	return 0;
}

/* Takes the buffer at the walk's place as the next one, of @stride bytes, and moves on. */
static int accept(struct etw_etl_walk *walk, struct etw_etl_buffer *buffer, uint32_t stride,
		  struct etw_etl_buffer *ret)
{
	const char *sentence;

	if (buffer->stride != stride)
		etw_findings_add(walk->findings, ETW_FINDING_REPAIRED, walk->offset, 0,
				 walk->number, "BufferSize is not the buffer's size");
	buffer->offset = walk->offset;
	buffer->number = walk->number;
	buffer->stride = stride;
	TRY(etw_etl_mend(walk->file, walk->fixed_stride != 0, buffer, &sentence));
	if (sentence)
		etw_findings_add(walk->findings, ETW_FINDING_REPAIRED, walk->offset, 0,
				 walk->number, sentence);
	if (walk->is_counted_up_to && walk->number == walk->told_buffers)
		walk->surplus = walk->offset;
	walk->number++;
	walk->offset += stride;
	*ret = *buffer;
	return 0;
}

static void skip_to(struct etw_etl_walk *walk, uint64_t offset, enum etw_finding_kind kind,
		    const char *sentence)
{
	etw_findings_add(walk->findings, kind, walk->offset, offset - walk->offset, walk->number,
			 sentence);
	walk->offset = offset;
}

/* Whether an event can be read at the walk's place, after all that can be mended of the header was. */
static int holds_event(const struct etw_etl_walk *walk, const struct etw_etl_buffer *buffer,
		       bool *ret)
{
	CLEANUP(etw_etl_block_done) struct etw_etl_block block = {0};
	struct etw_etl_buffer trial = *buffer;
	const char *sentence;

	trial.offset = walk->offset;
	trial.stride = walk->fixed_stride;
	TRY(etw_etl_mend(walk->file, /* is_uniform= */ true, &trial, &sentence));
	TRY(etw_etl_block_load(walk->file, &trial, &block, NULL));
	*ret = block.count != 0;
	return 0;
}

/*
 * The place of a buffer in a file where all have one size. What has neither the header of a buffer nor an event
 * in it is none, be it bytes that somebody put behind the last one.
 */
static int accept_place(struct etw_etl_walk *walk, struct etw_etl_buffer *buffer,
			struct etw_etl_buffer *ret)
{
	uint64_t left = walk->file->bytes - walk->offset;
	bool is_buffer = !etw_etl_buffer_fault(buffer) && buffer->stride == walk->fixed_stride;

	/* An empty buffer has no event to show; its header says so in two places. */
	if (!is_buffer && buffer->valid_bytes == WIRE_BUFFER_HEADER_BYTES &&
	    (buffer->saved_offset == WIRE_BUFFER_HEADER_BYTES ||
	     buffer->stride == walk->fixed_stride))
		is_buffer = true;
	if (!is_buffer)
		TRY(holds_event(walk, buffer, &is_buffer));
	if (is_buffer)
		return accept(walk, buffer, walk->fixed_stride, ret);
	skip_to(walk,
		walk->offset + (left < walk->fixed_stride ? left : (uint64_t)walk->fixed_stride),
		ETW_FINDING_SKIPPED, no_buffer);
	return ETW_AGAIN;
}

/* The next sound buffer in a span of the file. */
static int search_span(struct etw_etl_walk *walk, uint64_t from, uint64_t to,
		       struct etw_etl_buffer *ret)
{
	int result = etw_etl_search_buffer(&walk->search, from, to, ret);

	if (walk->search.gave_up && !walk->told_gave_up) {
		etw_findings_add(
			walk->findings, ETW_FINDING_SKIPPED, walk->offset, 0, walk->number,
			"the search was given up: too much looks like buffers and is none");
		walk->told_gave_up = true;
	}
	return result;
}

/*
 * A sound body tells where compressed data ends, but behind a plain buffer's events could be anything up to
 * the size that it says: also the next buffers.
 */
static int accept_sound(struct etw_etl_walk *walk, struct etw_etl_buffer *buffer,
			struct etw_etl_buffer *ret)
{
	uint32_t stride = buffer->stride;
	struct etw_etl_buffer next;
	int result = ETW_END;

	if (!(buffer->flags & WIRE_BUFFER_COMPRESSED))
		result = search_span(walk, walk->offset + buffer->valid_bytes,
				     walk->offset + stride, &next);
	if (result < 0)
		return result;
	if (!result)
		stride = (uint32_t)(next.offset - walk->offset);
	return accept(walk, buffer, stride, ret);
}

/*
 * The size that stands at the walk's place is not to be trusted. A sound body bears it out; else the next
 * sound buffer before @limit tells where this one ends.
 */
static int accept_doubtful(struct etw_etl_walk *walk, struct etw_etl_buffer *buffer, uint64_t limit,
			   struct etw_etl_buffer *ret)
{
	struct etw_etl_buffer trial = *buffer, next;
	uint64_t end = limit;
	const char *fault;
	int result = etw_etl_search_is_sound(&walk->search, walk->offset, &next);

	if (result < 0)
		return result;
	if (!result)
		return accept_sound(walk, buffer, ret);
	result = search_span(walk, walk->offset + 1, limit, &next);
	if (result < 0)
		return result;
	if (!result)
		end = next.offset;
	/* Where the file ends within the last buffer, its own size is as good as any. */
	if ((!result || trial.stride < WIRE_BUFFER_HEADER_BYTES ||
	     trial.stride > WIRE_BUFFER_BYTES_MAX) &&
	    end - walk->offset <= WIRE_BUFFER_BYTES_MAX)
		trial.stride = (uint32_t)(end - walk->offset);
	fault = etw_etl_buffer_fault(&trial);
	if (!fault)
		return accept(walk, buffer, trial.stride, ret);
	skip_to(walk, end, ETW_FINDING_SKIPPED, fault);
	return ETW_AGAIN;
}

/* A buffer of a file in which each has its own size. */
static int accept_own(struct etw_etl_walk *walk, struct etw_etl_buffer *buffer,
		      struct etw_etl_buffer *ret)
{
	const struct etw_etl_file *file = walk->file;
	uint64_t limit = walk->offset + buffer->stride;
	struct etw_etl_buffer next;

	if (buffer->stride < WIRE_BUFFER_HEADER_BYTES || buffer->stride > WIRE_BUFFER_BYTES_MAX ||
	    limit > file->bytes || !begins_buffer(file, limit, &next))
		return accept_doubtful(walk, buffer, file->bytes, ret);
	if (walk->is_thorough)
		return accept_doubtful(walk, buffer, limit, ret);
	return accept(walk, buffer, buffer->stride, ret);
}

static int skip_unwritten(struct etw_etl_walk *walk)
{
	uint64_t next = walk->offset + walk->fixed_stride;
	struct etw_etl_buffer buffer = {.offset = walk->file->bytes};

	if (!walk->fixed_stride) {
		TRY(search_span(walk, walk->offset + 1, walk->file->bytes, &buffer));
		next = buffer.offset;
	}
	next = next < walk->file->bytes ? next : walk->file->bytes;
	/* Space that a session has taken beforehand and that runs still, or has crashed, is no finding. */
	if (walk->is_preallocated)
		walk->offset = next;
	else
		skip_to(walk, next, ETW_FINDING_UNUSED, "the buffer was never written");
	return 0;
}

/* The end of the file: whole buffers that were cut off leave no other trace than the header's count. */
static int end(struct etw_etl_walk *walk)
{
	if (walk->surplus)
		etw_findings_add(walk->findings, ETW_FINDING_DOUBTED, walk->surplus, 0,
				 walk->told_buffers,
				 "there are more buffers than the header event counts");
	if (walk->number < walk->told_buffers)
		etw_findings_add(walk->findings, ETW_FINDING_CUT, walk->file->bytes, 0,
				 walk->number,
				 "the header event counts more buffers than there are");
	walk->told_buffers = 0;
	walk->surplus = 0;
	return ETW_END;
}

/* Too few bytes for a buffer header at the end of the file: cut off, unless all buffers are there. */
static void tell_stump(struct etw_etl_walk *walk)
{
	bool is_whole = walk->told_buffers && walk->number >= walk->told_buffers;

	skip_to(walk, walk->file->bytes, is_whole ? ETW_FINDING_SKIPPED : ETW_FINDING_CUT,
		is_whole ? no_buffer : "the file ends within a buffer header");
}

int etw_etl_walk_next(struct etw_etl_walk *walk, struct etw_etl_buffer *ret)
{
	int result;

	do {
		uint8_t *raw = walk->head;
		struct etw_etl_buffer buffer;
		size_t count;

		if (walk->offset >= walk->file->bytes)
			return end(walk);
		TRY(etw_etl_file_read(walk->file, walk->offset, raw, sizeof(walk->head), &count));
		walk->head_bytes = (uint32_t)count;
		if (count < WIRE_BUFFER_HEADER_BYTES) {
			tell_stump(walk);
			return end(walk);
		}
		if (etw_etl_buffer_is_unwritten(raw)) {
			TRY(skip_unwritten(walk));
			result = ETW_AGAIN;
			continue;
		}
		etw_etl_buffer_read(raw, &buffer);
		result = walk->fixed_stride ? accept_place(walk, &buffer, ret)
					    : accept_own(walk, &buffer, ret);
	} while (result == ETW_AGAIN);
	return result;
}
