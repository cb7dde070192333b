/* SPDX-License-Identifier: MIT */
/*
 * The list of code that this process announced, and what each host was told of it. Whoever announces is above
 * (provider/images.h). Under the lock.
 */
#ifndef ETW_PROVIDER_OWN_IMAGES_H
#define ETW_PROVIDER_OWN_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/link.h"
#include "wire/image_symbols.h"

#define ETW_IMAGES_SYMBOL_RUNS_MAX 1024 /* of an image, of WIRE_IMAGE_SYMBOL_BYTES_MAX bytes each */

/* Symbols that go in one message. */
struct etw_image_run {
	struct etw_image_run *next;
	uint32_t byte_count;
	uint8_t bytes[];
};

/* What a host knows of an image. */
struct etw_image_told {
	uint32_t messages; /* so many went out: the image, then its runs */
	uint32_t request;  /* number of the last one */
	int status;        /* the first refusal */
};

struct etw_own_image {
	struct etw_own_image *next;
	uint32_t number;
	uint32_t run_count;
	uint64_t base, byte_count;
	uint32_t build_id_bytes;
	uint8_t build_id[WIRE_BUILD_ID_BYTES];
	bool is_new; /* the call that announces it has not returned */
	struct etw_image_run *runs, **last_run;
	struct etw_image_told told[ETW_PROVIDER_HOSTS];
	char path[];
};

/* The youngest first. */
extern ETW_HIDDEN struct etw_own_image *etw_own_images;

struct etw_images_request {
	uint64_t base, byte_count;
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	const struct etw_image_symbol *symbols; /* sound ones, within the image */
	uint32_t symbol_count;
};

/* etw_own_image_make() - one that is in no list. Returns 0; -E2BIG: too many symbols; -ENOMEM. */
int etw_own_image_make(const struct etw_images_request *request, struct etw_own_image **ret);

/* etw_own_image_free() - frees one that is in no list. */
void etw_own_image_free(struct etw_own_image *image);

/* etw_own_image_add() - more symbols. Returns 0; -E2BIG; -ENOMEM; what was packed before stays. */
int etw_own_image_add(struct etw_own_image *image, const struct etw_image_symbol *symbols,
		      uint32_t count);

/* etw_own_image_find() - by number; NULL: there is none. */
struct etw_own_image *etw_own_image_find(uint32_t number);

/* etw_own_image_messages() - how many tell a host all of it. */
uint32_t etw_own_image_messages(const struct etw_own_image *image);

/* etw_own_images_pump() - tells a host what it does not know, as far as it takes it now. */
void etw_own_images_pump(struct etw_link *link);

/* etw_own_images_meet() - a host is there that knows of none. Holding the lock. */
void etw_own_images_meet(struct etw_link *link);

/* etw_own_images_replied() - what a host says to a request, which may be one of these. Holding the lock. */
void etw_own_images_replied(struct etw_link *link, uint32_t request, int status);

#endif
