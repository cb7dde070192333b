/* SPDX-License-Identifier: MIT */
#include "source/kernel/perf/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/macros.h"

void etw_kernel_cpus_open(struct etw_kernel_cpus *cpus, const char *path)
{
	*cpus = (struct etw_kernel_cpus){.fd = open(path, O_RDONLY | O_CLOEXEC)};
}

void etw_kernel_cpus_close(struct etw_kernel_cpus *cpus)
{
	if (cpus->fd >= 0)
		close(cpus->fd);
	cpus->fd = -1;
}

/* A decimal number at *@at, which is moved behind it. */
static int parse_number(const char **at, const char *end, uint32_t *ret)
{
	uint32_t number = 0;

	if (*at == end || **at < '0' || **at > '9')
		return -EBADMSG;
	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
		number = number * 10 + (uint32_t)(**at - '0');
		if (number >= ETW_KERNEL_CPUS_MAX)
			return -EBADMSG;
	}
	*ret = number;
	return 0;
}

int etw_kernel_cpus_parse(const char *text, size_t byte_count, uint8_t ret[ETW_KERNEL_CPUS_MAX / 8])
{
	const char *end = text + byte_count;

	while (end > text && end[-1] == '\n')
		end--;
	if (text == end)
		return 0; /* none */
	for (;; text++) {
		uint32_t first, last;

		TRY(parse_number(&text, end, &first));
		last = first;
		if (text < end && *text == '-') {
			text++;
			TRY(parse_number(&text, end, &last));
		}
		if (last < first)
			return -EBADMSG;
		for (uint32_t cpu = first; cpu <= last; cpu++)
			ret[cpu / 8] |= (uint8_t)(1u << cpu % 8);
		if (text == end)
			return 0;
		if (*text != ',')
			return -EBADMSG;
	}
}

bool etw_kernel_cpus_look(struct etw_kernel_cpus *cpus, uint64_t now_ns)
{
	char text[ETW_KERNEL_CPUS_TEXT_BYTES];
	ssize_t bytes;

	if (cpus->fd < 0 || (cpus->looked_ns && now_ns - cpus->looked_ns < ETW_KERNEL_CPUS_LOOK_NS))
		return false;
	cpus->looked_ns = now_ns;
	bytes = pread(cpus->fd, text, sizeof(text), 0);
	if (bytes <= 0)
		return false;
	if ((size_t)bytes == cpus->text_bytes && memcmp(text, cpus->text, (size_t)bytes) == 0)
		return false;
	cpus->text_bytes = (size_t)bytes;
	memcpy(cpus->text, text, (size_t)bytes);
	memset(cpus->online, 0, sizeof(cpus->online));
	return etw_kernel_cpus_parse(text, (size_t)bytes, cpus->online) == 0;
}

bool etw_kernel_cpus_is_online(const struct etw_kernel_cpus *cpus, uint32_t cpu)
{
	return cpu < ETW_KERNEL_CPUS_MAX && (cpus->online[cpu / 8] >> cpu % 8 & 1);
}
