/* SPDX-License-Identifier: MIT */
/*
 * A conversation of some processes with a host, in any order: whatever they say, the host answers everybody else, an
 * honest controller's session is there afterwards and is enabled where it was, and all that the others made ends.
 *
 * Input: steps of operation, argument, two bytes of length and so many bytes. Processes come as root or as one of two
 * strangers, in any role or before a greeting; they send any bytes, or sound messages with numbers that need not be, with or
 * without a descriptor; they read or are deaf; and they go. A session that would write a file, record the
 * kernel or take much memory is not started here, since root's may.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <evntrace.h>

#include "base/bytes.h"
#include "base/time.h"
#include "daemon/host.h"
#include "daemon/log.h"
#include "ipc/runtime.h"
#include "target.h"
#include "wire/message.h"

#define PEERS         4
#define STEPS_MAX     64
#define ROUNDS        3
#define KIB_MAX       64
#define BUFFERS_MAX   16
#define HANG_MS       20000
#define HONEST_NUMBER 7 /* of the honest provider's registration */
/* From here on an operation is PRIVATE_DONE of a process: the eight kinds below are as they are in saved inputs. */
#define PRIVATE_OPERATION 248

static struct etwd_options options;
static struct etwd_host *host;
static int peers[PEERS]; /* -1: none */
static int honest_controller, honest_provider;
static uint64_t honest_handle;
static struct etw_ipc_message message;
static uint8_t room[WIRE_MESSAGE_BYTES_MAX];
static uint32_t next_request;

static const GUID honest_guid = {0x40657374, 1, 2, {3, 4, 5, 6, 7, 8, 9, 10}};

static void remove_folder(void)
{
	static const char *const names[] = {"control", "epoch", "lock", "failure", "security"};
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", options.directory, names[i]);
		(void)remove(path);
	}
	(void)rmdir(options.directory);
}

static void run_rounds(int wait_ms)
{
	for (int i = 0; i < ROUNDS; i++)
		CHECK(etwd_host_step(host, wait_ms) >= 0);
}

/* @uid: who the host takes the process for. Returns the process's end. */
static int connect_as(uid_t uid)
{
	const struct etw_peer who = {getpid(), uid, (gid_t)uid};
	struct etwd_peer *peer;
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
	(void)etw_ipc_refuse_fds(ends[1]);
	(void)etwd_peers_add(&host->peers, ends[1], &who, &peer);
	return ends[0];
}

static struct wire_message head_of(uint32_t type)
{
	return (struct wire_message){.type = type, .request = ++next_request};
}

static void say(int fd, size_t bytes, int with)
{
	CHECK(bytes);
	(void)etw_ipc_send(fd, room, bytes, &with, with >= 0);
}

static void greet(int fd, uint32_t role)
{
	const struct wire_message head = head_of(WIRE_HELLO);
	const struct wire_hello hello = {WIRE_PROTOCOL_VERSION, role};

	say(fd, wire_message_encode_hello(&head, &hello, room), -1);
}

/* Waits for a message of this type; all others are passed over. */
static void expect(int fd, uint32_t type)
{
	const uint64_t end_ms = etw_monotonic_ms() + HANG_MS;

	for (;;) {
		int r = etw_ipc_receive(fd, &message);

		if (r == 0 && message.head.type == type)
			return;
		CHECK(r == 0 || r == -EAGAIN);
		CHECK(etw_monotonic_ms() < end_ms);
		if (r != 0)
			CHECK(etwd_host_step(host, 1) >= 0);
	}
}

static struct wire_session_config *plain_config(const char *name)
{
	static struct wire_session_config config;

	memset(&config, 0, sizeof(config));
	(void)snprintf(config.name, sizeof(config.name), "%s", name);
	config.log_file_mode = EVENT_TRACE_REAL_TIME_MODE;
	config.buffer_kib = 4;
	config.minimum_buffers = config.maximum_buffers = 4;
	return &config;
}

static void start_honest(void)
{
	static struct wire_session_info info;
	struct wire_message head = head_of(WIRE_HELLO);
	struct wire_enable_provider enable = {
		.provider = honest_guid, .code = EVENT_CONTROL_CODE_ENABLE_PROVIDER, .level = 5};

	honest_controller = connect_as(0);
	greet(honest_controller, WIRE_ROLE_CONTROLLER);
	expect(honest_controller, WIRE_WELCOME);
	head = head_of(WIRE_START);
	say(honest_controller,
	    wire_message_encode_session_config(&head, plain_config("honest"), room), -1);
	expect(honest_controller, WIRE_SESSION);
	CHECK(message.head.status == 0);
	CHECK(wire_message_decode_session_info(message.datagram, &info) == 0);
	enable.handle = honest_handle = info.handle;
	head = head_of(WIRE_ENABLE_PROVIDER);
	say(honest_controller, wire_message_encode_enable_provider(&head, &enable, room), -1);
	expect(honest_controller, WIRE_REPLY);
	CHECK(message.head.status == 0);
	honest_provider = connect_as(0);
	greet(honest_provider, WIRE_ROLE_PROVIDER);
	expect(honest_provider, WIRE_WELCOME);
}

