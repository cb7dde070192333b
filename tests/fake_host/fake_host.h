/* SPDX-License-Identifier: MIT */
/*
 * A host for tests: speaks the providers' part of the conversation on a thread of its own, and does what
 * the test says. Has sessions without an engine: the test reads their rings itself.
 */
#ifndef ETW_TESTS_FAKE_HOST_FAKE_HOST_H
#define ETW_TESTS_FAKE_HOST_FAKE_HOST_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fake_host/fake_session.h"
#include "ipc/runtime.h"
#include "ring/clock.h"
#include "wire/message.h"

#define FAKE_PEERS         4
#define FAKE_REGISTRATIONS 64
#define FAKE_ENABLES       64

/* Every wait of a test ends after this. */
#define FAKE_WAIT_MS 120000

struct fake_enable {
	bool is_used;
	GUID provider;
	struct fake_session *session;
	uint32_t slot; /* of the provider: 0 .. 7 */
	uint8_t level;
	uint32_t property;
	uint64_t match_any, match_all;
	bool has_block;
	struct etw_bytes filters;
};

struct fake_peer {
	int fd; /* -1: free */
	uint32_t pid;
	uint32_t asked, done; /* requests of the last ENABLE that went out, and that was answered */
	uint32_t registration_count;
	struct {
		uint32_t number;
		GUID provider;
		uint16_t traits_bytes;
	} registrations[FAKE_REGISTRATIONS];
	uint32_t known_sets[FAKE_ENABLES];
	uint32_t known_set_count;
};

struct fake_host {
	char directory[PATH_MAX];
	struct wire_discovery_page *page;
	int listener, wake[2], clock_fd;
	struct etw_clock_page clock;
	pthread_t thread;
	pthread_mutex_t lock; /* all below */
	pthread_cond_t changed;
	bool is_running;
	bool is_mute;      /* answers nothing */
	uint32_t told_pid; /* what WELCOME says; 0: the peer's own */
	uint64_t incarnation;
	uint32_t next_request;
	struct fake_peer peers[FAKE_PEERS];
	struct fake_enable enables[FAKE_ENABLES];
	/* What providers said, in all. */
	uint32_t registered, unregistered, retired;
	int32_t last_done_status;
};

/* fake_host_init() - a directory of its own, ETW_RUNTIME_DIR set to it. Nobody listens yet. */
int fake_host_init(struct fake_host *host);

/* fake_host_start() - listens and says so. */
int fake_host_start(struct fake_host *host);

/*
 * fake_host_die() - closes everything but the listening socket, which a keeper would hold; the epoch stays odd.
 * fake_host_lose_keeper() - afterwards: nobody holds the socket any more.
 */
void fake_host_die(struct fake_host *host);
void fake_host_lose_keeper(struct fake_host *host);

/* fake_host_leave() - ends as a host does that has nothing to do. */
void fake_host_leave(struct fake_host *host);

/* fake_host_done() - after die or leave: removes the directory. */
void fake_host_done(struct fake_host *host);

/* What a provider is to be told. */
struct fake_wish {
	uint8_t level;
	uint32_t property;
	uint64_t match_any, match_all;
	bool has_block;           /* with a SCHEMATIZED filter of a bare EVENT_FILTER_HEADER */
	struct etw_bytes filters; /* of events; borrowed for good */
};

/*
 * fake_host_enable() - enables a provider in a session, or changes how, and waits until every process that
 * has registered it has answered. Returns 0 or the first negative status; -ETIMEDOUT.
 */
int fake_host_enable(struct fake_host *host, const GUID *provider, struct fake_session *session,
		     struct fake_wish wish);
int fake_host_disable(struct fake_host *host, const GUID *provider, struct fake_session *session);

/* fake_host_capture() - asks every process for the provider's state. */
int fake_host_capture(struct fake_host *host, const GUID *provider);

/* fake_host_retire() - takes a ring set away from everybody and waits until all have given it back. */
int fake_host_retire(struct fake_host *host, struct fake_session *session);

/* fake_host_registered() - how many registrations have come in, of all. */
uint32_t fake_host_registered(struct fake_host *host);

/* fake_host_wait() - until at least so many registrations have come in, of all. 0 or -ETIMEDOUT. */
int fake_host_wait_registered(struct fake_host *host, uint32_t registered);
int fake_host_wait_unregistered(struct fake_host *host, uint32_t unregistered);

#endif
