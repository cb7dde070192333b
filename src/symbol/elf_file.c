/* SPDX-License-Identifier: MIT */
/* Finding and opening an ELF file, and its symbols. See elf_file.h; lines are in elf_file_lines.c. */
#include "symbol/elf_file_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "symbol/crc32.h"
#include "symbol/elf_limits.h"

#ifdef ETW_SYMBOL_LIBDW
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>

#define CRC_READ_BYTES ((size_t)1 << 16)
/* Larger debug files without a build id are not read for their checksum. */
#define CRC_BYTES_MAX ((off_t)1 << 30)
/* An offset beyond this is no header in front of the first segment: a kernel's vmlinux begins so. */
#define HEADER_BYTES_MAX 65536

static void end_elfp(Elf **elf)
{
	if (*elf)
		(void)elf_end(*elf);
}

int etw_symbol_elf_begin(int *fd, uint64_t *copy_bytes, Elf **ret)
{
	CLEANUP(end_elfp) Elf *elf = NULL;

	TRY(etw_symbol_elf_settle(fd, copy_bytes));
	TRY(etw_symbol_elf_limits_hold(*fd));
	elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		return -ENOEXEC;
	*ret = TAKE(elf);
	return 0;
}

bool etw_symbol_elf_has_build_id(Elf *elf, const uint8_t *build_id, size_t bytes)
{
	const void *found = NULL;
	ssize_t found_bytes = dwelf_elf_gnu_build_id(elf, &found);
	uint8_t padded[ETW_SYMBOL_BUILD_ID_BYTES] = {0};

	if (found_bytes <= 0 || bytes == 0)
		return false;
	/* A short one is padded with zeros in the trace's GUID. */
	if ((size_t)found_bytes < bytes && bytes <= sizeof(padded)) {
		memcpy(padded, found, (size_t)found_bytes);
		found = padded;
		found_bytes = (ssize_t)bytes;
	}
	return (size_t)found_bytes >= bytes && memcmp(found, build_id, bytes) == 0;
}

static bool has_checksum(int fd, uint32_t wanted)
{
	CLEANUP(freep) uint8_t *buffer = malloc(CRC_READ_BYTES);
	off_t at = 0;
	uint32_t crc = 0;
	ssize_t got;

	if (lseek(fd, 0, SEEK_END) > CRC_BYTES_MAX)
		return false;
	while (buffer && (got = pread(fd, buffer, CRC_READ_BYTES, at)) > 0) {
		crc = etw_symbol_crc32(crc, buffer, (size_t)got);
		at += got;
	}
	return buffer && crc == wanted;
}

/* A search for a debug file, of an image that is open. */
struct debug_search {
	const uint8_t *build_id;
	size_t build_id_bytes;
	uint32_t crc;
	uint64_t *copy_bytes;
	int fd;     /* what was found; owned */
	char *path; /* owned */
};

static int take_debug(void *context, int fd, const char *path)
{
	struct debug_search *search = context;
	CLEANUP(etw_file_closep) int kept = fd;
	CLEANUP(end_elfp) Elf *elf = NULL;
	const int r = etw_symbol_elf_begin(&kept, search->copy_bytes, &elf);

	if (r)
		return r == -ENOMEM ? r : 1;
	if (search->build_id_bytes) {
		if (!etw_symbol_elf_has_build_id(elf, search->build_id, search->build_id_bytes))
			return 1;
	} else if (!has_checksum(kept, search->crc)) {
		return 1;
	}
	search->path = strdup(path);
	if (!search->path)
		return -ENOMEM;
	search->fd = kept;
	kept = -1;
	return 0;
}

/* The link of the image, as libdw hands it out: it lies in the file. */
static bool is_own_link(Dwfl_Module *module, const char *link)
{
	GElf_Word crc;
	Dwarf_Addr bias;
	Elf *file = dwfl_module_getelf(module, &bias);

	return file && dwelf_elf_gnu_debuglink(file, &crc) == link;
}