static void open_host(void)
{
	char security[PATH_MAX + 16];

	(void)etwd_log_open("/dev/null");
	etw_ipc_message_init(&message);
	options = (struct etwd_options){.is_system = true, .idle_ms = INT32_MAX};
	(void)snprintf(options.directory, sizeof(options.directory), "/tmp/etwd-fuzz-XXXXXX");
	CHECK(mkdtemp(options.directory));
	(void)atexit(remove_folder);
	/* What root's peers are allowed must not change the machine's. */
	(void)snprintf(security, sizeof(security), "%s/security", options.directory);
	CHECK(setenv("ETWD_SECURITY_DIR", security, 1) == 0);
	CHECK(etw_runtime_prepare(options.directory, &options.page) == 0);
	CHECK(etw_runtime_listen(options.directory, &options.listener) == 0);
	host = etwd_host_make(&options);
	CHECK(host && etwd_host_open(host, -1) == 0);
	for (int i = 0; i < PEERS; i++)
		peers[i] = -1;
	start_honest();
}

/* Whether it is nothing that may harm the machine that this runs on. */
static bool is_tame(const struct wire_session_config *config)
{
	return !config->log_file[0] && !config->enable_flags &&
	       !(config->log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) &&
	       config->buffer_kib <= KIB_MAX && config->minimum_buffers <= BUFFERS_MAX &&
	       config->maximum_buffers <= BUFFERS_MAX && !strstr(config->name, "Kernel");
}

static bool may_send(struct etw_bytes datagram)
{
	static struct wire_session_config config;
	static struct wire_control control;
	struct wire_message head;

	if (wire_message_decode(datagram, &head) < 0)
		return true;
	if (head.type == WIRE_START && wire_message_decode_session_config(datagram, &config) == 0)
		return is_tame(&config);
	if (head.type == WIRE_CONTROL && wire_message_decode_control(datagram, &control) == 0)
		return is_tame(&control.config) && control.handle != honest_handle &&
		       strcmp(control.name, "honest") != 0;
	return true;
}

/* The bytes of a step, from which numbers are taken until there are none. */
struct step {
	const uint8_t *at;
	size_t left;
};

static uint64_t take(struct step *step, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes && step->left; i++, step->left--)
		value |= (uint64_t)*step->at++ << (8 * i);
	return value;
}

static GUID take_guid(struct step *step)
{
	GUID guid = honest_guid;

	guid.Data2 = (unsigned short)take(step, 1);
	return guid;
}

/* A session's, also a private one's, or any number. */
static uint64_t take_handle(struct step *step)
{
	const uint64_t number = take(step, 1);
	const struct etwd_session *session = host->sessions.table[number % ETWD_SESSIONS_MAX];
	const struct etwd_private_session *outside =
		host->private_table.sessions[number % ETWD_PRIVATE_MAX];

	if (outside)
		return outside->id;
	return session && session->id != honest_handle ? session->id : take(step, 8);
}

static void take_name(struct step *step, char *ret, size_t room_bytes)
{
	size_t bytes = take(step, 2) % room_bytes;

	for (size_t i = 0; i < bytes && step->left; i++)
		ret[i] = (char)(take(step, 1) | 1);
}

static size_t put_start(struct step *step)
{
	struct wire_session_config *config = plain_config("");
	const struct wire_message head = head_of(WIRE_START);

	config->log_file_mode = (uint32_t)take(step, 4) & ~(uint32_t)EVENT_TRACE_SYSTEM_LOGGER_MODE;
	config->clock_type = (uint32_t)take(step, 1) % 8;
	config->buffer_kib = (uint32_t)take(step, 1) % (KIB_MAX + 1);
	config->minimum_buffers = (uint32_t)take(step, 1) % (BUFFERS_MAX + 1);
	config->maximum_buffers = (uint32_t)take(step, 1) % (BUFFERS_MAX + 1);
	config->flush_timer = (uint32_t)take(step, 4);
	config->maximum_file_size = (uint32_t)take(step, 1);
	config->is_leased = (uint32_t)take(step, 1) % 2;
	config->guid = take_guid(step);
	take_name(step, config->name, sizeof(config->name));
	return wire_message_encode_session_config(&head, config, room);
}

