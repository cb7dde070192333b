/* SPDX-License-Identifier: MIT */
/* The vDSO's bytes. See vdso.h. */
#include "source/kernel/procfs/vdso.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "source/kernel/procfs/build_id.h"

/* Where vDSOs of 32-bit processes lie below: they are other objects. */
#define END_OF_32_BIT (UINT64_C(1) << 32)

/*
 * The next segment of a kind, from number @from on. The kernel's own words about its own object: they need no bounds.
 *
 * Returns the number behind it; 0: there is none.
 */
static unsigned find_segment(const uint8_t *at, uint32_t type, unsigned from, Elf64_Phdr *ret)
{
	Elf64_Ehdr header;

	memcpy(&header, at, sizeof(header));
	for (unsigned i = from; i < header.e_phnum; i++) {
		memcpy(ret, at + header.e_phoff + i * sizeof(*ret), sizeof(*ret));
		if (ret->p_type == type)
			return i + 1;
	}
	return 0;
}

/* NULL: there is none. */
static const uint8_t *own_vdso(void)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives it so */
	return (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
}

uint8_t etw_kernel_vdso_build_id(uint8_t *ret)
{
	const uint8_t *at = own_vdso();
	unsigned next = 0;
	Elf64_Phdr notes;
	int r = 0;

	while (at && r <= 0 && (next = find_segment(at, PT_NOTE, next, &notes)) != 0)
		r = etw_kernel_build_id_of_notes(at + notes.p_offset, notes.p_filesz, ret);
	return r > 0 ? (uint8_t)r : 0;
}

int etw_kernel_vdso_open(void)
{
	const uint8_t *at = own_vdso();
	Elf64_Phdr load;
	int fd, r;

	if (!at || !find_segment(at, PT_LOAD, 0, &load) || load.p_offset)
		return -ENOENT;
	fd = memfd_create("etw-vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = etw_file_write_all(fd, at, load.p_filesz);
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

void etw_kernel_vdso_complete(struct etw_kernel_mapping *mapping)
{
	if (!mapping->is_executable || mapping->build_id_bytes || mapping->start < END_OF_32_BIT ||
	    !etw_kernel_is_vdso(mapping->path))
		return;
	mapping->build_id_bytes = etw_kernel_vdso_build_id(mapping->build_id);
}
