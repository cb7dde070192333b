/* SPDX-License-Identifier: MIT */
/*
 * From schema to program. Every block (the top level, the members of a struct) is a contiguous range
 * of steps, reserved at its widest when the block begins: a field gives at most two steps. Structs
 * may share members or contain themselves in hostile schemas; depth, steps and prepared items have
 * limits, and what is beyond them becomes a step that fails with a reason.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "decode/format_wpp.h"
#include "decode/legible.h"
#include "decode/program.h"
#include "decode/program_internal.h"
#include "schema/types.h"

#define PREPARED_MAX    16384 /* beyond this, arrays and structs are no longer merged into runs */
#define MERGE_ITEMS_MAX 256   /* items of one array or struct that is merged into a run */
#define NO_SLOT         UINT32_MAX

struct compiler {
	struct etw_program *program;
	const struct etw_schema *schema;
	uint32_t *slot_of; /* owned: per field, its slot or NO_SLOT */
};

/* A block that is being filled. */
struct block {
	uint32_t first;
	uint32_t used;
	uint32_t open_run; /* step that further fixed fields join, or UINT32_MAX */
	uint8_t depth;     /* of the fields' items */
	uint8_t nesting;   /* structs around */
};

/* Bytes of in-types whose size needs no payload; -1 for the others. */
static int fixed_bytes_of(uint16_t in_type, unsigned pointer_bytes)
{
	const struct etw_type *type = etw_schema_type(in_type);

	if (type->extent == ETW_EXTENT_POINTER)
		return (int)pointer_bytes;
	return type->extent == ETW_EXTENT_FIXED ? type->bytes : -1;
}

/* What may be a count or a length. */
static bool is_integer(uint16_t in_type)
{
	unsigned kind = etw_schema_type(in_type)->kind;

	return kind == ETW_TYPE_SIGNED || kind == ETW_TYPE_UNSIGNED || kind == ETW_TYPE_HEX;
}

static bool is_signed(uint16_t in_type)
{
	return etw_schema_type(in_type)->kind == ETW_TYPE_SIGNED;
}

/* Bytes of one value of a field when the schema alone tells, else -1. */
static int32_t fixed_value_bytes(const struct compiler *compiler, const struct etw_field *field)
{
	if (field->in_type == TDH_INTYPE_BINARY && !(field->flags & PropertyParamLength)) {
		if (field->length || (field->flags & PropertyParamFixedLength))
			return field->length;
		return field->out_type == TDH_OUTTYPE_IPV6 ? 16 : -1;
	}
	return fixed_bytes_of(field->in_type, compiler->program->pointer_bytes);
}

static bool struct_is_valid(const struct compiler *compiler, const struct etw_field *field)
{
	return (uint32_t)field->struct_first + field->struct_count <= compiler->schema->field_count;
}

/*
 * The payload bytes of a field whose layout is fixed in full; false when it is not, or when merging
 * it would take too many items. @items counts up across the recursion, which also bounds it.
 */
static bool measure_fixed(const struct compiler *compiler, uint16_t index, unsigned nesting,
			  uint32_t *items, uint64_t *bytes)
{
	const struct etw_field *field = &compiler->schema->fields[index];
	bool is_array = etw_field_is_array(field);
	uint32_t count = is_array ? field->count : 1;
	uint64_t one = 0;
	uint32_t one_items = 1;

	if (field->flags & (PropertyParamCount | ETW_FIELD_OPTIONAL | ETW_FIELD_TO_END))
		return false;
	if (nesting > 0 && compiler->slot_of[index] != NO_SLOT)
		return false;
	if (count == 0) {
		*items += 1;
		return *items <= MERGE_ITEMS_MAX;
	}
	if (field->flags & PropertyStruct) {
		if (!struct_is_valid(compiler, field) || nesting >= ETW_SCHEMA_DEPTH_MAX)
			return false;
		for (unsigned i = 0; i < field->struct_count; i++) {
			if (one_items + *items > MERGE_ITEMS_MAX ||
			    !measure_fixed(compiler, (uint16_t)(field->struct_first + i),
					   nesting + 1, &one_items, &one))
				return false;
		}
	} else {
		int32_t size = fixed_value_bytes(compiler, field);

		if (size < 0)
			return false;
		one = (uint64_t)size;
	}
	uint64_t total = *items + (uint64_t)one_items * count + is_array;

	if (total > MERGE_ITEMS_MAX)
		return false;
	*items = (uint32_t)total;
	*bytes += one * count;
	return *bytes <= UINT32_MAX / 2;
}

