/* SPDX-License-Identifier: MIT */
/* How a session's file is made: its header buffer, then the file; see session/file/file_internal.h. */
#include "session/file/file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/atomic.h"
#include "base/macros.h"
#include "base/utf.h"
#include "etl/writer.h"
#include "session/common/file_pattern.h"
#include "session/common/owner.h"
#include "session/file/file_internal.h"

#define HZ_PER_MHZ 1000000

uint64_t etw_session_file_limit(const struct etw_session_file *file)
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
static mode_t mode_of(const struct etw_state_file *file)
{
	return (file->mode & 0666) | 0600;
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
			  const uint8_t *header, bool removes, struct etw_etl_file_writer *ret)
{
	struct etw_etl_file_writer writer;
	char path[WIRE_MESSAGE_NAME_MAX + 1];
	struct etw_owner owner;
	int result;

	TRY(etw_file_pattern_expand(of->name, of->number, path));
	TRY(etw_owner_become(of->uid, &owner));
	result = etw_etl_file_writer_open(path, mode_of(of), file->context->plan.buffer_bytes,
					  etw_session_file_limit(file), &writer);
	if (result == 0) {
		writer.packer = file->packer;
		result = fill_first(file, header, &writer);
		if (result < 0) {
			/* A part of the header reads as a trace that was not closed, and never was one. */
			(void)ftruncate(writer.fd, 0);
			if (removes)
				(void)unlink(path);
			etw_etl_file_writer_close(&writer);
		}
	}
	etw_owner_return(&owner);
	if (result == 0)
		*ret = writer;
	return result;
}

int etw_session_file_open_as_is(struct etw_session_file *file)
{
	const struct etw_state_head *head = file->context->state.head;
	const struct etw_state_file *present = etw_session_file_present(file);
	struct etw_owner owner;
	int result;

	TRY(etw_owner_become(present->uid, &owner));
	result = etw_etl_file_writer_open_as_is(head->config.log_file, mode_of(present),
						file->context->plan.buffer_bytes,
						etw_session_file_limit(file), &file->writer);
	etw_owner_return(&owner);
	return result;
}
