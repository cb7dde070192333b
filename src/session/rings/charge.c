/* SPDX-License-Identifier: MIT */
/* See session/rings/charge.h. */
#include "session/rings/charge.h"

#include <errno.h>

#include "base/time.h"

struct etw_budget *etw_charge_budget(const struct etw_session_context *context, uid_t uid)
{
	return uid == 0 || uid == context->host_uid ? NULL : context->host.owners;
}

int etw_charge_take(const struct etw_session_context *context, uid_t uid, uint64_t bytes,
		    struct etw_charge *ret)
{
	struct etw_budget *budget = etw_charge_budget(context, uid);

	*ret = (struct etw_charge){0};
	if (!budget)
		return 0;
	if (etw_budget_take(budget, uid, bytes, etw_monotonic_ns()) < 0)
		return -ENOMEM;
	*ret = (struct etw_charge){budget, uid, bytes};
	return 0;
}

void etw_charge_adopt(const struct etw_session_context *context, uid_t uid, uint64_t bytes,
		      struct etw_charge *ret)
{
	struct etw_budget *budget = etw_charge_budget(context, uid);

	*ret = (struct etw_charge){0};
	if (budget && etw_budget_adopt(budget, uid, bytes) == 0)
		*ret = (struct etw_charge){budget, uid, bytes};
}

void etw_charge_give(struct etw_charge *charge)
{
	if (charge->budget)
		etw_budget_give(charge->budget, charge->uid, charge->bytes);
	*charge = (struct etw_charge){0};
}
