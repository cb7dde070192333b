/* SPDX-License-Identifier: MIT */
#include "provider/own_object.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
/*
 * Of a program that is fully static the C library tells the code alone, and the tables lie behind it: here is where the
 * whole of it lies. @base: how far from the addresses in its file
 */
static void widen_to_program(struct etw_unwind_object *object, uintptr_t base)
{
	const ElfW(Phdr) *header =
		(const void *)getauxval(AT_PHDR); /* NOLINT(performance-no-int-to-ptr) */

	for (unsigned long i = getauxval(AT_PHNUM); i > 0; i--, header++) {
		const uintptr_t start = base + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (start < object->start)
			object->start = start;
		if (start + header->p_filesz > object->end)
			object->end = start + header->p_filesz;
	}
}
#endif

bool etw_own_object_find(uintptr_t pc, struct etw_unwind_object *object)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;

	if (object->start && pc >= object->start && pc < object->end)
		return true;
	if (_dl_find_object((void *)pc, &found) != 0)
		return false;
	object->start = (uintptr_t)found.dlfo_map_start;
	object->end = (uintptr_t)found.dlfo_map_end;
	object->table = found.dlfo_eh_frame;
	if ((uintptr_t)object->table - object->start >= object->end - object->start &&
	    object->table)
		widen_to_program(object, found.dlfo_link_map->l_addr);
	return true;
#else
	(void)pc;
	(void)object;
	return false;
#endif
}