static size_t put_control(struct step *step)
{
	static struct wire_control control;
	const struct wire_message head = head_of(WIRE_CONTROL);

	memset(&control, 0, sizeof(control));
	control.code = (uint32_t)take(step, 1) % 8;
	control.handle = take_handle(step);
	control.config.flush_timer = (uint32_t)take(step, 4);
	control.config.maximum_buffers = (uint32_t)take(step, 1) % (BUFFERS_MAX + 1);
	control.config.log_file_mode = (uint32_t)take(step, 4);
	if (!control.handle)
		take_name(step, control.name, sizeof(control.name));
	return wire_message_encode_control(&head, &control, room);
}

static size_t put_enable(struct step *step)
{
	const struct wire_message head = head_of(WIRE_ENABLE_PROVIDER);
	struct wire_enable_provider enable = {
		.handle = take_handle(step),
		.provider = take_guid(step),
		.code = (uint32_t)take(step, 1) % 5,
		.level = (uint8_t)take(step, 1),
		.match_any = take(step, 8),
		.timeout_ms = (uint32_t)take(step, 1),
		.property = (uint32_t)take(step, 2),
	};

	enable.filters = (struct etw_bytes){step->at, step->left};
	return wire_message_encode_enable_provider(&head, &enable, room);
}

/* What processes say of a private session, to a request that the host has sent them, or to none. */
static size_t put_private_done(struct step *step)
{
	static struct wire_session_info info;
	struct wire_message head = {.type = WIRE_PRIVATE_DONE};

	head.request = (uint32_t)take(step, 1);
	head.status = -(int32_t)(take(step, 1) % 64);
	memset(&info, 0, sizeof(info));
	info.events = take(step, 8);
	info.number_of_buffers = (uint32_t)take(step, 4);
	take_name(step, info.config.name, sizeof(info.config.name));
	return head.status ? wire_message_encode_plain(&head, room)
			   : wire_message_encode_session_info(&head, &info, room);
}

static size_t put_image(struct step *step)
{
	static struct wire_image image;
	static uint8_t symbols[14] = "........size.";
	struct wire_message head = head_of(WIRE_IMAGE);

	memset(&image, 0, sizeof(image));
	image.image = (uint32_t)take(step, 1) % 8;
	image.code = (uint32_t)take(step, 1) % (WIRE_IMAGE_UNLOADED + 1);
	image.base = take(step, 8);
	image.byte_count = take(step, 8);
	etw_store64(symbols, take(step, 1));
	etw_store32(symbols + 8, (uint32_t)take(step, 1));
	symbols[12] = 'f';
	image.symbols = (struct etw_bytes){symbols, take(step, 1) % (sizeof(symbols) + 1)};
	take_name(step, image.path, sizeof(image.path));
	return wire_message_encode_image(&head, &image, room);
}

static size_t put_provider_message(struct step *step, uint32_t kind)
{
	struct wire_message head = head_of(WIRE_REGISTER);
	struct wire_register number = {.provider = take_guid(step)};
	struct wire_unregister gone = {.registration = (uint32_t)take(step, 1)};
	struct wire_ring_set_ref set = {(uint32_t)take(step, 1)};
	struct wire_undelivered undelivered = {(uint32_t)take(step, 1), take(step, 8),
					       take(step, 8)};

	number.registration = (uint32_t)take(step, 1);
	switch (kind) {
	case 0:
		return wire_message_encode_register(&head, &number, room);
	case 1:
		head.type = WIRE_UNREGISTER;
		return wire_message_encode_unregister(&head, &gone, room);
	case 2:
		head.type = WIRE_RING_RETIRED;
		return wire_message_encode_ring_set_ref(&head, &set, room);
	default:
		head.type = WIRE_UNDELIVERED;
		return wire_message_encode_undelivered(&head, &undelivered, room);
	}
}

static size_t put_other(struct step *step, uint32_t kind)
{
	static struct wire_subscribe subscribe;
	struct wire_message head = head_of(WIRE_SUBSCRIBE);
	struct wire_lease lease = {take_handle(step)};

	if (kind == 0) {
		head.type = WIRE_LEASE;
		return wire_message_encode_lease(&head, &lease, room);
	}
	memset(&subscribe, 0, sizeof(subscribe));
	subscribe.consumer = take(step, 1);
	subscribe.last_batch = take(step, 1);
	subscribe.pieces = take(step, 1);
	take_name(step, subscribe.name, sizeof(subscribe.name));
	if (kind == 1)
		memcpy(subscribe.name, "honest", sizeof("honest"));
	return wire_message_encode_subscribe(&head, &subscribe, room);
}

static void open_peer(uint8_t argument)
{
	static const uid_t uids[] = {0, 0, 70000, 70001};
	int *fd = &peers[argument % PEERS];
	uint32_t role = argument >> 4 & 3;

	if (*fd >= 0)
		close(*fd);
	*fd = connect_as(uids[argument >> 2 & 3]);
	if (role)
		greet(*fd, role);
}