/* As libdwfl asks for it, when the image lacks what is wanted; and for what the debug file has in common with others. */
static int find_debug(Dwfl_Module *module, void **context, const char *name, Dwarf_Addr base,
		      const char *file, const char *link, GElf_Word crc, char **ret_path)
{
	struct etw_symbol_elf *elf = *context;
	struct debug_search search = {
		.build_id = elf->wanted.build_id,
		.build_id_bytes = elf->wanted.build_id_bytes,
		.crc = crc,
		.copy_bytes = &elf->copy_bytes,
		.fd = -1,
	};
	struct etw_symbol_wanted wanted = elf->wanted;

	(void)name;
	(void)base;
	(void)file;
	if (link && !is_own_link(module, link))
		return -1; /* etw_symbol_elf_need_common() finds it */
	wanted.debug_link = link;
	if (!search.build_id_bytes && !link)
		return -1;
	if (etw_symbol_files_try_debug(elf->files, &wanted, take_debug, &search))
		return -1;
	free(elf->debug_file);
	elf->debug_file = strdup(search.path);
	*ret_path = search.path;
	return search.fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
};

/* The program headers: where the file would be mapped, and which pieces are code. */
static int read_segments(struct etw_symbol_elf *elf, Elf *file)
{
	size_t count;
	bool has_first = false;

	if (elf_getphdrnum(file, &count) || count > ETW_SYMBOL_SEGMENTS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(file, (int)i, &segment))
			return -EBADMSG;
		if (segment.p_type != PT_LOAD)
			continue;
		if (!has_first) {
			elf->base = segment.p_vaddr;
			if (segment.p_offset < HEADER_BYTES_MAX)
				elf->base -= segment.p_offset;
		}
		has_first = true;
		if (!(segment.p_flags & PF_X) ||
		    segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
			continue;
		elf->code[elf->code_count].start = segment.p_vaddr;
		elf->code[elf->code_count].end = segment.p_vaddr + segment.p_memsz;
		elf->code_count++;
	}
	return has_first ? 0 : -EBADMSG;
}

static bool has_section(Elf *file, GElf_Word type, const char *name)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(file, &names))
		return false;
	while ((section = elf_nextscn(file, section))) {
		GElf_Shdr header;
		const char *found;

		if (!gelf_getshdr(section, &header))
			continue;
		if (!name && header.sh_type == type)
			return true;
		found = name ? elf_strptr(file, names, header.sh_name) : NULL;
		if (found && strcmp(found, name) == 0)
			return true;
	}
	return false;
}

