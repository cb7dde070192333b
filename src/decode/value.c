/* SPDX-License-Identifier: MIT */
#include "decode/value.h"

#include <errno.h>

#include "decode/program_internal.h"

int etw_value_measure(const struct etw_field *field, unsigned pointer_bytes, const uint8_t *at,
		      uint32_t bytes, struct etw_value_span *ret)
{
	struct etw_walk walk = {.payload = at, .bytes = bytes};
	struct span span;
	struct step step;

	if ((field->flags & PropertyParamLength) || etw_step_for_value(field, pointer_bytes, &step))
		return -EINVAL;
	if (etw_step_measure(&walk, &step, &span))
		return -EBADMSG;
	*ret = (struct etw_value_span){span.prefix, span.bytes, span.taken};
	return 0;
}
