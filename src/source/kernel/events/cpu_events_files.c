/* SPDX-License-Identifier: MIT */
/* The bytes of what is done with files. See cpu_events.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/utf.h"
#include "source/kernel/events/cpu_events_internal.h"
#include "source/kernel/events/file_events.h"
#include "source/kernel/events/nt_status.h"

#define OPERATION_END_TYPE 76

static bool is_whole(const struct etw_kernel_cpu_record *record)
{
	const struct etw_kernel_file_name *name = (const void *)(record + 1);

	return name->path_bytes <= record->payload_bytes - sizeof(*name);
}

void etw_kernel_cpu_learn_name(const struct etw_kernel_cpu_maker *maker,
			       const struct etw_kernel_cpu_record *record)
{
	const struct etw_kernel_file_name *name = (const void *)(record + 1);
	char text[ETW_KERNEL_NAME_TEXT_MAX];
	size_t bytes;

	if (!maker->file_names || !is_whole(record) || name->flags & ETW_KERNEL_NAME_AS_GIVEN)
		return;
	if (name->type == ETW_KERNEL_NAME_DELETED) {
		etw_kernel_file_names_remove(maker->file_names, name->key, record->time_ns);
		return;
	}
	bytes = etw_kernel_file_name_text(maker->file_names, name, (const char *)(name + 1),
					  name->path_bytes, text);
	etw_kernel_file_names_put(maker->file_names, name->key, record->time_ns, text, bytes);
}

static uint32_t make_name(const struct etw_kernel_cpu_maker *maker,
			  const struct etw_kernel_cpu_record *record, int64_t time_raw, uint8_t *to)
{
	const struct etw_kernel_file_name *name = (const void *)(record + 1);
	const char *path = (const char *)(name + 1);
	const struct etw_kernel_told_name *told;
	char text[ETW_KERNEL_NAME_TEXT_MAX];
	size_t bytes;

	if (!is_whole(record) || !maker->file_names)
		return 0;
	if (name->flags & ETW_KERNEL_NAME_AS_GIVEN) {
		bytes = etw_kernel_given_name_text(maker->file_names, name->folder, record->time_ns,
						   path, name->path_bytes, text);
		return etw_kernel_file_name_event(ETW_KERNEL_NAME_IS, name->key, text, bytes,
						  time_raw, to);
	}
	told = etw_kernel_file_names_find(maker->file_names, name->key, record->time_ns);
	if (told && told->from_ns == record->time_ns)
		return etw_kernel_file_name_event((uint8_t)name->type, name->key, told->text,
						  told->text_bytes, time_raw, to);
	bytes = name->type == ETW_KERNEL_NAME_DELETED && name->flags & ETW_KERNEL_NAME_MISSING
			? etw_kernel_deleted_name_text(maker->file_names, name, record->time_ns,
						       text)
			: etw_kernel_file_name_text(maker->file_names, name, path, name->path_bytes,
						    text);
	return etw_kernel_file_name_event((uint8_t)name->type, name->key, text, bytes, time_raw,
					  to);
}

/* FILE_* of NtCreateFile [WDK]: dispositions, of which an event has the highest byte, and options. */
enum {
	DISPOSITION_OPEN = 1,
	DISPOSITION_CREATE = 2,
	DISPOSITION_OPEN_IF = 3,
	DISPOSITION_OVERWRITE = 4,
	DISPOSITION_OVERWRITE_IF = 5,
	OPTION_DIRECTORY_FILE = 0x1,
	OPTION_WRITE_THROUGH = 0x2,
	OPTION_NO_BUFFERING = 0x8,
	OPTION_DELETE_ON_CLOSE = 0x1000,
	OPTION_OPEN_REPARSE_POINT = 0x200000,
};

#define SHARES_ALL             0x7 /* FILE_SHARE_READ, _WRITE, _DELETE: nobody is kept out */
#define ATTRIBUTE_READONLY     0x1
#define ATTRIBUTE_DIRECTORY    0x10
#define ATTRIBUTE_NORMAL       0x80
#define IRP_NOCACHE            0x1
#define IRP_PAGING_IO          0x2
#define FILE_OPERATION_VERSION 3

/* IoStatus.Information of an open. */
#define FILE_WAS_OPENED   1
#define FILE_WAS_CREATED  2
#define DISPOSITION_SHIFT 24

