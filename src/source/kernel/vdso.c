/* SPDX-License-Identifier: MIT */
/* The vDSO's build id. See vdso.h. */
#include "source/kernel/vdso.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "source/kernel/build_id.h"

/* Where vDSOs of 32-bit processes lie below: they are other objects. */
#define END_OF_32_BIT (UINT64_C(1) << 32)

uint8_t etw_kernel_vdso_build_id(uint8_t *ret)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives it so */
	const uint8_t *at = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;
	int r = 0;

	if (!at)
		return 0;
	/* The kernel's own words about its own object: they need no bounds. */
	memcpy(&header, at, sizeof(header));
	for (unsigned i = 0; i < header.e_phnum && r <= 0; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, at + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_NOTE)
			r = etw_kernel_build_id_of_notes(at + segment.p_offset, segment.p_filesz,
							 ret);
	}
	return r > 0 ? (uint8_t)r : 0;
}

void etw_kernel_vdso_complete(struct etw_kernel_mapping *mapping)
{
	if (!mapping->is_executable || mapping->build_id_bytes || mapping->start < END_OF_32_BIT ||
	    !etw_kernel_is_vdso(mapping->path))
		return;
	mapping->build_id_bytes = etw_kernel_vdso_build_id(mapping->build_id);
}
