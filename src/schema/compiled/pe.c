/* SPDX-License-Identifier: MIT */
/*
 * The resource directory is a tree by its definition only: offsets may lead anywhere. Three levels are
 * walked, whatever they point to, and no more entries are looked at than the file has room for.
 */
#include "schema/compiled/pe.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "wire/pe.h"

/* The name of the type, as in the file. */
static const char template_type[] = "WEVT_TEMPLATE";

struct pe_reader {
	struct etw_arena *arena;
	const uint8_t *at;
	size_t bytes;      /* of what is there: the file, or its beginning */
	size_t file_bytes; /* of the whole file */
	struct wire_pe_head head;
	size_t sections;      /* offset of the section table */
	uint32_t address;     /* of the resource directory; 0: none */
	size_t directory;     /* where it lies in the file */
	size_t directory_end; /* of its section */
	size_t entries_left;  /* that may still be looked at */
	struct etw_pe_resource *found[2];
	size_t found_count[2];
	struct etw_fault *reterr;
};

enum found_kind {
	FOUND_TEMPLATES,
	FOUND_TABLES,
};

static int refuse(struct pe_reader *reader, uint64_t offset, const char *field,
		  const char *sentence)
{
	return etw_fault_set(reader->reterr, -EBADMSG, offset, "PE file", field, sentence);
}

bool etw_pe_is(struct etw_bytes file)
{
	return file.left >= 2 && etw_load16(file.at) == WIRE_PE_DOS_MAGIC;
}

static int read_head(struct pe_reader *reader, size_t *ret_optional)
{
	const struct etw_bytes file = {reader->at, reader->bytes};
	size_t at;

	if (!etw_pe_is(file))
		return refuse(reader, 0, "e_magic", "the bytes are not a PE file");
	if (reader->bytes < WIRE_PE_DOS_BYTES)
		return refuse(reader, 0, NULL, "the file ends within its headers");
	at = etw_load32(reader->at + WIRE_PE_DOS_NEW_HEADER);
	if (at > reader->bytes || reader->bytes - at < sizeof(reader->head))
		return refuse(reader, WIRE_PE_DOS_NEW_HEADER, "e_lfanew",
			      "the PE header lies outside the file");
	memcpy(&reader->head, reader->at + at, sizeof(reader->head));
	if (memcmp(reader->head.magic, "PE\0", sizeof(reader->head.magic)) != 0)
		return refuse(reader, at, "Signature",
			      "the file is a DOS program without PE header");
	at += sizeof(reader->head);
	if (reader->bytes - at < le16_get(reader->head.optional_bytes))
		return refuse(reader, at, "SizeOfOptionalHeader",
			      "the optional header goes beyond the file");
	*ret_optional = at;
	return 0;
}

/* Where in memory the resource directory is; 0 when there is none. */
static int read_directories(struct pe_reader *reader, size_t optional, bool *ret_is_64bit)
{
	size_t bytes = le16_get(reader->head.optional_bytes);
	struct wire_pe_directory directory;
	size_t directories, count;
	uint16_t magic;

	if (bytes < sizeof(uint16_t))
		return refuse(reader, optional, NULL, "the optional header is too short");
	magic = etw_load16(reader->at + optional);
	if (magic != WIRE_PE_32 && magic != WIRE_PE_32_PLUS)
		return refuse(reader, optional, "Magic",
			      "the kind of the optional header is unknown");
	*ret_is_64bit = magic == WIRE_PE_32_PLUS;
	directories = *ret_is_64bit ? WIRE_PE_64_DIRECTORIES : WIRE_PE_32_DIRECTORIES;
	if (bytes < directories)
		return refuse(reader, optional, NULL, "the optional header is too short");
	count = (bytes - directories) / sizeof(directory);
	directories += optional;
	if (etw_load32(reader->at + directories - sizeof(uint32_t)) < count)
		count = etw_load32(reader->at + directories - sizeof(uint32_t));
	reader->address = 0;
	if (count <= WIRE_PE_RESOURCES)
		return 0;
	memcpy(&directory, reader->at + directories + WIRE_PE_RESOURCES * sizeof(directory),
	       sizeof(directory));
	if (le32_get(directory.bytes))
		reader->address = le32_get(directory.address);
	return 0;
}

static int find_sections(struct pe_reader *reader, size_t optional)
{
	size_t count = le16_get(reader->head.section_count);

	reader->sections = optional + le16_get(reader->head.optional_bytes);
	if (count > ETW_PE_SECTIONS_MAX)
		return refuse(reader, optional, "NumberOfSections",
			      "the file has more sections than the limit");
	if ((reader->bytes - reader->sections) / sizeof(struct wire_pe_section) < count)
		return refuse(reader, reader->sections, "NumberOfSections",
			      "the section table goes beyond the file");
	return 0;
}

