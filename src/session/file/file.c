/* SPDX-License-Identifier: MIT */
/* A session's file; see session/file/file.h. */
#include "session/file/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/sched_point.h"
#include "base/time.h"
#include "etl/writer.h"
#include "session/common/account.h"
#include "session/common/notes.h"
#include "session/common/owner.h"
#include "session/file/file_internal.h"
#include "wire/etl_buffer.h"

void etw_session_file_init(struct etw_session_context *context, struct etw_session_notes *notes,
			   struct etw_session_sets *sets, struct etw_session_file *ret)
{
	*ret = (struct etw_session_file){
		.context = context, .notes = notes, .sets = sets, .writer = {.fd = -1}};
}

void etw_session_file_close(struct etw_session_file *file)
{
	etw_etl_file_writer_close(&file->writer);
	etw_etl_packer_free(TAKE(file->packer));
}

static int make_packer(struct etw_session_file *file)
{
	const struct etw_session_context *context = file->context;

	if (!(context->state.head->config.log_file_mode & EVENT_TRACE_COMPRESSED_MODE))
		return 0;
	return etw_etl_packer_create(context->plan.buffer_bytes, &file->packer);
}

__attribute__((format(printf, 3, 4))) void etw_session_file_tell(struct etw_session_file *file,
								 const uint64_t *numbers,
								 const char *format, ...)
{
	char sentence[WIRE_SESSION_NOTE_MESSAGE_MAX + 1];
	struct wire_session_note note;
	va_list list;

	va_start(list, format);
	(void)vsnprintf(sentence, sizeof(sentence), format, list);
	va_end(list);
	etw_note_make(&note, WIRE_NOTE_FILE_ENDED, numbers, "%s", sentence);
	etw_notes_put(file->notes, &note);
}

static int make_first(struct etw_session_file *file, struct etw_state_file *first)
{
	TRY(etw_session_file_make(file, first, etw_state_header_buffer(&file->context->state),
				  /* removes= */ false, &file->writer));
	store_relaxed(&first->buffers, 1u);
	store_relaxed(&first->next_offset, file->writer.next_offset);
	return 0;
}

int etw_session_file_put_header(struct etw_session_file *file)
{
	return etw_session_file_write(file, 0, etw_state_header_buffer(&file->context->state));
}

int etw_session_file_create(struct etw_session_file *file)
{
	struct etw_state *state = &file->context->state;
	struct etw_state_file *first = etw_state_file(state);

	TRY(etw_session_file_make_header(file, first, etw_state_header_buffer(state)));
	if (!file->context->plan.has_file)
		return 0;
	TRY(make_packer(file));
	if (state->head->config.log_file_mode & EVENT_TRACE_FILE_MODE_APPEND)
		TRY(etw_session_file_append(file, first));
	else
		TRY(make_first(file, first));
	(void)etw_context_keep(file->context, file->writer.fd, ETW_SESSION_FILE_KEPT, 0u);
	return 0;
}

/* What the last host had made and not changed to yet is nobody's: its lock ends here, it may be made again. */
static void drop_unfinished(struct etw_session_file *file)
{
	unsigned next = ~(unsigned)file->context->state.head->files_left & 1;
	int fd = etw_context_kept(file->context, ETW_SESSION_FILE_KEPT, next);
	struct etw_etl_file_writer writer = {.fd = fd};

	if (fd < 0)
		return;
	etw_etl_file_writer_close(&writer);
	etw_context_forget(file->context, ETW_SESSION_FILE_KEPT, next);
}

void etw_session_file_adopt(struct etw_session_file *file)
{
	struct etw_state *state = &file->context->state;
	struct etw_state_file *present = etw_state_file(state);
	int fd;

	if (state->head->header_of != state->head->files_left) {
		/* What it takes has been enough once already. */
		(void)etw_session_file_make_header(file, present, etw_state_header_buffer(state));
		state->head->header_of = state->head->files_left;
	}
	if (!file->context->plan.has_file)
		return;
	drop_unfinished(file);
	fd = etw_context_kept(file->context, ETW_SESSION_FILE_KEPT,
			      (unsigned)state->head->files_left & 1);
	if (fd < 0) {
		if (present->status != 0)
			return; /* it had ended, and that was told */
		store_relaxed(&present->status, fd);
		etw_context_complain(file->context, "the file of the last host is lost", fd, NULL);
		return;
	}
	etw_etl_file_writer_adopt(fd, file->context->plan.buffer_bytes,
				  etw_session_file_limit(file), present->next_offset,
				  &file->writer);
	if (make_packer(file) < 0) {
		etw_etl_file_writer_close(&file->writer);
		store_relaxed(&present->status, -ENOMEM);
		etw_context_complain(file->context, "the file cannot be gone on with", -ENOMEM,
				     NULL);
	}
	file->writer.packer = file->packer;
	file->writer.is_circular = file->context->plan.file_places != 0;
}

