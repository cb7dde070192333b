/* SPDX-License-Identifier: MIT */
#include "schema/left_out.h"

#include <assert.h>
#include <string.h>

#include "base/guid.h"
#include "base/macros.h"
#include "wire/well_known.h"

#define FIELD(name_, in_, out_, length_)                                                      \
	{                                                                                     \
		.name = (name_), .in_type = TDH_INTYPE_##in_, .out_type = TDH_OUTTYPE_##out_, \
		.count = 1, .length = (length_)                                               \
	}
#define U8(name_)   FIELD(name_, UINT8, UNSIGNEDBYTE, 1)
#define U16(name_)  FIELD(name_, UINT16, UNSIGNEDSHORT, 2)
#define I32(name_)  FIELD(name_, INT32, INT, 4)
#define U32(name_)  FIELD(name_, UINT32, UNSIGNEDINT, 4)
#define U64(name_)  FIELD(name_, UINT64, UNSIGNEDLONG, 8)
#define X64(name_)  FIELD(name_, UINT64, HEXINT64, 8)
#define SIZE(name_) FIELD(name_, POINTER, HEXINT64, 8)

/* Structs of @members_ members from @first_ on, as many as @count_ says in the form of @flags_. */
#define STRUCTS(name_, flags_, count_, first_, members_)                                \
	{                                                                               \
		.name = (name_), .flags = PropertyStruct | (flags_), .count = (count_), \
		.struct_first = (first_), .struct_count = (members_),                   \
	}

/* Of a generation in GCPerHeapHistory: ten sizes, the last two or three of which changed their meaning. */
#define GENERATION_OF_4_5                                                                     \
	SIZE("SizeBefore"), SIZE("FreeListBefore"), SIZE("FreeObjBefore"), SIZE("SizeAfter"), \
		SIZE("FreeListAfter"), SIZE("FreeObjAfter"), SIZE("In"), SIZE("Out"),         \
		SIZE("NewAllocation"), SIZE("Surv")
#define GENERATION_OF_V3                                                                      \
	SIZE("SizeBefore"), SIZE("FreeListBefore"), SIZE("FreeObjBefore"), SIZE("SizeAfter"), \
		SIZE("FreeListAfter"), SIZE("FreeObjAfter"), SIZE("In"), SIZE("PinnedSurv"),  \
		SIZE("NonePinnedSurv"), SIZE("NewAllocation")
#define GENERATION_FIELDS 10
#define GENERATIONS       5 /* 0 to 2, large objects, and 0 once more where pinned plugs moved it */

#define PER_HEAP_BEGINS(first_)                                                             \
	STRUCTS("Values", PropertyParamFixedCount, GENERATIONS, first_, GENERATION_FIELDS), \
		U32("CondemnReasons0"), U32("CondemnReasons1"), U32("MemoryPressure"),      \
		U32("ExpandMechanisms"), U32("CompactMechanisms"), U32("HeapIndex")

static const struct etw_field per_heap_private[] = {PER_HEAP_BEGINS(9), X64("ExtraGen0Commit"),
						    U8("ClrInstanceID"), GENERATION_OF_4_5};

static const struct etw_field per_heap_private_early[] = {PER_HEAP_BEGINS(8), U8("ClrInstanceID"),
							  GENERATION_OF_4_5};

static const struct etw_field heap_stats[] = {
	X64("GenerationSize0"),
	X64("TotalPromotedSize0"),
	X64("GenerationSize1"),
	X64("TotalPromotedSize1"),
	X64("GenerationSize2"),
	X64("TotalPromotedSize2"),
	X64("GenerationSize3"),
	X64("TotalPromotedSize3"),
	X64("FinalizationPromotedSize"),
	U64("FinalizationPromotedCount"),
	U32("PinnedObjectCount"),
	U32("SinkBlockCount"),
	U32("GCHandleCount"),
	U16("ClrInstanceID"),
	X64("GenerationSize4"),
	X64("TotalPromotedSize4"),
};

#define PER_HEAP_COUNT 14 /* index of Count */
static const struct etw_field per_heap[] = {
	U16("ClrInstanceID"),
	SIZE("FreeListAllocated"),
	SIZE("FreeListRejected"),
	SIZE("EndOfSegAllocated"),
	SIZE("CondemnedAllocated"),
	SIZE("PinnedAllocated"),
	SIZE("PinnedAllocatedAdvance"),
	U32("RunningFreeListEfficiency"),
	U32("CondemnReasons0"),
	U32("CondemnReasons1"),
	U32("CompactMechanisms"),
	U32("ExpandMechanisms"),
	U32("HeapIndex"),
	SIZE("ExtraGen0Commit"),
	U32("Count"),
	STRUCTS("Values", PropertyParamCount, PER_HEAP_COUNT, 16, GENERATION_FIELDS),
	GENERATION_OF_V3,
};

#define GLOBAL_HEAP_COUNT 11 /* index of Count */
static const struct etw_field global_heap[] = {
	X64("FinalYoungestDesired"),
	I32("NumHeaps"),
	U32("CondemnedGeneration"),
	U32("Gen0ReductionCount"),
	U32("Reason"),
	U32("GlobalMechanisms"),
	U16("ClrInstanceID"),
	U32("PauseMode"),
	U32("MemoryPressure"),
	U32("CondemnReasons0"),
	U32("CondemnReasons1"),
	U32("Count"),
	STRUCTS("Values", PropertyParamCount, GLOBAL_HEAP_COUNT, 13, 1),
	U32("Time"),
};

static_assert(ARRAY_SIZE(per_heap_private) == 9 + GENERATION_FIELDS, "members behind the fields");
static_assert(ARRAY_SIZE(per_heap_private_early) == 8 + GENERATION_FIELDS, "the same");
static_assert(ARRAY_SIZE(per_heap) == 16 + GENERATION_FIELDS, "the same");

#define LAYOUT(provider_, id_, version_, fields_, top_)                       \
	{                                                                     \
		provider_, id_, version_, ARRAY_SIZE(fields_), top_, fields_, \
	}

static const struct etw_left_out layouts[] = {
	LAYOUT(WIRE_PROVIDER_DOTNET_PRIVATE, 4, 2, per_heap_private, 9),
	LAYOUT(WIRE_PROVIDER_DOTNET_PRIVATE, 4, 2, per_heap_private_early, 8),
	LAYOUT(WIRE_PROVIDER_DOTNET_RUNTIME, 4, 2, heap_stats, 16),
	LAYOUT(WIRE_PROVIDER_DOTNET_RUNTIME, 204, 3, per_heap, 16),
	LAYOUT(WIRE_PROVIDER_DOTNET_RUNTIME, 205, 4, global_heap, 13),
};

/* Whether the schema has the first fields of the layout and no others. */
static bool begins(const struct etw_schema *schema, const struct etw_left_out *layout)
{
	if (schema->top_count >= layout->top_count || schema->field_count != schema->top_count)
		return false;
	for (uint16_t i = 0; i < schema->top_count; i++) {
		const struct etw_field *have = &schema->fields[i], *want = &layout->fields[i];

		if (strcmp(have->name, want->name) != 0 || have->in_type != want->in_type ||
		    have->flags != want->flags || have->count != want->count)
			return false;
	}
	return true;
}

const struct etw_left_out *etw_left_out_find(const struct etw_schema *schema, unsigned nth)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct etw_left_out *layout = &layouts[i];

		if (layout->id == schema->descriptor.Id &&
		    layout->version == schema->descriptor.Version &&
		    etw_guid_equal(&layout->provider, &schema->provider) &&
		    begins(schema, layout) && !nth--)
			return layout;
	}
	return NULL;
}
