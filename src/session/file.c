/* SPDX-License-Identifier: MIT */
/* A session's file; see session/file.h. */
#include "session/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "base/utf.h"
#include "etl/writer.h"
#include "session/account.h"
#include "session/notes.h"
#include "session/output.h"
#include "session/owner.h"
#include "wire/etl_buffer.h"

#define HZ_PER_MHZ     1000000
#define RETRY_FIRST_NS UINT64_C(10000000)
#define RETRY_MOST_NS  UINT64_C(500000000)

static uint64_t limit_of(const struct etw_session *session)
{
	const struct wire_session_config *config = &session->state.head->config;

	return etw_etl_file_limit(config->maximum_file_size, config->log_file_mode);
}

/*
 * The two names as UTF-16, and the numbers that only this module knows. The group masks are those at the
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

/* As the controller would have made it; who does not say how gets a file of its own. */
static mode_t mode_of(const struct etw_session *session)
{
	return (session->state.head->config.file_mode & 0666) | 0600;
}

static int open_file(struct etw_session *session)
{
	const struct etw_state_head *head = session->state.head;
	struct etw_owner owner;
	int result;

	TRY(etw_owner_become(head->uid, &owner));
	result = etw_etl_file_writer_open(head->config.log_file, mode_of(session),
					  session->plan.buffer_bytes, limit_of(session),
					  &session->file);
	etw_owner_return(&owner);
	return result;
}

/* All writes of the session go through here, or through finish(): within the quota of whose session it is. */
static int put(struct etw_session *session, uint64_t offset, const uint8_t *buffer)
{
	struct etw_owner owner;
	int result;

	etw_owner_write(session->state.head->uid, &owner);
	result = etw_etl_file_writer_put(&session->file, offset, buffer);
	etw_owner_return(&owner);
	return result;
}

static int finish(struct etw_session *session)
{
	struct etw_owner owner;
	int result;

	etw_owner_write(session->state.head->uid, &owner);
	result = etw_etl_file_writer_finish(&session->file,
					    etw_state_header_buffer(&session->state),
					    /* is_synced= */ false);
	etw_owner_return(&owner);
	return result;
}

int etw_session_file_create(struct etw_session *session)
{
	char name[ETW_SESSION_NAME_BYTES];
	int result;

	TRY(make_header(session));
	if (!session->plan.has_file)
		return 0;
	TRY(open_file(session));
	result = put(session, 0, etw_state_header_buffer(&session->state));
	if (result) {
		/* A part of the header reads as a trace that was not closed, of a session that never was. */
		(void)ftruncate(session->file.fd, 0);
		return result;
	}
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
		if (head->file_status != 0)
			return; /* it had ended, and that was told */
		store_relaxed(&head->file_status, fd);
		etw_session_complain(session, "the file of the last host is lost", fd, NULL);
		return;
	}
	etw_etl_file_writer_adopt(fd, session->plan.buffer_bytes, limit_of(session),
				  head->file_next_offset, &session->file);
}

static bool is_for_lack_of_space(int32_t status)
{
	return status == -ENOSPC || status == -EDQUOT;
}

/* Whether buffers go to the file, or one is to be tried. */
static bool takes_buffers(const struct etw_session *session, uint64_t now_ns)
{
	int32_t status = session->state.head->file_status;

	if (session->file.fd < 0)
		return false;
	return status == 0 || (is_for_lack_of_space(status) && now_ns >= session->file_again_ns);
}

uint64_t etw_session_file_claim(struct etw_session *session)
{
	uint64_t now_ns = session->round.now_ns;
	uint64_t offset;
	int result;

	if (!takes_buffers(session, now_ns))
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

/* What a medium or a file server may get over. */
static bool may_pass(int result)
{
	return result == -EIO || result == -EAGAIN || result == -ENOMEM || result == -ETIMEDOUT;
}

/*
 * Whether to try again what has just given @result; waits before it says yes. The waits of one trouble add up: it
 * begins with the first error and ends with the first write that succeeds.
 */
static bool tries_again(struct etw_session *session, int result, uint64_t *pause_ns)
{
	uint64_t now_ns = etw_monotonic_ns();
	struct timespec pause = etw_timespec_of_ns(*pause_ns);

	if (result == 0)
		session->file_trouble_ns = 0;
	else if (session->file_trouble_ns == 0)
		session->file_trouble_ns = now_ns;
	if (!may_pass(result) || now_ns - session->file_trouble_ns >= ETW_FILE_PATIENCE_NS)
		return false;
	(void)nanosleep(&pause, NULL);
	*pause_ns = *pause_ns < RETRY_MOST_NS ? *pause_ns * 2 : RETRY_MOST_NS;
	return true;
}

/* The same bytes to the same place until they are there, or patience ends. */
static int put_patiently(struct etw_session *session, uint64_t offset, const uint8_t *buffer)
{
	uint64_t pause_ns = RETRY_FIRST_NS;
	int result;

	do
		result = put(session, offset, buffer);
	while (tries_again(session, result, &pause_ns));
	return result;
}

static int finish_patiently(struct etw_session *session)
{
	uint64_t pause_ns = RETRY_FIRST_NS;
	int result;

	do
		result = finish(session);
	while (tries_again(session, result, &pause_ns));
	return result;
}

/* There is room again: the file is one that is being written, and its reader is told of what is missing. */
static void go_on(struct etw_session *session, uint64_t ended_at)
{
	struct etw_state_head *head = session->state.head;
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-head->file_status,
							     ended_at};

	etw_notes_add(session, WIRE_NOTE_FILE_ENDED, numbers,
		      "the file had ended for lack of space at %" PRIu64
		      " bytes, and goes on: events are missing in it",
		      ended_at);
	etw_session_complain(session, "there is space again and the file goes on", 0, NULL);
	store_relaxed(&head->file_status, 0);
	etw_session_file_refresh(session, /* is_end= */ false);
	(void)put(session, 0, etw_state_header_buffer(&session->state));
}

