/* SPDX-License-Identifier: MIT */
/* A session's file; see session/file/file.h. */
#include "session/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/number.h"
#include "base/time.h"
#include "base/utf.h"
#include "etl/writer.h"
#include "session/common/account.h"
#include "session/common/file_pattern.h"
#include "session/common/notes.h"
#include "session/common/owner.h"
#include "session/file/file_internal.h"
#include "wire/etl_buffer.h"

#define HZ_PER_MHZ     1000000
#define RETRY_FIRST_NS UINT64_C(10000000)
#define RETRY_MOST_NS  UINT64_C(500000000)

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

/* A note for whoever reads the trace. */
__attribute__((format(printf, 3, 4))) static void tell(struct etw_session_file *file,
						       const uint64_t *numbers, const char *format,
						       ...)
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

static struct etw_state_file *present_of(const struct etw_session_file *file)
{
	return etw_state_file(&file->context->state);
}

static uint64_t limit_of(const struct etw_session_file *file)
{
	const struct wire_session_config *config = &file->context->state.head->config;

	return etw_etl_file_limit(config->maximum_file_size, config->log_file_mode);
}

/*
 * The two names as UTF-16, and the numbers that only this module knows. The group masks are those at the
 * start: zeros, as in Windows' files; the kernel's source writes what it enables. The first file is the
 * controller's, those that follow it are made by the session's thread.
 */
int etw_session_file_make_header(struct etw_session_file *file, const struct etw_state_file *of,
				 uint8_t *ret)
{
	struct etw_state_head *state = file->context->state.head;
	const struct wire_session_config *config = &state->config;
	bool is_first = of == &state->files[0] && state->files_left == 0;
	char shown[WIRE_MESSAGE_NAME_MAX + 1];
	CLEANUP(freep) uint8_t *logger_name = etw_utf8_to_utf16(config->name, NULL);
	CLEANUP(freep) uint8_t *file_name = NULL;
	struct etw_etl_file_head head = {
		.buffer_bytes = file->context->plan.buffer_bytes,
		.layout_major = 1,
		.layout_minor = 5,
		.maximum_file_size = config->maximum_file_size,
		.log_file_mode = config->log_file_mode,
		.perf_frequency = file->context->host.clock->page->frequency,
		.start_ft = state->start_ft,
		.t0_raw = state->t0_raw,
		.clock_type = file->context->plan.clock_type,
		.logger_id = (uint16_t)state->session_id,
		.process_id = is_first ? config->controller_pid : (uint32_t)getpid(),
		.thread_id = is_first ? config->controller_tid
				      : (uint32_t)load_relaxed(&file->context->thread_id),
		.has_group_masks = file->context->plan.is_kernel,
		.buffers_written = 1,
	};

	TRY(etw_file_pattern_expand(of->shown[0] ? of->shown : of->name, of->number, shown));
	file_name = etw_utf8_to_utf16(shown, NULL);
	if (!logger_name || !file_name)
		return -ENOMEM;
	head.logger_name = (const char16_t *)logger_name;
	head.log_file_name = (const char16_t *)file_name;
	etw_etl_machine_head(&head);
	if (state->boot_ft == 0)
		state->boot_ft = head.boot_ft;
	head.boot_ft = state->boot_ft;
	head.processors = file->context->plan.output_count;
	/* Readers convert the times of this clock by the speed, and the nominal one may be another. */
	if (file->context->plan.clock_type == ETW_CLOCK_CYCLE &&
	    file->context->host.clock->page->kind == WIRE_CLOCK_TSC)
		head.cpu_mhz = (uint32_t)((head.perf_frequency + HZ_PER_MHZ / 2) / HZ_PER_MHZ);
	/* What old readers cannot know: large buffers, many processors, compression. */
	if (head.buffer_bytes > 1024 * 1024 || head.processors > 256 ||
	    config->log_file_mode & EVENT_TRACE_COMPRESSED_MODE) {
		head.layout_major = 2;
		head.layout_minor = 0;
	}
	return etw_etl_write_header_buffer(&head, ret);
}

/* As the controller would have made it; who does not say how gets a file of its own. */
static mode_t mode_of(const struct etw_session_file *file)
{
	return (file->context->state.head->config.file_mode & 0666) | 0600;
}

static bool is_circular(const struct etw_session_file *file)
{
	return file->context->plan.file_places != 0;
}

/* The space that it is to have from the start, and its header buffer. */
static int fill_first(const struct etw_session_file *file, const uint8_t *header,
		      struct etw_etl_file_writer *writer)
{
	writer->is_circular = is_circular(file);
	if (file->context->state.head->config.log_file_mode & EVENT_TRACE_FILE_MODE_PREALLOCATE)
		TRY(etw_etl_file_writer_preallocate(writer));
	return etw_etl_file_writer_put(writer, 0, header);
}

