/* SPDX-License-Identifier: MIT */
/*
 * Checking a blob once, and walking payloads by it. The check makes sure of all that depends on the blob alone,
 * the walk of all that depends on the payload.
 */
#include "wire/payload_filter.h"

#include <errno.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/payload_filter_internal.h"

#define COUNT_MAX UINT16_MAX /* a length or count from the payload counts as no more */

/* --- Checking */

struct checker {
	const uint8_t *blob;
	struct etw_fault *reterr;
};

static int refuse(const struct checker *checker, const void *at, const char *structure,
		  const char *field, const char *sentence)
{
	return etw_fault_set(checker->reterr, -EBADMSG,
			     (uint64_t)((const uint8_t *)at - checker->blob), structure, field,
			     sentence);
}

static bool is_number_size(uint16_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static bool is_single(const struct wire_payload_step *step)
{
	return !step->count_slot && le16_get(step->count) == 1;
}

static int check_step(const struct checker *checker, const struct wire_payload_step *step)
{
	static const char structure[] = "step of a payload filter";

	if (step->extent < WIRE_PAYLOAD_FIXED || step->extent > WIRE_PAYLOAD_SID)
		return refuse(checker, step, structure, "extent", "the extent is unknown");
	if (step->keep > WIRE_PAYLOAD_SLOTS || step->length_slot > WIRE_PAYLOAD_SLOTS ||
	    step->count_slot > WIRE_PAYLOAD_SLOTS)
		return refuse(checker, step, structure, "slot", "there is no such slot");
	if ((step->extent == WIRE_PAYLOAD_FIXED || step->extent == WIRE_PAYLOAD_LENGTH) &&
	    !le16_get(step->unit))
		return refuse(checker, step, structure, "unit", "a unit has no bytes");
	if (step->keep && (step->extent != WIRE_PAYLOAD_FIXED || !is_single(step) ||
			   !is_number_size(le16_get(step->unit))))
		return refuse(checker, step, structure, "keep", "what is remembered is no number");
	return 0;
}

/* Whether the value of a step has the form that a kind of predicate reads. */
static bool fits(const struct wire_payload_step *step, uint8_t kind)
{
	uint16_t unit = le16_get(step->unit);

	if (!is_single(step))
		return false;
	switch (kind) {
	case WIRE_PAYLOAD_SIGNED:
	case WIRE_PAYLOAD_UNSIGNED:
		return step->extent == WIRE_PAYLOAD_FIXED && is_number_size(unit);
	case WIRE_PAYLOAD_GUID:
		return step->extent == WIRE_PAYLOAD_FIXED && unit == 16;
	case WIRE_PAYLOAD_UTF16:
		return step->extent == WIRE_PAYLOAD_NUL16 || step->extent == WIRE_PAYLOAD_LENGTH ||
		       step->extent == WIRE_PAYLOAD_COUNT16;
	default:
		return step->extent == WIRE_PAYLOAD_NUL8 || step->extent == WIRE_PAYLOAD_LENGTH ||
		       step->extent == WIRE_PAYLOAD_COUNT16;
	}
}

static int check_predicate(const struct checker *checker, const struct wire_payload_event *event,
			   struct etw_bytes *left)
{
	static const char structure[] = "predicate of a payload filter";
	const struct wire_payload_step *steps = (const struct wire_payload_step *)(event + 1);
	const struct wire_payload_predicate *predicate =
		(const struct wire_payload_predicate *)(const void *)left->at;
	const char *problem;
	uint16_t bytes;

	if (left->left < sizeof(*predicate))
		return refuse(checker, predicate, structure, NULL, "it is cut off");
	bytes = le16_get(predicate->bytes);
	if (bytes < sizeof(*predicate) || bytes > left->left || bytes % 4)
		return refuse(checker, predicate, structure, "bytes", "it does not fit its filter");
	if (le16_get(predicate->operand_bytes) > bytes - sizeof(*predicate))
		return refuse(checker, predicate, structure, "operand_bytes",
			      "the operands do not fit the predicate");
	if (predicate->step >= event->step_count)
		return refuse(checker, predicate, structure, "step", "there is no such step");
	problem = wire_payload_operator_problem(predicate, left->at + sizeof(*predicate));
	if (!problem && !fits(&steps[predicate->step], predicate->kind))
		problem = "the field is not of this kind";
	if (problem)
		return refuse(checker, predicate, structure, "kind", problem);
	(void)etw_bytes_take(left, bytes);
	return 0;
}

static int check_event(const struct checker *checker, struct etw_bytes *left)
{
	static const char structure[] = "payload filter of an event";
	const struct wire_payload_event *event =
		(const struct wire_payload_event *)(const void *)left->at;
	const struct wire_payload_step *steps = (const struct wire_payload_step *)(event + 1);
	struct etw_bytes inside;

	if (left->left < sizeof(*event))
		return refuse(checker, event, structure, NULL, "it is cut off");
	inside = (struct etw_bytes){left->at, le32_get(event->bytes)};
	if (!etw_bytes_take(left, inside.left) || inside.left < sizeof(*event) || inside.left % 4)
		return refuse(checker, event, structure, "bytes", "it does not fit the blob");
	(void)etw_bytes_take(&inside, sizeof(*event));
	if (!event->predicate_count || event->predicate_count > WIRE_PAYLOAD_PREDICATES_MAX)
		return refuse(checker, event, structure, "predicate_count",
			      "there are no predicates, or too many");
	if (!etw_bytes_take(&inside, event->step_count * sizeof(*steps)))
		return refuse(checker, event, structure, "step_count", "the steps are cut off");
	for (size_t i = 0; i < event->step_count; i++)
		TRY(check_step(checker, &steps[i]));
	for (size_t i = 0; i < event->predicate_count; i++)
		TRY(check_predicate(checker, event, &inside));
	if (inside.left)
		return refuse(checker, inside.at, structure, "bytes",
			      "something follows the predicates");
	return 0;
}

int wire_payload_filter_check(const void *at, size_t bytes, struct etw_fault *reterr)
{
	static const char structure[] = "payload filter";
	const struct wire_payload_filter *filter = at;
	const struct checker checker = {at, reterr};
	struct etw_bytes left = {at, bytes};

	if (!etw_bytes_take(&left, sizeof(*filter)))
		return refuse(&checker, at, structure, NULL, "it is cut off");
	if (memcmp(filter->magic, WIRE_PAYLOAD_FILTER_MAGIC, sizeof(filter->magic)) != 0 ||
	    le16_get(filter->version) != WIRE_PAYLOAD_FILTER_VERSION)
		return refuse(&checker, at, structure, "magic", "it is of another kind");
	if (bytes > WIRE_PAYLOAD_FILTER_BYTES_MAX || le32_get(filter->bytes) != bytes)
		return refuse(&checker, at, structure, "bytes", "the size is not that of the blob");
	if (!le16_get(filter->filter_count))
		return refuse(&checker, at, structure, "filter_count", "there are no filters");
	for (size_t i = 0; i < le16_get(filter->filter_count); i++)
		TRY(check_event(&checker, &left));
	if (left.left)
		return refuse(&checker, left.at, structure, "bytes",
			      "something follows the filters");
	return 0;
}

/* --- Walking */

struct walk {
	struct wire_payload_place place;
	uint64_t left; /* of the payload */
	uint32_t pointer_bytes;
	uint32_t slots[WIRE_PAYLOAD_SLOTS + 1]; /* the first is none */
};

static uint64_t payload_bytes(const struct wire_payload_subject *subject)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < subject->data_count; i++) {
		if (!subject->is_typed || subject->data[i].Type == EVENT_DATA_DESCRIPTOR_TYPE_NONE)
			bytes += subject->data[i].Size;
	}
	return bytes;
}

