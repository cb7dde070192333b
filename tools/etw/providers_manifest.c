/* SPDX-License-Identifier: MIT */
/* One provider as a manifest, and what a manifest cannot say of it. */
#include <errno.h>

#include "base/macros.h"
#include "schema/known/known_schema.h"
#include "schema/manifest/manifest.h"
#include "schema/manifest/manifest_write.h"
#include "tools/common/program.h"
#include "tools/etw/providers.h"

static const char *name_of(const struct facts *facts)
{
	return facts->entry->name ? facts->entry->name : "this provider";
}

/* Why there can be none; NULL: there can. */
static const char *obstacle(const struct facts *facts)
{
	size_t classic_count = 0;

	if (!facts->schema)
		return "nothing but its name is known";
	if (!facts->entry->has_guid)
		return "nobody knows its GUID, and a manifest needs one";
	for (size_t i = 0; i < facts->event_count; i++)
		classic_count += facts_is_classic(&facts->events[i]);
	if (facts->event_count && classic_count == facts->event_count)
		return "its events are classic ones (MOF), which a manifest cannot describe";
	if (facts->schema->source != DecodingSourceXMLFile)
		return "it is not one of manifests";
	return NULL;
}

static bool has_build(const struct fact_event *event, uint32_t build)
{
	for (size_t i = 0; i < event->layout_count; i++) {
		if (etw_known_has_build(event->layouts[i].builds, build))
			return true;
	}
	return false;
}

static void tell_layouts(const struct facts *facts, uint32_t build)
{
	size_t other_count = 0;

	if (facts->several_count && !build)
		etw_program_message("warning: %zu of the events have several layouts under one "
				    "version, and a manifest holds one: the newest is written, "
				    "--build NUMBER chooses that of a Windows",
				    facts->several_count);
	for (size_t i = 0; build && i < facts->event_count; i++)
		other_count += facts->events[i].layout_count > 1 &&
			       !has_build(&facts->events[i], build);
	if (other_count)
		etw_program_message("warning: of %zu of the events with several layouts none is "
				    "known to be of build %u: the newest is written",
				    other_count, build);
}

static void tell_losses(const struct facts *facts, uint32_t build)
{
	size_t classic_count = 0;

	for (size_t i = 0; i < facts->event_count; i++)
		classic_count += facts_is_classic(&facts->events[i]);
	if (classic_count)
		etw_program_message("warning: %zu classic events (MOF) are left out, since a "
				    "manifest cannot describe them",
				    classic_count);
	tell_layouts(facts, build);
	if (facts->incomplete_count)
		etw_program_message("warning: %zu of the events are incomplete: their fields end "
				    "before the first one whose size is not known",
				    facts->incomplete_count);
	if (facts->inferred_count)
		etw_program_message("warning: of %zu of the events a length is inferred",
				    facts->inferred_count);
	if (facts->doubtful_count)
		etw_program_message(
			"warning: %zu of the events are doubtful: a count or a structure "
			"may be missing",
			facts->doubtful_count);
}

/* The provider with names as a manifest wants them. */
static int complete(const struct facts *facts, uint32_t build, struct etw_arena *arena,
		    struct etw_provider_schema *ret)
{
	struct etw_known_provider provider;
	struct etw_provider_schema *schema;

	if (!facts->known) {
		*ret = *facts->schema;
		return 0;
	}
	TRY(etw_known_provider_at(facts->known, facts->entry->known_index, &provider));
	TRY(etw_known_provider_schema(facts->known, &provider, build, ETW_KNOWN_COMPLETE_NAMES,
				      arena, &schema));
	*ret = *schema;
	return 0;
}

static int write(const struct facts *facts, uint32_t build, struct etw_arena *arena,
		 struct etw_text *text, struct etw_fault *reterr)
{
	struct etw_provider_schema schema;
	const struct etw_definition definition = {.providers = &schema, .provider_count = 1};
	struct etw_definition *again;
	size_t from = text->bytes;

	TRY(complete(facts, build, arena, &schema));
	TRY(etw_manifest_write(&definition, text));
	TRY(etw_text_error(text));
	/* Nobody is given what cannot be read again. */
	return etw_manifest_parse(arena, text->at + from, text->bytes - from, &again, reterr);
}

int provider_manifest_write(const struct facts *facts, uint32_t build, struct etw_text *text)
{
	const char *why = obstacle(facts);
	struct etw_fault fault = {0};
	struct etw_arena arena;
	int r;

	if (why) {
		etw_program_message("cannot write a manifest of %s: %s", name_of(facts), why);
		return ETW_EXIT_FAILED;
	}
	etw_arena_init(&arena);
	r = write(facts, build, &arena, text, &fault);
	etw_arena_done(&arena);
	if (r < 0) {
		if (r == -EOPNOTSUPP)
			why = "a field has a type that manifests do not have";
		else if (r == -ENOMEM)
			why = "out of memory";
		else
			why = fault.sentence ? fault.sentence : "what is known of it is damaged";
		etw_program_message("cannot write a manifest of %s: %s", name_of(facts), why);
		return ETW_EXIT_FAILED;
	}
	tell_losses(facts, build);
	return ETW_EXIT_OK;
}