static bool makes_new(const struct etw_kernel_file_begin *record)
{
	return record->call_flags & (ETW_KERNEL_CALL_FOLDER | ETW_KERNEL_CALL_MAKES);
}

static uint32_t disposition_of(const struct etw_kernel_file_begin *record)
{
	const int flags = (int)record->options;

	if (makes_new(record))
		return DISPOSITION_CREATE;
	if (record->call_flags & ETW_KERNEL_CALL_TRUNCATES)
		return DISPOSITION_OVERWRITE_IF;
	if (flags & O_CREAT) {
		if (flags & O_EXCL)
			return DISPOSITION_CREATE;
		return flags & O_TRUNC ? DISPOSITION_OVERWRITE_IF : DISPOSITION_OPEN_IF;
	}
	return flags & O_TRUNC ? DISPOSITION_OVERWRITE : DISPOSITION_OPEN;
}

static uint32_t create_options_of(const struct etw_kernel_file_begin *record)
{
	const int flags = (int)record->options;
	uint32_t options = disposition_of(record) << DISPOSITION_SHIFT;

	if (record->call_flags & ETW_KERNEL_CALL_FOLDER)
		return options | OPTION_DIRECTORY_FILE;
	if (makes_new(record))
		return options;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		options |= OPTION_DELETE_ON_CLOSE;
	else if (flags & O_DIRECTORY)
		options |= OPTION_DIRECTORY_FILE;
	if (flags & O_DSYNC)
		options |= OPTION_WRITE_THROUGH;
	if (flags & O_DIRECT)
		options |= OPTION_NO_BUFFERING;
	if (flags & O_NOFOLLOW)
		options |= OPTION_OPEN_REPARSE_POINT;
	return options;
}

/* Of what is made. */
static uint32_t attributes_of(const struct etw_kernel_file_begin *record)
{
	if (record->call_flags & ETW_KERNEL_CALL_FOLDER)
		return ATTRIBUTE_DIRECTORY;
	if (!makes_new(record) && !(record->call_flags & ETW_KERNEL_CALL_TRUNCATES) &&
	    !(record->options & O_CREAT))
		return 0;
	return record->attributes & (S_IWUSR | S_IWGRP | S_IWOTH) || makes_new(record)
		       ? ATTRIBUTE_NORMAL
		       : ATTRIBUTE_READONLY;
}

/* Which payload an event of a type has, before a path. */
static uint32_t payload_bytes_of(uint16_t type)
{
	switch (type) {
	case ETW_KERNEL_FILE_CREATE:
		return 32;
	case ETW_KERNEL_FILE_CLEANUP:
	case ETW_KERNEL_FILE_CLOSE:
	case ETW_KERNEL_FILE_FLUSH:
		return 28;
	case ETW_KERNEL_FILE_READ:
	case ETW_KERNEL_FILE_WRITE:
		return 48;
	case ETW_KERNEL_FILE_DIR_ENUM:
		return 40;
	case ETW_KERNEL_FILE_SET_INFO:
	case ETW_KERNEL_FILE_QUERY_INFO:
	case ETW_KERNEL_FILE_FS_CONTROL:
	case ETW_KERNEL_FILE_DELETE_PATH:
	case ETW_KERNEL_FILE_RENAME_PATH:
	case ETW_KERNEL_FILE_SET_LINK_PATH:
		return 40;
	default:
		return 0;
	}
}

static bool has_path(uint16_t type)
{
	return type == ETW_KERNEL_FILE_CREATE || type == ETW_KERNEL_FILE_DIR_ENUM ||
	       type >= ETW_KERNEL_FILE_DELETE_PATH;
}

static uint8_t *put_create(const struct etw_kernel_file_begin *record, uint8_t *at)
{
	at = put64(at, record->irp);
	at = put64(at, record->file);
	at = put32(at, record->tid);
	at = put32(at, create_options_of(record));
	at = put32(at, attributes_of(record));
	return put32(at, SHARES_ALL);
}

