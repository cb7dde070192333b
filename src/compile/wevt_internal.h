/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the WEVT_TEMPLATE writer share: wevt.c (resource, providers, traits), wevt_names.c
 * (channels to keywords), wevt_maps.c (maps, queries), wevt_template.c (templates),
 * wevt_fragment.c (their XML), wevt_events.c (events, attributes, filters). What returns int and
 * says no more returns 0, -EFBIG with the writer's fault filled, or -ENOMEM. Appending fails like
 * etw_text: the error is asked for once, at the end of a list.
 */
#ifndef ETW_COMPILE_WEVT_INTERNAL_H
#define ETW_COMPILE_WEVT_INTERNAL_H

#include "base/arena.h"
#include "compile/wevt.h"
#include "wire/wevt.h"

#define WEVT_LISTS_MAX 11 /* of one provider; the old form always has room for as many */

/* Where an object of the model was written. */
struct wevt_place {
	const void *object;
	uint32_t offset;
};

struct wevt_writer {
	struct etw_text *out;
	unsigned major;
	struct etw_fault *reterr;
	const struct mc_provider *provider; /* the one being written */
	size_t provider_at;                 /* its wire_wevt_provider */
	unsigned list_count;
	size_t list_at;            /* the list being written */
	struct wevt_place *places; /* owned; of the provider */
	size_t place_count, place_room;
	bool is_sorted;         /* the places, by their object */
	struct etw_arena arena; /* owned; of the provider */
};

/* etw_mc_refuse() - fills the fault; returns -EFBIG. */
int etw_mc_refuse(struct wevt_writer *writer, const struct etw_xml_element *element,
		  const char *sentence);

/* etw_mc_append() - bytes; returns their offset. _zeros(): of room that is filled in later. */
size_t etw_mc_append(struct wevt_writer *writer, const void *at, size_t bytes);
size_t etw_mc_zeros(struct wevt_writer *writer, size_t bytes);

/* etw_mc_align() - zeros up to the next multiple of a power of two. */
void etw_mc_align(struct wevt_writer *writer, size_t to);

/* etw_mc_set() - writes over what was appended. _set32(): one number. */
void etw_mc_set(struct wevt_writer *writer, size_t offset, const void *at, size_t bytes);
void etw_mc_set32(struct wevt_writer *writer, size_t offset, size_t value);

/* etw_mc_utf16() - a text with its NUL. _name(): with size and padding. Return their offset. */
size_t etw_mc_utf16(struct wevt_writer *writer, const char *text);
size_t etw_mc_name(struct wevt_writer *writer, const char *text);

/* etw_mc_begin_list() - names the list in the provider; @head_bytes of its header follow. */
void etw_mc_begin_list(struct wevt_writer *writer, enum wire_wevt_kind kind, const char *magic,
		       size_t head_bytes);
int etw_mc_end_list(struct wevt_writer *writer, size_t count);

/* etw_mc_place() - remembers where an object is; etw_mc_find() tells it, 0 for NULL. */
int etw_mc_place(struct wevt_writer *writer, const void *object, size_t offset);
uint32_t etw_mc_find(struct wevt_writer *writer, const void *object);

/* etw_mc_message() - the number of a message. */
static inline le32 etw_mc_message(const struct mc_message *message)
{
	return le32_of(message ? message->id : WIRE_WEVT_NO_MESSAGE);
}

/* The lists of the provider, each whole; those that may be missing are not called for nothing. */
int etw_mc_channels(struct wevt_writer *writer);
int etw_mc_levels(struct wevt_writer *writer);
int etw_mc_tasks(struct wevt_writer *writer);
int etw_mc_opcodes(struct wevt_writer *writer);
int etw_mc_keywords(struct wevt_writer *writer);
int etw_mc_maps(struct wevt_writer *writer);
int etw_mc_queries(struct wevt_writer *writer);
int etw_mc_templates(struct wevt_writer *writer);
int etw_mc_events(struct wevt_writer *writer);
int etw_mc_attributes(struct wevt_writer *writer);
int etw_mc_filters(struct wevt_writer *writer);

/*
 * etw_mc_fragment() - the binary XML of a template's events.
 *
 * @text: the same as text, as the template's id is made from it
 */
int etw_mc_fragment(struct wevt_writer *writer, const struct mc_template *template_of,
		    struct etw_text *text);

/* etw_mc_binary_type() - the type of a substitution in binary XML. */
uint8_t etw_mc_binary_type(const struct mc_field *field);

#endif
