/* SPDX-License-Identifier: MIT */
#include "control/wait.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/macros.h"

#define PATIENCE_MS     30000 /* without $ETW_HOST_TIMEOUT_MS */
#define TELL_AFTER_MS   2000
#define OVER_AFTER_MS   500 /* a host that answers is never left in the middle of a call */
#define LOOK_MS         200 /* between two looks at most */
#define PATIENCE_MIN_MS 100 /* no shorter patience makes sense */

const char *etw_control_wait_variable(uint64_t *ret_ms)
{
	const char *value = secure_getenv("ETW_HOST_TIMEOUT_MS");
	unsigned long limit;
	char *end;

	*ret_ms = PATIENCE_MS;
	if (!value || !*value)
		return NULL;
	if (*value < '0' || *value > '9')
		return value;
	errno = 0;
	limit = strtoul(value, &end, 10);
	if (errno || *end || limit > INT32_MAX)
		return value;
	*ret_ms = limit < PATIENCE_MIN_MS ? PATIENCE_MIN_MS : limit;
	return NULL;
}

static uint64_t patience_ms(const struct etw_control_waiting *waiting)
{
	uint64_t limit_ms;

	if (waiting && waiting->patience_ms)
		return waiting->patience_ms;
	(void)etw_control_wait_variable(&limit_ms);
	return limit_ms;
}

void etw_control_wait_begin(struct etw_control_wait *wait,
			    const struct etw_control_waiting *waiting, const char *directory)
{
	wait->waiting = waiting;
	wait->directory = directory;
	wait->is_told = false;
	etw_control_wait_heard(wait);
}

void etw_control_wait_heard(struct etw_control_wait *wait)
{
	wait->silent_since_ns = etw_monotonic_ns();
	wait->patience = etw_patience_begin(patience_ms(wait->waiting), wait->silent_since_ns);
}

uint64_t etw_control_wait_silence_ms(const struct etw_control_wait *wait)
{
	return (etw_monotonic_ns() - wait->silent_since_ns) / ETW_NS_PER_MS;
}

static bool can_be_over(const struct etw_control_wait *wait)
{
	return wait->waiting && wait->waiting->is_over &&
	       etw_control_wait_silence_ms(wait) >= OVER_AFTER_MS;
}

int etw_control_wait_look(struct etw_control_wait *wait)
{
	const struct etw_control_waiting *waiting = wait->waiting;

	if (etw_patience_look(&wait->patience, etw_monotonic_ns()))
		return -ETIMEDOUT;
	if (!waiting)
		return 0;
	if (can_be_over(wait) && waiting->is_over(waiting->context))
		return -ECANCELED;
	if (waiting->tell && !wait->is_told && etw_control_wait_silence_ms(wait) >= TELL_AFTER_MS) {
		wait->is_told = true;
		waiting->tell(waiting->context, wait->directory);
	}
	return 0;
}

int etw_control_wait_for(struct etw_control_wait *wait, int fd, short events, uint32_t limit_ms)
{
	struct pollfd polled[2] = {
		{.fd = fd, .events = events},
		{.fd = can_be_over(wait) ? wait->waiting->wake_fd : -1, .events = POLLIN},
	};
	uint64_t next_ns = etw_patience_next_ns(&wait->patience), now_ns = etw_monotonic_ns();
	uint64_t step_ms = next_ns > now_ns ? (next_ns - now_ns) / ETW_NS_PER_MS + 1 : 1;
	int r;

	if (step_ms > limit_ms)
		step_ms = limit_ms;
	if (step_ms > LOOK_MS)
		step_ms = LOOK_MS;
	r = poll(polled, ARRAY_SIZE(polled), (int)step_ms);
	if (r < 0 && errno != EINTR)
		return -errno;
	if (r > 0 && polled[0].revents)
		return 1;
	return etw_control_wait_look(wait);
}
