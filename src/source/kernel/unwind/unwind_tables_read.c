/* SPDX-License-Identifier: MIT */
/* The segment of an ELF file that has the tables. See unwind_tables.h. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "source/kernel/unwind/unwind_tables.h"

#define SEGMENTS_MAX 256

static int read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	if (offset > INT64_MAX / 2)
		return -EBADMSG;
	while (done < bytes) {
		ssize_t got = pread(fd, (uint8_t *)to + done, bytes - done, (off_t)(offset + done));

		if (got < 0)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		done += (size_t)got;
	}
	return 0;
}

/* What of the program headers is of use. */
struct segments {
	Elf64_Phdr table; /* PT_GNU_EH_FRAME */
	Elf64_Phdr load;  /* where it lies */
	uint64_t first;   /* the address of what is first in the file */
	bool has_first;
};

static bool contains(const Elf64_Phdr *load, const Elf64_Phdr *table)
{
	return table->p_vaddr >= load->p_vaddr && table->p_vaddr - load->p_vaddr < load->p_filesz;
}

static int read_segments(int fd, struct segments *ret)
{
	Elf64_Ehdr head;
	Elf64_Phdr all[SEGMENTS_MAX];
	bool has_table = false, has_load = false;

	TRY(read_at(fd, &head, sizeof(head), 0));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return -EBADMSG;
	if (head.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	if (head.e_phentsize != sizeof(all[0]) || head.e_phnum > SEGMENTS_MAX)
		return -EBADMSG;
	TRY(read_at(fd, all, head.e_phnum * sizeof(all[0]), head.e_phoff));
	for (size_t i = 0; i < head.e_phnum; i++) {
		if (all[i].p_type == PT_GNU_EH_FRAME && !has_table) {
			ret->table = all[i];
			has_table = true;
		}
		if (all[i].p_type == PT_LOAD && !ret->has_first) {
			ret->first = all[i].p_vaddr - all[i].p_offset;
			ret->has_first = true;
		}
	}
	for (size_t i = 0; has_table && !has_load && i < head.e_phnum; i++) {
		if (all[i].p_type != PT_LOAD || !contains(&all[i], &ret->table))
			continue;
		ret->load = all[i];
		has_load = true;
	}
	return has_load ? 0 : -ENOENT;
}

/* What a file says of itself may be more than it is: nothing is read of a piece that is not there as a whole. */
static bool is_in_file(int fd, const Elf64_Phdr *load)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size >= 0 &&
	       load->p_filesz <= (uint64_t)status.st_size &&
	       load->p_offset <= (uint64_t)status.st_size - load->p_filesz;
}

int etw_kernel_table_read(int fd, uint8_t **ret_memory, struct etw_unwind_object *ret,
			  uint64_t *ret_slide)
{
	CLEANUP(freep) uint8_t *memory = NULL;
	struct segments segments = {0};

	TRY(read_segments(fd, &segments));
	if (segments.load.p_filesz > ETW_KERNEL_TABLE_BYTES_MAX)
		return -EFBIG;
	if (!is_in_file(fd, &segments.load))
		return -EBADMSG;
	memory = malloc(segments.load.p_filesz);
	if (!memory)
		return -ENOMEM;
	TRY(read_at(fd, memory, segments.load.p_filesz, segments.load.p_offset));
	*ret = (struct etw_unwind_object){
		.start = (uintptr_t)memory,
		.end = (uintptr_t)memory + segments.load.p_filesz,
		.table = memory + (segments.table.p_vaddr - segments.load.p_vaddr),
	};
	*ret_slide = (uintptr_t)memory + segments.first - segments.load.p_vaddr;
	*ret_memory = TAKE(memory);
	return 0;
}