/* What all others begin with: irp, open file, key. */
static uint8_t *put_other(const struct etw_kernel_file_begin *record, uint8_t *at)
{
	const bool moves = record->type == ETW_KERNEL_FILE_READ ||
			   record->type == ETW_KERNEL_FILE_WRITE;

	if (moves)
		at = put64(at, record->offset);
	at = put64(at, record->irp);
	at = put64(at, record->file);
	at = put64(at, record->key);
	if (moves) {
		at = put32(at, record->tid);
		at = put32(at, record->byte_count);
		at = put32(at, (record->options & O_DIRECT ? IRP_NOCACHE : 0) |
				       (record->call_flags & ETW_KERNEL_CALL_MAPPED ? IRP_PAGING_IO
										    : 0));
		return put32(at, 0); /* ExtraFlags */
	}
	switch (record->type) {
	case ETW_KERNEL_FILE_CLEANUP:
	case ETW_KERNEL_FILE_CLOSE:
	case ETW_KERNEL_FILE_FLUSH:
		return put32(at, record->tid);
	case ETW_KERNEL_FILE_DIR_ENUM:
		at = put32(at, record->tid);
		at = put32(at, record->byte_count);
		at = put32(at, record->info_class);
		return put32(at, 0); /* FileIndex */
	default:
		at = put64(at, record->extra);
		at = put32(at, record->tid);
		return put32(at, record->info_class);
	}
}

static uint32_t make_begin(const struct etw_kernel_cpu_maker *maker,
			   const struct etw_kernel_cpu_record *record, int64_t time_raw,
			   uint8_t *to)
{
	const struct etw_kernel_file_begin *begin = (const void *)(record + 1);
	uint32_t bytes = payload_bytes_of(begin->type), units = 0;
	char text[ETW_KERNEL_NAME_TEXT_MAX];
	size_t text_bytes = 0;
	uint8_t *at;

	if (!bytes || begin->path_bytes > record->payload_bytes - sizeof(*begin))
		return 0;
	if (has_path(begin->type)) {
		if (maker->file_names && begin->path_bytes)
			text_bytes = etw_kernel_given_name_text(
				maker->file_names, begin->folder, record->time_ns,
				(const char *)(begin + 1), begin->path_bytes, text);
		units = (uint32_t)etw_utf8_put_utf16(text, text_bytes, NULL) + 1;
	}
	at = etw_kernel_event_begin(to, GROUP_FILE, (uint8_t)begin->type, bytes + units * 2,
				    time_raw);
	etw_kernel_event_version(to, FILE_OPERATION_VERSION);
	at = begin->type == ETW_KERNEL_FILE_CREATE ? put_create(begin, at) : put_other(begin, at);
	if (units) {
		(void)etw_utf8_put_utf16(text, text_bytes, at);
		at = put16(at + (size_t)(units - 1) * 2, 0);
	}
	return (uint32_t)(at - to);
}

static uint64_t information_of(const struct etw_kernel_file_end *record)
{
	if (record->result < 0)
		return 0;
	if (record->type == ETW_KERNEL_FILE_CREATE) {
		const bool is_made = record->call_flags &
				     (ETW_KERNEL_CALL_FOLDER | ETW_KERNEL_CALL_MAKES);

		return record->is_new || is_made ? FILE_WAS_CREATED : FILE_WAS_OPENED;
	}
	if (record->call_flags & ETW_KERNEL_CALL_COUNTS || record->type == ETW_KERNEL_FILE_DIR_ENUM)
		return (uint64_t)record->result;
	return 0;
}

static uint32_t make_end(const struct etw_kernel_file_end *record, int64_t time_raw, uint8_t *to)
{
	uint8_t *at = etw_kernel_event_begin(to, GROUP_FILE, OPERATION_END_TYPE, 20, time_raw);

	etw_kernel_event_version(to, FILE_OPERATION_VERSION);
	at = put64(at, record->irp);
	at = put64(at, information_of(record));
	at = put32(at, etw_kernel_nt_status(record->result));
	return (uint32_t)(at - to);
}

uint32_t etw_kernel_cpu_file_event(const struct etw_kernel_cpu_maker *maker,
				   const struct etw_kernel_cpu_record *record, int64_t time_raw,
				   uint8_t *to)
{
	switch (record->kind) {
	case ETW_KERNEL_FILE_NAME:
		return record->payload_bytes >= sizeof(struct etw_kernel_file_name)
			       ? make_name(maker, record, time_raw, to)
			       : 0;
	case ETW_KERNEL_FILE_BEGIN:
		return record->payload_bytes >= sizeof(struct etw_kernel_file_begin)
			       ? make_begin(maker, record, time_raw, to)
			       : 0;
	case ETW_KERNEL_FILE_END:
		return record->payload_bytes >= sizeof(struct etw_kernel_file_end)
			       ? make_end((const void *)(record + 1), time_raw, to)
			       : 0;
	default:
		return 0;
	}
}
