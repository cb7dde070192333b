/* SPDX-License-Identifier: MIT */
#include "synthetic/presets.h"

#include <string.h>

const GUID preset_provider = {0x9e2f0c11, 0x5a47, 0x4c5e, {0x9b, 1, 2, 3, 4, 5, 6, 7}};
const GUID preset_class = {0x1d0c5d2b, 0x3c4d, 0x4a5b, {0x8c, 7, 6, 5, 4, 3, 2, 1}};
/* What TraceLogging makes of the name "Synthetic.TraceLogging". */
const GUID preset_tracelogging = {
	0xd989a05d, 0xa162, 0x5610, {0x27, 0x9c, 0x35, 0x2d, 0xc4, 0x65, 0x0f, 0xe3}};

const struct preset *preset_at(unsigned index)
{
	if (index < presets_session_count)
		return &presets_session[index];
	index -= presets_session_count;
	if (index < presets_event_count)
		return &presets_event[index];
	index -= presets_event_count;
	return index < presets_file_count ? &presets_file[index] : NULL;
}

const struct preset *preset_find(const char *name)
{
	const struct preset *preset;

	for (unsigned i = 0; (preset = preset_at(i)) != NULL; i++) {
		if (!strcmp(preset->name, name))
			return preset;
	}
	return NULL;
}

static struct maker *start(const struct preset *preset, FILE *file)
{
	struct maker_options options = {0};
	struct maker *maker;

	if (preset->adjust)
		preset->adjust(&options);
	maker = maker_open(&options, file);
	if (preset->fill)
		preset->fill(maker);
	return maker;
}

uint8_t *preset_make(const struct preset *preset, size_t *ret_bytes)
{
	return maker_close(start(preset, NULL), ret_bytes);
}

void preset_write(const struct preset *preset, FILE *file)
{
	(void)maker_close(start(preset, file), NULL);
}

void preset_event(struct made_event *event, int64_t time_raw, uint16_t id, uint32_t value)
{
	struct made_descriptor descriptor = {
		.provider = &preset_provider, .id = id, .level = 4, .keyword = 1};
	struct made_ids ids = {1000, 1004, 0, 0};

	made_modern(event, WIRE_HEADER_EVENT64, &descriptor, time_raw, &ids);
	made_u32(event, value);
}

void preset_stream(struct maker *maker, unsigned processors, int64_t from_raw, int64_t step,
		   unsigned count)
{
	static struct made_event event;

	for (unsigned i = 0; i < count; i++) {
		preset_event(&event, from_raw + step * i, (uint16_t)(1 + i % 3), i);
		maker_add(maker, i % processors, &event);
	}
}
