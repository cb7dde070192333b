/* SPDX-License-Identifier: MIT */
/*
 * The directory is ordered by the first event's time, so twins stand in a run of equal times. Of those in a run that
 * look alike, the bytes of each are digested once and the digests are sorted: a file of a million buffers that
 * begin at one time costs one more reading, not its square. Equal digests are held against each other byte by byte.
 */
#include "etl/twins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define PIECE_BYTES 16384u

struct candidate {
	const struct etw_etl_entry *entry;
	uint64_t digest;
	bool is_twin;
};

static int compare_looks(const struct etw_etl_entry *left, const struct etw_etl_entry *right)
{
	if (left->valid_bytes != right->valid_bytes)
		return left->valid_bytes < right->valid_bytes ? -1 : 1;
	if (left->processor != right->processor)
		return left->processor < right->processor ? -1 : 1;
	return left->flags < right->flags ? -1 : left->flags > right->flags;
}

/* The bytes that matter: behind the events of a plain buffer may be anything. */
static uint32_t bytes_of(const struct etw_etl_entry *entry)
{
	bool is_packed = entry->flags & WIRE_BUFFER_COMPRESSED;

	return is_packed || entry->valid_bytes > entry->stride ? entry->stride : entry->valid_bytes;
}

static int digest_buffer(const struct etw_etl_file *file, struct candidate *candidate,
			 uint8_t *piece)
{
	uint64_t digest = UINT64_C(0xCBF29CE484222325);
	uint32_t bytes = bytes_of(candidate->entry);

	for (uint32_t at = 0; at < bytes; at += PIECE_BYTES) {
		size_t count;

		TRY(etw_etl_file_read(file, candidate->entry->offset + at, piece,
				      bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES, &count));
		for (size_t i = 0; i < count; i++)
			digest = (digest ^ piece[i]) * UINT64_C(0x100000001B3);
	}
	candidate->digest = digest;
	return 0;
}

static int compare_numbers(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return a->entry->number < b->entry->number ? -1 : a->entry->number > b->entry->number;
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int looks = compare_looks(a->entry, b->entry);

	if (looks)
		return looks;
	if (a->digest != b->digest)
		return a->digest < b->digest ? -1 : 1;
	return compare_numbers(left, right);
}

static int compare_bytes(const struct etw_etl_file *file, const struct etw_etl_entry *left,
			 const struct etw_etl_entry *right, uint8_t *piece, bool *ret_equal)
{
	uint32_t bytes = bytes_of(left);

	*ret_equal = false;
	if (bytes != bytes_of(right))
		return 0;
	for (uint32_t at = 0; at < bytes; at += PIECE_BYTES) {
		size_t wanted = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
		size_t here, there;

		TRY(etw_etl_file_read(file, left->offset + at, piece, wanted, &here));
		TRY(etw_etl_file_read(file, right->offset + at, piece + PIECE_BYTES, wanted,
				      &there));
		if (here != there || memcmp(piece, piece + PIECE_BYTES, here) != 0)
			return 0;
	}
	*ret_equal = true;
	return 0;
}

/* Digests those that look like another one. */
static int digest_alike(const struct etw_etl_file *file, struct candidate *candidates,
			uint32_t count, uint8_t *piece)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct etw_etl_entry *entry = candidates[i].entry;
		bool is_alike = (i && !compare_looks(entry, candidates[i - 1].entry)) ||
				(i + 1 < count && !compare_looks(entry, candidates[i + 1].entry));

		if (is_alike)
			TRY(digest_buffer(file, &candidates[i], piece));
	}
	return 0;
}

/* Entries that begin at one time. */
static int judge_run(const struct etw_etl_file *file, const struct etw_etl_entry *first,
		     uint32_t count, struct etw_findings *findings)
{
	CLEANUP(freep)
	struct candidate *candidates = reallocarray(NULL, count, sizeof(*candidates));
	CLEANUP(freep) uint8_t *piece = malloc(2 * (size_t)PIECE_BYTES);

	if (!candidates || !piece)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		candidates[i] = (struct candidate){.entry = &first[i]};
	qsort(candidates, count, sizeof(*candidates), compare_candidates);
	TRY(digest_alike(file, candidates, count, piece));
	qsort(candidates, count, sizeof(*candidates), compare_candidates);
	for (uint32_t i = 1; i < count; i++) {
		const struct candidate *before = &candidates[i - 1];

		if (candidates[i].digest == before->digest &&
		    !compare_looks(candidates[i].entry, before->entry))
			TRY(compare_bytes(file, before->entry, candidates[i].entry, piece,
					  &candidates[i].is_twin));
	}
	qsort(candidates, count, sizeof(*candidates), compare_numbers);
	for (uint32_t i = 0; i < count; i++) {
		const struct etw_etl_entry *entry = candidates[i].entry;

		if (candidates[i].is_twin)
			etw_findings_add(findings, ETW_FINDING_DOUBTED, entry->offset, 0,
					 entry->number,
					 "the buffer has the bytes of an earlier one: its events "
					 "come twice");
	}
	return 0;
}

int etw_etl_twins_find(const struct etw_etl_file *file, const struct etw_etl_directory *directory,
		       struct etw_findings *findings)
{
	const struct etw_etl_entry *entries = directory->entries;

	for (uint32_t first = 0, next; first < directory->count; first = next) {
		next = first + 1;
		while (next < directory->count &&
		       entries[next].first_raw == entries[first].first_raw)
			next++;
		if (next - first > 1)
			TRY(judge_run(file, &entries[first], next - first, findings));
	}
	return 0;
}