static uint32_t bounded(uint64_t number)
{
	return number < COUNT_MAX ? (uint32_t)number : COUNT_MAX;
}

static void skip(struct wire_payload_place *place, uint32_t bytes)
{
	while (bytes) {
		const uint32_t inside = bytes < place->left ? bytes : place->left;

		if (inside) /* an empty piece may have no address */
			place->at += inside;
		place->left -= inside;
		bytes -= inside;
		if (!bytes)
			return;
		if (!place->data_count)
			return;
		(void)wire_payload_byte(place); /* into the next piece */
		bytes--;
	}
}

/* Bytes up to the NUL, which are in @value, and with it; false at the end of the payload. */
static bool measure_terminated(const struct walk *walk, uint32_t unit, uint32_t *value,
			       uint32_t *taken)
{
	struct wire_payload_place place = walk->place;
	uint32_t bytes = 0;

	if (!walk->left)
		return false;
	while (walk->left - bytes >= unit) {
		uint8_t any = wire_payload_byte(&place);

		if (unit == 2)
			any |= wire_payload_byte(&place);
		if (!any)
			break;
		bytes += unit;
	}
	*value = bytes;
	/* Without a NUL the rest is the text, half a character included. */
	*taken = walk->left - bytes >= unit ? bytes + unit : (uint32_t)walk->left;
	return true;
}

static uint64_t load_number(const struct walk *walk, uint32_t bytes)
{
	const struct wire_payload_value value = {walk->place, bytes};
	uint8_t number[8] = {0};

	wire_payload_load(&value, number, bytes);
	return etw_load_unsigned(number, bytes);
}