/* Where an address lies in the file, and how far its section goes there; false when it is in none. */
static bool find_address(const struct pe_reader *reader, uint32_t address, size_t *ret_offset,
			 size_t *ret_end)
{
	for (size_t i = 0; i < le16_get(reader->head.section_count); i++) {
		struct wire_pe_section section;
		uint32_t distance;
		size_t offset, bytes;

		memcpy(&section, reader->at + reader->sections + i * sizeof(section),
		       sizeof(section));
		offset = le32_get(section.file_offset);
		bytes = le32_get(section.file_bytes);
		distance = address - le32_get(section.address);
		if (address < le32_get(section.address) || distance >= bytes ||
		    offset >= reader->file_bytes)
			continue;
		if (bytes > reader->file_bytes - offset)
			bytes = reader->file_bytes - offset;
		if (distance >= bytes)
			continue;
		*ret_offset = offset + distance;
		*ret_end = offset + bytes;
		return true;
	}
	return false;
}

/* All up to the place of the resource directory; address 0 when the file has none. */
static int read_headers(struct pe_reader *reader, bool *ret_is_64bit)
{
	size_t optional;

	TRY(read_head(reader, &optional));
	TRY(read_directories(reader, optional, ret_is_64bit));
	TRY(find_sections(reader, optional));
	if (reader->address &&
	    !find_address(reader, reader->address, &reader->directory, &reader->directory_end))
		return refuse(reader, optional, "Resources",
			      "the resource directory lies in no section");
	return 0;
}

int etw_pe_section(struct etw_bytes head, size_t file_bytes, size_t *ret_offset, size_t *ret_bytes,
		   struct etw_fault *reterr)
{
	struct pe_reader reader = {
		.at = head.at, .bytes = head.left, .file_bytes = file_bytes, .reterr = reterr};
	bool is_64bit;

	TRY(read_headers(&reader, &is_64bit));
	*ret_offset = reader.directory;
	*ret_bytes = reader.address ? reader.directory_end - reader.directory : 0;
	return 0;
}

/* The entries of the directory at @offset, counted from the first directory. */
static int read_directory(struct pe_reader *reader, uint32_t offset, const uint8_t **ret,
			  size_t *ret_count)
{
	size_t room = reader->directory_end - reader->directory;
	struct wire_resource_directory wire;
	size_t count;

	if (offset > room || room - offset < sizeof(wire))
		return refuse(reader, reader->directory + (uint64_t)offset, NULL,
			      "a resource directory goes beyond its section");
	memcpy(&wire, reader->at + reader->directory + offset, sizeof(wire));
	count = (size_t)le16_get(wire.named_count) + le16_get(wire.number_count);
	room -= offset + sizeof(wire);
	if (room / sizeof(struct wire_resource_entry) < count)
		return refuse(reader, reader->directory + (uint64_t)offset, "NumberOfEntries",
			      "a resource directory goes beyond its section");
	if (count > reader->entries_left)
		return refuse(reader, reader->directory + (uint64_t)offset, "NumberOfEntries",
			      "the resource directories overlap too much");
	reader->entries_left -= count;
	*ret = reader->at + reader->directory + offset + sizeof(wire);
	*ret_count = count;
	return 0;
}

static struct wire_resource_entry entry_of(const uint8_t *entries, size_t index)
{
	struct wire_resource_entry wire;

	memcpy(&wire, entries + index * sizeof(wire), sizeof(wire));
	return wire;
}

/* Whether the name of an entry is that of templates. */
static bool is_template_name(const struct pe_reader *reader, uint32_t offset)
{
	size_t room = reader->directory_end - reader->directory;
	const size_t chars = sizeof(template_type) - 1;
	const uint8_t *at;

	if (offset > room || room - offset < sizeof(uint16_t) * (1 + chars))
		return false;
	at = reader->at + reader->directory + offset;
	if (etw_load16(at) != chars)
		return false;
	for (size_t i = 0; i < chars; i++) {
		if (etw_load16(at + sizeof(uint16_t) * (1 + i)) != (uint8_t)template_type[i])
			return false;
	}
	return true;
}

static int keep_resource(struct pe_reader *reader, enum found_kind kind, uint32_t offset,
			 struct etw_pe_resource *resource)
{
	size_t room = reader->directory_end - reader->directory;
	struct wire_resource_data wire;
	size_t end;

