/* SPDX-License-Identifier: MIT */
/* Where functions without names begin and end, from the index of the tables of unwinding. See elf_file.h. */
#include "symbol/elf_file_internal.h"

#include <errno.h>

#ifdef ETW_SYMBOL_LIBDW
#include <elf.h>
#include <gelf.h>
#include <string.h>

#include "base/bytes.h"

/*
 * .eh_frame_hdr: four bytes of version and encodings, where .eh_frame is, how many entries follow, and these, sorted: where a
 * function begins, where its record is; both from the header's own address. An entry of .eh_frame: length, distance to what
 * is common to several, where the function begins (from here), its length.
 */
#define INDEX_BYTES       12
#define INDEX_COUNT_AT    8
#define INDEX_ENTRY_BYTES 8
#define RECORD_COMMON_AT  4
#define RECORD_BEGIN_AT   8
#define RECORD_LENGTH_AT  12
#define RECORD_BYTES      16

/* Of the forms that these can have, the one that all linkers of Linux write: 32 bits, from the own place. */
static const uint8_t known_forms[] = {1, 0x1B, 0x03, 0x3B};

struct index {
	const uint8_t *file; /* borrowed */
	size_t file_bytes;
	size_t at, bytes;       /* where in the file the index lies */
	uint64_t address, bias; /* file address */
};

static bool find_index(struct etw_symbol_elf *elf, struct index *ret)
{
	Elf *file = dwfl_module_getelf(elf->module, &ret->bias);
	GElf_Phdr segment;
	size_t count;

	ret->file = file ? (const uint8_t *)elf_rawfile(file, &ret->file_bytes) : NULL;
	if (!ret->file || ret->file_bytes <= EI_DATA || ret->file[EI_DATA] != ELFDATA2LSB ||
	    elf_getphdrnum(file, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file, (int)i, &segment) || segment.p_type != PT_GNU_EH_FRAME)
			continue;
		if (segment.p_offset > ret->file_bytes || segment.p_filesz < INDEX_BYTES ||
		    segment.p_filesz > ret->file_bytes - segment.p_offset)
			return false;
		ret->at = segment.p_offset;
		ret->bytes = segment.p_filesz;
		ret->address = segment.p_vaddr;
		return memcmp(ret->file + ret->at, known_forms, sizeof(known_forms)) == 0;
	}
	return false;
}

/*
 * How long the function is. @record_from, @begin_from: of its record, and of itself, from the index; both lie in one piece
 * of the file with it. Returns 0 where there is no such record of it.
 */
static uint32_t length_of(const struct index *index, int32_t record_from, int32_t begin_from)
{
	const int64_t at = (int64_t)index->at + record_from;
	const uint8_t *record;

	if (at < 0 || (uint64_t)at + RECORD_BYTES > index->file_bytes)
		return 0;
	record = index->file + at;
	if (!etw_load32(record + RECORD_COMMON_AT) ||
	    (int64_t)record_from + RECORD_BEGIN_AT +
			    (int32_t)etw_load32(record + RECORD_BEGIN_AT) !=
		    begin_from)
		return 0;
	return etw_load32(record + RECORD_LENGTH_AT);
}

int etw_symbol_elf_read_functions(struct etw_symbol_elf *elf, struct etw_symbol_table *table)
{
	struct index index;
	size_t count;

	if (!find_index(elf, &index))
		return 0;
	count = (index.bytes - INDEX_BYTES) / INDEX_ENTRY_BYTES;
	if (count > etw_load32(index.file + index.at + INDEX_COUNT_AT))
		count = etw_load32(index.file + index.at + INDEX_COUNT_AT);
	for (size_t i = 0; i < count; i++) {
		const uint8_t *entry = index.file + index.at + INDEX_BYTES + i * INDEX_ENTRY_BYTES;
		const int32_t begin_from = (int32_t)etw_load32(entry);
		const struct etw_symbol_entry function = {
			.start = index.address + (uint64_t)(int64_t)begin_from + index.bias,
			.bytes = length_of(&index, (int32_t)etw_load32(entry + 4), begin_from),
			.name = "?", /* the table takes none without; nobody shows it */
		};
		int r = 0;

		if (function.bytes && etw_symbol_elf_is_code(elf, function.start))
			r = etw_symbol_table_add(table, &function, 1);
		if (r)
			return r == -E2BIG ? 0 : r;
	}
	return 0;
}

#else

int etw_symbol_elf_read_functions(struct etw_symbol_elf *elf, struct etw_symbol_table *table)
{
	(void)elf;
	(void)table;
	return 0;
}

#endif