void etw_session_file_tell_next(struct etw_session_file *file, int status)
{
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-status, 0};

	etw_session_file_tell(
		file, numbers,
		"the file before this one had ended early (%s): events between the two are missing",
		strerrordesc_np(-status));
	etw_context_complain(file->context, "the session goes on in another file", 0, NULL);
}

bool etw_session_file_is_gone(struct etw_session_file *file)
{
	struct stat info;

	file->looked_ns = etw_monotonic_ns();
	return file->writer.fd >= 0 && fstat(file->writer.fd, &info) == 0 && info.st_nlink == 0;
}

void etw_session_file_abandon(struct etw_session_file *file)
{
	store_relaxed(&etw_session_file_present(file)->status, -ENOENT);
	etw_context_complain(file->context, "the file was deleted while it was written", 0, NULL);
	if (file->context->plan.is_realtime)
		etw_session_file_tell(file, (const uint64_t[]){ENOENT, 0, 0},
				      "somebody has deleted the session's file");
	etw_etl_file_writer_close(&file->writer);
	etw_context_forget(file->context, ETW_SESSION_FILE_KEPT,
			   (unsigned)file->context->state.head->files_left & 1);
	file->again_ns = 0;
}

/* Everybody hears of it: who asks for the session, who reads the log, and who gets its events. */
static void tell_end(struct etw_session_file *file, int status)
{
	const uint64_t bytes = etw_session_file_present(file)->next_offset;
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-status, bytes};

	etw_context_complain(file->context, "the file ended before the session", status, NULL);
	if (file->context->plan.is_realtime)
		etw_session_file_tell(file, numbers,
				      "the session's file ended at %" PRIu64 " bytes: %s", bytes,
				      strerrordesc_np(-status));
}

/* A closed file's last buffer has the flush marker. One that was written because it was full gets it here. */
static void mark_last_buffer(struct etw_session_file *file)
{
	struct etw_state_file *present = etw_session_file_present(file);
	off_t last = (off_t)etw_etl_file_writer_place(&file->writer, present->last_offset);
	struct wire_buffer_header header;

	if (last == 0 || present->last_flags & WIRE_BUFFER_FLUSH_MARKER ||
	    pread(file->writer.fd, &header, sizeof(header), last) != sizeof(header))
		return;
	present->last_flags |= WIRE_BUFFER_FLUSH_MARKER;
	etw_etl_mark_flushed(&header, file->context->plan.buffer_bytes);
	/* Where this fails so will the header, which says so. */
	etw_session_file_patch(file, (uint64_t)last, &header);
}

static uint32_t sum32(uint64_t own, uint32_t before)
{
	return etw_saturate32(etw_sum_saturated(own, before));
}

void etw_session_file_refresh(struct etw_session_file *file, bool is_end)
{
	const struct etw_state_file *present = etw_session_file_present(file);
	struct etw_state_counts counts;
	struct wire_session_loss loss;

	etw_account_loss(file->sets, &loss);
	etw_account_counts(&file->context->state, &counts);
	(void)etw_etl_rewrite_header_buffer(
		etw_state_header_buffer(&file->context->state), file->context->plan.buffer_bytes,
		is_end ? etw_filetime_now() : 0,
		file->context->plan.has_file ? present->buffers : 1,
		sum32(etw_account_events_lost(&loss), present->events_lost_before),
		sum32(counts.file_buffers, present->buffers_lost_before));
}

void etw_session_file_leave(struct etw_session_file *file)
{
	struct etw_session_context *context = file->context;
	struct etw_state_head *head = context->state.head;
	struct etw_state_file *present = etw_session_file_present(file);

	etw_session_file_close(file);
	etw_context_forget(context, ETW_SESSION_FILE_KEPT, (unsigned)head->files_left & 1);
	SCHED_POINT("session.convert.forgotten");
	pthread_mutex_lock(&context->config_lock);
	head->config.log_file[0] = '\0';
	head->config.log_file_shown[0] = '\0';
	present->shown[0] = '\0';
	/* Last: by this name the next host sees that there is something left to do. */
	store_release(&present->name[0], '\0');
	pthread_mutex_unlock(&context->config_lock);
}

void etw_session_file_end(struct etw_session_file *file, int status)
{
	struct etw_state_file *present = etw_session_file_present(file);
	int result;

	if (file->writer.fd < 0)
		return;
	mark_last_buffer(file);
	etw_session_file_refresh(file, /* is_end= */ true);
	result = etw_session_file_finish(file);
	if (status == 0 && result < 0)
		status = result;
	if (present->status != 0 || status == 0)
		return;
	store_relaxed(&present->status, status);
	tell_end(file, status);
}
