/* SPDX-License-Identifier: MIT */
#include "tools/etw/claims.h"

#include <inttypes.h>

#include "base/number.h"
#include "tools/common/number.h"

static bool is_empty(const struct wire_claim *claim)
{
	return claim->events == 0 && claim->disregarded == 0;
}

static void put_claim(struct etw_text *text, const struct wire_claim *claim)
{
	if (claim->uid == UINT32_MAX)
		etw_text_puts(text, "processes of further users say that they lost ");
	else
		etw_text_printf(text, "processes of user %" PRIu32 " say that they lost ",
				claim->uid);
	etw_number_count(text, claim->events, "event");
}

void claims_write(struct etw_text *text, const struct wire_session_loss *loss, const char *indent)
{
	for (unsigned i = 0; i < WIRE_CLAIMS_MAX && !is_empty(&loss->claims[i]); i++) {
		if (loss->claims[i].events == 0)
			continue;
		etw_text_puts(text, indent);
		put_claim(text, &loss->claims[i]);
		etw_text_putc(text, '\n');
	}
	if (loss->others_counted < loss->others) {
		etw_text_puts(text, indent);
		etw_text_puts(text, "of what other users say the sum of lost events has ");
		etw_number_grouped(text, loss->others_counted);
		etw_text_putc(text, '\n');
	}
	if (loss->disregarded) {
		etw_text_puts(text, indent);
		etw_number_count(text, loss->disregarded, "lost event");
		etw_text_puts(text,
			      " that processes claim cannot have been, and are not counted\n");
	}
}

void claims_write_json(struct etw_text *text, const struct wire_session_loss *loss)
{
	uint64_t known = etw_sum_saturated(etw_sum_saturated(loss->gaps, loss->rejected),
					   etw_sum_saturated(loss->source, loss->file));
	const char *comma = "";

	etw_text_printf(text, ",\"events_lost_known\":%" PRIu64 ",\"events_lost_claimed\":[",
			known);
	for (unsigned i = 0; i < WIRE_CLAIMS_MAX && !is_empty(&loss->claims[i]); i++) {
		const struct wire_claim *claim = &loss->claims[i];

		etw_text_printf(text,
				"%s{\"uid\":%" PRIu32 ",\"events\":%" PRIu64
				",\"disregarded\":%" PRIu64 "}",
				comma, claim->uid, claim->events, claim->disregarded);
		comma = ",";
	}
	etw_text_printf(text, "],\"claims_disregarded\":%" PRIu64, loss->disregarded);
}