	if (offset > room || room - offset < sizeof(wire))
		return refuse(reader, reader->directory + (uint64_t)offset, NULL,
			      "the place of a resource lies beyond its section");
	memcpy(&wire, reader->at + reader->directory + offset, sizeof(wire));
	if (!find_address(reader, le32_get(wire.address), &resource->offset, &end))
		return refuse(reader, reader->directory + (uint64_t)offset, "OffsetToData",
			      "a resource lies in no section");
	resource->bytes = le32_get(wire.bytes);
	if (resource->bytes > end - resource->offset)
		return refuse(reader, reader->directory + (uint64_t)offset, "Size",
			      "a resource goes beyond its section");
	if (reader->found_count[0] + reader->found_count[1] == ETW_PE_RESOURCES_MAX)
		return refuse(reader, reader->directory + (uint64_t)offset, NULL,
			      "the file has more resources than the limit");
	reader->found[kind][reader->found_count[kind]++] = *resource;
	return 0;
}

/* The languages of one resource; resources without that level exist. */
static int read_languages(struct pe_reader *reader, enum found_kind kind,
			  const struct wire_resource_entry *entry)
{
	uint32_t name = le32_get(entry->name), data = le32_get(entry->data);
	struct etw_pe_resource resource = {.name = name & WIRE_RESOURCE_BIT ? 0 : name};
	const uint8_t *entries;
	size_t count;

	if (!(data & WIRE_RESOURCE_BIT))
		return keep_resource(reader, kind, data, &resource);
	TRY(read_directory(reader, data & ~WIRE_RESOURCE_BIT, &entries, &count));
	for (size_t i = 0; i < count; i++) {
		const struct wire_resource_entry language = entry_of(entries, i);

		if (le32_get(language.data) & WIRE_RESOURCE_BIT)
			return refuse(reader, (uint64_t)(entries - reader->at), "OffsetToData",
				      "resource directories are nested too deeply");
		resource.language = le32_get(language.name);
		TRY(keep_resource(reader, kind, le32_get(language.data), &resource));
	}
	return 0;
}

static int read_type(struct pe_reader *reader, enum found_kind kind, uint32_t data)
{
	const uint8_t *entries;
	size_t count;

	if (!(data & WIRE_RESOURCE_BIT))
		return refuse(reader, reader->directory, "OffsetToData",
			      "a type of resources has no directory");
	TRY(read_directory(reader, data & ~WIRE_RESOURCE_BIT, &entries, &count));
	for (size_t i = 0; i < count; i++) {
		const struct wire_resource_entry entry = entry_of(entries, i);

		TRY(read_languages(reader, kind, &entry));
	}
	return 0;
}

/* Room for all that may be found: each needs an entry, though they may share the data. */
static int make_room(struct pe_reader *reader)
{
	size_t most = reader->entries_left < ETW_PE_RESOURCES_MAX ? reader->entries_left
								  : ETW_PE_RESOURCES_MAX;

	for (size_t i = 0; i < ARRAY_SIZE(reader->found); i++) {
		reader->found[i] = etw_arena_array(reader->arena, most, sizeof(*reader->found[i]));
		if (!reader->found[i])
			return -ENOMEM;
	}
	return 0;
}

static int read_resources(struct pe_reader *reader)
{
	const uint8_t *types;
	size_t count;

	reader->entries_left = (reader->directory_end - reader->directory) /
			       sizeof(struct wire_resource_entry);
	TRY(make_room(reader));
	TRY(read_directory(reader, 0, &types, &count));
	for (size_t i = 0; i < count; i++) {
		const struct wire_resource_entry type = entry_of(types, i);
		uint32_t name = le32_get(type.name);

		if (name == WIRE_RESOURCE_MESSAGE_TABLE)
			TRY(read_type(reader, FOUND_TABLES, le32_get(type.data)));
		else if ((name & WIRE_RESOURCE_BIT) &&
			 is_template_name(reader, name & ~WIRE_RESOURCE_BIT))
			TRY(read_type(reader, FOUND_TEMPLATES, le32_get(type.data)));
	}
	return 0;
}

int etw_pe_parse(struct etw_arena *arena, struct etw_bytes file, struct etw_pe *ret,
		 struct etw_fault *reterr)
{
	struct etw_arena_mark mark = etw_arena_mark(arena);
	struct pe_reader reader = {.arena = arena,
				   .at = file.at,
				   .bytes = file.left,
				   .file_bytes = file.left,
				   .reterr = reterr};
	struct etw_pe pe = {0};
	int r = read_headers(&reader, &pe.is_64bit);

	if (r == 0 && reader.address)
		r = read_resources(&reader);
	if (r < 0) {
		etw_arena_release(arena, mark);
		return r;
	}
	pe.machine = le16_get(reader.head.machine);
	pe.templates = reader.found[FOUND_TEMPLATES];
	pe.template_count = reader.found_count[FOUND_TEMPLATES];
	pe.tables = reader.found[FOUND_TABLES];
	pe.table_count = reader.found_count[FOUND_TABLES];
	*ret = pe;
	return 0;
}
