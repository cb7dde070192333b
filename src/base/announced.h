/* SPDX-License-Identifier: MIT */
/*
 * An image that a process announced: code that no file of an executable format was mapped for. The host keeps it, and so
 * do the sources of its sessions, in other threads; it is never changed once it was made.
 */
#ifndef ETW_BASE_ANNOUNCED_H
#define ETW_BASE_ANNOUNCED_H

#include <stddef.h>
#include <stdint.h>

#define ETW_ANNOUNCED_BUILD_ID_BYTES 20

/* What one image costs, and whom. */
struct etw_announced_charge {
	struct etw_announced_charge *next;
	uint32_t uid;
	uint64_t bytes;
};

/*
 * The charges of images that nobody has any more. The last owner of an image may be in any thread: there its charge is
 * added here, and whoever keeps the account takes it off.
 */
struct etw_announced_charges {
	uint32_t refs;                         /* atomic; of its owner, and of each image */
	struct etw_announced_charge *returned; /* atomic; owned */
};

struct etw_announced_image {
	uint32_t refs; /* atomic */
	uint32_t pid;
	uint64_t base, byte_count;
	uint32_t build_id_bytes;
	uint32_t path_bytes; /* without the NUL */
	uint32_t
		symbol_bytes; /* etw_image_symbols_unpack() reads them; all are sound and within the image */
	uint8_t build_id[ETW_ANNOUNCED_BUILD_ID_BYTES];
	struct etw_announced_charge *charge; /* owned; NULL: it costs nobody anything */
	struct etw_announced_charges
		*charges; /* where it goes; a reference, when there is a charge */
	uint8_t bytes[];  /* the path with its NUL, then the symbols */
};

/* What became of it. */
enum etw_announced_act {
	ETW_ANNOUNCED_LOADED,
	ETW_ANNOUNCED_IS_THERE, /* it was announced before */
	ETW_ANNOUNCED_MORE,     /* symbols beside those of an image that was announced before */
	ETW_ANNOUNCED_UNLOADED,
	ETW_ANNOUNCED_ACTS
};

/* One such act. In a queue it owns a reference. */
struct etw_announced_news {
	struct etw_announced_news *next;
	struct etw_announced_image *image;
	enum etw_announced_act act;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
};

/* In the order of their times. Zeroed, it is empty. */
struct etw_announced_queue {
	struct etw_announced_news *first, *last; /* owned */
};

/*
 * etw_announced_image_new() - a copy with one reference, the caller's; NULL without memory.
 *
 * @head:    all but refs, charge and bytes
 * @path:    head->path_bytes of UTF-8
 * @symbols: head->symbol_bytes
 */
struct etw_announced_image *etw_announced_image_new(const struct etw_announced_image *head,
						    const char *path, const uint8_t *symbols);

/* etw_announced_charges_new() - none returned; one reference, the caller's. NULL without memory. */
struct etw_announced_charges *etw_announced_charges_new(void);

/* etw_announced_charges_unref() - one owner less; takes NULL. Any thread. */
void etw_announced_charges_unref(struct etw_announced_charges *charges);

/* etw_announced_charges_take() - a charge that was returned, owned, or NULL. One thread. */
struct etw_announced_charge *etw_announced_charges_take(struct etw_announced_charges *charges);

/*
 * etw_announced_image_charge() - what the image costs a uid until its last reference is gone. Once, before anybody else has it.
 *
 * Returns 0 or -ENOMEM.
 */
int etw_announced_image_charge(struct etw_announced_image *image,
			       struct etw_announced_charges *charges, uint32_t uid, uint64_t bytes);

/* etw_announced_image_ref() - one more reference. Any thread. */
struct etw_announced_image *etw_announced_image_ref(struct etw_announced_image *image);

/* etw_announced_image_unref() - one less; takes NULL. With the last one its charge is returned. Any thread. */
void etw_announced_image_unref(struct etw_announced_image *image);

/* etw_announced_path() - NUL-terminated. */
static inline const char *etw_announced_path(const struct etw_announced_image *image)
{
	return (const char *)image->bytes;
}

/* etw_announced_symbols() - packed. */
static inline const uint8_t *etw_announced_symbols(const struct etw_announced_image *image)
{
	return image->bytes + image->path_bytes + 1;
}

/* etw_announced_put() - adds at the end, with a reference of its own. Returns 0 or -ENOMEM. */
int etw_announced_put(struct etw_announced_queue *queue, struct etw_announced_image *image,
		      enum etw_announced_act act, uint64_t time_ns);

/* etw_announced_append() - moves all of @from behind all of @to. */
void etw_announced_append(struct etw_announced_queue *to, struct etw_announced_queue *from);

/* etw_announced_drop() - takes the first off and frees it; there must be one. */
void etw_announced_drop(struct etw_announced_queue *queue);

/* etw_announced_clear() - drops all. */
void etw_announced_clear(struct etw_announced_queue *queue);

#endif
