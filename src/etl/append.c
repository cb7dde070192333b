/* SPDX-License-Identifier: MIT */
/* Going on with a file; see etl/append.h. */
#include "etl/append.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "etl/buffer.h"
#include "etl/header.h"
#include "etl/writer.h"
#include "wire/etl_event.h"
#include "wire/etl_logfile.h"

#define MODE_SEQUENTIAL 1u
#define MODE_EXCLUDED   (WIRE_LOGFILE_MODE_CIRCULAR | WIRE_LOGFILE_MODE_RELOG)

static int refuse(struct etw_fault *reterr, int error, const char *field, const char *sentence)
{
	return etw_fault_set(reterr, error, 0, "file to append to", field, sentence);
}

static int read_exactly(int fd, uint64_t offset, void *to, size_t bytes)
{
	ssize_t count = pread(fd, to, bytes, (off_t)offset);

	if (count < 0)
		return -errno;
	return (size_t)count == bytes ? 0 : -EBADMSG;
}

/* The reasons in words, one for each thing that has to be the same. */
static int compare(const struct etw_etl_header *header, const struct etw_etl_append_like *like,
		   struct etw_fault *reterr)
{
	bool is_compressed = header->log_file_mode & WIRE_LOGFILE_MODE_COMPRESSED;

	if (header->buffer_bytes != like->buffer_bytes)
		return refuse(reterr, -EINVAL, "BufferSize",
			      "the file has buffers of another size");
	if (header->clock_type != like->clock_type)
		return refuse(reterr, -EINVAL, "ClientContext", "the file has another clock");
	if (header->processors != like->processors)
		return refuse(reterr, -EINVAL, "NumberOfProcessors",
			      "the file is of another number of processors");
	if (header->header_pointer_bytes != like->pointer_bytes)
		return refuse(reterr, -EINVAL, "PointerSize", "the file has other pointers");
	if (is_compressed != like->is_compressed)
		return refuse(reterr, -EINVAL, "EVENT_TRACE_COMPRESSED_MODE",
			      "of file and session one alone is compressed");
	if (header->log_file_mode & MODE_EXCLUDED)
		return refuse(reterr, -EINVAL, "LogFileMode", "the file is not sequential");
	return 0;
}

static int judge_header(const uint8_t *buffer, const struct etw_etl_append_like *like,
			struct etw_etl_append_place *place, struct etw_fault *reterr)
{
	struct etw_etl_header header = {0};
	struct etw_etl_buffer first;
	int result;

	etw_etl_buffer_read(buffer, &first);
	if (etw_etl_buffer_fault(&first) || first.type != WIRE_BUFFER_HEADER ||
	    first.valid_bytes > like->buffer_bytes)
		return refuse(reterr, -EBADMSG, "buffer header", "the file is no trace");
	TRY(etw_etl_header_parse(buffer + WIRE_BUFFER_HEADER_BYTES,
				 first.valid_bytes - WIRE_BUFFER_HEADER_BYTES, &header, reterr));
	result = compare(&header, like, reterr);
	if (result == 0 && first.stride != like->buffer_bytes)
		result = refuse(reterr, -EINVAL, "BufferSize",
				"the file's first buffer is of another size than the others");
	place->events_lost = header.events_lost;
	place->buffers_lost = header.buffers_lost;
	etw_etl_header_done(&header);
	return result;
}

static int take_buffer(int fd, uint64_t offset, struct etw_etl_buffer *ret)
{
	uint8_t at[WIRE_BUFFER_HEADER_BYTES];

	TRY(read_exactly(fd, offset, at, sizeof(at)));
	etw_etl_buffer_read(at, ret);
	ret->offset = offset;
	return etw_etl_buffer_is_unwritten(at) ? -ENODATA : 0;
}

static void count(const struct etw_etl_buffer *buffer, uint32_t stride,
		  struct etw_etl_append_place *place)
{
	place->buffers++;
	place->last_offset = buffer->offset;
	place->last_flags = buffer->flags;
	place->next_offset = buffer->offset + stride;
	if (buffer->time_raw > place->last_time_raw)
		place->last_time_raw = buffer->time_raw;
}

/*
 * Places are multiples of the buffer size, whatever is in them: what is damaged is somebody's to save. What was
 * reserved at the end and never written is free, and so is a part of a buffer.
 */
static int find_end_of_plain(int fd, uint64_t file_bytes, uint32_t stride,
			     struct etw_etl_append_place *place)
{
	for (uint64_t places = file_bytes / stride; places > 1; places--) {
		struct etw_etl_buffer buffer;
		int result = take_buffer(fd, (places - 1) * stride, &buffer);

		if (result == -ENODATA)
			continue;
		TRY(result);
		count(&buffer, stride, place);
		place->buffers = (uint32_t)places;
		return 0;
	}
	return 0;
}

/* Each buffer says where the next one is: where that ends, the file does. */
static int find_end_of_packed(int fd, uint64_t file_bytes, struct etw_etl_append_place *place)
{
	while (place->next_offset + WIRE_BUFFER_HEADER_BYTES <= file_bytes) {
		struct etw_etl_buffer buffer;
		int result = take_buffer(fd, place->next_offset, &buffer);

		if (result == -ENODATA ||
		    (result == 0 && (etw_etl_buffer_fault(&buffer) ||
				     buffer.stride > file_bytes - place->next_offset)))
			return 0;
		TRY(result);
		count(&buffer, buffer.stride, place);
	}
	return 0;
}

/* Numbers of buffers begin anew with each session, which readers learn from the mode. */
static void reopen_header(uint8_t *buffer, uint32_t bytes, const struct etw_etl_append_place *place)
{
	struct wire_logfile_head *head =
		(void *)(buffer + WIRE_BUFFER_HEADER_BYTES + sizeof(struct wire_system_header));

	head->log_file_mode = le32_of(le32_get(head->log_file_mode) | MODE_SEQUENTIAL |
				      WIRE_LOGFILE_MODE_APPEND);
	(void)etw_etl_rewrite_header_buffer(buffer, bytes, /* end_ft= */ 0, place->buffers,
					    place->events_lost, place->buffers_lost);
}

int etw_etl_append_look(int fd, const struct etw_etl_append_like *like, uint8_t *header,
			struct etw_etl_append_place *ret, struct etw_fault *reterr)
{
	struct etw_etl_append_place place = {.buffers = 1, .next_offset = like->buffer_bytes};
	struct stat info;
	uint64_t file_bytes;

	if (fstat(fd, &info))
		return -errno;
	file_bytes = (uint64_t)info.st_size;
	if (file_bytes == 0) {
		*ret = (struct etw_etl_append_place){0};
		return 0;
	}
	if (file_bytes < WIRE_BUFFER_HEADER_BYTES + WIRE_LOGFILE_BYTES32)
		return refuse(reterr, -EBADMSG, "size", "the file is no trace");
	memset(header, 0, like->buffer_bytes);
	if (file_bytes >= like->buffer_bytes)
		TRY(read_exactly(fd, 0, header, like->buffer_bytes));
	else
		TRY(read_exactly(fd, 0, header, (size_t)file_bytes));
	TRY(judge_header(header, like, &place, reterr));
	if (like->is_compressed)
		TRY(find_end_of_packed(fd, file_bytes, &place));
	else
		TRY(find_end_of_plain(fd, file_bytes, like->buffer_bytes, &place));
	reopen_header(header, like->buffer_bytes, &place);
	*ret = place;
	return 0;
}