static int prepare_item(struct etw_program *program, const struct etw_item *item)
{
	if (program->prepared_count == program->prepared_room) {
		size_t room = program->prepared_room ? 2 * program->prepared_room : 16;
		struct etw_item *grown = reallocarray(program->prepared, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		program->prepared = grown;
		program->prepared_room = room;
	}
	program->prepared[program->prepared_count++] = *item;
	return 0;
}

static int prepare_field(struct compiler *compiler, const struct step *run, uint16_t index,
			 uint8_t depth, uint32_t *offset);

/* One value or struct, without looking at whether the field is an array. */
static int prepare_element(struct compiler *compiler, const struct step *run, uint16_t index,
			   uint8_t depth, uint32_t element, uint32_t *offset)
{
	const struct etw_field *field = &compiler->schema->fields[index];
	struct etw_program *program = compiler->program;
	uint32_t self = program->prepared_count;
	struct etw_item item = {
		.kind = field->flags & PropertyStruct ? ETW_ITEM_STRUCT : ETW_ITEM_VALUE,
		.depth = depth,
		.field = index,
		.index = element,
		.offset = *offset,
	};

	TRY(prepare_item(program, &item));
	if (field->flags & PropertyStruct) {
		for (unsigned i = 0; i < field->struct_count; i++)
			TRY(prepare_field(compiler, run, (uint16_t)(field->struct_first + i),
					  (uint8_t)(depth + 1), offset));
	} else {
		*offset += (uint32_t)fixed_value_bytes(compiler, field);
	}
	program->prepared[self].end = program->prepared_count - run->first;
	program->prepared[self].bytes = *offset - item.offset;
	program->prepared[self].taken = *offset - item.offset;
	return 0;
}

static int prepare_field(struct compiler *compiler, const struct step *run, uint16_t index,
			 uint8_t depth, uint32_t *offset)
{
	const struct etw_field *field = &compiler->schema->fields[index];
	struct etw_program *program = compiler->program;
	uint32_t self = program->prepared_count;
	struct etw_item item = {
		.kind = ETW_ITEM_ARRAY,
		.depth = depth,
		.field = index,
		.count = field->count,
		.offset = *offset,
	};

	if (!etw_field_is_array(field))
		return prepare_element(compiler, run, index, depth, 0, offset);
	TRY(prepare_item(program, &item));
	for (uint32_t i = 0; i < field->count; i++)
		TRY(prepare_element(compiler, run, index, (uint8_t)(depth + 1), i, offset));
	program->prepared[self].end = program->prepared_count - run->first;
	program->prepared[self].bytes = *offset - item.offset;
	program->prepared[self].taken = *offset - item.offset;
	return 0;
}

static struct step *add_step(struct compiler *compiler, struct block *block, enum step_kind kind,
			     uint16_t field)
{
	struct step *step = &compiler->program->steps[block->first + block->used++];

	*step = (struct step){.kind = (uint8_t)kind, .field = field, .depth = block->depth};
	return step;
}

static void add_bad(struct compiler *compiler, struct block *block, uint16_t field,
		    const char *reason)
{
	struct step *step = add_step(compiler, block, STEP_BAD, field);

	if (compiler->schema->fields[field].flags & ETW_FIELD_OPTIONAL)
		step->flags = STEP_OPTIONAL;
	step->reason = reason;
	block->open_run = UINT32_MAX;
}

/* Joins a field of fixed layout to the open run, or opens one. */
static int add_fixed(struct compiler *compiler, struct block *block, uint16_t index, uint32_t bytes)
{
	const struct etw_field *field = &compiler->schema->fields[index];
	struct etw_program *program = compiler->program;
	bool is_optional = field->flags & ETW_FIELD_OPTIONAL;
	struct step *run;
	uint32_t offset;

	if (block->open_run == UINT32_MAX || is_optional) {
		block->open_run = block->first + block->used;
		run = add_step(compiler, block, STEP_RUN, index);
		run->first = program->prepared_count;
		run->flags = is_optional ? STEP_OPTIONAL : 0;
	}
	run = &program->steps[block->open_run];
	offset = run->size;
	if (compiler->slot_of[index] != NO_SLOT && !etw_field_is_array(field)) {
		struct step *save = add_step(compiler, block, STEP_SAVE, index);

		save->count = compiler->slot_of[index];
		save->first = offset;
		save->size = bytes;
		save->flags = is_signed(field->in_type) ? STEP_SIGNED : 0;
	}
	TRY(prepare_field(compiler, run, index, block->depth, &offset));
	run->items = program->prepared_count - run->first;
	run->size = offset;
	if (is_optional)
		block->open_run = UINT32_MAX;
	return 0;
}

/* The slot that a count or length index stands for; NO_SLOT with a reason when it cannot be. */
static uint32_t slot_for(const struct compiler *compiler, uint16_t index, const char **reason)
{
	if (index >= compiler->schema->field_count)
		*reason = "the count or length refers to a field that does not exist";
	else if (compiler->slot_of[index] == NO_SLOT)
		*reason = "the count or length refers to a field that is not an integer";
	else
		return compiler->slot_of[index];
	return NO_SLOT;
}

/* Rules of types whose length the schema or another field may give. */
static void choose_length_rule(const struct compiler *compiler, const struct etw_field *field,
			       struct step *step, const char **reason)
{
	const struct etw_type *type = etw_schema_type(field->in_type);
	bool is_text = type->kind != ETW_TYPE_BYTES;

	step->unit = type->unit;
	if (field->flags & PropertyParamLength) {
		step->rule = is_text ? SIZE_TEXT_SLOT : SIZE_BYTES_SLOT;
		step->size = slot_for(compiler, field->length, reason);
	} else if (!is_text) {
		int32_t bytes = fixed_value_bytes(compiler, field);

		step->rule = SIZE_FIXED;
		step->size = (uint32_t)bytes;
		if (bytes < 0)
			*reason = "the schema gives no length for this binary field";
	} else if (field->length || (field->flags & PropertyParamFixedLength)) {
		step->rule = SIZE_TEXT_UNITS;
		step->size = field->length;
	} else {
		step->rule = SIZE_TEXT_NUL;
	}
}

static void choose_rule(const struct compiler *compiler, const struct etw_field *field,
			struct step *step, const char **reason)
{
	int bytes = fixed_bytes_of(field->in_type, compiler->program->pointer_bytes);

	step->unit = 1;
	switch ((enum etw_type_extent)etw_schema_type(field->in_type)->extent) {
	case ETW_EXTENT_GIVEN:
		choose_length_rule(compiler, field, step, reason);
		return;
	case ETW_EXTENT_SID:
		step->rule = SIZE_SID;
		return;
	case ETW_EXTENT_WBEM_SID:
		step->rule = SIZE_WBEM_SID;
		step->unit = (uint8_t)(2 * compiler->program->pointer_bytes);
		return;
	case ETW_EXTENT_COUNT16:
		step->rule = SIZE_COUNT16;
		return;
	case ETW_EXTENT_COUNT16_BIG:
		step->rule = SIZE_COUNT16_BIG;
		return;
	case ETW_EXTENT_COUNT32:
		step->rule = SIZE_COUNT32;
		return;
	case ETW_EXTENT_TO_END:
		step->rule = SIZE_TO_END;
		return;
	case ETW_EXTENT_FIXED:
	case ETW_EXTENT_POINTER:
	case ETW_EXTENT_UNKNOWN:
		step->rule = SIZE_FIXED;
		step->size = (uint32_t)bytes;
		if (bytes < 0)
			*reason = "the type of this field is unknown";
	}
}

const char *etw_step_for_value(const struct etw_field *field, unsigned pointer_bytes,
			       struct step *ret)
{
	struct etw_program program = {.pointer_bytes = pointer_bytes};
	const struct compiler compiler = {.program = &program};
	const char *reason = NULL;

	*ret = (struct step){.kind = STEP_FIELD, .count = 1};
	choose_rule(&compiler, field, ret, &reason);
	return reason;
}

static int compile_block(struct compiler *compiler, struct block *block, uint16_t first,
			 uint16_t count);

/*
 * Where every field is a member of one struct, twice as many steps as fields are enough. Beyond this,
 * structs share their members; some of that is let pass.
 */
static uint32_t steps_limit(const struct etw_schema *schema)
{
	return 4u * schema->field_count + 256;
}

/* Reserves a block's steps. */
static int reserve_block(struct etw_program *program, uint32_t fields, uint32_t *ret_first)
{
	size_t need = (size_t)program->step_count + 2 * (size_t)fields;

	if (need > program->step_room || !program->steps) {
		size_t room = need < 8 ? 8 : 2 * need;
		struct step *grown = reallocarray(program->steps, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		program->steps = grown;
		program->step_room = room;
	}
	*ret_first = program->step_count;
	program->step_count = (uint32_t)need;
	return 0;
}

/* Whether a block always takes the same bytes: one run, and integers of it that are kept. */
static bool is_one_run(const struct etw_program *program, uint32_t first, uint32_t count)
{
	const struct step *steps = program->steps;

	if (count == 0 || steps[first].kind != STEP_RUN || (steps[first].flags & STEP_OPTIONAL))
		return false;
	for (uint32_t i = 1; i < count; i++) {
		if (steps[first + i].kind != STEP_SAVE)
			return false;
	}
	return true;
}

/* The members of a struct; @step is filled as far as that is possible without a reason. */
static int compile_struct(struct compiler *compiler, const struct block *block,
			  const struct etw_field *field, struct step *step, const char **reason)
{
	struct etw_program *program = compiler->program;
	struct block inner = {
		.open_run = UINT32_MAX,
		.depth = (uint8_t)(block->depth + 1 + (step->flags & STEP_ARRAY ? 1 : 0)),
		.nesting = (uint8_t)(block->nesting + 1),
	};

	step->rule = SIZE_STRUCT;
	if (!struct_is_valid(compiler, field)) {
		*reason = "the members of this struct lie outside the schema";
		return 0;
	}
	if (inner.nesting > ETW_SCHEMA_DEPTH_MAX) {
		*reason = "structs are nested too deeply";
		return 0;
	}
	if (program->step_count + 2u * field->struct_count > steps_limit(compiler->schema)) {
		*reason = "the structs of the schema share their members too often";
		return 0;
	}
	TRY(reserve_block(program, field->struct_count, &inner.first));
	TRY(compile_block(compiler, &inner, field->struct_first, field->struct_count));
	step->first = inner.first;
	step->items = inner.used;
	if (is_one_run(program, inner.first, inner.used))
		step->fixed_bytes = program->steps[inner.first].size;
	return 0;
}

static int add_field(struct compiler *compiler, struct block *block, uint16_t index)
{
	const struct etw_field *field = &compiler->schema->fields[index];
	struct step step = {.kind = STEP_FIELD, .field = index, .depth = block->depth, .count = 1};
	const char *reason = NULL;

	if (field->flags & ETW_FIELD_OPTIONAL)
		step.flags |= STEP_OPTIONAL;
	if (etw_field_is_array(field)) {
		step.flags |= STEP_ARRAY;
		step.count = field->count;
	}
	if (field->flags & ETW_FIELD_TO_END) {
		step.flags |= STEP_TO_END;
	} else if (field->flags & PropertyParamCount) {
		step.flags |= STEP_COUNT_SLOT;
		step.count = slot_for(compiler, field->count, &reason);
	}
	if (!reason && (field->flags & PropertyStruct))
		TRY(compile_struct(compiler, block, field, &step, &reason));
	else if (!reason)
		choose_rule(compiler, field, &step, &reason);
	if (reason) {
		add_bad(compiler, block, index, reason);
		return 0;
	}
	*add_step(compiler, block, STEP_FIELD, index) = step;
	block->open_run = UINT32_MAX;
	return 0;
}

static int compile_block(struct compiler *compiler, struct block *block, uint16_t first,
			 uint16_t count)
{
	const struct etw_field *fields = compiler->schema->fields;

	for (unsigned i = 0; i < count; i++) {
		uint16_t index = (uint16_t)(first + i);
		const struct etw_field *field = &fields[index];
		uint64_t bytes = 0;
		uint32_t items = 0;
		bool is_plain = !(field->flags & PropertyStruct) && !etw_field_is_array(field);

		if (is_plain && fixed_value_bytes(compiler, field) >= 0)
			TRY(add_fixed(compiler, block, index,
				      (uint32_t)fixed_value_bytes(compiler, field)));
		else if (!is_plain && compiler->program->prepared_count < PREPARED_MAX &&
			 measure_fixed(compiler, index, block->nesting, &items, &bytes))
			TRY(add_fixed(compiler, block, index, (uint32_t)bytes));
		else
			TRY(add_field(compiler, block, index));
	}
	return 0;
}

/* Gives a slot to every integer that a count or length refers to. */
static int assign_slots(struct compiler *compiler)
{
	const struct etw_schema *schema = compiler->schema;

	compiler->slot_of = reallocarray(NULL, schema->field_count + 1u, sizeof(uint32_t));
	if (!compiler->slot_of)
		return -ENOMEM;
	memset(compiler->slot_of, 0xFF, (schema->field_count + 1u) * sizeof(uint32_t));
	for (unsigned i = 0; i < schema->field_count; i++) {
		const struct etw_field *field = &schema->fields[i];
		uint16_t refers[2] = {field->count, field->length};
		bool is_used[2] = {field->flags & PropertyParamCount,
				   field->flags & PropertyParamLength};

		for (unsigned k = 0; k < 2; k++) {
			if (!is_used[k] || refers[k] >= schema->field_count ||
			    compiler->slot_of[refers[k]] != NO_SLOT)
				continue;
			const struct etw_field *target = &schema->fields[refers[k]];

			if (is_integer(target->in_type) && !(target->flags & PropertyStruct) &&
			    !etw_field_is_array(target))
				compiler->slot_of[refers[k]] = compiler->program->slot_count++;
		}
	}
	return 0;
}

static int compile(struct compiler *compiler)
{
	struct etw_program *program = compiler->program;
	struct block top = {.open_run = UINT32_MAX};

	assert(compiler->schema->top_count <= compiler->schema->field_count);
	TRY(assign_slots(compiler));
	TRY(reserve_block(program, compiler->schema->top_count, &top.first));
	TRY(compile_block(compiler, &top, 0, compiler->schema->top_count));
	program->top_steps = top.used;
	program->is_fixed = is_one_run(program, top.first, top.used);
	return 0;
}

int etw_program_compile(const struct etw_schema *schema, unsigned pointer_bytes,
			struct etw_program **ret)
{
	CLEANUP(etw_program_freep) struct etw_program *program = calloc(1, sizeof(*program));
	struct compiler compiler = {.program = program, .schema = schema};

	if (!program)
		return -ENOMEM;
	program->pointer_bytes = pointer_bytes;
	program->has_text = etw_legible_schema(schema);
	int r = compile(&compiler);

	free(compiler.slot_of);
	TRY(r);
	if (schema->wpp)
		TRY(etw_wpp_form_compile(schema->wpp, &program->wpp_form));
	*ret = TAKE(program);
	return 0;
}

void etw_program_free(struct etw_program *program)
{
	if (!program)
		return;
	free(program->steps);
	free(program->prepared);
	etw_wpp_form_free(program->wpp_form);
	free(program);
}

void etw_program_freep(struct etw_program **program)
{
	etw_program_free(*program);
}
