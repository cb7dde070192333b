/* SPDX-License-Identifier: MIT */
#include "control/control.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "control/controller_internal.h"

static size_t encode_config(const struct wire_message *head, const void *body, uint8_t *ret)
{
	return wire_message_encode_session_config(head, body, ret);
}

static size_t encode_control(const struct wire_message *head, const void *body, uint8_t *ret)
{
	return wire_message_encode_control(head, body, ret);
}

static size_t encode_enable(const struct wire_message *head, const void *body, uint8_t *ret)
{
	return wire_message_encode_enable_provider(head, body, ret);
}

static int decode_info(struct etw_bytes datagram, void *ret)
{
	return wire_message_decode_session_info(datagram, ret);
}

static size_t encode_statistics_query(const struct wire_message *head, const void *body,
				      uint8_t *ret)
{
	return wire_message_encode_statistics_query(head, body, ret);
}

static int decode_statistics(struct etw_bytes datagram, void *ret)
{
	return wire_message_decode_statistics(datagram, ret);
}

static int decode_sessions(struct etw_bytes datagram, void *ret)
{
	return wire_message_decode_sessions(datagram, ret);
}

static size_t encode_access(const struct wire_message *head, const void *body, uint8_t *ret)
{
	return wire_message_encode_access(head, body, ret);
}

static size_t encode_enumerate(const struct wire_message *head, const void *body, uint8_t *ret)
{
	return wire_message_encode_enumerate(head, body, ret);
}

static size_t encode_inform(const struct wire_message *head, const void *body, uint8_t *ret)
{
	return wire_message_encode_inform(head, body, ret);
}

/* Out of the datagram, which the next message overwrites. */
static void copy_bytes(struct etw_control_answer *answer, struct etw_bytes bytes)
{
	answer->byte_count = bytes.left;
	if (bytes.left)
		memcpy(answer->bytes, bytes.at, bytes.left);
}

static int decode_run(struct etw_bytes datagram, void *ret)
{
	struct wire_run run;

	TRY(wire_message_decode_run(datagram, &run));
	copy_bytes(ret, run.bytes);
	return 0;
}

static int decode_enumerated(struct etw_bytes datagram, void *ret)
{
	struct etw_control_answer *answer = ret;
	struct wire_enumerated enumerated;

	TRY(wire_message_decode_enumerated(datagram, &enumerated));
	answer->next = enumerated.next;
	answer->count = enumerated.count;
	copy_bytes(answer, enumerated.bytes);
	return 0;
}

/* Asks the host, where nothing else is to be done before another thread may ask. */
static int ask(struct etw_controller *controller, struct etw_control_call *call)
{
	struct etw_control_wait wait;
	int r;

	TRY(etw_controller_enter(controller, &wait));
	r = etw_controller_ask(controller, call, &wait);
	etw_controller_leave(controller);
	return r;
}

int etw_control_start(struct etw_controller *controller, const struct wire_session_config *config,
		      struct wire_session_info *ret)
{
	struct etw_control_call call = {.type = WIRE_START,
					.answer_type = WIRE_SESSION,
					.may_start = true,
					.encode = encode_config,
					.body = config,
					.decode = decode_info,
					.ret = ret};
	struct etw_control_wait wait;
	int r;

	TRY(etw_controller_enter(controller, &wait));
	r = config->is_leased && etw_control_leases_are_full(&controller->leases)
		    ? -EUSERS
		    : etw_controller_ask(controller, &call, &wait);
	if (!r && config->is_leased)
		r = etw_control_leases_remember(&controller->leases, ret->handle);
	etw_controller_leave(controller);
	return r;
}

static bool is_repeatable(const struct wire_control *control)
{
	/* Another session may have the name by now; no handle is given again soon. */
	if (control->code == WIRE_CONTROL_STOP)
		return control->handle != 0;
	/* Twice would be one file more, and a name that the file has already is refused. */
	return control->code != WIRE_CONTROL_INCREMENT_FILE &&
	       !(control->code == WIRE_CONTROL_UPDATE && *control->config.log_file);
}

int etw_control(struct etw_controller *controller, const struct wire_control *control,
		struct wire_session_info *ret)
{
	struct etw_control_call call = {.type = WIRE_CONTROL,
					.answer_type = WIRE_SESSION,
					.is_repeatable = is_repeatable(control),
					.encode = encode_control,
					.body = control,
					.decode = decode_info,
					.ret = ret};
	struct etw_control_wait wait;
	int r;

	TRY(etw_controller_enter(controller, &wait));
	r = etw_controller_ask(controller, &call, &wait);
	if (control->code == WIRE_CONTROL_STOP) {
		if (!r)
			etw_control_leases_forget(&controller->leases, ret->handle);
		else if (r == -ENOENT && call.is_repeated)
			r = -EPIPE; /* the first one ended it, and its answer is lost */
	}
	etw_controller_leave(controller);
	return r;
}

int etw_control_enable(struct etw_controller *controller, const struct wire_enable_provider *enable)
{
	struct etw_control_call call = {.type = WIRE_ENABLE_PROVIDER,
					.answer_type = WIRE_REPLY,
					.is_repeatable = true,
					.encode = encode_enable,
					.body = enable};

	return ask(controller, &call);
}

int etw_control_statistics(struct etw_controller *controller, uint64_t handle, uint32_t first_cpu,
			   struct wire_statistics *ret)
{
	const struct wire_statistics_query query = {.handle = handle, .first_cpu = first_cpu};
	struct etw_control_call call = {.type = WIRE_STATISTICS_QUERY,
					.answer_type = WIRE_STATISTICS,
					.is_repeatable = true,
					.encode = encode_statistics_query,
					.body = &query,
					.decode = decode_statistics,
					.ret = ret};

	return ask(controller, &call);
}

int etw_control_list(struct etw_controller *controller, struct wire_sessions *ret)
{
	struct etw_control_call call = {.type = WIRE_LIST,
					.answer_type = WIRE_SESSIONS,
					.is_repeatable = true,
					.decode = decode_sessions,
					.ret = ret};

	return ask(controller, &call);
}

int etw_control_access(struct etw_controller *controller, const struct wire_access *access,
		       struct etw_control_answer *ret)
{
	struct etw_control_call call = {
		.type = WIRE_ACCESS,
		.answer_type = WIRE_DESCRIPTOR,
		.may_start = true,
		/* What is there is not put there twice, but what was removed is not there to be removed. */
		.is_repeatable = access->code != WIRE_ACCESS_REMOVE,
		.encode = encode_access,
		.body = access,
		.decode = decode_run,
		.ret = ret};

	return ask(controller, &call);
}

int etw_control_enumerate(struct etw_controller *controller, const struct wire_enumerate *enumerate,
			  struct etw_control_answer *ret)
{
	struct etw_control_call call = {.type = WIRE_ENUMERATE,
					.answer_type = WIRE_ENUMERATED,
					.is_repeatable = true,
					.encode = encode_enumerate,
					.body = enumerate,
					.decode = decode_enumerated,
					.ret = ret};

	return ask(controller, &call);
}

int etw_control_inform(struct etw_controller *controller, const struct wire_inform *inform,
		       struct etw_control_answer *ret)
{
	struct etw_control_call call = {.type = WIRE_INFORM,
					.answer_type = WIRE_INFORMATION,
					.is_repeatable = true,
					.encode = encode_inform,
					.body = inform,
					.decode = decode_run,
					.ret = ret};

	return ask(controller, &call);
}
