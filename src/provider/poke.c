/* SPDX-License-Identifier: MIT */
/* What wakes the listener, and the descriptors that it keeps back; see provider/poke.h. */
#include "provider/poke.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/atomic.h"
#include "provider/own_fd.h"

#define RESERVED_FDS 3 /* a folder and a socket; a socket and the two of a ring set */

/* The listener is to look again now, for poll() and for futexes. */
static struct etw_own_fd poke = {
	.number = -1}; /* a socket to itself; the lock; none in a forked child */
/* So that a program that has used up its descriptors can be connected, and given a ring set. Like `poke`. */
static struct etw_own_fd reserve[RESERVED_FDS];
static uint32_t pokes; /* atomic; counts them */

/*
 * A socket that is connected to itself, which nobody else may send to. Not an eventfd: those cannot be told apart
 * from others of the program, which may have closed this one. None: then the listener is late at most.
 */
static struct etw_own_fd make_poke(void)
{
	const struct sockaddr_un nameless = {.sun_family = AF_UNIX};
	struct sockaddr_un name;
	socklen_t bytes = sizeof(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && (bind(fd, (const struct sockaddr *)&nameless, sizeof(sa_family_t)) < 0 ||
			getsockname(fd, (struct sockaddr *)&name, &bytes) < 0 ||
			connect(fd, (const struct sockaddr *)&name, bytes) < 0)) {
		(void)close(fd);
		fd = -1;
	}
	return etw_own_fd_take(fd);
}

void etw_poke_open(void)
{
	if (!etw_own_fd_is_there(&poke))
		poke = make_poke();
	etw_poke_hold_reserve();
}

void etw_poke_close(void)
{
	etw_poke_release_reserve();
	etw_own_fd_close(&poke);
}

void etw_poke(void)
{
	(void)add_acq_rel(&pokes, 1u); /* pairs with etw_poke_count() */
	(void)syscall(SYS_futex, &pokes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	if (etw_own_fd_is_there(&poke))
		(void)send(poke.number, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

uint32_t etw_poke_count(void)
{
	return load_acquire(&pokes); /* pairs with etw_poke() */
}

const uint32_t *etw_poke_word(void)
{
	return &pokes;
}

int etw_poke_fd(void)
{
	return poke.number;
}

bool etw_poke_has_lost_socket(void)
{
	return poke.number >= 0 && !etw_own_fd_is_there(&poke);
}

void etw_poke_take(void)
{
	uint8_t bytes[16];

	while (etw_own_fd_is_there(&poke) &&
	       recv(poke.number, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

void etw_poke_wait(int ms)
{
	struct pollfd at = {.fd = poke.number, .events = POLLIN};

	if (poll(&at, 1, ms) > 0)
		etw_poke_take();
}

void etw_poke_release_reserve(void)
{
	for (unsigned i = 0; i < RESERVED_FDS; i++)
		etw_own_fd_close(&reserve[i]);
}

void etw_poke_hold_reserve(void)
{
	for (unsigned i = 0; i < RESERVED_FDS; i++) {
		if (etw_own_fd_is_there(&poke) && !etw_own_fd_is_there(&reserve[i]))
			reserve[i] = etw_own_fd_take(fcntl(poke.number, F_DUPFD_CLOEXEC, 0));
	}
}
