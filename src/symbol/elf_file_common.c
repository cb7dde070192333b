/* SPDX-License-Identifier: MIT */
/* The file that a debug file has in common with others (dwz, .gnu_debugaltlink). See elf_file_internal.h. */
#include "symbol/elf_file_internal.h"

#ifdef ETW_SYMBOL_LIBDW
#include <elfutils/libdwelf.h>
#include <errno.h>

#include "base/file.h"
#include "base/macros.h"

/* A search for it. */
struct common_search {
	struct etw_symbol_elf *elf;
	const uint8_t *build_id;
	size_t build_id_bytes;
};

static bool has_common(Dwarf *dwarf)
{
	const char *name;
	const void *build_id;

	return dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) > 0;
}

static int take_common(void *context, int fd, const char *path)
{
	struct common_search *search = context;
	struct etw_symbol_elf *elf = search->elf;

	(void)path;
	elf->common_fd = fd;
	(void)etw_symbol_elf_begin(&elf->common_fd, &elf->copy_bytes, &elf->common_file);
	if (elf->common_file &&
	    etw_symbol_elf_has_build_id(elf->common_file, search->build_id, search->build_id_bytes))
		elf->common = dwarf_begin_elf(elf->common_file, DWARF_C_READ, NULL);
	/* libdw would open what this one names. */
	if (elf->common && !has_common(elf->common))
		return 0;
	etw_symbol_elf_end_common(elf);
	return 1;
}

static bool find_common(struct etw_symbol_elf *elf)
{
	struct etw_symbol_wanted wanted = {0};
	struct common_search search = {.elf = elf};
	const void *build_id;
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(elf->module, &bias);
	ssize_t bytes;

	if (!dwarf || !has_common(dwarf))
		return true;
	bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &wanted.path, &build_id);
	search.build_id = wanted.build_id = build_id;
	search.build_id_bytes = wanted.build_id_bytes = (size_t)bytes;
	if (etw_symbol_files_try_common(elf->files, &wanted, take_common, &search))
		return false;
	dwarf_setalt(dwarf, elf->common);
	return true;
}

bool etw_symbol_elf_need_common(struct etw_symbol_elf *elf)
{
	if (!elf->has_sought_common) {
		elf->has_sought_common = true;
		elf->lacks_common = !find_common(elf);
	}
	return !elf->lacks_common;
}

void etw_symbol_elf_end_common(struct etw_symbol_elf *elf)
{
	if (elf->common)
		(void)dwarf_end(elf->common);
	elf->common = NULL;
	if (elf->common_file)
		(void)elf_end(elf->common_file);
	elf->common_file = NULL;
	etw_file_closep(&elf->common_fd);
	elf->common_fd = -1;
}

#endif
