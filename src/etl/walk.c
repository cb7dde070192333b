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
#include "etl/search.h"
#include "wire/etl_logfile.h"

/* How far into a file without a sound head a buffer is looked for before it is called no .etl file. */
#define HEAD_SEARCH_BYTES (64u * 1024 * 1024)
#define HEAD_BYTES_MAX    (64u * 1024) /* the header buffer holds one event and a few companions */

/* Whether the next buffer could begin at @offset: at the end of the file, or at a plausible header. */
static bool leads_on(const struct etw_etl_file *file, uint64_t offset)
{
	uint8_t raw[WIRE_BUFFER_HEADER_BYTES];
	struct etw_etl_buffer buffer;
	size_t count;

	if (offset == file->bytes)
		return true;
	if (etw_etl_file_read(file, offset, raw, sizeof(raw), &count) || count < sizeof(raw))
		return false;
	etw_etl_buffer_read(raw, &buffer);
	return etw_etl_buffer_is_unwritten(raw) || !etw_etl_buffer_fault(&buffer);
}

/*
 * Decides between one size for all and a size for each, from the first buffer's own size and the one
 * in the header event. Either may be damaged.
 */
static uint32_t decide_stride(const struct etw_etl_file *file, uint32_t own,
			      const struct etw_etl_header *header)
{
	uint32_t told = header->buffer_bytes;
	bool is_told = told >= WIRE_BUFFER_HEADER_BYTES && told <= WIRE_BUFFER_BYTES_MAX;

	if (is_told && own == told)
		return told;
	if (header->log_file_mode & WIRE_LOGFILE_MODE_COMPRESSED)
		return 0;
	if (is_told && file->bytes % told == 0 && leads_on(file, told))
		return told;
	if (own >= WIRE_BUFFER_HEADER_BYTES && own <= WIRE_BUFFER_BYTES_MAX &&
	    file->bytes % own == 0 && own >= 1024 && leads_on(file, own))
		return own;
	return 0;
}

/* Reads the header event that the first buffer holds. */
static int read_head(const struct etw_etl_file *file, struct etw_etl_buffer *ret_buffer,
		     struct etw_etl_header *ret_header, struct etw_fault *reterr)
{
	CLEANUP(freep) uint8_t *head = malloc(HEAD_BYTES_MAX);
	size_t count;

	if (!head)
		return -ENOMEM;
	TRY(etw_etl_file_read(file, 0, head, HEAD_BYTES_MAX, &count));
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
	int result = etw_etl_search_buffer(file, 0, limit, 1, &buffer);

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
	    file->bytes % buffer.stride == 0)
		walk->fixed_stride = buffer.stride;
	etw_findings_add(walk->findings, ETW_FINDING_HEADER, why.offset, 0, 0, why.sentence);
	return 0;
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

	if (!result)
		walk.fixed_stride = decide_stride(file, first.stride, &header);
	else if (result == -EBADMSG && file->bytes > WIRE_BUFFER_HEADER_BYTES)
		result = start_headless(file, &walk, &header, &fault);
	if (result) {
		if (result == -EBADMSG && reterr)
			*reterr = fault;
		return result;
	}
	*ret_walk = walk;
	*ret_header = header;
	header = (struct etw_etl_header){0};
	return 0;
}

/* Takes the buffer that is at the walk's place as the next one and moves on by @stride. */
static int accept(struct etw_etl_walk *walk, struct etw_etl_buffer *buffer, uint64_t stride,
		  struct etw_etl_buffer *ret)
{
	buffer->offset = walk->offset;
	buffer->number = walk->number++;
	walk->search_from = walk->offset + WIRE_BUFFER_HEADER_BYTES;
	walk->offset += stride;
	*ret = *buffer;
	return 0;
}

/*
 * A buffer of known place and size. A damaged header costs nothing that the body still tells: without a
 * sound Offset the events are followed up to the end mark.
 */
static int accept_fixed(struct etw_etl_walk *walk, struct etw_etl_buffer *buffer,
			struct etw_etl_buffer *ret)
{
	uint32_t stride = walk->fixed_stride;
	const char *sentence = NULL;