int etw_session_file_make(struct etw_session_file *file, const struct etw_state_file *of,
			  const uint8_t *header, struct etw_etl_file_writer *ret)
{
	const struct etw_state_head *head = file->context->state.head;
	struct etw_etl_file_writer writer;
	char path[WIRE_MESSAGE_NAME_MAX + 1];
	struct etw_owner owner;
	int result;

	TRY(etw_file_pattern_expand(of->name, of->number, path));
	TRY(etw_owner_become(head->uid, &owner));
	result = etw_etl_file_writer_open(path, mode_of(file), file->context->plan.buffer_bytes,
					  limit_of(file), &writer);
	if (result == 0) {
		writer.packer = file->packer;
		result = fill_first(file, header, &writer);
		if (result < 0) {
			/* A part of the header reads as a trace that was not closed, and never was one. */
			(void)ftruncate(writer.fd, 0);
			if (file->context->state.head->files_left > 0 || file->writer.fd >= 0)
				(void)unlink(path);
			etw_etl_file_writer_close(&writer);
		}
	}
	etw_owner_return(&owner);
	if (result == 0)
		*ret = writer;
	return result;
}

/* All writes of the session go through here, or through finish(): within the quota of whose session it is. */
static int put(struct etw_session_file *file, uint64_t offset, const uint8_t *buffer)
{
	struct etw_owner owner;
	int result;

	etw_owner_write(file->context->state.head->uid, &owner);
	result = etw_etl_file_writer_put(&file->writer, offset, buffer);
	etw_owner_return(&owner);
	return result;
}

static int finish(struct etw_session_file *file)
{
	struct etw_owner owner;
	int result;

	etw_owner_write(file->context->state.head->uid, &owner);
	result = etw_etl_file_writer_finish(&file->writer,
					    etw_state_header_buffer(&file->context->state),
					    /* is_synced= */ false);
	etw_owner_return(&owner);
	return result;
}

static int make_first(struct etw_session_file *file, struct etw_state_file *first)
{
	TRY(etw_session_file_make(file, first, etw_state_header_buffer(&file->context->state),
				  &file->writer));
	store_relaxed(&first->buffers, 1u);
	store_relaxed(&first->next_offset, file->writer.next_offset);
	return 0;
}

int etw_session_file_open_kept(struct etw_session_file *file)
{
	const struct etw_state_head *head = file->context->state.head;
	struct etw_owner owner;
	int result;

	TRY(etw_owner_become(head->uid, &owner));
	result = etw_etl_file_writer_open_kept(head->config.log_file, mode_of(file),
					       file->context->plan.buffer_bytes, limit_of(file),
					       &file->writer);
	etw_owner_return(&owner);
	return result;
}

int etw_session_file_put_header(struct etw_session_file *file)
{
	return put(file, 0, etw_state_header_buffer(&file->context->state));
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
	etw_etl_file_writer_adopt(fd, file->context->plan.buffer_bytes, limit_of(file),
				  present->next_offset, &file->writer);
	if (make_packer(file) < 0) {
		etw_etl_file_writer_close(&file->writer);
		store_relaxed(&present->status, -ENOMEM);
		etw_context_complain(file->context, "the file cannot be gone on with", -ENOMEM,
				     NULL);
	}
	file->writer.packer = file->packer;
	file->writer.is_circular = is_circular(file);
}

static bool is_in_series(const struct etw_session_file *file)
{
	return file->context->plan.has_file && present_of(file)->number != 0;
}

static bool is_for_lack_of_space(int32_t status)
{
	return status == -ENOSPC || status == -EDQUOT;
}

/* Whether buffers go to the file, or one is to be tried. */
static bool takes_buffers(const struct etw_session_file *file)
{
	int32_t status = present_of(file)->status;

	if (file->writer.fd < 0)
		return false;
	return status == 0 || (is_for_lack_of_space(status) && !is_in_series(file) &&
			       etw_monotonic_ns() >= file->again_ns);
}

bool etw_session_file_wants_next(const struct etw_session_file *file)
{
	if (!is_in_series(file))
		return false;
	if (present_of(file)->status != 0)
		return etw_monotonic_ns() >= file->again_ns;
	return file->writer.fd >= 0 && !etw_etl_file_writer_has_room(&file->writer);
}

/* Room to note what is in a place of a circular file, in its first round. */
static int reserve(struct etw_session_file *file, uint64_t offset)
{
	uint64_t index = offset / file->context->plan.buffer_bytes - 1;

	if (index >= file->context->plan.file_places)
		return 0;
	return etw_state_reserve_place(&file->context->state, index);
}

