/* SPDX-License-Identifier: MIT */
/*
 * The class GUIDs of classic providers. Each has a handle as long as its provider is registered, by which instance ids
 * are given out and events of instances are written. They lie in an array that is never freed, so that a wrong handle is
 * found out without reading anything else.
 */
#ifndef ETW_PROVIDER_CLASSES_H
#define ETW_PROVIDER_CLASSES_H

#include <stdint.h>

#include <guiddef.h>

#define ETW_CLASSES_MAX 16384

/*
 * etw_class_open() - gives a class of the provider of this handle a handle of its own.
 *
 * Returns 0 with *@ret never 0; -ENOMEM: there are as many as there may be. Holding the lock.
 */
int etw_class_open(const GUID *guid, uint64_t provider, uint64_t *ret);

/* etw_class_close_all() - of the provider of this handle. Holding the lock. */
void etw_class_close_all(uint64_t provider);

/* etw_class_guid() - returns 0 or -EBADF. Context: any thread, signal-safe. */
int etw_class_guid(uint64_t handle, GUID *ret);

/* etw_class_next_instance() - ids from 1, never 0. Returns 0 or -EBADF. Context: any thread, signal-safe. */
int etw_class_next_instance(uint64_t handle, uint32_t *ret);

#endif
