/* SPDX-License-Identifier: MIT */
#include "control/connect.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/file.h"
#include "base/macros.h"
#include "control/host_start.h"
#include "ipc/runtime.h"
#include "ipc/start_report.h"

#define FULL_MS         1  /* until a full queue is tried again, in which the last try has waited */
#define HUNG_UP_MS      50 /* until a host that hung up is tried again */
#define HUNG_UP_TRIES   20 /* a host that leaves hangs up, too, and is gone a moment later */
#define LEFT_TRIES      20 /* hosts that leave as soon as they are there */
#define LOOK_AGAIN_MS   50 /* while a host starts and its page says nothing */
#define PAGE_MISSING_MS 5
#define WORDLESS_MS     5000 /* for a program that says nothing of its start */

static bool is_absent(int result)
{
	return result == -ENOENT || result == -ECONNREFUSED;
}

/* Behind hello: waits for the answer. */
static int await_welcome(struct etw_control_wait *wait, int fd, struct etw_ipc_message *message,
			 uint64_t *ret_incarnation)
{
	struct wire_welcome welcome;
	int r;

	for (;;) {
		r = etw_runtime_answered(fd, message, &welcome);
		if (r != -EAGAIN)
			break;
		r = etw_control_wait_for(wait, fd, POLLIN, UINT32_MAX);
		if (r < 0)
			break;
	}
	etw_ipc_message_done(message); /* nobody here reads the clock */
	if (r < 0)
		return r;
	*ret_incarnation = welcome.incarnation;
	etw_control_wait_heard(wait);
	return 0;
}

static int connect_once(struct etw_control_wait *wait, struct etw_ipc_message *message,
			int *ret_socket, uint64_t *ret_incarnation)
{
	CLEANUP(etw_file_closep) int fd = -1;
	int r;

	while ((r = etw_runtime_call(wait->directory, WIRE_ROLE_CONTROLLER, &fd)) == -EAGAIN)
		TRY(etw_control_wait_for(wait, -1, 0, FULL_MS));
	if (r < 0)
		return r;
	TRY(await_welcome(wait, fd, message, ret_incarnation));
	*ret_socket = fd;
	fd = -1;
	return 0;
}

/* A host that ends while it is asked hangs up, and another one may be there at once. */
static int connect_to_host(struct etw_control_wait *wait, struct etw_ipc_message *message,
			   int *ret_socket, uint64_t *ret_incarnation)
{
	for (unsigned i = 0; i < HUNG_UP_TRIES; i++) {
		int r = connect_once(wait, message, ret_socket, ret_incarnation);

		if (r != -EPIPE)
			return r;
		TRY(etw_control_wait_for(wait, -1, 0, HUNG_UP_MS));
	}
	return -ECONNRESET;
}

/* What etwd said of its start so far. */
struct start {
	int report; /* owned; -1: there is nothing more to hear */
	bool has_begun;
	bool is_served; /* it said that a host, this one or another, accepts connections */
	uint64_t wordless_until_ms; /* 0: it has said something, or may yet do so */
};

/* What only a host that is not there may be called. */
static int start_error(int result)
{
	return result == -ENOENT ? -ENOTDIR : result == -ECONNREFUSED ? -EIO : result;
}

static void end_report(struct start *start)
{
	(void)close(start->report);
	start->report = -1;
}

/* Takes the words that have come. Returns 0, or why there will be no host. */
static int take_words(struct start *start)
{
	struct pollfd polled = {.fd = start->report, .events = POLLIN};
	int word = 0;

	while (start->report >= 0 && poll(&polled, 1, 0) > 0) {
		ssize_t bytes = read(start->report, &word, sizeof(word));

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes == (ssize_t)sizeof(word) && word == ETW_START_BEGUN) {
			start->has_begun = true;
			continue;
		}
		end_report(start);
		if (bytes == (ssize_t)sizeof(word)) {
			start->is_served = word >= 0;
			return start_error(word < 0 ? word : 0);
		}
		if (start->has_begun)
			return -ECHILD;
		start->wordless_until_ms = etw_monotonic_ms() + WORDLESS_MS;
	}
	return 0;
}

/*
 * Waits until something may have changed since the page said @epoch. The page is looked for again each
 * time: the host that starts makes it.
 */
static int wait_for_change(struct etw_control_wait *wait, const struct wire_discovery_page *page,
			   uint32_t epoch)
{
	if (page)
		(void)etw_runtime_wait(page, epoch, LOOK_AGAIN_MS);
	else
		(void)usleep(PAGE_MISSING_MS * 1000);
	return etw_control_wait_look(wait);
}

/*
 * Connects to a host that was just started. Returns as etw_control_connect(); -ENOENT or -ECONNREFUSED when etwd
 * said that there is a host, and a try that began later found none: it has left, for example because nobody needed
 * it before this caller came.
 */
static int connect_when_ready(struct etw_control_wait *wait, struct start *start,
			      struct etw_ipc_message *message, int *ret_socket,
			      uint64_t *ret_incarnation)
{
	const struct wire_discovery_page *page = NULL;
	int r;

	for (;;) {
		bool was_served = start->is_served;
		uint32_t epoch;

		if (!page && etw_runtime_page(wait->directory, &page) < 0)
			page = NULL;
		/* Before the try: what changes during it ends the wait at once. */
		epoch = page ? load_acquire(&page->epoch) : 0;
		r = connect_once(wait, message, ret_socket, ret_incarnation);
		if ((!is_absent(r) && r != -EPIPE) || (is_absent(r) && was_served))
			break;
		r = take_words(start);
		if (!r && start->wordless_until_ms &&
		    etw_monotonic_ms() >= start->wordless_until_ms)
			r = -ETIMEDOUT;
		if (!r)
			r = wait_for_change(wait, page, epoch);
		if (r < 0)
			break;
	}
	etw_runtime_page_unmap(page);
	return r;
}

/* Of several that are started at once one becomes the host, and the others leave. */
static int start_and_connect(struct etw_control_wait *wait, const char *program,
			     struct etw_ipc_message *message, int *ret_socket,
			     uint64_t *ret_incarnation)
{
	struct start start = {.report = -1};
	int r;

	TRY(etw_host_spawn(program, program[0] == '/' && wait->directory[0] == '/', &start.report));
	r = connect_when_ready(wait, &start, message, ret_socket, ret_incarnation);
	if (start.report >= 0)
		end_report(&start);
	return r;
}

int etw_control_connect(struct etw_control_wait *wait, bool may_start,
			struct etw_ipc_message *message, int *ret_socket, uint64_t *ret_incarnation)
{
	char program[PATH_MAX];
	int r = connect_to_host(wait, message, ret_socket, ret_incarnation);

	if (!is_absent(r) || !may_start)
		return r;
	TRY(etw_host_find(program));
	for (unsigned i = 0; i < LEFT_TRIES; i++) {
		r = start_and_connect(wait, program, message, ret_socket, ret_incarnation);
		if (!is_absent(r))
			return r;
		/* For the next one nobody has to be waited for. */
		TRY(etw_control_wait_look(wait));
	}
	return -ECONNRESET;
}