struct etw_state_place *etw_session_file_place(const struct etw_session_file *file, uint64_t offset)
{
	const struct etw_session_plan *plan = &file->context->plan;

	if (plan->file_places == 0 || offset == 0)
		return NULL;
	return etw_state_place(&file->context->state,
			       (offset / plan->buffer_bytes - 1) % plan->file_places);
}

uint64_t etw_session_file_claim(struct etw_session_file *file)
{
	uint64_t offset;
	int result;

	if (!takes_buffers(file))
		return 0;
	result = etw_etl_file_writer_claim(&file->writer, &offset);
	if (result == 0) {
		result = reserve(file, offset);
		if (result == 0)
			return offset;
		etw_etl_file_writer_unclaim(&file->writer);
	}
	etw_session_file_end(file, result);
	return 0;
}

void etw_session_file_reclaim(struct etw_session_file *file, uint64_t offset)
{
	if (file->writer.fd >= 0 && file->writer.next_offset <= offset)
		file->writer.next_offset = offset + file->context->plan.buffer_bytes;
}

void etw_session_file_has_no_next(struct etw_session_file *file, int result)
{
	file->again_ns = etw_monotonic_ns() + ETW_FILE_AGAIN_NS;
	if (present_of(file)->status == 0)
		etw_session_file_end(file, result);
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
static bool tries_again(struct etw_session_file *file, int result, uint64_t *pause_ns)
{
	uint64_t now_ns = etw_monotonic_ns();
	struct timespec pause = etw_timespec_of_ns(*pause_ns);

	if (result == 0)
		file->trouble_ns = 0;
	else if (file->trouble_ns == 0)
		file->trouble_ns = now_ns;
	if (!may_pass(result) || now_ns - file->trouble_ns >= ETW_FILE_PATIENCE_NS)
		return false;
	(void)nanosleep(&pause, NULL);
	*pause_ns = *pause_ns < RETRY_MOST_NS ? *pause_ns * 2 : RETRY_MOST_NS;
	return true;
}

/* The same bytes to the same place until they are there, or patience ends. */
static int put_patiently(struct etw_session_file *file, uint64_t offset, const uint8_t *buffer)
{
	uint64_t pause_ns = RETRY_FIRST_NS;
	int result;

	do
		result = put(file, offset, buffer);
	while (tries_again(file, result, &pause_ns));
	return result;
}

static int finish_patiently(struct etw_session_file *file)
{
	uint64_t pause_ns = RETRY_FIRST_NS;
	int result;

	do
		result = finish(file);
	while (tries_again(file, result, &pause_ns));
	return result;
}

/* There is room again: the file is one that is being written, and its reader is told of what is missing. */
static void go_on(struct etw_session_file *file, uint64_t ended_at)
{
	struct etw_state_file *present = present_of(file);
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-present->status, ended_at};

	tell(file, numbers,
	     "the file had ended for lack of space at %" PRIu64
	     " bytes, and goes on: events are missing in it",
	     ended_at);
	etw_context_complain(file->context, "there is space again and the file goes on", 0, NULL);
	store_relaxed(&present->status, 0);
	etw_session_file_refresh(file, /* is_end= */ false);
	(void)put(file, 0, etw_state_header_buffer(&file->context->state));
}

void etw_session_file_tell_next(struct etw_session_file *file, int status)
{
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-status, 0};

	tell(file, numbers,
	     "the file before this one had ended early (%s): events between the two are missing",
	     strerrordesc_np(-status));
	etw_context_complain(file->context, "the session goes on in another file", 0, NULL);
}

/*
 * What is left in the place of a circular file is neither the old buffer nor the new one. Where even this little cannot
 * be written readers tell of the damage.
 */
static void empty_place(struct etw_session_file *file, uint64_t offset, const uint8_t *buffer)
{
	struct wire_buffer_header header;
	struct etw_owner owner;
	uint64_t place = etw_etl_file_writer_place(&file->writer, offset);

	if (place == offset)
		return; /* nothing was there, and the file is cut before it */
	memcpy(&header, buffer, sizeof(header));
	header.saved_offset = header.valid_bytes = le32_of(WIRE_BUFFER_HEADER_BYTES);
	header.current_offset =
		le32_of(file->context->plan.buffer_bytes + WIRE_BUFFER_HEADER_BYTES);
	etw_owner_write(file->context->state.head->uid, &owner);
	(void)!pwrite(file->writer.fd, &header, sizeof(header), (off_t)place);
	etw_owner_return(&owner);
}

static void fail(struct etw_session_file *file, int result)
{
	etw_etl_file_writer_unclaim(&file->writer);
	file->again_ns = etw_monotonic_ns() + ETW_FILE_AGAIN_NS;
	if (present_of(file)->status == 0)
		etw_session_file_end(file, result);
}