static int read_facts(struct etw_symbol_elf *elf, Elf *file)
{
	const void *build_id = NULL;
	ssize_t bytes = dwelf_elf_gnu_build_id(file, &build_id);
	GElf_Ehdr header;

	if (!gelf_getehdr(file, &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -EBADMSG;
	TRY(read_segments(elf, file));
	if (bytes > (ssize_t)sizeof(elf->build_id))
		bytes = sizeof(elf->build_id);
	if (bytes > 0)
		memcpy(elf->build_id, build_id, (size_t)bytes);
	elf->wanted.build_id = elf->build_id;
	elf->wanted.build_id_bytes = bytes > 0 ? (size_t)bytes : 0;
	elf->has_own_symbols = has_section(file, SHT_SYMTAB, NULL) ||
			       has_section(file, 0, ".gnu_debugdata");
	return 0;
}

/* Hands the file to libdwfl, which owns the descriptor from then on. */
static int report(struct etw_symbol_elf *elf, int *fd)
{
	void **context = NULL;

	elf->dwfl = dwfl_begin(&callbacks);
	if (!elf->dwfl)
		return -ENOMEM;
	dwfl_report_begin(elf->dwfl);
	elf->module = dwfl_report_elf(elf->dwfl, elf->file, elf->file, *fd, 0, true);
	if (!elf->module)
		return -EBADMSG;
	*fd = -1;
	if (dwfl_report_end(elf->dwfl, NULL, NULL))
		return -EBADMSG;
	dwfl_module_info(elf->module, &context, NULL, NULL, NULL, NULL, NULL, NULL);
	*context = elf;
	return 0;
}

static int open_as(struct etw_symbol_elf *elf, Elf *file, int *fd, const char *path)
{
	elf->file = strdup(path);
	if (!elf->file)
		return -ENOMEM;
	TRY(read_facts(elf, file));
	return report(elf, fd);
}

/* A search for an image. */
struct image_search {
	const struct etw_symbol_files *files;
	const struct etw_symbol_wanted *wanted;
	struct etw_symbol_elf *elf; /* what was found; owned */
	enum etw_symbol_reason reason;
};

static int take_image(void *context, int fd, const char *path)
{
	struct image_search *search = context;
	const struct etw_symbol_wanted *wanted = search->wanted;
	CLEANUP(etw_file_closep) int kept = fd;
	CLEANUP(end_elfp) Elf *file = NULL;
	struct etw_symbol_elf *elf;
	uint64_t copy_bytes = 0;
	int r = etw_symbol_elf_begin(&kept, &copy_bytes, &file);

	if (r) {
		search->reason = r == -EFBIG ? ETW_SYMBOL_TOO_LARGE : ETW_SYMBOL_NOT_ELF;
		return r == -ENOMEM ? r : 1;
	}
	if (wanted->build_id_bytes &&
	    !etw_symbol_elf_has_build_id(file, wanted->build_id, wanted->build_id_bytes)) {
		search->reason = ETW_SYMBOL_OTHER_BUILD_ID;
		return 1;
	}
	elf = calloc(1, sizeof(*elf));
	if (!elf)
		return -ENOMEM;
	elf->common_fd = -1;
	elf->copy_bytes = copy_bytes;
	elf->files = search->files;
	elf->wanted = *wanted;
	elf->path = strdup(wanted->path);
	elf->wanted.path = elf->path;
	r = elf->path ? open_as(elf, file, &kept, path) : -ENOMEM;
	if (r) {
		etw_symbol_elf_close(elf);
		search->reason = ETW_SYMBOL_DAMAGED;
		return r == -ENOMEM ? r : 1;
	}
	search->elf = elf;
	return 0;
}

static int end_search(struct image_search *search, int r, struct etw_symbol_elf **ret,
		      enum etw_symbol_reason *ret_reason)
{
	if (!r) {
		*ret = search->elf;
		*ret_reason = ETW_SYMBOL_OK;
		return 0;
	}
	if (r == -ENOMEM)
		return r;
	*ret_reason = search->reason;
	if (search->reason == ETW_SYMBOL_NO_FILE && r == -EPERM)
		*ret_reason = ETW_SYMBOL_OTHER_OWNER;
	if (search->reason == ETW_SYMBOL_NO_FILE && r == -EACCES)
		*ret_reason = ETW_SYMBOL_NO_ACCESS;
	else if (search->reason == ETW_SYMBOL_NO_FILE && r == -EFBIG)
		*ret_reason = ETW_SYMBOL_TOO_LARGE;
	return -ENOENT;
}

int etw_symbol_elf_open(const struct etw_symbol_files *files,
			const struct etw_symbol_wanted *wanted, struct etw_symbol_elf **ret,
			enum etw_symbol_reason *ret_reason)
{
	struct image_search search = {
		.files = files,
		.wanted = wanted,
		.reason = ETW_SYMBOL_NO_FILE,
	};
	int r, again;

	(void)elf_version(EV_CURRENT);
	r = etw_symbol_files_try_image(files, wanted, take_image, &search);
	if (r && r != -ENOMEM && wanted->build_id_bytes) {
		enum etw_symbol_reason reason = search.reason;

		again = etw_symbol_files_try_debug(files, wanted, take_image, &search);
		if (!again || again == -ENOMEM)
			r = again;
		else
			search.reason = reason;
	}
	return end_search(&search, r, ret, ret_reason);
}

int etw_symbol_elf_open_fd(const struct etw_symbol_files *files,
			   const struct etw_symbol_wanted *wanted, int fd,
			   struct etw_symbol_elf **ret, enum etw_symbol_reason *ret_reason)
{
	struct image_search search = {.files = files, .wanted = wanted};
	int r;

	(void)elf_version(EV_CURRENT);
	r = take_image(&search, fd, wanted->path);
	return end_search(&search, r > 0 ? -ENOENT : r, ret, ret_reason);
}

void etw_symbol_elf_close(struct etw_symbol_elf *elf)
{
	if (!elf)
		return;
	if (elf->dwfl)
		dwfl_end(elf->dwfl);
	etw_symbol_elf_end_common(elf);
	free(elf->path);
	free(elf->file);
	free(elf->debug_file);
	free(elf->ranges);
	free(elf);
}

uint64_t etw_symbol_elf_copy_bytes(const struct etw_symbol_elf *elf)
{
	return elf->copy_bytes;
}

uint64_t etw_symbol_elf_address(const struct etw_symbol_elf *elf, uint64_t from_base)
{
	return elf->base + from_base;
}

/* Marks that assemblers leave where code and data meet (arm, arm64, RISC-V): "$x", "$d.3". */
static bool is_mapping_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == '\0' || name[2] == '.');
}

