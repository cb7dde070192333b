/* SPDX-License-Identifier: MIT */
/* See session/source_feeds.h. */
#include "session/source_feeds.h"

#include <errno.h>
#include <sys/param.h>

#include <evntcons.h>
#include <evntrace.h>

#include "base/macros.h"

void etw_source_feeds_init(struct etw_session_context *context, struct etw_session_notes *notes,
			   struct etw_source_feeds *ret)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_init(context, notes, i, &ret->all[i]);
}

void etw_source_feeds_done(struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_done(&feeds->all[i]);
}

static bool has_provider(const struct etw_source_ops *ops, const GUID *provider)
{
	return ops && ops->has_provider && ops->has_provider(provider);
}

const struct etw_source_ops *etw_source_feeds_of(const struct etw_session_host *host,
						 const GUID *provider)
{
	if (has_provider(host->kernel, provider))
		return host->kernel;
	for (uint32_t i = 0; i < ETW_SOURCES_MAX - 1; i++) {
		if (has_provider(host->sources[i], provider))
			return host->sources[i];
	}
	return NULL;
}

void etw_source_feeds_open(struct etw_source_feeds *feeds, bool is_adopted)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_open(&feeds->all[i], is_adopted);
}

void etw_source_feeds_retell(struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_retell(&feeds->all[i]);
}

void etw_source_feeds_collect(struct etw_source_feeds *feeds, struct etw_session_round *round)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_collect(&feeds->all[i], round);
}

void etw_source_feeds_release(struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_release(&feeds->all[i]);
}

void etw_source_feeds_count_loss(struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_count_loss(&feeds->all[i]);
}

void etw_source_feeds_stop(struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_stop(&feeds->all[i]);
}

void etw_source_feeds_close(struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_close(&feeds->all[i]);
}

static struct etw_source_feed *find(struct etw_source_feeds *feeds, const GUID *provider)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		if (has_provider(feeds->all[i].ops, provider))
			return &feeds->all[i];
	}
	return NULL;
}

/* One that is not open yet is not opened where what it keeps could not be kept. */
static int find_room(const struct etw_source_feed *feed)
{
	const struct etw_session_context *context = feed->context;

	return feed->source
		       ? 0
		       : etw_context_room(context,
					  etw_source_kept_fds(feed->ops, context->plan.cpu_count));
}

/*
 * The state first, which the source then goes by: a host that dies in between is followed by one that asks the source for
 * the same, and the controller has no answer.
 */
int etw_source_feeds_change_provider(struct etw_source_feeds *feeds, uint32_t code,
				     const struct etw_source_provider *wanted)
{
	struct etw_source_feed *feed = find(feeds, &wanted->guid);

	if (!feed)
		return -ENOENT;
	if (code == EVENT_CONTROL_CODE_CAPTURE_STATE)
		return etw_source_feed_capture(feed, wanted);
	if (code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
		TRY(find_room(feed));
		TRY(etw_state_put_provider(&feed->context->state, wanted));
	} else {
		etw_state_remove_provider(&feed->context->state, &wanted->guid);
	}
	return etw_source_feed_change_providers(feed);
}

bool etw_source_feeds_are_open(const struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		if (feeds->all[i].source)
			return true;
	}
	return false;
}

bool etw_source_feeds_are_awaited(const struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		if (feeds->all[i].source && !feeds->all[i].is_given_up)
			return true;
	}
	return false;
}

void etw_source_feeds_give_up(struct etw_source_feeds *feeds)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		feeds->all[i].is_given_up = true;
}

uint64_t etw_source_feeds_due_ns(const struct etw_source_feeds *feeds)
{
	uint64_t due_ns = 0;

	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		uint64_t next_ns = etw_source_feed_due_ns(&feeds->all[i]);

		if (next_ns && (!due_ns || next_ns < due_ns))
			due_ns = next_ns;
	}
	return due_ns;
}

int etw_source_feeds_describe(struct etw_source_feeds *feeds, int64_t time_raw,
			      etw_source_put_fn *put, void *context)
{
	int result = 0;

	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++) {
		int r = etw_source_feed_describe(&feeds->all[i], time_raw, put, context);

		if (result == 0)
			result = r;
	}
	return result;
}

void etw_source_feeds_account(struct etw_source_feeds *feeds, int64_t time_raw,
			      etw_source_put_fn *put, void *context)
{
	for (uint32_t i = 0; i < ETW_SOURCES_MAX; i++)
		etw_source_feed_account(&feeds->all[i], time_raw, put, context);
}
