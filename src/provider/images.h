/* SPDX-License-Identifier: MIT */
/*
 * Code of this process' own that it announced: kept here, and told to every host that comes, so that sessions of kernel
 * events show it among the process' images. A forked child has all of it, too; an exec ends it.
 *
 * Under the lock. Text is UTF-8.
 */
#ifndef ETW_PROVIDER_IMAGES_H
#define ETW_PROVIDER_IMAGES_H

#include <stdint.h>

#include "provider/own_images.h"
#include "wire/image_symbols.h"

#define ETW_IMAGES_MAX 4096 /* of a process */

/*
 * etw_images_announce() - tells the hosts, and waits, 200 ms at most, until those that are there have taken note: what is
 * recorded of the code from then on comes behind its load.
 *
 * @ret: its number, never 0
 *
 * Returns 0, also without a host; -E2BIG: more images than a process may have, or more symbols than one may; -ENOSPC: a
 * host keeps no more of this user; -EPERM: a host cannot tell which process this is, such as one of another pid namespace;
 * -ENOMEM; -EAGAIN: the listener cannot be started; -ENAMETOOLONG: the path of the hosts' folder. Any thread.
 */
int etw_images_announce(const struct etw_images_request *request, uint32_t *ret);

/*
 * etw_images_add_symbols() - more symbols of an image. Returns as above; -ENOENT: there is none of this number; -EINVAL: a
 * symbol is not within it.
 */
int etw_images_add_symbols(uint32_t number, const struct etw_image_symbol *symbols, uint32_t count);

/* etw_images_find() - where an image lies. Returns 0; -ENOENT. Any thread. */
int etw_images_find(uint32_t number, uint64_t *ret_base, uint64_t *ret_byte_count);

/* etw_images_withdraw() - the code is gone. Returns 0; -ENOENT. Any thread. */
int etw_images_withdraw(uint32_t number);

#endif
