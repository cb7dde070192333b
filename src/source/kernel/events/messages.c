/* SPDX-License-Identifier: MIT */
/* Which interrupt lines are messages. See messages.h. */
#include "source/kernel/events/messages.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_LOOKED_UP 0
#define NO_MESSAGE    1
#define FIRST_MESSAGE 2
#define MESSAGE_NUMBER \
	0x7FF /* of the hardware's number: the rest names the device, before Linux 6.2 */

static bool read_line(const struct etw_kernel_messages *messages, uint32_t line, const char *name,
		      char *to, int room)
{
	char path[PATH_MAX];
	bool is_read;
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/%u/%s", messages->root, (unsigned)line, name) >=
	    PATH_MAX)
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(to, room, file);
	(void)fclose(file);
	return is_read;
}

/* "PCI-MSIX-0000:00:01.0", "IR-PCI-MSI", "ITS-MSI": the controller's name has the word. */
static uint16_t look_up(const struct etw_kernel_messages *messages, uint32_t line)
{
	char name[64], number[32];

	if (!messages->root || !read_line(messages, line, "chip_name", name, sizeof(name)) ||
	    !strstr(name, "MSI"))
		return NO_MESSAGE;
	if (!read_line(messages, line, "hwirq", number, sizeof(number)))
		return FIRST_MESSAGE;
	return (uint16_t)(FIRST_MESSAGE + (strtoul(number, NULL, 10) & MESSAGE_NUMBER));
}

bool etw_kernel_messages_find(struct etw_kernel_messages *messages, uint32_t line,
			      uint32_t *ret_number)
{
	if (line >= ETW_KERNEL_LINES_MAX)
		return false;
	if (messages->lines[line] == NOT_LOOKED_UP)
		messages->lines[line] = look_up(messages, line);
	if (messages->lines[line] < FIRST_MESSAGE)
		return false;
	*ret_number = (uint32_t)messages->lines[line] - FIRST_MESSAGE;
	return true;
}

void etw_kernel_messages_forget(struct etw_kernel_messages *messages)
{
	memset(messages->lines, 0, sizeof(messages->lines));
}
