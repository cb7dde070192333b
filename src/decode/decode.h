/* SPDX-License-Identifier: MIT */
/*
 * Walks an event with its schema: where each value lies in the payload. A schema is compiled once per
 * pointer size into a short program of field steps, which is then run for every event of the kind.
 * What cannot be decoded never hides the fields before it.
 *
 * Context: one owner thread per decoder; a result is valid until the decoder's next run.
 */
#ifndef ETW_DECODE_DECODE_H
#define ETW_DECODE_DECODE_H

#include <stdint.h>

#include <evntcons.h>

#include "decode/decoding.h"
#include "schema/store/store.h"

struct etw_decoder;

/* etw_decoder_create() - @store is borrowed and must outlive the decoder. Returns 0 or -ENOMEM. */
int etw_decoder_create(struct etw_schema_store *store, struct etw_decoder **ret);

/* etw_decoder_free() - takes NULL. */
void etw_decoder_free(struct etw_decoder *decoder);
void etw_decoder_freep(struct etw_decoder **decoder);

/*
 * etw_decoder_mend() - from now on known errors of schemas are put right (schema/mend.h), and readings doubted.
 *
 * Where a payload has bytes left over and the mended schema fits it to the last byte, a result has that one
 * in place of the store's; it lives as long as the decoder. A reading that uses up the payload is
 * ETW_DECODE_MALFORMED all the same when its text is none (decode/legible.h). TDH does no such thing.
 */
void etw_decoder_mend(struct etw_decoder *decoder);

/* etw_decoder_set_file() - which file the events come from that are weighed and run from now on; 0 at first. */
void etw_decoder_set_file(struct etw_decoder *decoder, uint32_t file);

/*
 * etw_decoder_trust_text() - from now on no reading of this file is doubted for its text.
 *
 * For files of Linux, where names and command lines hold whatever bytes their owner likes: by a doubt, any user
 * could have another's trace say that it does not decode. Returns 0 or -ENOMEM.
 */
int etw_decoder_trust_text(struct etw_decoder *decoder, uint32_t file);

/*
 * etw_decoder_weigh() - takes in what an event proves of its file (decode/widths.h), in a pass before decoding.
 *
 * Costs nothing but for classic events with 32-bit headers, the first of each file. Returns 0 or -ENOMEM.
 */
int etw_decoder_weigh(struct etw_decoder *decoder, const EVENT_RECORD *record);

/*
 * etw_decoder_run() - decodes one event.
 *
 * @record: borrowed; @ret points into it and into the decoder until the next run
 *
 * The header's flags tell the size of pointers; a classic event that only makes sense with the other size, by
 * its own bytes or by what was weighed of its file, is read with that one. Manifest data of an EventSource has a
 * schema that is built in, where the store has none. Returns 0 whatever the event holds (see @ret->status), or
 * -ENOMEM.
 */
int etw_decoder_run(struct etw_decoder *decoder, const EVENT_RECORD *record,
		    struct etw_decoding *ret);

/*
 * etw_decoder_choose() - the schema that etw_decoder_run() takes for an event.
 *
 * @ret:      NULL: it has none
 * @ret_why:  set in every case
 *
 * An event of which one layout is known is not decoded for it. Ends the result of the last run. Returns 0 or -ENOMEM.
 */
int etw_decoder_choose(struct etw_decoder *decoder, const EVENT_RECORD *record,
		       const struct etw_schema **ret, enum etw_schema_miss *ret_why);

#endif