	if (buffer->stride != stride) {
		sentence = "BufferSize differs from the file's";
		buffer->stride = stride;
	}
	if ((buffer->flags & WIRE_BUFFER_COMPRESSED) == 0 &&
	    (buffer->valid_bytes > stride || buffer->valid_bytes < WIRE_BUFFER_HEADER_BYTES ||
	     buffer->valid_bytes % 4)) {
		sentence = "Offset is not within the buffer";
		buffer->valid_bytes = stride;
	}
	if (!sentence)
		sentence = etw_etl_buffer_fault(buffer);
	if (sentence) {
		etw_findings_add(walk->findings, ETW_FINDING_REPAIRED, walk->offset, 0,
				 walk->number, sentence);
		buffer->flags &= WIRE_BUFFER_FLAGS_KNOWN;
		/* Only header buffers are ever written with another type worth telling apart. */
		if (buffer->type >= WIRE_BUFFER_TYPES)
			buffer->type = WIRE_BUFFER_GENERIC;
		if (buffer->valid_bytes > WIRE_BUFFER_BYTES_MAX)
			buffer->valid_bytes = WIRE_BUFFER_BYTES_MAX;
	}
	return accept(walk, buffer, stride, ret);
}

static void skip_to(struct etw_etl_walk *walk, uint64_t offset, enum etw_finding_kind kind,
		    const char *sentence)
{
	etw_findings_add(walk->findings, kind, walk->offset, offset - walk->offset, walk->number,
			 sentence);
	walk->offset = offset;
}

/*
 * The chain of sizes is broken at the walk's place. Either this header is damaged or the size of the buffer
 * before it is; so the search starts behind the last header that was taken.
 */
static int find_next(struct etw_etl_walk *walk, const char *sentence, struct etw_etl_buffer *ret)
{
	struct etw_etl_buffer buffer;
	int result = etw_etl_search_buffer(walk->file, walk->search_from, walk->file->bytes, 1,
					   &buffer);

	if (result < 0)
		return result;
	if (result == ETW_END) {
		skip_to(walk, walk->file->bytes, ETW_FINDING_SKIPPED, sentence);
		return ETW_END;
	}
	if (buffer.offset > walk->offset) {
		skip_to(walk, buffer.offset, ETW_FINDING_SKIPPED, sentence);
	} else {
		etw_findings_add(walk->findings, ETW_FINDING_REPAIRED, walk->offset, 0,
				 walk->number,
				 "the buffer before this place is shorter than it says");
		walk->offset = buffer.offset;
	}
	return accept(walk, &buffer, buffer.stride, ret);
}

int etw_etl_walk_next(struct etw_etl_walk *walk, struct etw_etl_buffer *ret)
{
	for (;;) {
		uint8_t raw[WIRE_BUFFER_HEADER_BYTES];
		struct etw_etl_buffer buffer;
		size_t count;

		if (walk->offset >= walk->file->bytes)
			return ETW_END;
		TRY(etw_etl_file_read(walk->file, walk->offset, raw, sizeof(raw), &count));
		if (count < sizeof(raw)) {
			skip_to(walk, walk->file->bytes, ETW_FINDING_CUT,
				"the file ends within a buffer header");
			return ETW_END;
		}
		if (etw_etl_buffer_is_unwritten(raw) && walk->fixed_stride) {
			uint64_t next = walk->offset + walk->fixed_stride;

			skip_to(walk, next < walk->file->bytes ? next : walk->file->bytes,
				ETW_FINDING_UNUSED, "the buffer was never written");
			continue;
		}
		etw_etl_buffer_read(raw, &buffer);
		if (walk->fixed_stride)
			return accept_fixed(walk, &buffer, ret);

		const char *sentence = etw_etl_buffer_fault(&buffer);

		if (!sentence && (walk->number || walk->offset))
			sentence = buffer.valid_bytes % 4 ? "Offset is not a multiple of 4" : NULL;
		if (sentence)
			return find_next(walk, sentence, ret);
		return accept(walk, &buffer, buffer.stride, ret);
	}
}
