/* SPDX-License-Identifier: MIT */
/* A session's file; see session/file.h. */
#include "session/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/utf.h"
#include "etl/writer.h"
#include "session/account.h"
#include "session/owner.h"
#include "wire/etl_buffer.h"

#define HZ_PER_MHZ 1000000

static uint64_t limit_of(const struct etw_session *session)
{
	const struct wire_session_config *config = &session->state.head->config;

	return etw_etl_file_limit(config->maximum_file_size, config->log_file_mode);
}

/*
 * The two names as UTF-16, and the numbers that only this room knows. The group masks are those at the
 * start: zeros, as in Windows' files; the kernel's source writes what it enables.
 */
static int make_header(struct etw_session *session)
{
	const struct etw_state_head *state = session->state.head;
	const struct wire_session_config *config = &state->config;
	const char *shown = config->log_file_shown[0] ? config->log_file_shown : config->log_file;
	CLEANUP(freep) uint8_t *logger_name = etw_utf8_to_utf16(config->name, NULL);
	CLEANUP(freep) uint8_t *file_name = etw_utf8_to_utf16(shown, NULL);
	struct etw_etl_file_head head = {
		.buffer_bytes = session->plan.buffer_bytes,
		.layout_major = 1,
		.layout_minor = 5,
		.maximum_file_size = config->maximum_file_size,
		.log_file_mode = config->log_file_mode,
		.perf_frequency = session->host.clock->page->frequency,
		.start_ft = state->start_ft,
		.t0_raw = state->t0_raw,
		.clock_type = session->plan.clock_type,
		.logger_id = (uint16_t)state->session_id,
		.process_id = config->controller_pid,
		.thread_id = config->controller_tid,
		.logger_name = (const char16_t *)logger_name,
		.log_file_name = (const char16_t *)file_name,
		.has_group_masks = session->plan.is_kernel,
		.buffers_written = 1,
	};

	if (!logger_name || !file_name)
		return -ENOMEM;
	etw_etl_machine_head(&head);
	head.processors = session->plan.output_count;
	/* Readers convert the times of this clock by the speed, and the nominal one may be another. */
	if (session->plan.clock_type == ETW_CLOCK_CYCLE &&
	    session->host.clock->page->kind == WIRE_CLOCK_TSC)
		head.cpu_mhz = (uint32_t)((head.perf_frequency + HZ_PER_MHZ / 2) / HZ_PER_MHZ);
	/* What old readers cannot know: large buffers and many processors. */
	if (head.buffer_bytes > 1024 * 1024 || head.processors > 256) {
		head.layout_major = 2;
		head.layout_minor = 0;
	}
	return etw_etl_write_header_buffer(&head, etw_state_header_buffer(&session->state));
}

static int open_file(struct etw_session *session)
{
	const struct etw_state_head *head = session->state.head;
	struct etw_owner owner;
	int result;

	TRY(etw_owner_become(head->uid, &owner));
	result = etw_etl_file_writer_open(head->config.log_file, session->plan.buffer_bytes,
					  limit_of(session), &session->file);
	etw_owner_return(&owner);
	return result;
}

int etw_session_file_create(struct etw_session *session)
{
	char name[ETW_SESSION_NAME_BYTES];

	TRY(make_header(session));
	if (!session->plan.has_file)
		return 0;
	TRY(open_file(session));
	TRY(etw_etl_file_writer_put(&session->file, 0, etw_state_header_buffer(&session->state)));
	store_relaxed(&session->state.head->file_next_offset, session->file.next_offset);
	etw_session_name(session, name, "file");
	if (session->host.keep_fd)
		(void)session->host.keep_fd(session->host.context, name, session->file.fd);
	return 0;
}

