/* SPDX-License-Identifier: MIT */
/* See hostile_attacker.h. */
#include "recording/hostile_attacker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/time.h"
#include "ipc/runtime.h"
#include "recording/storm_shared.h"

uint32_t attacker_below(struct attacker *self, uint32_t limit)
{
	return (uint32_t)rand_r(&self->chance) % limit;
}

uint64_t attacker_any_number(struct attacker *self)
{
	static const uint64_t corners[] = {0, 1, 7, 8, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, UINT64_MAX};

	if (attacker_below(self, 2))
		return corners[attacker_below(self, ARRAY_SIZE(corners))];
	return (uint64_t)attacker_below(self, UINT32_MAX) << 32 | attacker_below(self, UINT32_MAX);
}

bool attacker_is_over(const struct attacker *self)
{
	return etw_monotonic_ms() >= self->end_ms;
}

static void rest_ms(uint32_t ms)
{
	usleep(ms * 1000);
}

void attacker_leave(struct attacker *self)
{
	if (self->socket >= 0)
		close(self->socket);
	self->socket = -1;
}

/* Past the library: it would give up where this goes on. */
int attacker_connect_more(const struct attacker *self)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size_t chars = strlen(self->plan->directory);

	if (fd < 0 || chars + sizeof("/" ETW_RUNTIME_SOCKET) > sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, self->plan->directory, chars);
	memcpy(address.sun_path + chars, "/" ETW_RUNTIME_SOCKET, sizeof("/" ETW_RUNTIME_SOCKET));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

bool attacker_connect(struct attacker *self)
{
	attacker_leave(self);
	self->socket = attacker_connect_more(self);
	return self->socket >= 0;
}

bool attacker_join(struct attacker *self, enum wire_role role)
{
	struct wire_welcome welcome;
	int clock_fd = -1;

	attacker_leave(self);
	if (etw_runtime_connect(self->plan->directory, role, &self->socket, &welcome, &clock_fd) <
	    0) {
		self->socket = -1;
		rest_ms(5);
		return false;
	}
	if (!self->clock.page)
		(void)etw_clock_page_map(clock_fd, &self->clock);
	close(clock_fd);
	(void)fcntl(self->socket, F_SETFL, O_NONBLOCK);
	return true;
}

bool attacker_say(struct attacker *self, size_t bytes, const int *fd)
{
	int r = etw_ipc_send(self->socket, self->room, bytes, fd, fd ? 1 : 0);

	self->done += r == 0;
	return r == 0;
}

size_t attacker_put_register(struct attacker *self, const GUID *provider, uint32_t number)
{
	const struct wire_message head = {.type = WIRE_REGISTER, .request = number};
	const struct wire_register body = {.registration = number, .provider = *provider};

	return wire_message_encode_register(&head, &body, self->room);
}

bool attacker_register(struct attacker *self)
{
	return attacker_join(self, WIRE_ROLE_PROVIDER) &&
	       attacker_say(self, attacker_put_register(self, &storm_provider, 1), NULL);
}
