/* SPDX-License-Identifier: MIT */
#include "provider/registrations.h"

#include <errno.h>
#include <string.h>

#include "provider/code.h"

#define NUMBER_INDEX_BITS 11
#define NUMBER_INDEX_MASK ((1u << NUMBER_INDEX_BITS) - 1)
static_assert(ETW_REGISTRATIONS_MAX == 1 << NUMBER_INDEX_BITS, "numbers hold index and generation");

ETW_HIDDEN struct etw_registration etw_registrations[ETW_REGISTRATIONS_MAX];

static uint32_t registrations_end = 1; /* one behind the last index ever used; lock */

int etw_provider_gate(uint64_t handle)
{
	const struct etw_registration *registration = etw_handle_registration(handle);
	uint64_t gate;

	if (!registration)
		return -EBADF;
	gate = load_relaxed(&registration->gate);
	if (!etw_handle_is_of(handle, gate))
		return -EBADF;
	return gate & ETW_GATE_SLOTS_MASK ? 1 : 0;
}

static uint64_t generation_of(const struct etw_registration *registration)
{
	return load_relaxed(&registration->gate) >> ETW_GATE_GENERATION_SHIFT;
}

uint32_t etw_registration_number(const struct etw_registration *registration)
{
	const uint64_t index = (uint64_t)(registration - etw_registrations);

	return (uint32_t)(generation_of(registration) << NUMBER_INDEX_BITS | index);
}

struct etw_registration *etw_registration_find(uint32_t number)
{
	struct etw_registration *registration = &etw_registrations[number & NUMBER_INDEX_MASK];

	if (!registration->is_used || etw_registration_number(registration) != number)
		return NULL;
	return registration;
}

struct etw_registration *etw_registration_end(void)
{
	return &etw_registrations[registrations_end];
}

static struct etw_registration *find(uint64_t handle, bool is_classic)
{
	struct etw_registration *registration;

	if (etw_provider_gate(handle) < 0)
		return NULL;
	registration = etw_handle_registration(handle);
	return registration->is_used && registration->is_classic == is_classic ? registration
									       : NULL;
}

struct etw_registration *etw_registration_of_handle(uint64_t handle)
{
	return find(handle, /* is_classic= */ false);
}

struct etw_registration *etw_registration_of_classic_handle(uint64_t handle)
{
	if (!(handle & ETW_HANDLE_CLASSIC))
		return NULL;
	return find(handle & ~ETW_HANDLE_CLASSIC, /* is_classic= */ true);
}

static struct etw_registration *find_free(void)
{
	for (uint32_t i = 1; i < registrations_end; i++) {
		if (!etw_registrations[i].is_used)
			return &etw_registrations[i];
	}
	if (registrations_end == ETW_REGISTRATIONS_MAX)
		return NULL;
	return &etw_registrations[registrations_end++];
}

/* Moves to the next generation with every slot off: from here on the old handle leads nowhere. */
static void open_generation(struct etw_registration *registration)
{
	const uint64_t gate = load_relaxed(&registration->gate);
	uint64_t generation = (gate >> ETW_GATE_GENERATION_SHIFT) + 1;

	if (generation > ETW_GATE_GENERATION_MAX)
		generation = 1; /* 0 is that of what was never used */
	/* The half that the new gate names is of the old generation still. */
	store_relaxed(&registration->plain[0].handle, UINT64_C(0));
	store_relaxed(&registration->plain[1].handle, UINT64_C(0));
	store_release(&registration->gate,
		      generation << ETW_GATE_GENERATION_SHIFT | (gate & ETW_GATE_VERSION_MASK));
}

static uint32_t line_of(const struct etw_registration *registration)
{
	return (uint32_t)(((const uint8_t *)registration - (const uint8_t *)etw_registrations) /
			  64);
}

uint64_t etw_registration_handle(const struct etw_registration *registration)
{
	const uint64_t upper = (generation_of(registration) << 20) - 1;

	return upper << 32 | line_of(registration) |
	       (registration->is_classic ? ETW_HANDLE_CLASSIC : 0);
}

struct etw_registration *etw_registration_open(const GUID *provider, PENABLECALLBACK callback,
					       void *context)
{
	struct etw_registration *registration = find_free();
	uint64_t words[2];

	if (!registration)
		return NULL;
	memcpy(words, provider, sizeof(words));
	store_relaxed(&registration->line, line_of(registration));
	open_generation(registration);
	/* A writer that is still inside sees another gate once it has loaded any of these. */
	store_release(&registration->provider[0], words[0]);
	store_release(&registration->provider[1], words[1]);
	store_release(&registration->traits, NULL);
	store_release(&registration->is_typed, 0); /* until EventSetInformation() says so */
	store_release(&registration->general, 0u);
	registration->callback = callback;
	registration->context = context;
	registration->code = etw_code_object(callback);
	registration->is_classic = false;
	registration->request = NULL;
	registration->logger_handle = 0;
	registration->request_result = 0;
	memset(registration->links, 0, sizeof(registration->links));
	registration->is_used = true;
	return registration;
}

struct etw_registration *etw_registration_open_classic(const GUID *provider, WMIDPREQUEST request,
						       void *context)
{
	struct etw_registration *registration = etw_registration_open(provider, NULL, context);

	if (!registration)
		return NULL;
	registration->is_classic = true;
	registration->request = request;
	registration->code = etw_code_object((PENABLECALLBACK)(void (*)(void))request);
	return registration;
}

void etw_registration_close(struct etw_registration *registration)
{
	open_generation(registration);
	registration->callback = NULL;
	registration->request = NULL;
	registration->context = NULL;
	registration->is_used = false;
}
