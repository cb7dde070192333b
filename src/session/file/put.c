/* SPDX-License-Identifier: MIT */
/* Sealed buffers on their way to the file: the place of each, and what is done when one cannot be written. */
#include "session/file/file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/time.h"
#include "session/common/owner.h"
#include "session/file/file_internal.h"
#include "wire/etl_buffer.h"

bool etw_session_file_is_in_series(const struct etw_session_file *file)
{
	return file->context->plan.has_file && etw_session_file_present(file)->number != 0;
}

static bool is_for_lack_of_space(int32_t status)
{
	return status == -ENOSPC || status == -EDQUOT;
}

/* Whether buffers go to the file, or one is to be tried. */
static bool takes_buffers(const struct etw_session_file *file)
{
	int32_t status = etw_session_file_present(file)->status;

	if (file->writer.fd < 0)
		return false;
	return status == 0 ||
	       (is_for_lack_of_space(status) && !etw_session_file_is_in_series(file) &&
		etw_monotonic_ns() >= file->again_ns);
}

bool etw_session_file_wants_next(const struct etw_session_file *file)
{
	if (!etw_session_file_is_in_series(file))
		return false;
	if (etw_session_file_present(file)->status != 0)
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

/* Windows ends a session whose file is full, unless that begins anew or another one does, or consumers get the events. */
static void tell_full(const struct etw_session_file *file)
{
	const struct etw_session_context *context = file->context;

	if (etw_session_file_present(file)->status == -EFBIG &&
	    context->state.head->config.maximum_file_size != 0 &&
	    !etw_session_file_is_in_series(file) && context->plan.file_places == 0 &&
	    !context->plan.is_realtime && context->host.file_is_full)
		context->host.file_is_full(context->host.context, context->state.head->session_id);
}

uint64_t etw_session_file_claim(struct etw_session_file *file)
{
	uint64_t offset;
	int result;

	if (!takes_buffers(file)) {
		tell_full(file);
		return 0;
	}
	result = etw_etl_file_writer_claim(&file->writer, &offset);
	if (result == 0) {
		result = reserve(file, offset);
		if (result == 0)
			return offset;
		etw_etl_file_writer_unclaim(&file->writer);
	}
	etw_session_file_end(file, result);
	tell_full(file);
	return 0;
}

void etw_session_file_reclaim(struct etw_session_file *file, uint64_t offset)
{
	if (file->writer.fd >= 0 && file->writer.next_offset <= offset)
		file->writer.next_offset = offset + file->context->plan.buffer_bytes;
}

/* Until it is tried again. */
static void end_for_now(struct etw_session_file *file, int result)
{
	file->again_ns = etw_monotonic_ns() + ETW_FILE_AGAIN_NS;
	if (etw_session_file_present(file)->status == 0)
		etw_session_file_end(file, result);
}

void etw_session_file_has_no_next(struct etw_session_file *file, int result)
{
	end_for_now(file, result);
}

/* There is room again: the file is one that is being written, and its reader is told of what is missing. */
static void go_on(struct etw_session_file *file, uint64_t ended_at)
{
	struct etw_state_file *present = etw_session_file_present(file);
	const uint64_t numbers[WIRE_SESSION_NOTE_NUMBERS] = {(uint64_t)-present->status, ended_at};

	etw_session_file_tell(file, numbers,
			      "the file had ended for lack of space at %" PRIu64
			      " bytes, and goes on: events are missing in it",
			      ended_at);
	etw_context_complain(file->context, "there is space again and the file goes on", 0, NULL);
	store_relaxed(&present->status, 0);
	etw_session_file_refresh(file, /* is_end= */ false);
	(void)etw_session_file_write(file, 0, etw_state_header_buffer(&file->context->state));
}

/*
 * What is left in the place of a circular file is neither the old buffer nor the new one. Where even this little cannot
 * be written readers tell of the damage.
 */
static void empty_place(struct etw_session_file *file, uint64_t offset, const uint8_t *buffer)
{
	struct wire_buffer_header header;
	uint64_t place = etw_etl_file_writer_place(&file->writer, offset);

	if (place == offset)
		return; /* nothing was there, and the file is cut before it */
	memcpy(&header, buffer, sizeof(header));
	header.saved_offset = header.valid_bytes = le32_of(WIRE_BUFFER_HEADER_BYTES);
	header.current_offset =
		le32_of(file->context->plan.buffer_bytes + WIRE_BUFFER_HEADER_BYTES);
	etw_session_file_patch(file, place, &header);
}

int etw_session_file_put(struct etw_session_file *file, uint64_t offset, uint32_t place,
			 const uint8_t *buffer)
{
	struct etw_state_file *present = etw_session_file_present(file);
	const struct wire_buffer_header *header = (const void *)buffer;
	int result;

	if (file->writer.fd < 0 || (present->status != 0 && !is_for_lack_of_space(present->status)))
		return present->status < 0 ? present->status : -EIO;
	result = etw_session_file_write_patiently(file, offset, buffer);
	if (result < 0) {
		empty_place(file, offset, buffer);
		etw_etl_file_writer_unclaim(&file->writer);
		end_for_now(file, result);
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
