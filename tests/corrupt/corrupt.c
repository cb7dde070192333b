/* SPDX-License-Identifier: MIT */
/*
 * corrupt truncate [FILE...]      every length of small files
 * corrupt flip [FILE...]          512 single bits of each file; seeds are printed
 * corrupt flip-all [FILE...]      every single bit
 * corrupt semantic [FILE...]      hand-made damage
 * corrupt matrix [FILE...]        damage of which every finding is known
 *
 * Without files: made-up ones, and genuine ones where $ETW_TEST_DATA names their folder (which the build
 * sets to shared/data beside the project when that is there). Exit status 0, or 1 with complaints.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "corrupt/damage.h"
#include "corrupt/matrix.h"
#include "synthetic/presets.h"

#define FLIPS        512
#define FLIPS_LARGE  96 /* of files whose reading takes long */
#define LARGE_BYTES  (256 * 1024)
#define TRUNCATE_MAX 20000

static const char *const presets_small[] = {"header-types", "compressed-small", "untimed-messages"};
static const char *const presets_flipped[] = {"plain",
					      "session-compressed",
					      "header-types",
					      "compressed-small",
					      "wrapped-circular",
					      "session",
					      "compressed-literal",
					      "clock-system",
					      "extended-items",
					      "append",
					      "relogged",
					      "windows7"};

/* Of closed sessions, whose every buffer is counted and has its own size or that of all. */
static const char *const presets_matrix[] = {
	"plain", "session", "session-compressed", "compressed-small", "extended-items", "windows7"};

static const char *const genuine_small[] = {
	"merged-perfview/smallEtlFile.etl", "merged-perfview/SelfDescribingSingleEvent.etl",
	"tracelogging/SIH.20230422.034724.362.1.etl", "tracelogging/primitive-types.etl"};
static const char *const genuine_flipped[] = {"merged-perfview/smallEtlFile.etl",
					      "merged-perfview/SelfDescribingSingleEvent.etl",
					      "tracelogging/SIH.20230422.034724.362.1.etl",
					      "tracelogging/primitive-types.etl",
					      "win7-manifest/WsRm01.etl",
					      "classic-32bit/process_data_32_v1.etl",
					      "merged-perfview/DynamicEvents.etl",
					      "win7-manifest/HTTP_Server.etl"};

static const char *const genuine_matrix[] = {"merged-perfview/SelfDescribingSingleEvent.etl",
					     "win7-manifest/WsRm01.etl",
					     "win7-manifest/HTTP_Server.etl",
					     "classic-32bit/process_data_32_v1.etl",
					     "classic-32bit/image_data_64_v0.etl",
					     "classic-32bit/viewer-test_data_32_v2.etl",
					     "misc/powershell.etl",
					     "tracelogging/WindowsUpdate.20251008.140245.443.8.etl",
					     "tracelogging/primitive-types.etl",
					     "vs-diaghub/diaghub.user_injected.1.etl"};

typedef unsigned (*damager)(const struct original *original);

static unsigned truncate_one(const struct original *original)
{
	return damage_truncate(original, original->count > TRUNCATE_MAX ? 61 : 1);
}

static unsigned flip_one(const struct original *original)
{
	uint64_t seed = UINT64_C(0x9E3779B97F4A7C15) ^ original->count;
	size_t flips = original->count > LARGE_BYTES ? FLIPS_LARGE : FLIPS;

	printf("%s: %zu bits, seed %#" PRIx64 "\n", original->name, flips, seed);
	return damage_flip(original, seed, flips);
}

static unsigned flip_all(const struct original *original)
{
	return damage_flip(original, 0, 0);
}

static unsigned run(const char *name, uint8_t *bytes, size_t count, damager damage_it)
{
	struct original original;
	unsigned complaints = 1;

	if (original_read(name, bytes, count, &original))
		complaints = damage_it(&original);
	original_done(&original);
	return complaints;
}

static unsigned run_file(const char *path, damager damage_it)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	long count = -1;

	if (file && !fseek(file, 0, SEEK_END)) {
		count = ftell(file);
		rewind(file);
	}
	if (count > 0)
		bytes = malloc((size_t)count);
	if (!bytes || fread(bytes, 1, (size_t)count, file) != (size_t)count) {
		printf("%s: cannot be read\n", path);
		free(bytes);
		return 1;
	}
	(void)fclose(file);
	return run(path, bytes, (size_t)count, damage_it);
}

static unsigned run_presets(const char *const *names, size_t count, damager damage_it)
{
	unsigned complaints = 0;

	for (size_t i = 0; i < count; i++) {
		size_t bytes;
		uint8_t *made = preset_make(preset_find(names[i]), &bytes);

		complaints += run(names[i], made, bytes, damage_it);
	}
	return complaints;
}

static unsigned run_genuine(const char *const *names, size_t count, damager damage_it)
{
	const char *folder = getenv("ETW_TEST_DATA");
	unsigned complaints = 0;

	if (!folder) {
		printf("genuine traces are left out: ETW_TEST_DATA is not set\n");
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		complaints += run_file(path, damage_it);
	}
	return complaints;
}

static unsigned run_part(const char *part)
{
	if (!strcmp(part, "truncate"))
		return run_presets(presets_small, ARRAY_SIZE(presets_small), truncate_one) +
		       run_genuine(genuine_small, ARRAY_SIZE(genuine_small), truncate_one);
	if (!strcmp(part, "flip"))
		return run_presets(presets_flipped, ARRAY_SIZE(presets_flipped), flip_one) +
		       run_genuine(genuine_flipped, ARRAY_SIZE(genuine_flipped), flip_one);
	if (!strcmp(part, "matrix"))
		return run_presets(presets_matrix, ARRAY_SIZE(presets_matrix), matrix_damage) +
		       run_genuine(genuine_matrix, ARRAY_SIZE(genuine_matrix), matrix_damage);
	if (!strcmp(part, "flip-all"))
		return run_presets(presets_flipped, ARRAY_SIZE(presets_flipped), flip_all) +
		       run_genuine(genuine_small, ARRAY_SIZE(genuine_small), flip_all);
	return run_presets(presets_flipped, ARRAY_SIZE(presets_flipped), damage_semantic) +
	       run_genuine(genuine_small, ARRAY_SIZE(genuine_small), damage_semantic);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		damager damage_it;
	} parts[] = {{"truncate", truncate_one},
		     {"flip", flip_one},
		     {"flip-all", flip_all},
		     {"semantic", damage_semantic},
		     {"matrix", matrix_damage}};
	unsigned complaints = 0;
	size_t part = 0;

	while (argc > 1 && part < ARRAY_SIZE(parts) && strcmp(argv[1], parts[part].name) != 0)
		part++;
	if (argc < 2 || part == ARRAY_SIZE(parts)) {
		fprintf(stderr,
			"usage: corrupt truncate|flip|flip-all|semantic|matrix [FILE...]\n");
		return 2;
	}
	if (argc == 2)
		complaints = run_part(argv[1]);
	for (int i = 2; i < argc; i++)
		complaints += run_file(argv[i], parts[part].damage_it);
	printf("%" PRIu64 " cases, %" PRIu64 " refused, %" PRIu64
	       " untouched buffers kept, %" PRIu64 " findings, %u complaints\n",
	       original_totals.cases, original_totals.refused, original_totals.buffers_kept,
	       original_totals.findings, complaints);
	return complaints ? 1 : 0;
}