static size_t put_message(uint8_t operation, uint8_t argument, struct step *step)
{
	const uint32_t kind = argument >> 2 & 3;

	if (operation >= PRIVATE_OPERATION)
		return put_private_done(step);
	switch (operation % 8) {
	case 1:
		if (step->left < 1 || step->left > sizeof(room))
			return 0;
		memcpy(room, step->at, step->left);
		return step->left;
	case 2:
		return put_start(step);
	case 3:
		return put_control(step);
	case 4:
		return put_enable(step);
	case 5:
		return put_provider_message(step, kind);
	case 6:
		return put_other(step, kind);
	case 7:
		return put_image(step);
	default:
		return 0;
	}
}

/* A few messages; a deaf peer takes none. */
static void read_some(int fd)
{
	for (int i = 0; i < 16 && etw_ipc_receive(fd, &message) == 0; i++)
		;
}

static void do_step(uint8_t operation, uint8_t argument, struct step step)
{
	int *fd = &peers[argument % PEERS];
	int with = argument & 0x40 ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
	size_t bytes;

	if (operation % 8 == 0 && operation < PRIVATE_OPERATION) {
		open_peer(argument);
	} else if (*fd >= 0 && operation % 8 == 7 && operation < PRIVATE_OPERATION) {
		close(*fd);
		*fd = -1;
	} else if (*fd >= 0) {
		bytes = put_message(operation, argument, &step);
		if (bytes && may_send((struct etw_bytes){room, bytes}))
			say(*fd, bytes, with);
		run_rounds(0);
		if (argument & 0x80)
			read_some(*fd);
	}
	if (with >= 0)
		close(with);
}

static bool has_only_honest(void)
{
	for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
		if (host->sessions.table[i] && host->sessions.table[i]->id != honest_handle)
			return false;
	}
	return host->peers.count == 2 && etwd_private_table_count(&host->private_table) == 0;
}

static void end_private(void)
{
	static struct wire_control stop;
	const struct wire_message head = head_of(WIRE_CONTROL);

	for (size_t i = 0; i < ETWD_PRIVATE_MAX; i++) {
		if (!host->private_table.sessions[i])
			continue;
		stop.code = WIRE_CONTROL_STOP;
		stop.handle = host->private_table.sessions[i]->id;
		say(honest_controller, wire_message_encode_control(&head, &stop, room), -1);
		expect(honest_controller, WIRE_SESSION);
	}
}

static void end_others(void)
{
	const uint64_t end_ms = etw_monotonic_ms() + HANG_MS;

	for (int i = 0; i < PEERS; i++) {
		if (peers[i] >= 0)
			close(peers[i]);
		peers[i] = -1;
	}
	while (!has_only_honest()) {
		CHECK(etw_monotonic_ms() < end_ms);
		for (size_t i = 0; i < ETWD_SESSIONS_MAX; i++) {
			struct etwd_session *session = host->sessions.table[i];

			if (session && session->id != honest_handle)
				(void)etwd_session_stop(&host->session_parts, session, NULL, 0);
		}
		end_private();
		run_rounds(1);
	}
}

/* The session answers, and a process that registers its provider is told of it. */
static void check_honest(void)
{
	static struct wire_control query;
	struct wire_message head = head_of(WIRE_CONTROL);
	struct wire_register number = {.provider = honest_guid, .registration = HONEST_NUMBER};
	struct wire_unregister gone = {.registration = HONEST_NUMBER};
	struct wire_enable enable;
	bool is_enabled = false;

	query.handle = honest_handle;
	say(honest_controller, wire_message_encode_control(&head, &query, room), -1);
	expect(honest_controller, WIRE_SESSION);
	CHECK(message.head.status == 0);
	head = head_of(WIRE_REGISTER);
	say(honest_provider, wire_message_encode_register(&head, &number, room), -1);
	expect(honest_provider, WIRE_ENABLE);
	CHECK(wire_message_decode_enable(message.datagram, &enable) == 0);
	for (unsigned i = 0; i < WIRE_ENABLE_SLOTS; i++)
		is_enabled |= enable.slots[i].is_used && enable.slots[i].level == 5;
	CHECK(enable.registration == HONEST_NUMBER && is_enabled);
	head = head_of(WIRE_UNREGISTER);
	say(honest_provider, wire_message_encode_unregister(&head, &gone, room), -1);
	expect(honest_provider, WIRE_REPLY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (!host)
		open_host();
	for (int i = 0; i < STEPS_MAX && bytes >= 4; i++) {
		size_t length = (size_t)(data[2] | data[3] << 8);
		struct step step;

		length = length < bytes - 4 ? length : bytes - 4;
		step = (struct step){data + 4, length};
		do_step(data[0], data[1], step);
		data += 4 + length;
		bytes -= 4 + length;
	}
	end_others();
	check_honest();
	return 0;
}
