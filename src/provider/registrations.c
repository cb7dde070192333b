/* SPDX-License-Identifier: MIT */
#include "provider/registrations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/code.h"
#include "provider/listener.h"
#include "provider/lock.h"

#define NUMBER_INDEX_BITS 11
#define NUMBER_INDEX_MASK ((1u << NUMBER_INDEX_BITS) - 1)
static_assert(ETW_REGISTRATIONS_MAX == 1 << NUMBER_INDEX_BITS, "numbers hold index and generation");

#define TRAITS_HEAD_BYTES 3 /* of each trait: u16 size, u8 type */

ETW_HIDDEN struct etw_registration etw_registrations[ETW_REGISTRATIONS_MAX];

static uint32_t registrations_end = 1; /* one behind the last index ever used; lock */
static struct etw_traits *all_traits;  /* lock */

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

/* Holding the lock. NULL: no registration has this handle. */
static struct etw_registration *find_by_handle(uint64_t handle)
{
	struct etw_registration *registration;

	if (etw_provider_gate(handle) < 0)
		return NULL;
	registration = etw_handle_registration(handle);
	return registration->is_used ? registration : NULL;
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
	store_release(&registration->gate,
		      generation << ETW_GATE_GENERATION_SHIFT | (gate & ETW_GATE_VERSION_MASK));
}

static uint32_t line_of(const struct etw_registration *registration)
{
	return (uint32_t)(((const uint8_t *)registration - (const uint8_t *)etw_registrations) /
			  64);
}

static uint64_t handle_of(const struct etw_registration *registration)
{
	const uint64_t upper = (generation_of(registration) << 16) - 1;

	return upper << 32 | line_of(registration);
}

static void fill(struct etw_registration *registration, const GUID *provider,
		 PENABLECALLBACK callback, void *context)
{
	uint64_t words[2];

	memcpy(words, provider, sizeof(words));
	store_relaxed(&registration->line, line_of(registration));
	open_generation(registration);
	/* A writer that is still inside sees another gate once it has loaded any of these. */
	store_release(&registration->provider[0], words[0]);
	store_release(&registration->provider[1], words[1]);
	store_release(&registration->traits, NULL);
	store_release(&registration->is_typed, 1);
	registration->callback = callback;
	registration->context = context;
	registration->code = etw_code_object(callback);
	memset(registration->links, 0, sizeof(registration->links));
	registration->is_used = true;
}

static void unlock(const bool *is_held)
{
	if (*is_held)
		etw_provider_unlock();
}

static bool lock(void)
{
	etw_listener_find_fork();
	etw_provider_lock();
	return true;
}

int etw_provider_register(const GUID *provider, PENABLECALLBACK callback, void *context,
			  REGHANDLE *ret_handle)
{
	CLEANUP(unlock) const bool is_held = lock();
	struct etw_registration *registration;

	(void)is_held;
	TRY(etw_fork_prepare());
	TRY(etw_listener_start());
	registration = find_free();
	if (!registration)
		return -ENOMEM;
	fill(registration, provider, callback, context);
	/* Before any callback, which may well use it. */
	*ret_handle = handle_of(registration);
	etw_listener_announce(registration);
	return 0;
}

int etw_provider_unregister(uint64_t handle)
{
	CLEANUP(unlock) const bool is_held = lock();
	struct etw_registration *registration = find_by_handle(handle);
	uint32_t number;

	(void)is_held;
	if (!registration)
		return -EBADF;
	number = etw_registration_number(registration);
	open_generation(registration);
	registration->callback = NULL;
	registration->context = NULL;
	registration->is_used = false;
	etw_listener_withdraw(registration, number);
	return 0;
}

/* u16 size of all, a name that ends with NUL, then {u16 size, u8 type, data} up to the end. */
static bool are_traits_sound(struct etw_bytes bytes)
{
	const uint8_t *end;
	uint16_t size;

	if (bytes.left > WIRE_TRAITS_BYTES_MAX || !etw_bytes_u16(&bytes, &size) ||
	    size != bytes.left + sizeof(size))
		return false;
	end = memchr(bytes.at, 0, bytes.left);
	if (!end)
		return false;
	(void)etw_bytes_take(&bytes, (size_t)(end - bytes.at) + 1);
	while (bytes.left) {
		if (!etw_bytes_u16(&bytes, &size) || size < TRAITS_HEAD_BYTES ||
		    !etw_bytes_take(&bytes, size - sizeof(size)))
			return false;
	}
	return true;
}

/* Writers may read them at any time, so that they are kept; a module that is loaded again finds its own. */
static int keep_traits(const uint8_t *bytes, size_t byte_count, const struct etw_traits **ret)
{
	struct etw_traits *traits;

	for (traits = all_traits; traits; traits = traits->next) {
		if (traits->bytes == byte_count && memcmp(traits->data, bytes, byte_count) == 0) {
			*ret = traits;
			return 0;
		}
	}
	traits = malloc(sizeof(*traits) + byte_count);
	if (!traits)
		return -ENOMEM;
	traits->bytes = (uint16_t)byte_count;
	memcpy(traits->data, bytes, byte_count);
	traits->next = all_traits;
	all_traits = traits;
	*ret = traits;
	return 0;
}

int etw_provider_set_traits(uint64_t handle, const uint8_t *bytes, size_t byte_count)
{
	CLEANUP(unlock) const bool is_held = lock();
	struct etw_registration *registration = find_by_handle(handle);
	const struct etw_traits *traits;

	(void)is_held;
	if (!registration)
		return -EBADF;
	if (!are_traits_sound((struct etw_bytes){bytes, byte_count}))
		return -EINVAL;
	TRY(keep_traits(bytes, byte_count, &traits));
	store_release(&registration->traits, traits);
	return 0;
}

int etw_provider_set_typed(uint64_t handle, bool is_typed)
{
	CLEANUP(unlock) const bool is_held = lock();
	struct etw_registration *registration = find_by_handle(handle);

	(void)is_held;
	if (!registration)
		return -EBADF;
	store_release(&registration->is_typed, is_typed);
	return 0;
}

int etw_provider_check_handle(uint64_t handle)
{
	CLEANUP(unlock) const bool is_held = lock();

	(void)is_held;
	return find_by_handle(handle) ? 0 : -EBADF;
}
