/* SPDX-License-Identifier: MIT */
/* The envelope of a chunk and the list of manifests under assembly, newest first. */
#include "schema/manifest/embedded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guid.h"
#include "base/macros.h"

/* 64 MiB of manifest; an assembly holds a place for each chunk from the start. */
#define CHUNKS_MAX 1024

#define STRUCTURE "embedded manifest"

#define ENVELOPE_BYTES 8
#define FORMAT_XML     1
#define MAGIC          0x5b

struct chunk {
	char *at; /* owned; NULL: not seen yet */
	size_t bytes;
};

struct etw_embedded_assembly {
	struct etw_embedded_assembly *older;
	GUID provider;
	uint32_t process_id;
	uint32_t thread_id;
	uint8_t major, minor; /* of the manifest, the same in every chunk */
	uint16_t seen;
	uint16_t total;
	size_t bytes;
	struct chunk chunks[];
};

struct envelope {
	uint8_t major, minor;
	uint16_t total;
	uint16_t number;
	struct etw_bytes data;
};

#define ENVELOPE_FIELD(name_, in_, out_)                                                      \
	{                                                                                     \
		.name = (name_), .in_type = TDH_INTYPE_##in_, .out_type = TDH_OUTTYPE_##out_, \
		.count = 1                                                                    \
	}

const struct etw_schema *etw_embedded_schema(void)
{
	static const struct etw_field fields[] = {
		ENVELOPE_FIELD("Format", UINT8, UNSIGNEDBYTE),
		ENVELOPE_FIELD("MajorVersion", UINT8, UNSIGNEDBYTE),
		ENVELOPE_FIELD("MinorVersion", UINT8, UNSIGNEDBYTE),
		ENVELOPE_FIELD("Magic", UINT8, HEXINT8),
		ENVELOPE_FIELD("TotalChunks", UINT16, UNSIGNEDSHORT),
		ENVELOPE_FIELD("ChunkNumber", UINT16, UNSIGNEDSHORT),
		ENVELOPE_FIELD("Manifest", NONNULLTERMINATEDANSISTRING, STRING),
	};
	static const struct etw_schema schema = {
		.descriptor = {.Id = ETW_EMBEDDED_EVENT_ID, .Opcode = ETW_EMBEDDED_EVENT_OPCODE},
		.source = DecodingSourceXMLFile,
		.template_flags = TEMPLATE_EVENT_DATA,
		.task_name = "ManifestData",
		.field_count = ARRAY_SIZE(fields),
		.top_count = ARRAY_SIZE(fields),
		.fields = fields,
	};

	return &schema;
}

static void free_assembly(struct etw_embedded_assembly *assembly)
{
	for (size_t i = 0; i < assembly->total; i++)
		free(assembly->chunks[i].at);
	free(assembly);
}

void etw_embedded_done(struct etw_embedded *embedded)
{
	while (embedded->newest) {
		struct etw_embedded_assembly *older = embedded->newest->older;

		free_assembly(embedded->newest);
		embedded->newest = older;
	}
	embedded->count = 0;
	embedded->bytes = 0;
}

static int refuse(struct etw_fault *reterr, uint64_t offset, const char *field,
		  const char *sentence)
{
	return etw_fault_set(reterr, -EBADMSG, offset, STRUCTURE, field, sentence);
}

static int read_envelope(const EVENT_RECORD *record, struct envelope *ret, struct etw_fault *reterr)
{
	struct etw_bytes bytes = {record->UserData, record->UserDataLength};
	const uint8_t *at = etw_bytes_take(&bytes, ENVELOPE_BYTES);

	if (!at)
		return refuse(reterr, 0, "envelope", "a chunk ends within its envelope");
	if (at[0] != FORMAT_XML)
		return refuse(reterr, 0, "format", "the format of a chunk is unknown");
	if (at[3] != MAGIC)
		return refuse(reterr, 3, "magic", "a chunk lacks the magic byte");
	*ret = (struct envelope){at[1], at[2], etw_load16(at + 4), etw_load16(at + 6), bytes};
	if (!ret->total)
		return refuse(reterr, 4, "total chunks", "a manifest has no chunks");
	if (ret->total > CHUNKS_MAX)
		return refuse(reterr, 4, "total chunks",
			      "a manifest claims more chunks than any has");
	if (ret->number >= ret->total)
		return refuse(reterr, 6, "chunk number", "a chunk has a number beyond the last");
	return 0;
}

static bool is_of_writer(const struct etw_embedded_assembly *assembly, const EVENT_HEADER *header)
{
	return assembly->process_id == header->ProcessId &&
	       assembly->thread_id == header->ThreadId &&
	       etw_guid_equal(&assembly->provider, &header->ProviderId);
}

