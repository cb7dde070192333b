/* SPDX-License-Identifier: MIT */
/* Symbols out of files. See symbol_file.h. */
#include "wire/symbol_file.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define JITDUMP_MAGIC      0x4A695444u /* "JiTD" */
#define JITDUMP_HEAD_BYTES 40
#define JITDUMP_LOAD       0
#define JITDUMP_LOAD_BYTES 56 /* of a load record, with the record's own head, before its name */
#define RECORD_HEAD_BYTES  16
#define SECTIONS_MAX       65536

void etw_symbol_file_done(struct etw_symbol_file *table)
{
	free(table->at);
	free(table->names);
	*table = (struct etw_symbol_file){0};
}

/* Returns 0, also for a symbol that is none of the image; -E2BIG; -ENOMEM. */
static int add(struct etw_symbol_file *table, const struct etw_symbol_range *range,
	       uint64_t address, uint64_t bytes, const char *name, size_t name_bytes)
{
	struct etw_image_symbol symbol = {
		.offset = address - range->base,
		.name_bytes = (uint32_t)name_bytes,
		.name = name,
	};

	if (address < range->base || symbol.offset >= range->byte_count ||
	    name_bytes > WIRE_IMAGE_SYMBOL_NAME_MAX)
		return 0;
	if (bytes > range->byte_count - symbol.offset)
		bytes = range->byte_count - symbol.offset;
	symbol.byte_count = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
	if (!etw_image_symbol_is_sound(range->base, &symbol))
		return 0;
	if (table->count >= WIRE_IMAGE_SYMBOLS_MAX)
		return -E2BIG;
	if (table->count == table->room) {
		uint32_t room = table->room ? table->room * 2 : 256;
		void *more = reallocarray(table->at, room, sizeof(table->at[0]));

		if (!more)
			return -ENOMEM;
		table->at = more;
		table->room = room;
	}
	table->at[table->count++] = symbol;
	return 0;
}

/* A run of @file; false: it does not have it. */
static bool slice(struct etw_bytes file, uint64_t offset, uint64_t bytes, struct etw_bytes *ret)
{
	if (offset > file.left || bytes > file.left - offset)
		return false;
	*ret = (struct etw_bytes){file.at + offset, (size_t)bytes};
	return true;
}

struct section {
	uint32_t type, link;
	uint64_t offset, bytes, entry_bytes;
};

/* Objects of 64 bits, as all machines have them that this runs on. */
static bool read_section(struct etw_bytes file, uint64_t table, uint32_t number,
			 struct section *ret)
{
	struct etw_bytes head;

	if (!slice(file, table + (uint64_t)number * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr), &head))
		return false;
	*ret = (struct section){
		.type = etw_load32(head.at + offsetof(Elf64_Shdr, sh_type)),
		.link = etw_load32(head.at + offsetof(Elf64_Shdr, sh_link)),
		.offset = etw_load64(head.at + offsetof(Elf64_Shdr, sh_offset)),
		.bytes = etw_load64(head.at + offsetof(Elf64_Shdr, sh_size)),
		.entry_bytes = etw_load64(head.at + offsetof(Elf64_Shdr, sh_entsize)),
	};
	return true;
}

/* The lowest address that the object is loaded at, which lies at the image's base. */
static int find_lowest(struct etw_bytes file, uint64_t *ret)
{
	uint64_t table = etw_load64(file.at + offsetof(Elf64_Ehdr, e_phoff));
	uint32_t count = etw_load16(file.at + offsetof(Elf64_Ehdr, e_phnum));
	bool is_found = false;

	*ret = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct etw_bytes head;
		uint64_t address;

		if (!slice(file, table + (uint64_t)i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr),
			   &head))
			return -EBADMSG;
		if (etw_load32(head.at + offsetof(Elf64_Phdr, p_type)) != PT_LOAD)
			continue;
		address = etw_load64(head.at + offsetof(Elf64_Phdr, p_vaddr)) & ~UINT64_C(0xFFF);
		if (!is_found || address < *ret)
			*ret = address;
		is_found = true;
	}
	return 0;
}

static int take_elf_symbols(struct etw_bytes symbols, struct etw_bytes strings, uint64_t lowest,
			    const struct etw_symbol_range *range, struct etw_symbol_file *table)
{
	for (; symbols.left >= sizeof(Elf64_Sym);
	     (void)etw_bytes_take(&symbols, sizeof(Elf64_Sym))) {
		uint32_t name = etw_load32(symbols.at + offsetof(Elf64_Sym, st_name));
		uint8_t type = symbols.at[offsetof(Elf64_Sym, st_info)] & 0xF;
		uint16_t section = etw_load16(symbols.at + offsetof(Elf64_Sym, st_shndx));
		uint64_t value = etw_load64(symbols.at + offsetof(Elf64_Sym, st_value));
		const char *text = (const char *)strings.at + name;

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || section == SHN_UNDEF ||
		    value < lowest)
			continue;
		if (name >= strings.left || !memchr(text, '\0', strings.left - name))
			return -EBADMSG;
		TRY(add(table, range, range->base + (value - lowest),
			etw_load64(symbols.at + offsetof(Elf64_Sym, st_size)), text, strlen(text)));
	}
	return 0;
}