void etw_session_file_adopt(struct etw_session *session)
{
	struct etw_state_head *head = session->state.head;
	char name[ETW_SESSION_NAME_BYTES];
	int fd = -ENOENT;

	if (!session->plan.has_file)
		return;
	etw_session_name(session, name, "file");
	if (session->host.kept_fd)
		fd = session->host.kept_fd(session->host.context, name);
	if (fd < 0) {
		if (head->file_status == 0)
			store_relaxed(&head->file_status, fd);
		etw_session_complain(session, "the file of the last host is lost", fd, NULL);
		return;
	}
	etw_etl_file_writer_adopt(fd, session->plan.buffer_bytes, limit_of(session),
				  head->file_next_offset, &session->file);
}

uint64_t etw_session_file_claim(struct etw_session *session)
{
	uint64_t offset;
	int result;

	if (session->file.fd < 0 || session->state.head->file_status != 0)
		return 0;
	result = etw_etl_file_writer_claim(&session->file, &offset);
	if (result == 0)
		return offset;
	etw_session_file_end(session, result);
	return 0;
}

void etw_session_file_reclaim(struct etw_session *session, uint64_t offset)
{
	if (session->file.fd >= 0 && session->file.next_offset <= offset)
		session->file.next_offset = offset + session->plan.buffer_bytes;
}

int etw_session_file_put(struct etw_session *session, uint64_t offset, const uint8_t *buffer)
{
	struct etw_state_head *head = session->state.head;
	const struct wire_buffer_header *header = (const void *)buffer;
	int result;

	if (session->file.fd < 0 || head->file_status != 0)
		return head->file_status < 0 ? head->file_status : -EIO;
	result = etw_etl_file_writer_put(&session->file, offset, buffer);
	if (result < 0) {
		etw_etl_file_writer_unclaim(&session->file);
		etw_session_file_end(session, result);
		return result;
	}
	head->file_last_flags = le16_get(header->flags);
	store_relaxed(&head->file_next_offset, session->file.next_offset);
	return 0;
}

/*
 * A closed file's last buffer has the flush marker. One that was written because it was full gets it here,
 * and then looks like one that was flushed.
 */
static void mark_last_buffer(struct etw_session *session)
{
	struct etw_state_head *head = session->state.head;
	off_t last = (off_t)(head->file_next_offset - session->plan.buffer_bytes);
	struct wire_buffer_header header;

	if (last == 0 || head->file_last_flags & WIRE_BUFFER_FLUSH_MARKER ||
	    pread(session->file.fd, &header, sizeof(header), last) != sizeof(header))
		return;
	head->file_last_flags |= WIRE_BUFFER_FLUSH_MARKER;
	header.flags = le16_of((uint16_t)head->file_last_flags);
	header.current_offset = le32_of(session->plan.buffer_bytes + le32_get(header.valid_bytes));
	/* Where this fails so will the header, which says so. */
	(void)!pwrite(session->file.fd, &header, sizeof(header), last);
}

void etw_session_file_refresh(struct etw_session *session, bool is_end)
{
	const struct etw_state_head *head = session->state.head;
	struct etw_state_counts counts;
	struct wire_session_loss loss;

	etw_account_loss(session, &loss);
	etw_account_counts(session, &counts);
	(void)etw_etl_rewrite_header_buffer(
		etw_state_header_buffer(&session->state), session->plan.buffer_bytes,
		is_end ? etw_filetime_now() : 0,
		session->plan.has_file ? (uint32_t)(head->file_next_offset / head->buffer_bytes)
				       : 1,
		etw_account_events_lost(&loss), (uint32_t)counts.file_buffers);
}

void etw_session_file_end(struct etw_session *session, int status)
{
	struct etw_state_head *head = session->state.head;
	int result;

	if (session->file.fd < 0)
		return;
	mark_last_buffer(session);
	etw_session_file_refresh(session, /* is_end= */ true);
	result = etw_etl_file_writer_finish(&session->file,
					    etw_state_header_buffer(&session->state),
					    /* is_synced= */ false);
	if (status == 0 && result < 0)
		status = result;
	if (head->file_status == 0)
		store_relaxed(&head->file_status, status);
}
