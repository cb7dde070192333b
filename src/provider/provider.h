/* SPDX-License-Identifier: MIT */
/*
 * What a program asks of the module, writing apart (provider/event.h): registering, unregistering, what is to be
 * known of a provider. Any thread, also in a child of fork() that has not registered anything.
 */
#ifndef ETW_PROVIDER_PROVIDER_H
#define ETW_PROVIDER_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evntprov.h>
#include <evntrace.h>

/*
 * etw_provider_register() - EventRegister.
 *
 * @callback: may be NULL; runs on the listener's thread, possibly before this returns
 *
 * When a host is there, returns after it has said in which sessions the provider is enabled and the
 * callback has run, but waits at most 200 ms for that. Returns 0 with @ret_handle stored before any
 * callback; -EACCES: the GUID is the kernel's own, or a host said that this user may not register it; -ENOMEM: too many
 * registrations, or no memory; -EAGAIN: no thread; -ENAMETOOLONG: of a host's place.
 */
int etw_provider_register(const GUID *provider, PENABLECALLBACK callback, void *context,
			  REGHANDLE *ret_handle);

/*
 * etw_provider_unregister() - EventUnregister.
 *
 * Waits until a running callback of the registration has returned, unless the caller is that callback.
 * Returns 0 or -EBADF.
 */
int etw_provider_unregister(uint64_t handle);

/*
 * etw_provider_set_traits() - every event of the provider carries them from now on; it is in the group that they name.
 *
 * Returns 0; -EBADF; -EINVAL: not the layout of traits, or too long; -EEXIST: it has traits; -EACCES: it may not be in
 * the group, and is in none; -ENOMEM.
 */
int etw_provider_set_traits(uint64_t handle, const uint8_t *bytes, size_t byte_count);

/* What RegisterTraceGuids gives beside the provider. */
struct etw_classic_request {
	WMIDPREQUEST callback;
	void *context;
	TRACE_GUID_REGISTRATION *classes; /* Guid of each not NULL; RegHandle is filled in */
	uint32_t class_count;
};

/*
 * etw_provider_register_classic() - RegisterTraceGuids.
 *
 * @ret_result: what the callback returned to being enabled; 0 where the provider is enabled nowhere
 *
 * Waits and returns as etw_provider_register().
 */
int etw_provider_register_classic(const GUID *provider, const struct etw_classic_request *request,
				  TRACEHANDLE *ret_handle, uint32_t *ret_result);

/* etw_provider_unregister_classic() - UnregisterTraceGuids; as etw_provider_unregister(). */
int etw_provider_unregister_classic(uint64_t handle);

/* etw_provider_set_typed() - whether the Type of descriptors means something. Returns 0 or -EBADF. */
int etw_provider_set_typed(uint64_t handle, bool is_typed);

/* etw_provider_guids() - of every registration, @room at most into @ret. Returns how many there are. */
size_t etw_provider_guids(GUID *ret, size_t room);

/* etw_provider_check_handle() - returns 0 or -EBADF. */
int etw_provider_check_handle(uint64_t handle);

/* etw_provider_wants() - EventEnabled, EventProviderEnabled. False without such a registration. */
bool etw_provider_wants(uint64_t handle, uint8_t level, uint64_t keyword);

#endif