static uint32_t rank_of(const GElf_Sym *symbol)
{
	uint32_t rank = ETW_SYMBOL_LOCAL;

	if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL ||
	    GELF_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE)
		rank = ETW_SYMBOL_GLOBAL;
	else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		rank = ETW_SYMBOL_WEAK;
	if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE)
		rank += ETW_SYMBOL_UNTYPED;
	return rank;
}

static bool is_function(const GElf_Sym *symbol, GElf_Word section)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (section == SHN_UNDEF || section == SHN_ABS || section == SHN_COMMON)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* Where the last symbol without a size ends, and no other does: with its segment. */
static uint64_t end_of_code(const struct etw_symbol_elf *elf)
{
	uint64_t end = 0;

	for (size_t i = 0; i < elf->code_count; i++)
		if (elf->code[i].end > end)
			end = elf->code[i].end;
	return end;
}

/* Where the section of a symbol without a size ends: _init does not reach into the linkage table. 0: unknown. */
static uint64_t end_of_section(Elf *file, GElf_Word section, GElf_Addr bias)
{
	Elf_Scn *scn = file ? elf_getscn(file, section) : NULL;
	GElf_Shdr header;

	if (!scn || !gelf_getshdr(scn, &header) || header.sh_addr + header.sh_size < header.sh_addr)
		return 0;
	return header.sh_addr + header.sh_size + bias;
}

int etw_symbol_elf_read(struct etw_symbol_elf *elf, struct etw_symbol_table *table,
			enum etw_symbol_reason *ret_reason)
{
	int count = dwfl_module_getsymtab(elf->module), r = 0;

	for (int i = 1; i < count && !r; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		GElf_Addr bias = 0;
		Elf *file = NULL;
		const char *name = dwfl_module_getsym_info(elf->module, i, &symbol, &address,
							   &section, &file, &bias);
		struct etw_symbol_entry entry = {.start = address, .bytes = symbol.st_size};

		if (!name || !is_function(&symbol, section) ||
		    !etw_symbol_elf_is_code(elf, address) || is_mapping_mark(name))
			continue;
		entry.name = name;
		entry.rank = rank_of(&symbol);
		if (!entry.bytes)
			entry.open_end = end_of_section(file, section, bias);
		r = etw_symbol_table_add(table, &entry, strlen(name));
	}
	if (r && r != -E2BIG)
		return r;
	table->end = end_of_code(elf);
	if (r == -E2BIG)
		*ret_reason = ETW_SYMBOL_TOO_LARGE;
	else if (!table->count)
		*ret_reason = ETW_SYMBOL_NO_SYMBOLS;
	else if (!elf->has_own_symbols && !elf->debug_file)
		*ret_reason = ETW_SYMBOL_STRIPPED;
	else
		*ret_reason = ETW_SYMBOL_OK;
	return 0;
}

const char *etw_symbol_elf_path(const struct etw_symbol_elf *elf)
{
	return elf->debug_file && !elf->has_own_symbols ? elf->debug_file : elf->file;
}

#else

int etw_symbol_elf_open(const struct etw_symbol_files *files,
			const struct etw_symbol_wanted *wanted, struct etw_symbol_elf **ret,
			enum etw_symbol_reason *ret_reason)
{
	(void)files;
	(void)wanted;
	(void)ret;
	*ret_reason = ETW_SYMBOL_LEFT_OUT;
	return -ENOENT;
}

int etw_symbol_elf_open_fd(const struct etw_symbol_files *files,
			   const struct etw_symbol_wanted *wanted, int fd,
			   struct etw_symbol_elf **ret, enum etw_symbol_reason *ret_reason)
{
	close(fd);
	return etw_symbol_elf_open(files, wanted, ret, ret_reason);
}

void etw_symbol_elf_close(struct etw_symbol_elf *elf)
{
	(void)elf;
}

uint64_t etw_symbol_elf_copy_bytes(const struct etw_symbol_elf *elf)
{
	(void)elf;
	return 0;
}

uint64_t etw_symbol_elf_address(const struct etw_symbol_elf *elf, uint64_t from_base)
{
	(void)elf;
	return from_base;
}

int etw_symbol_elf_read(struct etw_symbol_elf *elf, struct etw_symbol_table *table,
			enum etw_symbol_reason *ret_reason)
{
	(void)elf;
	(void)table;
	*ret_reason = ETW_SYMBOL_LEFT_OUT;
	return 0;
}

const char *etw_symbol_elf_path(const struct etw_symbol_elf *elf)
{
	(void)elf;
	return NULL;
}

#endif