static void fail(struct etw_session *session, int result)
{
	etw_etl_file_writer_unclaim(&session->file);
	session->file_again_ns = etw_monotonic_ns() + ETW_FILE_AGAIN_NS;
	if (session->state.head->file_status == 0)
		etw_session_file_end(session, result);
}

int etw_session_file_put(struct etw_session *session, uint64_t offset, const uint8_t *buffer)
{
	struct etw_state_head *head = session->state.head;
	const struct wire_buffer_header *header = (const void *)buffer;
	int result;

	if (session->file.fd < 0 ||
	    (head->file_status != 0 && !is_for_lack_of_space(head->file_status)))
		return head->file_status < 0 ? head->file_status : -EIO;
	result = put_patiently(session, offset, buffer);
	if (result < 0) {
		fail(session, result);
		return result;
	}
	head->file_last_flags = le16_get(header->flags);
	store_relaxed(&head->file_next_offset, session->file.next_offset);
	if (head->file_status != 0)
		go_on(session, offset);
	return 0;
}

/*
 * What was in the file is as lost as what it did not get. Assigned, not added: a host that dies on the way leaves
 * it to the next one. The buffers that are being filled count when they are sealed.
 */
static void count_all_as_lost(struct etw_session *session)
{
	struct etw_state_head *head = session->state.head;

	for (uint32_t i = 0; i < session->plan.output_count; i++) {
		struct etw_session_output *output = &session->outputs[i];

		output->record->counts.file_events = output->record->counts.events -
						     output->record->buffer_events;
		if (i == 0 && head->file_next_offset > 0)
			output->record->counts.file_buffers +=
				head->file_next_offset / head->buffer_bytes - 1;
		etw_state_commit(&session->state, i, output->record);
	}
	store_relaxed(&head->file_next_offset, 0);
}

void etw_session_file_look(struct etw_session *session)
{
	struct etw_state_head *head = session->state.head;
	char name[ETW_SESSION_NAME_BYTES];
	struct stat info;

	session->file_looked_ns = etw_monotonic_ns();
	if (session->file.fd < 0 || fstat(session->file.fd, &info) < 0 || info.st_nlink > 0)
		return;
	count_all_as_lost(session);
	store_relaxed(&head->file_status, -ENOENT);
	etw_session_complain(session, "the file was deleted while it was written", 0, NULL);
	if (session->plan.is_realtime)
		etw_notes_add(session, WIRE_NOTE_FILE_ENDED, (const uint64_t[]){ENOENT, 0, 0},
			      "somebody has deleted the session's file");
	etw_etl_file_writer_close(&session->file);
	etw_session_name(session, name, "file");
	if (session->host.forget_fd)
		session->host.forget_fd(session->host.context, name);
}

/* Everybody hears of it: who asks for the session, who reads the log, and who gets its events. */
static void tell_end(struct etw_session *session, int status)
{
	const uint64_t bytes = session->state.head->file_next_offset;
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-status, bytes};

	etw_session_complain(session, "the file ended before the session", status, NULL);
	if (session->plan.is_realtime)
		etw_notes_add(session, WIRE_NOTE_FILE_ENDED, numbers,
			      "the session's file ended at %" PRIu64 " bytes: %s", bytes,
			      strerrordesc_np(-status));
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
	struct etw_owner owner;

	if (last == 0 || head->file_last_flags & WIRE_BUFFER_FLUSH_MARKER ||
	    pread(session->file.fd, &header, sizeof(header), last) != sizeof(header))
		return;
	head->file_last_flags |= WIRE_BUFFER_FLUSH_MARKER;
	header.flags = le16_of((uint16_t)head->file_last_flags);
	header.current_offset = le32_of(session->plan.buffer_bytes + le32_get(header.valid_bytes));
	etw_owner_write(head->uid, &owner);
	/* Where this fails so will the header, which says so. */
	(void)!pwrite(session->file.fd, &header, sizeof(header), last);
	etw_owner_return(&owner);
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
	result = finish_patiently(session);
	if (status == 0 && result < 0)
		status = result;
	if (head->file_status != 0 || status == 0)
		return;
	store_relaxed(&head->file_status, status);
	tell_end(session, status);
}
