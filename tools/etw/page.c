/* SPDX-License-Identifier: MIT */
#include "tools/etw/page.h"

#include <stdlib.h>

#include "base/macros.h"
#include "schema/store/store.h"
#include "tools/common/program.h"
#include "tools/common/unrelated.h"
#include "tools/etw/lazy.h"

int page_load(struct page *page, const struct etw_shared_options *shared)
{
	return etw_shared_decoder_create(shared, &page->manifests, &page->store, &page->decoder);
}

int page_open(struct page *page, char *const *files, size_t count,
	      const struct etw_shared_options *shared)
{
	TRY(etw_inputs_open(files, count, &page->inputs));
	page->report.machines = calloc(count, sizeof(struct machine));
	if (!page->report.machines) {
		etw_program_message("out of memory");
		return -1;
	}
	return page->decoder ? 0 : page_load(page, shared);
}

void page_done(struct page *page)
{
	for (size_t i = 0; page->report.machines && i < page->inputs.count; i++)
		machine_done(&page->report.machines[i]);
	free(page->report.machines);
	etw_process_usage_done(&page->report.usage);
	etw_inputs_done(&page->inputs);
	tally_done(&page->report.tally);
	etw_manifests_done(&page->manifests);
	etw_decoder_free(page->decoder);
	etw_schema_store_free(page->store);
}

/* What a machine is and which processes it had is learnt from all events; the filter is for what is counted. */
static bool is_wanted(struct page *page, size_t trace, const struct etw_decoding *decoding)
{
	struct lazy lazy = {.store = page->store, .decoding = *decoding, .is_decoded = true};
	struct etw_filter_subject subject = {
		.record = decoding->record,
		.source = &lazy_source,
		.context = &lazy,
		.processes = etw_machine_processes_of(&page->inputs.processes, trace),
		.time_ft = decoding->record->EventHeader.TimeStamp.QuadPart,
		.start_ft = page->start_ft,
	};

	return filter_wants(page->filter, &subject);
}

static int take_event(void *context, size_t trace, EVENT_RECORD *record,
		      struct etw_event_address address)
{
	struct page *page = context;
	struct report *report = &page->report;
	int64_t time = record->EventHeader.TimeStamp.QuadPart;
	struct etw_decoding decoding;

	if (UNLIKELY(address.offset == UINT32_MAX)) {
		page->loss_marks++;
		return 0;
	}
	notes_take(&report->notes, record);
	etw_decoder_set_file(page->decoder, (uint32_t)trace);
	etw_inputs_set_build(&page->inputs, trace, page->store);
	TRY(etw_decoder_run(page->decoder, record, &decoding));
	etw_manifests_note(&page->manifests, decoding.schema);
	machine_add(&report->machines[trace], &decoding);
	account_take(&report->machines[trace].account, record);
	if (page->filter && !is_wanted(page, trace, &decoding))
		return 0;
	if (!report->tally.count)
		report->first_ft = time;
	report->last_ft = time;
	TRY(etw_process_usage_add(&report->usage,
				  etw_machine_processes_of(&page->inputs.processes, trace),
				  &decoding, GetEventProcessorIndex(record),
				  etw_trace_header(page->inputs.traces[trace])->timer_resolution));
	return tally_add(&report->tally, &decoding);
}

static int take_buffer(void *context, size_t trace, const struct etw_etl_buffer *buffer)
{
	struct page *page = context;

	(void)trace;
	(void)buffer;
	etw_progress_add(&page->progress, 1);
	return 0;
}

/* Each machine keeps what all of its traces say, at the first of them. */
static void unite_machines(const struct page *page)
{
	struct machine *machines = page->report.machines;

	for (size_t i = 1; i < page->inputs.count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (!machines[j].is_repeated &&
			    machine_unite(&machines[j], etw_trace_header(page->inputs.traces[j]),
					  &machines[i], etw_trace_header(page->inputs.traces[i])))
				break;
		}
	}
}

int page_gather(struct page *page)
{
	const struct etw_trace_sink sink = {.context = page,
					    .event = take_event,
					    .buffer = take_buffer,
					    .from_ft = INT64_MIN,
					    .to_ft = INT64_MAX};
	struct report *report = &page->report;
	struct etw_fault fault = {0};
	int result = etw_inputs_learn(&page->inputs, page->store, page->decoder,
				      /* wants_names= */ true);

	if (result)
		return result;
	report->is_known_used = etw_schema_store_known(page->store) != NULL;
	page->start_ft = etw_inputs_start(&page->inputs);
	etw_progress_start(&page->progress, "Reading events", page->inputs.buffers);
	result = etw_trace_process(page->inputs.traces, page->inputs.count, &sink);
	etw_progress_end(&page->progress);
	if (!result)
		result = tally_sort(&report->tally, page->store);
	if (!result)
		result = etw_process_usage_sort(&report->usage);
	if (result) {
		etw_inputs_error(&page->inputs, result);
		return result;
	}
	unite_machines(page);
	etw_manifests_tell(&page->manifests);
	etw_unrelated_warn(&page->inputs);
	report->inputs = &page->inputs;
	report->loss = etw_loss_of(&page->inputs, page->loss_marks);
	report->schema_damage = etw_schema_store_damage(page->store, &fault);
	report->schema_problem = fault.sentence;
	return 0;
}
