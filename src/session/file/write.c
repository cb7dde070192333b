/* SPDX-License-Identifier: MIT */
/* How bytes of a session's file are written, and written again; see session/file/file_internal.h. */
#include "session/file/file.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "session/common/owner.h"
#include "session/file/file_internal.h"

#define RETRY_FIRST_NS UINT64_C(10000000)
#define RETRY_MOST_NS  UINT64_C(500000000)

/*
 * Whole buffers of a file that is there go through here or through finish(), headers alone through
 * etw_session_file_patch(): within the quota of whose file it is. make.c fills a new one with its maker's rights.
 */
int etw_session_file_write(struct etw_session_file *file, uint64_t offset, const uint8_t *buffer)
{
	struct etw_owner owner;
	int result;

	etw_owner_write(etw_session_file_present(file)->uid, &owner);
	result = etw_etl_file_writer_put(&file->writer, offset, buffer);
	etw_owner_return(&owner);
	return result;
}

void etw_session_file_patch(struct etw_session_file *file, uint64_t place,
			    const struct wire_buffer_header *header)
{
	struct etw_owner owner;

	etw_owner_write(etw_session_file_present(file)->uid, &owner);
	(void)!pwrite(file->writer.fd, header, sizeof(*header), (off_t)place);
	etw_owner_return(&owner);
}

static int finish(struct etw_session_file *file)
{
	struct etw_owner owner;
	int result;

	etw_owner_write(etw_session_file_present(file)->uid, &owner);
	result = etw_etl_file_writer_finish(&file->writer,
					    etw_state_header_buffer(&file->context->state),
					    /* is_synced= */ false);
	etw_owner_return(&owner);
	return result;
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

int etw_session_file_write_patiently(struct etw_session_file *file, uint64_t offset,
				     const uint8_t *buffer)
{
	uint64_t pause_ns = RETRY_FIRST_NS;
	int result;

	do
		result = etw_session_file_write(file, offset, buffer);
	while (tries_again(file, result, &pause_ns));
	return result;
}

int etw_session_file_finish(struct etw_session_file *file)
{
	uint64_t pause_ns = RETRY_FIRST_NS;
	int result;

	do
		result = finish(file);
	while (tries_again(file, result, &pause_ns));
	return result;
}