/* The full table where there is one, else that of the dynamic linker. */
static int parse_elf(struct etw_bytes file, const struct etw_symbol_range *range,
		     struct etw_symbol_file *ret)
{
	struct section chosen = {0}, strings;
	struct etw_bytes symbols, names;
	uint64_t table, lowest;
	uint32_t count;

	if (file.left < sizeof(Elf64_Ehdr) || memcmp(file.at, ELFMAG, SELFMAG) != 0 ||
	    file.at[EI_CLASS] != ELFCLASS64 || file.at[EI_DATA] != ELFDATA2LSB)
		return -EBADMSG;
	table = etw_load64(file.at + offsetof(Elf64_Ehdr, e_shoff));
	count = etw_load16(file.at + offsetof(Elf64_Ehdr, e_shnum));
	TRY(find_lowest(file, &lowest));
	for (uint32_t i = 0; i < count && i < SECTIONS_MAX; i++) {
		struct section section;

		if (!read_section(file, table, i, &section))
			return -EBADMSG;
		if (section.type == SHT_SYMTAB || (section.type == SHT_DYNSYM && !chosen.type))
			chosen = section;
	}
	if (!chosen.type)
		return 0;
	if (chosen.entry_bytes != sizeof(Elf64_Sym) ||
	    !read_section(file, table, chosen.link, &strings) ||
	    !slice(file, chosen.offset, chosen.bytes, &symbols) ||
	    !slice(file, strings.offset, strings.bytes, &names))
		return -EBADMSG;
	return take_elf_symbols(symbols, names, lowest, range, ret);
}

/* A number in hexadecimal; *at moves behind it and one blank. Without digits, or with too many, false. */
static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *from = *at;

	*ret = 0;
	if (end - from > 2 && from[0] == '0' && (from[1] == 'x' || from[1] == 'X'))
		from += 2;
	for (*at = from; *at < end && *at - from < 16; (*at)++) {
		int digit = (unsigned char)**at;

		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
			digit = (digit | 0x20) - 'a' + 10;
		else
			break;
		*ret = *ret << 4 | (uint64_t)digit;
	}
	if (*at == from || *at == end || **at != ' ')
		return false;
	(*at)++;
	return true;
}

/* Names lie in the file without a NUL behind them: they are copied. */
static int parse_perf_map(struct etw_bytes file, const struct etw_symbol_range *range,
			  struct etw_symbol_file *ret)
{
	const char *at, *end;

	if (memchr(file.at, '\0', file.left))
		return -EBADMSG;
	ret->names = malloc(file.left + 1);
	if (!ret->names)
		return -ENOMEM;
	memcpy(ret->names, file.at, file.left);
	ret->names[file.left] = '\n';
	end = ret->names + file.left;
	for (at = ret->names; at < end;) {
		char *line_end = rawmemchr(at, '\n');
		uint64_t address, bytes;

		*line_end = '\0';
		if (take_number(&at, line_end, &address) && take_number(&at, line_end, &bytes) &&
		    at < line_end)
			TRY(add(ret, range, address, bytes, at, (size_t)(line_end - at)));
		else if (at < line_end && ret->count == 0)
			return -EBADMSG; /* not even the first line is one */
		at = line_end + 1;
	}
	return 0;
}

static int parse_jitdump(struct etw_bytes file, const struct etw_symbol_range *range,
			 struct etw_symbol_file *ret)
{
	uint32_t head_bytes;

	if (file.left < JITDUMP_HEAD_BYTES || etw_load32(file.at) != JITDUMP_MAGIC)
		return -EBADMSG;
	head_bytes = etw_load32(file.at + 8);
	if (head_bytes < JITDUMP_HEAD_BYTES || !etw_bytes_take(&file, head_bytes))
		return -EBADMSG;
	while (file.left >= RECORD_HEAD_BYTES) {
		uint32_t kind = etw_load32(file.at), bytes = etw_load32(file.at + 4);
		const uint8_t *record;

		if (bytes < RECORD_HEAD_BYTES)
			return -EBADMSG;
		record = etw_bytes_take(&file, bytes);
		if (!record)
			return 0; /* the program is at it, or has died */
		if (kind == JITDUMP_LOAD && bytes > JITDUMP_LOAD_BYTES) {
			const char *name = (const char *)record + JITDUMP_LOAD_BYTES;
			size_t name_bytes = strnlen(name, bytes - JITDUMP_LOAD_BYTES);

			if (name_bytes == bytes - JITDUMP_LOAD_BYTES)
				return -EBADMSG;
			TRY(add(ret, range, etw_load64(record + 32), etw_load64(record + 40), name,
				name_bytes));
		}
	}
	return 0;
}

int etw_symbol_file_parse(struct etw_bytes file, enum etw_symbol_form form,
			  const struct etw_symbol_range *range, struct etw_symbol_file *ret)
{
	*ret = (struct etw_symbol_file){0};
	switch (form) {
	case ETW_SYMBOL_FORM_ELF:
		return parse_elf(file, range, ret);
	case ETW_SYMBOL_FORM_PERF_MAP:
		return parse_perf_map(file, range, ret);
	case ETW_SYMBOL_FORM_JITDUMP:
		return parse_jitdump(file, range, ret);
	default:
		return -EINVAL;
	}
}
