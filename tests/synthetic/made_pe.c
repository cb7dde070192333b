/* SPDX-License-Identifier: MIT */
/* PE files of headers and one section, which holds the resources. */
#include <assert.h>
#include <string.h>

#include "base/macros.h"
#include "synthetic/made_wevt.h"
#include "wire/pe.h"

#define HEAD           0x80u
#define SECTION        0x400u  /* in the file */
#define ADDRESS        0x1000u /* in memory */
#define DIRECTORY_SIZE 16
#define ENTRIES_MAX    16
#define TYPE_NAME      "WEVT_TEMPLATE"

/* Places within the section: types, names of two types, languages, data, the name of the type, contents. */
struct layout {
	size_t names[2], languages[ENTRIES_MAX], data, type_name, contents;
};

static void put_directory(struct made_pe *pe, size_t at, uint16_t named, uint16_t numbered)
{
	etw_store16(pe->at + pe->directory + at + 12, named);
	etw_store16(pe->at + pe->directory + at + 14, numbered);
}

static void put_entry(struct made_pe *pe, size_t directory, size_t index, uint32_t name,
		      size_t data)
{
	uint8_t *at = pe->at + pe->directory + directory + DIRECTORY_SIZE + 8 * index;

	etw_store32(at, name);
	etw_store32(at + 4, (uint32_t)data);
}

/* A directory a name, with its languages behind each other. Returns how many resources it took. */
static size_t put_name(struct made_pe *pe, const struct layout *layout, size_t directory,
		       const struct made_resource *resources, size_t left, size_t first)
{
	size_t count = 0;

	while (count < left && resources[count].type == resources[0].type &&
	       resources[count].name == resources[0].name) {
		put_entry(pe, directory, count, resources[count].language,
			  layout->data + 16 * (first + count));
		count++;
	}
	put_directory(pe, directory, 0, (uint16_t)count);
	return count;
}

static void put_directories(struct made_pe *pe, const struct layout *layout,
			    const struct made_resource *resources, size_t count)
{
	size_t names[2] = {0}, done = 0, types = 0;
	uint32_t last_type = UINT32_MAX;
	bool has_templates = count && !resources[0].type;

	while (done < count) {
		const struct made_resource *resource = &resources[done];
		size_t type;

		types += resource->type != last_type;
		last_type = resource->type;
		type = types - 1;
		assert(type < 2);
		put_entry(pe, 0, type,
			  resource->type ? resource->type
					 : WIRE_RESOURCE_BIT | (uint32_t)layout->type_name,
			  WIRE_RESOURCE_BIT | layout->names[type]);
		put_entry(pe, layout->names[type], names[type], resource->name,
			  WIRE_RESOURCE_BIT | layout->languages[done]);
		put_directory(pe, layout->names[type], 0, (uint16_t)++names[type]);
		done += put_name(pe, layout, layout->languages[done], resource, count - done, done);
	}
	put_directory(pe, 0, has_templates, (uint16_t)(types - has_templates));
}

static void put_contents(struct made_pe *pe, const struct layout *layout,
			 const struct made_resource *resources, size_t count)
{
	size_t at = layout->contents;

	for (size_t i = 0; i < count; i++) {
		uint8_t *data = pe->at + pe->directory + layout->data + 16 * i;

		assert(pe->directory + at + resources[i].bytes <= sizeof(pe->at));
		etw_store32(data, (uint32_t)(ADDRESS + at));
		etw_store32(data + 4, (uint32_t)resources[i].bytes);
		memcpy(pe->at + pe->directory + at, resources[i].at, resources[i].bytes);
		at = ALIGN_UP(at + resources[i].bytes, 8);
	}
	pe->bytes = pe->directory + at;
	pe->data = pe->directory + layout->data;
}

static void put_resources(struct made_pe *pe, const struct made_resource *resources, size_t count)
{
	const size_t directory = DIRECTORY_SIZE + 8 * ENTRIES_MAX;
	struct layout layout;

	assert(count <= ENTRIES_MAX);
	layout.names[0] = directory;
	layout.names[1] = 2 * directory;
	for (size_t i = 0; i < count; i++)
		layout.languages[i] = (3 + i) * directory;
	layout.data = (3 + count) * directory;
	layout.type_name = layout.data + 16 * count;
	layout.contents = ALIGN_UP(layout.type_name + 2 * sizeof(TYPE_NAME), 8);
	etw_store16(pe->at + pe->directory + layout.type_name, sizeof(TYPE_NAME) - 1);
	for (size_t i = 0; i < sizeof(TYPE_NAME) - 1; i++)
		etw_store16(pe->at + pe->directory + layout.type_name + 2 + 2 * i,
			    (uint8_t)TYPE_NAME[i]);
	put_directories(pe, &layout, resources, count);
	put_contents(pe, &layout, resources, count);
}

void made_pe_init(struct made_pe *pe, bool is_64bit, const struct made_resource *resources,
		  size_t count)
{
	size_t directories = is_64bit ? WIRE_PE_64_DIRECTORIES : WIRE_PE_32_DIRECTORIES;
	struct wire_pe_head head = {.magic = "PE",
				    .machine = le16_of(is_64bit ? 0x8664 : 0x14c),
				    .section_count = le16_of(1)};
	struct wire_pe_section section = {
		.name = ".rsrc", .address = le32_of(ADDRESS), .file_offset = le32_of(SECTION)};

	memset(pe, 0, sizeof(*pe));
	pe->directory = SECTION;
	pe->bytes = SECTION;
	if (count)
		put_resources(pe, resources, count);
	pe->head = HEAD;
	pe->optional = HEAD + sizeof(head);
	pe->sections = pe->optional + directories + 16 * 8;
	head.optional_bytes = le16_of((uint16_t)(directories + 16 * 8));
	section.file_bytes = le32_of((uint32_t)(pe->bytes - SECTION));
	section.memory_bytes = section.file_bytes;
	etw_store16(pe->at, WIRE_PE_DOS_MAGIC);
	etw_store32(pe->at + WIRE_PE_DOS_NEW_HEADER, HEAD);
	memcpy(pe->at + pe->head, &head, sizeof(head));
	etw_store16(pe->at + pe->optional, is_64bit ? WIRE_PE_32_PLUS : WIRE_PE_32);
	etw_store32(pe->at + pe->optional + directories - 4, 16);
	if (count) {
		uint8_t *directory = pe->at + pe->optional + directories + 8 * WIRE_PE_RESOURCES;

		etw_store32(directory, ADDRESS);
		etw_store32(directory + 4, (uint32_t)(pe->bytes - SECTION));
	}
	memcpy(pe->at + pe->sections, &section, sizeof(section));
}