int etw_session_file_put(struct etw_session_file *file, uint64_t offset, uint32_t place,
			 const uint8_t *buffer)
{
	struct etw_state_file *present = present_of(file);
	const struct wire_buffer_header *header = (const void *)buffer;
	int result;

	if (file->writer.fd < 0 || (present->status != 0 && !is_for_lack_of_space(present->status)))
		return present->status < 0 ? present->status : -EIO;
	result = put_patiently(file, offset, buffer);
	if (result < 0) {
		empty_place(file, offset, buffer);
		fail(file, result);
		return result;
	}
	present->last_flags = le16_get(header->flags);
	present->last_offset = offset;
	store_relaxed(&present->buffers, place + 1);
	store_relaxed(&present->next_offset, file->writer.next_offset);
	if (present->status != 0)
		go_on(file, offset);
	return 0;
}

bool etw_session_file_is_gone(struct etw_session_file *file)
{
	struct stat info;

	file->looked_ns = etw_monotonic_ns();
	return file->writer.fd >= 0 && fstat(file->writer.fd, &info) == 0 && info.st_nlink == 0;
}

void etw_session_file_abandon(struct etw_session_file *file)
{
	store_relaxed(&present_of(file)->status, -ENOENT);
	etw_context_complain(file->context, "the file was deleted while it was written", 0, NULL);
	if (file->context->plan.is_realtime)
		tell(file, (const uint64_t[]){ENOENT, 0, 0},
		     "somebody has deleted the session's file");
	etw_etl_file_writer_close(&file->writer);
	etw_context_forget(file->context, ETW_SESSION_FILE_KEPT,
			   (unsigned)file->context->state.head->files_left & 1);
	file->again_ns = 0;
}

/* Everybody hears of it: who asks for the session, who reads the log, and who gets its events. */
static void tell_end(struct etw_session_file *file, int status)
{
	const uint64_t bytes = present_of(file)->next_offset;
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-status, bytes};

	etw_context_complain(file->context, "the file ended before the session", status, NULL);
	if (file->context->plan.is_realtime)
		tell(file, numbers, "the session's file ended at %" PRIu64 " bytes: %s", bytes,
		     strerrordesc_np(-status));
}

/*
 * A closed file's last buffer has the flush marker. One that was written because it was full gets it here,
 * and then looks like one that was flushed.
 */
static void mark_last_buffer(struct etw_session_file *file)
{
	struct etw_state_file *present = present_of(file);
	off_t last = (off_t)etw_etl_file_writer_place(&file->writer, present->last_offset);
	struct wire_buffer_header header;
	struct etw_owner owner;

	if (last == 0 || present->last_flags & WIRE_BUFFER_FLUSH_MARKER ||
	    pread(file->writer.fd, &header, sizeof(header), last) != sizeof(header))
		return;
	present->last_flags |= WIRE_BUFFER_FLUSH_MARKER;
	header.flags = le16_of(le16_get(header.flags) | WIRE_BUFFER_FLUSH_MARKER);
	header.current_offset =
		le32_of(file->context->plan.buffer_bytes + le32_get(header.valid_bytes));
	etw_owner_write(file->context->state.head->uid, &owner);
	/* Where this fails so will the header, which says so. */
	(void)!pwrite(file->writer.fd, &header, sizeof(header), last);
	etw_owner_return(&owner);
}

static uint32_t sum32(uint64_t own, uint32_t before)
{
	return etw_saturate32(etw_sum_saturated(own, before));
}

void etw_session_file_refresh(struct etw_session_file *file, bool is_end)
{
	const struct etw_state_file *present = present_of(file);
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
	struct etw_state_file *present = present_of(file);

	pthread_mutex_lock(&context->config_lock);
	head->config.log_file[0] = '\0';
	head->config.log_file_shown[0] = '\0';
	present->name[0] = '\0';
	present->shown[0] = '\0';
	pthread_mutex_unlock(&context->config_lock);
	etw_session_file_close(file);
	etw_context_forget(context, ETW_SESSION_FILE_KEPT, (unsigned)head->files_left & 1);
}

void etw_session_file_end(struct etw_session_file *file, int status)
{
	struct etw_state_file *present = present_of(file);
	int result;

	if (file->writer.fd < 0)
		return;
	mark_last_buffer(file);
	etw_session_file_refresh(file, /* is_end= */ true);
	result = finish_patiently(file);
	if (status == 0 && result < 0)
		status = result;
	if (present->status != 0 || status == 0)
		return;
	store_relaxed(&present->status, status);
	tell_end(file, status);
}
