/* SPDX-License-Identifier: MIT */
#include "provider/provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/announce.h"
#include "provider/classes.h"
#include "provider/enable.h"
#include "provider/entry.h"
#include "provider/listener.h"
#include "provider/loggers.h"
#include "provider/own_sessions.h"
#include "provider/registrations.h"
#include "wire/hook.h"

#define TRAITS_HEAD_BYTES 3 /* of each trait: u16 size, u8 type */

static struct etw_traits *all_traits; /* lock */

static bool is_denied(const struct etw_registration *registration)
{
	for (unsigned i = 0; i < ETW_PROVIDER_LINKS; i++) {
		if (registration->links[i].is_denied)
			return true;
	}
	return false;
}

static bool is_join_denied(const struct etw_registration *registration)
{
	for (unsigned i = 0; i < ETW_PROVIDER_LINKS; i++) {
		if (registration->links[i].is_join_denied)
			return true;
	}
	return false;
}

/* What has to be there before a registration. Holding the lock. */
static int prepare(const GUID *provider)
{
	if (etw_hook_is_kernels(provider))
		return -EACCES;
	TRY(etw_fork_prepare());
	return etw_listener_start();
}

static void close_registration(struct etw_registration *registration, uint32_t number)
{
	const bool is_classic = registration->is_classic;

	if (is_classic)
		etw_class_close_all(etw_registration_handle(registration));
	etw_registration_close(registration);
	if (is_classic)
		etw_loggers_update();
	etw_announce_end(registration, number);
}

/* Returns 0, also when a callback has ended the registration again; -EACCES. Holding the lock. */
static int announce(struct etw_registration *registration, ULONGLONG *ret_handle)
{
	const uint32_t number = etw_registration_number(registration);

	etw_own_sessions_meet(registration);
	if (etw_registration_find(number) != registration)
		return 0;
	etw_announce_registration(registration);
	/* The lock was given up: a callback may have ended the registration. */
	if (etw_registration_find(number) != registration || !is_denied(registration))
		return 0;
	*ret_handle = 0;
	close_registration(registration, number);
	return -EACCES;
}

int etw_provider_register(const GUID *provider, PENABLECALLBACK callback, void *context,
			  REGHANDLE *ret_handle)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_registration *registration;

	(void)is_held;
	TRY(prepare(provider));
	registration = etw_registration_open(provider, callback, context);
	if (!registration)
		return -ENOMEM;
	/* Before any callback, which may well use it; another thread may be reading what was there before. */
	store_release(ret_handle, etw_registration_handle(registration));
	return announce(registration, ret_handle);
}

static int open_classes(const struct etw_classic_request *request, uint64_t handle)
{
	for (uint32_t i = 0; i < request->class_count; i++) {
		uint64_t class;

		TRY(etw_class_open(request->classes[i].Guid, handle, &class));
		request->classes[i].RegHandle = (HANDLE)(uintptr_t) class;
	}
	return 0;
}

int etw_provider_register_classic(const GUID *provider, const struct etw_classic_request *request,
				  TRACEHANDLE *ret_handle, uint32_t *ret_result)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_registration *registration;
	uint32_t number;
	int r;

	(void)is_held;
	TRY(prepare(provider));
	registration = etw_registration_open_classic(provider, request->callback, request->context);
	if (!registration)
		return -ENOMEM;
	number = etw_registration_number(registration);
	*ret_handle = etw_registration_handle(registration);
	r = open_classes(request, *ret_handle);
	if (r < 0) {
		*ret_handle = 0;
		etw_class_close_all(etw_registration_handle(registration));
		etw_registration_close(registration);
		return r;
	}
	TRY(announce(registration, ret_handle));
	*ret_result = etw_registration_find(number) == registration ? registration->request_result
								    : 0;
	return 0;
}

static int unregister(uint64_t handle,
		      struct etw_registration *(*find_registration)(uint64_t handle))
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_registration *registration = find_registration(handle);

	(void)is_held;
	if (!registration)
		return -EBADF;
	close_registration(registration, etw_registration_number(registration));
	return 0;
}

int etw_provider_unregister(uint64_t handle)
{
	return unregister(handle, etw_registration_of_handle);
}

int etw_provider_unregister_classic(uint64_t handle)
{
	return unregister(handle, etw_registration_of_classic_handle);
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
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_registration *registration = etw_registration_of_handle(handle);
	const struct etw_traits *traits;

	(void)is_held;
	if (!registration)
		return -EBADF;
	if (!are_traits_sound((struct etw_bytes){bytes, byte_count}))
		return -EINVAL;
	if (load_relaxed(&registration->traits))
		return -EEXIST;
	TRY(keep_traits(bytes, byte_count, &traits));
	store_release(&registration->is_typed, 1);
	store_release(&registration->traits, traits);
	store_release(&registration->general,
		      load_relaxed(&registration->general) | ETW_GENERAL_TRAITS);
	etw_announce_traits(registration);
	/* The lock was given up: a callback may have ended the registration. */
	if (etw_registration_of_handle(handle) != registration)
		return 0;
	return is_join_denied(registration) ? -EACCES : 0;
}

int etw_provider_set_typed(uint64_t handle, bool is_typed)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	struct etw_registration *registration = etw_registration_of_handle(handle);

	(void)is_held;
	if (!registration)
		return -EBADF;
	store_release(&registration->is_typed, is_typed);
	return 0;
}

size_t etw_provider_guids(GUID *ret, size_t room)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();
	size_t count = 0;

	(void)is_held;
	for (struct etw_registration *i = etw_registrations + 1; i < etw_registration_end(); i++) {
		const uint64_t words[2] = {load_relaxed(&i->provider[0]),
					   load_relaxed(&i->provider[1])};

		if (!i->is_used)
			continue;
		if (count < room)
			memcpy(&ret[count], words, sizeof(words));
		count++;
	}
	return count;
}

int etw_provider_check_handle(uint64_t handle)
{
	CLEANUP(etw_provider_entry_unlock) const bool is_held = etw_provider_entry_lock();

	(void)is_held;
	return etw_registration_of_handle(handle) ? 0 : -EBADF;
}

bool etw_provider_wants(uint64_t handle, uint8_t level, uint64_t keyword)
{
	const struct etw_enable_query query = {.keyword = keyword, .level = level};
	struct etw_enable_view view;

	return etw_enable_collect(handle, &query, &view) == 0 && view.ring_count > 0;
}