static struct etw_embedded_assembly **find(struct etw_embedded *embedded,
					   const EVENT_HEADER *header)
{
	struct etw_embedded_assembly **link = &embedded->newest;

	while (*link && !is_of_writer(*link, header))
		link = &(*link)->older;
	return link;
}

static void drop(struct etw_embedded *embedded, struct etw_embedded_assembly **link)
{
	struct etw_embedded_assembly *assembly = *link;

	*link = assembly->older;
	embedded->bytes -= assembly->bytes;
	free_assembly(assembly);
	embedded->count--;
}

/* Drops the oldest ones until all are small enough together; @kept has a limit of its own. */
static void make_way(struct etw_embedded *embedded, const struct etw_embedded_assembly *kept)
{
	while (embedded->bytes > ETW_EMBEDDED_OPEN_BYTES) {
		struct etw_embedded_assembly **oldest = NULL;

		for (struct etw_embedded_assembly **at = &embedded->newest; *at; at = &(*at)->older)
			oldest = *at == kept ? oldest : at;
		if (!oldest)
			return;
		drop(embedded, oldest);
	}
}

static bool continues(const struct etw_embedded_assembly *assembly, const struct envelope *envelope)
{
	const struct chunk *chunk;

	if (assembly->total != envelope->total || assembly->major != envelope->major ||
	    assembly->minor != envelope->minor)
		return false;
	chunk = &assembly->chunks[envelope->number];
	return !chunk->at || (chunk->bytes == envelope->data.left &&
			      memcmp(chunk->at, envelope->data.at, chunk->bytes) == 0);
}

static int begin(struct etw_embedded *embedded, const EVENT_HEADER *header,
		 const struct envelope *envelope)
{
	struct etw_embedded_assembly *assembly;
	struct etw_embedded_assembly **oldest = &embedded->newest;

	if (embedded->count == ETW_EMBEDDED_OPEN_MAX) {
		while ((*oldest)->older)
			oldest = &(*oldest)->older;
		drop(embedded, oldest);
	}
	assembly = calloc(1, sizeof(*assembly) + envelope->total * sizeof(assembly->chunks[0]));
	if (!assembly)
		return -ENOMEM;
	assembly->provider = header->ProviderId;
	assembly->process_id = header->ProcessId;
	assembly->thread_id = header->ThreadId;
	assembly->major = envelope->major;
	assembly->minor = envelope->minor;
	assembly->total = envelope->total;
	assembly->older = embedded->newest;
	embedded->newest = assembly;
	embedded->count++;
	return 0;
}

static int keep_chunk(struct etw_embedded_assembly *assembly, const struct envelope *envelope)
{
	struct chunk *chunk = &assembly->chunks[envelope->number];

	if (chunk->at)
		return 0;
	/* One byte more, so that an empty chunk counts as seen. */
	chunk->at = malloc(envelope->data.left + 1);
	if (!chunk->at)
		return -ENOMEM;
	if (envelope->data.left)
		memcpy(chunk->at, envelope->data.at, envelope->data.left);
	chunk->bytes = envelope->data.left;
	assembly->bytes += chunk->bytes;
	assembly->seen++;
	return 0;
}

int etw_embedded_add(struct etw_embedded *embedded, const EVENT_RECORD *record,
		     struct etw_text *text, struct etw_fault *reterr)
{
	const EVENT_HEADER *header = &record->EventHeader;
	struct etw_embedded_assembly **link;
	struct envelope envelope;
	size_t before;

	TRY(read_envelope(record, &envelope, reterr));
	link = find(embedded, header);
	if (*link && !continues(*link, &envelope))
		drop(embedded, link);
	link = find(embedded, header);
	if (!*link) {
		TRY(begin(embedded, header, &envelope));
		link = &embedded->newest;
	}
	before = (*link)->bytes;
	TRY(keep_chunk(*link, &envelope));
	embedded->bytes += (*link)->bytes - before;
	make_way(embedded, *link);
	link = find(embedded, header);
	if ((*link)->bytes > ETW_EMBEDDED_MANIFEST_BYTES) {
		drop(embedded, link);
		return refuse(reterr, 0, NULL, "a manifest is larger than the limit");
	}
	if ((*link)->seen < (*link)->total)
		return 0;
	for (size_t i = 0; i < (*link)->total; i++)
		etw_text_append(text, (*link)->chunks[i].at, (*link)->chunks[i].bytes);
	drop(embedded, link);
	TRY(etw_text_error(text));
	return ETW_EMBEDDED_COMPLETE;
}