/* The next value: its bytes, what lies in front of it, and what it takes in all. */
static bool measure(const struct walk *walk, const struct wire_payload_step *step, uint32_t *prefix,
		    uint32_t *value, uint32_t *taken)
{
	*prefix = 0;
	switch (step->extent) {
	case WIRE_PAYLOAD_FIXED:
		*value = le16_get(step->unit);
		break;
	case WIRE_PAYLOAD_POINTER:
		*value = walk->pointer_bytes;
		break;
	case WIRE_PAYLOAD_NUL8:
	case WIRE_PAYLOAD_NUL16:
		return measure_terminated(walk, step->extent == WIRE_PAYLOAD_NUL16 ? 2 : 1, value,
					  taken);
	case WIRE_PAYLOAD_LENGTH:
		*value = le16_get(step->unit) * (step->length_slot
							 ? walk->slots[step->length_slot]
							 : (uint32_t)le16_get(step->length));
		break;
	case WIRE_PAYLOAD_COUNT16:
		if (walk->left < 2)
			return false;
		*prefix = 2;
		*value = (uint32_t)load_number(walk, 2);
		break;
	default: /* WIRE_PAYLOAD_SID: a revision, then how many parts it has */
		if (walk->left < 8)
			return false;
		*value = 8u + 4u * (uint32_t)(load_number(walk, 2) >> 8);
	}
	*taken = *prefix + *value;
	return *taken >= *value && *taken <= walk->left;
}

/*
 * Goes over one step. @ret is the (last) value. Each round moves on by a byte at least, or takes all values at
 * once: no blob can make a walk longer than the payload.
 */
static bool go(struct walk *walk, const struct wire_payload_step *step,
	       struct wire_payload_value *ret)
{
	uint32_t count = step->count_slot ? walk->slots[step->count_slot] : le16_get(step->count);
	uint32_t prefix, value, taken;

	for (uint32_t i = 0; i < count; i++) {
		if (!measure(walk, step, &prefix, &value, &taken))
			return false;
		if (step->keep)
			walk->slots[step->keep] = bounded(load_number(walk, le16_get(step->unit)));
		skip(&walk->place, prefix);
		*ret = (struct wire_payload_value){walk->place, value};
		skip(&walk->place, taken - prefix);
		walk->left -= taken;
		if (!taken)
			break;
	}
	return true;
}

/* What the predicates on a step add to the answer. */
static unsigned count_holding(const struct wire_payload_event *event, size_t step,
			      const struct wire_payload_value *value)
{
	const uint8_t *at = (const uint8_t *)(event + 1) +
			    event->step_count * sizeof(struct wire_payload_step);
	unsigned holding = 0;

	for (size_t i = 0; i < event->predicate_count; i++) {
		const struct wire_payload_predicate *predicate =
			(const struct wire_payload_predicate *)(const void *)at;

		if (predicate->step == step && wire_payload_holds(predicate, value))
			holding++;
		at += le16_get(predicate->bytes);
	}
	return holding;
}

static bool event_passes(const struct wire_payload_event *event,
			 const struct wire_payload_subject *subject)
{
	const struct wire_payload_step *steps = (const struct wire_payload_step *)(event + 1);
	struct walk walk = {
		.place = {.is_typed = subject->is_typed,
			  .data_count = subject->data_count,
			  .data = subject->data},
		.left = payload_bytes(subject),
		.pointer_bytes = subject->pointer_bytes,
	};
	unsigned holding = 0;

	if (walk.left > UINT16_MAX) /* no event is so large */
		return false;
	for (size_t i = 0; i < event->step_count; i++) {
		struct wire_payload_value value = {walk.place, 0};

		if (!go(&walk, &steps[i], &value))
			break;
		holding += count_holding(event, i, &value);
	}
	return event->flags & WIRE_PAYLOAD_ANY ? holding > 0 : holding == event->predicate_count;
}

bool wire_payload_filter_passes(const void *checked, const struct wire_payload_subject *subject)
{
	const struct wire_payload_filter *filter = checked;
	const uint8_t *at = (const uint8_t *)(filter + 1);
	GUID provider = etw_guid_read(filter->provider);
	bool has_filter = false, needs_all = false;
	bool all_pass = true, one_passes = false;

	if (!etw_guid_equal(&provider, &subject->provider))
		return true;
	for (size_t i = 0; i < le16_get(filter->filter_count); i++) {
		const struct wire_payload_event *event =
			(const struct wire_payload_event *)(const void *)at;

		at += le32_get(event->bytes);
		if (le16_get(event->id) != subject->id || event->version != subject->version)
			continue;
		has_filter = true;
		needs_all = needs_all || (event->flags & WIRE_PAYLOAD_ALL);
		if (event_passes(event, subject))
			one_passes = true;
		else
			all_pass = false;
	}
	return !has_filter || (needs_all ? all_pass : one_passes);
}
