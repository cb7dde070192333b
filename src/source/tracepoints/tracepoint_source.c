/* SPDX-License-Identifier: MIT */
#include "source/tracepoints/tracepoint_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <evntprov.h>
#include <evntrace.h>

#include "base/macros.h"
#include "source/tracepoints/point_event.h"
#include "source/tracepoints/recorder.h"
#include "source/tracepoints/systems.h"
#include "wire/filter_list.h"

struct etw_source {
	const struct etw_source_ops *ops;
	struct etw_tracepoint_recorder recorder;
};

#define PROPERTIES (EVENT_ENABLE_PROPERTY_STACK_TRACE | EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0)

static void close_source(struct etw_source *source)
{
	if (!source)
		return;
	etw_tracepoint_recorder_done(&source->recorder);
	free(source);
}

static int open_source(const struct etw_source_host *host, const struct etw_source_mark *marks,
		       struct etw_source **ret, struct etw_fault *reterr)
{
	struct etw_source *source = calloc(1, sizeof(*source));
	int r = source ? etw_tracepoint_recorder_init(&source->recorder, host) : -ENOMEM;

	(void)reterr;
	if (r < 0) {
		close_source(source);
		return r;
	}
	source->ops = &etw_tracepoint_source_ops;
	/* What a former host handed out is before everything of this one, whose rings are new. */
	for (uint32_t i = 0; marks && i < host->cpu_count; i++)
		source->recorder.of_cpus[i].queue.floor_ns = marks[i].moment;
	*ret = source;
	return 0;
}

static bool has_provider(const GUID *guid)
{
	return etw_tracepoint_system_find(guid, NULL);
}

static bool is_served(uint32_t type)
{
	static const uint32_t types[] = {EVENT_FILTER_TYPE_PID,
					 EVENT_FILTER_TYPE_EVENT_ID,
					 EVENT_FILTER_TYPE_EVENT_NAME,
					 EVENT_FILTER_TYPE_PAYLOAD,
					 EVENT_FILTER_TYPE_STACKWALK,
					 EVENT_FILTER_TYPE_STACKWALK_NAME,
					 EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

static int check_provider(const struct etw_source_provider *wanted, struct etw_fault *reterr)
{
	struct etw_bytes list = {wanted->filters, wanted->filter_bytes};
	struct wire_filter filter;

	while (wire_filter_next(&list, &filter))
		if (!is_served(filter.type))
			return etw_fault_set(reterr, -EOPNOTSUPP, 0, "tracepoints",
					     "EnableFilterDesc",
					     "tracepoints are chosen by event ids, names, payload "
					     "and process ids alone");
	if (wanted->property & ~(uint32_t)PROPERTIES)
		return etw_fault_set(reterr, -EOPNOTSUPP, 0, "tracepoints", "EnableProperty",
				     "of the properties tracepoints have the stack alone");
	return 0;
}

static int enable(struct etw_source *source, const struct etw_source_request *request,
		  struct etw_fault *reterr)
{
	return etw_tracepoint_recorder_want(&source->recorder, request->providers,
					    request->provider_count, request->only_pid, reterr);
}

static int retell(struct etw_source *source)
{
	return etw_tracepoint_recorder_retell(&source->recorder);
}

static int rundown(struct etw_source *source, bool is_end)
{
	/* What is recorded was described when it was opened. */
	return is_end ? etw_tracepoint_recorder_end(&source->recorder) : 0;
}

struct putting {
	int64_t time_raw;
	etw_source_put_fn *put;
	void *context;
};

static int put_item(void *context, struct etw_tracepoint_item *item)
{
	const struct putting *putting = context;

	etw_tracepoint_item_set_time(item, putting->time_raw);
	putting->put(putting->context, 0,
		     &(struct etw_source_event){item->bytes, item->byte_count, item->time_raw});
	free(item);
	return 0;
}

static int describe(struct etw_source *source, int64_t time_raw, etw_source_put_fn *put,
		    void *context)
{
	struct putting putting = {time_raw, put, context};

	for (struct etw_tracepoint_point *point = source->recorder.points; point;
	     point = point->next)
		TRY(etw_tracepoint_describe(point, put_item, &putting));
	return 0;
}

static int collect(struct etw_source *source, int64_t *ret_watermark_raw)
{
	return etw_tracepoint_recorder_collect(&source->recorder, ret_watermark_raw);
}

static bool peek(struct etw_source *source, uint32_t cpu, struct etw_source_event *ret)
{
	return etw_tracepoint_queue_peek(&source->recorder.of_cpus[cpu].queue,
					 source->recorder.host, ret);
}

static void pop(struct etw_source *source, uint32_t cpu, struct etw_source_mark *ret_mark)
{
	struct etw_tracepoint_item *item =
		etw_tracepoint_queue_pop(&source->recorder.of_cpus[cpu].queue);

	source->recorder.held_bytes -= item->byte_count;
	*ret_mark = (struct etw_source_mark){item->time_ns, item->number};
	free(item);
}

/* What was read is the host's own copy. */
static void release(struct etw_source *source)
{
	(void)source;
}

static void loss(struct etw_source *source, struct etw_source_loss *ret)
{
	memset(ret, 0, (source->recorder.host->cpu_count + (size_t)1) * sizeof(*ret));
	etw_tracepoint_recorder_loss(&source->recorder, ret);
}

const struct etw_source_ops etw_tracepoint_source_ops = {
	.name = "tracepoints",
	.options = ETW_SOURCE_ONLY_PID,
	.is_lost_with_host = true,
	.open = open_source,
	.close = close_source,
	.has_provider = has_provider,
	.check_provider = check_provider,
	.enable = enable,
	.retell = retell,
	.rundown = rundown,
	.describe = describe,
	.collect = collect,
	.peek = peek,
	.pop = pop,
	.release = release,
	.loss = loss,
};
