/* SPDX-License-Identifier: MIT */
/* The vDSO. See vdso.h. */
#include "symbol/vdso.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "base/file.h"

bool etw_symbol_is_vdso(const char *path)
{
	return strcmp(path, "[vdso]") == 0 || strncmp(path, "linux-vdso", 10) == 0;
}

/* Where the object's bytes end, by its own headers: the kernel's word, not a stranger's. */
static size_t bytes_of(const uint8_t *at)
{
	Elf64_Ehdr header;
	uint64_t end;

	memcpy(&header, at, sizeof(header));
	end = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, at + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > end)
			end = segment.p_offset + segment.p_filesz;
	}
	return end;
}

int etw_symbol_vdso_open(const struct etw_symbol_files *files,
			 const struct etw_symbol_wanted *wanted, struct etw_symbol_elf **ret,
			 enum etw_symbol_reason *ret_reason)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	const uint8_t *at;
	int fd;

	*ret_reason = ETW_SYMBOL_NO_FILE;
	if (!address || !wanted->build_id_bytes)
		return -ENOENT;
	at = (const uint8_t *)
		address; /* NOLINT(performance-no-int-to-ptr): as the kernel gives it */
	fd = memfd_create("etw-vdso", MFD_CLOEXEC);
	if (fd < 0)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	if (etw_file_write_all(fd, at, bytes_of(at))) {
		etw_file_closep(&fd);
		return -ENOENT;
	}
	return etw_symbol_elf_open_fd(files, wanted, fd, ret, ret_reason);
}
