/* SPDX-License-Identifier: MIT */
/* Limits of ELF files. See elf_limits.h. */
#include "symbol/elf_limits.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/number.h"

#define COPY_BLOCK_BYTES ((size_t)1 << 16)
/* In front of a section that is compressed in the way of old: "ZLIB" and the size, the high byte first. */
#define ZLIB_HEAD_BYTES 12

/* Places of the fields that are looked at, in files of either class. */
struct layout {
	size_t header_bytes, section_bytes, segment_bytes;
	size_t section_table_at, segment_table_at; /* each as wide as an address */
	size_t section_count_at, segment_count_at; /* 16 bits */
	size_t type_at;                            /* of a section, 32 bits */
	size_t flags_at, offset_at, size_at;       /* of a section, as wide as an address */
	size_t info_at;                            /* of a section, 32 bits */
	size_t segment_size_at;                    /* as wide as an address; the type is first */
	size_t packed_head_bytes, unpacked_at;     /* a compressed section's own header */
	bool is_wide;
};

#define LAYOUT(bits, wide)                                                           \
	{                                                                            \
		.header_bytes = sizeof(Elf##bits##_Ehdr),                            \
		.section_bytes = sizeof(Elf##bits##_Shdr),                           \
		.segment_bytes = sizeof(Elf##bits##_Phdr),                           \
		.section_table_at = offsetof(Elf##bits##_Ehdr, e_shoff),             \
		.segment_table_at = offsetof(Elf##bits##_Ehdr, e_phoff),             \
		.section_count_at = offsetof(Elf##bits##_Ehdr, e_shnum),             \
		.segment_count_at = offsetof(Elf##bits##_Ehdr, e_phnum),             \
		.type_at = offsetof(Elf##bits##_Shdr, sh_type),                      \
		.flags_at = offsetof(Elf##bits##_Shdr, sh_flags),                    \
		.offset_at = offsetof(Elf##bits##_Shdr, sh_offset),                  \
		.size_at = offsetof(Elf##bits##_Shdr, sh_size),                      \
		.info_at = offsetof(Elf##bits##_Shdr, sh_info),                      \
		.segment_size_at = offsetof(Elf##bits##_Phdr, p_filesz),             \
		.packed_head_bytes = sizeof(Elf##bits##_Chdr),                       \
		.unpacked_at = offsetof(Elf##bits##_Chdr, ch_size), .is_wide = wide, \
	}

static const struct layout narrow = LAYOUT(32, false), wide = LAYOUT(64, true);

struct file {
	int fd;
	const struct layout *layout;
	bool is_big_endian;
	uint64_t note_bytes, table_bytes, unpacked_bytes; /* so far */
};

static uint64_t number_at(const struct file *file, const uint8_t *at, size_t bytes)
{
	uint64_t number = 0;

	for (size_t i = 0; i < bytes; i++)
		number |= (uint64_t)at[file->is_big_endian ? bytes - 1 - i : i] << (8 * i);
	return number;
}

static uint64_t word_at(const struct file *file, const uint8_t *at)
{
	return number_at(file, at, file->layout->is_wide ? 8 : 4);
}

/* Returns whether all of it is there. */
static bool read_at(int fd, uint64_t offset, void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes && offset <= (uint64_t)INT64_MAX - done) {
		ssize_t got = pread(fd, (uint8_t *)to + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return done == bytes;
}

/* How large a section is unpacked; 0 for one that is not compressed. */
static uint64_t unpacked_bytes_of(const struct file *file, const uint8_t *section)
{
	const struct layout *layout = file->layout;
	const uint64_t offset = word_at(file, section + layout->offset_at);
	const uint64_t flags = word_at(file, section + layout->flags_at);
	uint8_t head[sizeof(Elf64_Chdr)] = {0};
	uint64_t bytes;

	if (flags & SHF_COMPRESSED)
		return read_at(file->fd, offset, head, layout->packed_head_bytes)
			       ? word_at(file, head + layout->unpacked_at)
			       : 0;
	if ((flags & SHF_ALLOC) || !read_at(file->fd, offset, head, ZLIB_HEAD_BYTES) ||
	    memcmp(head, "ZLIB", 4) != 0)
		return 0;
	memcpy(&bytes, head + 4, sizeof(bytes));
	return be64toh(bytes);
}

static int hold_section(struct file *file, const uint8_t *section)
{
	const uint64_t type = number_at(file, section + file->layout->type_at, 4);
	const uint64_t bytes = word_at(file, section + file->layout->size_at);

	if (type == SHT_NULL || type == SHT_NOBITS)
		return 0;
	if (type == SHT_NOTE)
		file->note_bytes = etw_sum_saturated(file->note_bytes, bytes);
	else if (type != SHT_PROGBITS)
		file->table_bytes = etw_sum_saturated(file->table_bytes, bytes);
	file->unpacked_bytes = etw_sum_saturated(file->unpacked_bytes,
						 unpacked_bytes_of(file, section));
	return file->note_bytes > ETW_SYMBOL_NOTE_BYTES_MAX ||
			       file->table_bytes > ETW_SYMBOL_TABLE_BYTES_MAX ||
			       file->unpacked_bytes > ETW_SYMBOL_UNPACKED_BYTES_MAX
		       ? -EFBIG
		       : 0;
}

static int hold_segment(struct file *file, const uint8_t *segment)
{
	if (number_at(file, segment, 4) != PT_NOTE)
		return 0;
	file->note_bytes = etw_sum_saturated(
		file->note_bytes, word_at(file, segment + file->layout->segment_size_at));
	return file->note_bytes > ETW_SYMBOL_NOTE_BYTES_MAX ? -EFBIG : 0;
}

/* Holds each item of a table against the limits. Of one that ends too early there is nothing to hold. */
static int hold_table(struct file *file, uint64_t offset, uint64_t count, size_t item_bytes,
		      int (*hold)(struct file *file, const uint8_t *item))
{
	CLEANUP(freep) uint8_t *table = NULL;

	if (count > ETW_SYMBOL_SECTIONS_MAX)
		return -EFBIG;
	if (!count)
		return 0;
	table = malloc((size_t)count * item_bytes);
	if (!table)
		return -ENOMEM;
	if (!read_at(file->fd, offset, table, (size_t)count * item_bytes))
		return 0;
	for (size_t i = 0; i < count; i++)
		TRY(hold(file, table + i * item_bytes));
	/* Notes are looked for in one of the two tables. */
	file->note_bytes = 0;
	return 0;
}

static int hold_tables(struct file *file, const uint8_t *header)
{
	const struct layout *layout = file->layout;
	const uint64_t sections_at = word_at(file, header + layout->section_table_at);
	uint64_t sections = number_at(file, header + layout->section_count_at, 2);
	uint64_t segments = number_at(file, header + layout->segment_count_at, 2);
	uint8_t first[sizeof(Elf64_Shdr)];

	/* Counts that do not fit into the header are in the first section. */
	if (sections_at && (!sections || segments == PN_XNUM) &&
	    read_at(file->fd, sections_at, first, layout->section_bytes)) {
		if (!sections)
			sections = word_at(file, first + layout->size_at);
		if (segments == PN_XNUM)
			segments = number_at(file, first + layout->info_at, 4);
	}
	if (sections_at)
		TRY(hold_table(file, sections_at, sections, layout->section_bytes, hold_section));
	return hold_table(file, word_at(file, header + layout->segment_table_at), segments,
			  layout->segment_bytes, hold_segment);
}

static bool is_of_holes(const struct stat *status)
{
	const uint64_t bytes = (uint64_t)status->st_size;

	return bytes > ETW_SYMBOL_HOLE_BYTES_MAX &&
	       (uint64_t)status->st_blocks * 512 < bytes / ETW_SYMBOL_HOLE_SHARE;
}

int etw_symbol_elf_limits_hold(int fd)
{
	struct file file = {.fd = fd};
	uint8_t header[sizeof(Elf64_Ehdr)] = {0};

	if (!read_at(fd, 0, header, sizeof(Elf32_Ehdr)) || memcmp(header, ELFMAG, SELFMAG) != 0)
		return 0;
	file.is_big_endian = header[EI_DATA] == ELFDATA2MSB;
	file.layout = header[EI_CLASS] == ELFCLASS32 ? &narrow : &wide;
	if (!read_at(fd, 0, header, file.layout->header_bytes))
		return 0;
	return hold_tables(&file, header);
}

static bool is_zero(const uint8_t *at, size_t bytes)
{
	return !bytes || (!at[0] && memcmp(at, at + 1, bytes - 1) == 0);
}

/* Holes stay holes. */
static int copy(int from_fd, int to_fd, uint64_t bytes, uint64_t *copy_bytes)
{
	CLEANUP(freep) uint8_t *block = malloc(COPY_BLOCK_BYTES);
	uint64_t at = 0;

	if (!block)
		return -ENOMEM;
	if (ftruncate(to_fd, (off_t)bytes) < 0)
		return -errno;
	while (at < bytes) {
		size_t wanted = COPY_BLOCK_BYTES < bytes - at ? COPY_BLOCK_BYTES
							      : (size_t)(bytes - at);
		ssize_t got = pread(from_fd, block, wanted, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return 0; /* it became shorter */
		if (!is_zero(block, (size_t)got)) {
			if (lseek(to_fd, (off_t)at, SEEK_SET) < 0)
				return -errno;
			TRY(etw_file_write_all(to_fd, block, (size_t)got));
			*copy_bytes += (uint64_t)got;
		}
		at += (uint64_t)got;
	}
	return 0;
}

int etw_symbol_elf_settle(int *fd, uint64_t *copy_bytes)
{
	CLEANUP(etw_file_closep) int copy_fd = -1;
	struct stat status;
	int old_fd = *fd;

	if (fstat(*fd, &status) < 0)
		return -errno;
	if (is_of_holes(&status))
		return -EFBIG;
	if (etw_file_is_private(*fd))
		return 0;
	if ((uint64_t)status.st_size > ETW_SYMBOL_COPY_BYTES_MAX)
		return -EFBIG;
	copy_fd = memfd_create("etw-symbols", MFD_CLOEXEC);
	if (copy_fd < 0)
		return -errno;
	TRY(copy(*fd, copy_fd, (uint64_t)status.st_size, copy_bytes));
	*fd = copy_fd;
	copy_fd = old_fd;
	return 0;
}
