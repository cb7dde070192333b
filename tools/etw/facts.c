/* SPDX-License-Identifier: MIT */
#include "tools/etw/facts.h"

#include <errno.h>

#include "base/macros.h"
#include "schema/known/known_schema.h"
#include "schema/store/store_installed.h"
#include "schema/tracepoint/tracefs.h"

void facts_close(struct facts *facts)
{
	etw_arena_done(&facts->arena);
}

static void count_marks(struct facts *facts, const struct fact_event *event)
{
	uint32_t marks = 0;

	for (size_t i = 0; i < event->layout_count; i++)
		marks |= event->layouts[i].marks;
	facts->several_count += event->layout_count > 1;
	facts->incomplete_count += (marks & WIRE_KNOWN_INCOMPLETE) != 0;
	facts->inferred_count += (marks & WIRE_KNOWN_INFERRED) != 0;
	facts->doubtful_count += (marks & WIRE_KNOWN_DOUBT) != 0;
}

/* Takes over @count layouts that the index made. */
static struct fact_layout *keep_layouts(struct facts *facts,
					const struct etw_known_candidate *candidates, size_t count)
{
	struct fact_event *event = &facts->events[facts->event_count];
	struct fact_layout *layouts = etw_arena_array(&facts->arena, count, sizeof(*layouts));

	if (!layouts)
		return NULL;
	for (size_t i = 0; i < count; i++)
		layouts[i] = (struct fact_layout){
			.schema = candidates[i].schema,
			.builds = candidates[i].builds,
			.source = candidates[i].source,
			.marks = candidates[i].marks,
			.template = WIRE_KNOWN_NONE,
		};
	event->layouts = layouts;
	event->layout_count = count;
	count_marks(facts, event);
	facts->event_count++;
	return layouts;
}

static int add_known_event(struct facts *facts, const struct etw_known_provider *provider,
			   size_t index)
{
	struct etw_known_candidate *candidates;
	struct etw_known_event event;
	struct etw_known_layout known;
	struct fact_layout *layouts;
	size_t count;

	TRY(etw_known_event_at(facts->known, provider, index, &event));
	TRY(etw_known_event_candidates(facts->known, provider, &event, &facts->arena, &candidates,
				       &count));
	layouts = keep_layouts(facts, candidates, count);
	if (!layouts)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		TRY(etw_known_layout_at(facts->known, &event, i, &known));
		layouts[i].template = known.template;
		layouts[i].field_count = known.field_count;
	}
	return 0;
}

static int add_known_class(struct facts *facts, const struct etw_known_provider *provider,
			   size_t index)
{
	struct etw_known_candidate *candidates;
	struct etw_known_class class;
	size_t count;

	TRY(etw_known_class_at(facts->known, provider, index, &class));
	TRY(etw_known_class_candidates(facts->known, &class.guid, class.type, class.version,
				       &facts->arena, &candidates, &count));
	return keep_layouts(facts, candidates, count) ? 0 : -ENOMEM;
}

static int open_known(struct facts *facts, uint32_t build)
{
	struct etw_known_provider provider;
	struct etw_provider_schema *schema;

	TRY(etw_known_provider_at(facts->known, facts->entry->known_index, &provider));
	TRY(etw_known_provider_schema(facts->known, &provider, build, 0, &facts->arena, &schema));
	facts->schema = schema;
	facts->sources = provider.sources;
	facts->events = etw_arena_array(&facts->arena,
					(size_t)provider.event_count + provider.class_count,
					sizeof(*facts->events));
	if (!facts->events)
		return -ENOMEM;
	for (size_t i = 0; i < provider.event_count; i++)
		TRY(add_known_event(facts, &provider, i));
	for (size_t i = 0; i < provider.class_count; i++)
		TRY(add_known_class(facts, &provider, i));
	return 0;
}

static int take_schema(struct facts *facts, const struct etw_provider_schema *schema)
{
	struct fact_layout *layouts;

	facts->schema = schema;
	facts->events = etw_arena_array(&facts->arena, schema->schema_count,
					sizeof(*facts->events));
	layouts = etw_arena_array(&facts->arena, schema->schema_count, sizeof(*layouts));
	if (!facts->events || !layouts)
		return -ENOMEM;
	for (size_t i = 0; i < schema->schema_count; i++) {
		layouts[i] = (struct fact_layout){
			.schema = &schema->schemas[i],
			.builds = "",
			.source = "",
			.template = WIRE_KNOWN_NONE,
		};
		facts->events[i] = (struct fact_event){&layouts[i], 1};
	}
	facts->event_count = schema->schema_count;
	return 0;
}

static int open_installed(struct facts *facts, const struct catalogue *catalogue)
{
	const struct etw_provider_schema *schema;
	int r = etw_schema_store_demand_provider(catalogue->store, &facts->entry->guid, &schema);

	if (r < 0)
		return r == -ESRCH ? -ENOENT : r;
	return take_schema(facts, schema);
}

/* As the kernel describes them now. */
static int open_tracepoints(struct facts *facts, const struct catalogue *catalogue)
{
	struct etw_provider_schema *schema;

	TRY(etw_tracefs_read_provider(catalogue->events_fd, facts->entry->system, &facts->arena,
				      &schema));
	return take_schema(facts, schema);
}

int facts_open(struct facts *facts, const struct catalogue *catalogue,
	       const struct catalogue_entry *entry, enum fact_source source, uint32_t build)
{
	*facts = (struct facts){.entry = entry, .sources = ""};
	if (entry->is_installed && source != FACTS_KNOWN)
		return open_installed(facts, catalogue);
	if (entry->system && source == FACTS_BEST)
		return open_tracepoints(facts, catalogue);
	if (!entry->is_known || source == FACTS_INSTALLED)
		return -ENOENT;
	facts->known = catalogue->known;
	return open_known(facts, build);
}
