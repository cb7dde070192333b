/* SPDX-License-Identifier: MIT */
/* The programs of the tables' entries. */
#include "base/unwind_internal.h"

#define STATES_MAX 8 /* that a program may remember */

/* Operations of expressions. */
#define OP_DEREF 0x06
#define OP_AND   0x1A
#define OP_PLUS  0x22
#define OP_SHL   0x24
#define OP_GE    0x2A
#define OP_LIT0  0x30
#define OP_BREG0 0x70

#define LINKAGE_STUB_BYTES 16 /* of x86-64's procedure linkage table */
#define LINKAGE_SHIFT      3  /* one word */

struct machine {
	const struct etw_unwind_entry *entry;
	struct etw_unwind_rule now, initial; /* initial: behind the common program */
	struct etw_unwind_rule states[STATES_MAX];
	unsigned depth;
	bool has_initial;
	bool is_strange; /* something that cannot be told in a rule */
	bool is_cfa_strange;
	bool were_strange[STATES_MAX]; /* is_cfa_strange of the states */
	uint64_t at, pc;               /* what the program has come to; what is asked for */
};

/* The place of a register that is followed; NULL: one that is not. */
static struct etw_unwind_place *place_of(struct etw_unwind_rule *rule, uint64_t number)
{
	if (number == FRAME_REGISTER)
		return &rule->frame;
	return number == ADDRESS_REGISTER ? &rule->address : NULL;
}

/* An offset in steps. A hostile file's may be any number: it wraps, and what does not fit into a rule is none. */
static int64_t scale(const struct machine *machine, uint64_t steps)
{
	return (int64_t)(steps * (uint64_t)machine->entry->data_step);
}

static void set_place(struct machine *machine, uint64_t number, uint8_t kind, int64_t offset)
{
	struct etw_unwind_place *place = place_of(&machine->now, number);

	if (!place)
		return;
	*place = (struct etw_unwind_place){.kind = kind, .base = ETW_UNWIND_CFA};
	if (__builtin_add_overflow(offset, 0, &place->offset))
		machine->is_strange = true;
}

static void restore(struct machine *machine, uint64_t number)
{
	struct etw_unwind_place *place = place_of(&machine->now, number);

	if (place && machine->has_initial)
		*place = *place_of(&machine->initial, number);
}

static void set_cfa_base(struct machine *machine, uint64_t number)
{
	machine->is_cfa_strange = number != STACK_REGISTER && number != FRAME_REGISTER;
	machine->now.cfa.kind = ETW_UNWIND_SAME;
	machine->now.cfa.base = number == FRAME_REGISTER ? ETW_UNWIND_FRAME : ETW_UNWIND_STACK;
}

static void set_cfa_offset(struct machine *machine, int64_t offset)
{
	if (__builtin_add_overflow(offset, 0, &machine->now.cfa.offset))
		machine->is_strange = true;
}

/* A register and an offset, and perhaps what is there in memory. Returns whether it is one of these. */
static bool read_expression(struct etw_unwind_bytes *bytes, struct etw_unwind_place *ret,
			    bool *ret_is_loaded)
{
	struct etw_unwind_bytes expression = etw_unwind_take_part(bytes,
								  etw_unwind_take_uleb(bytes));
	const uint8_t operation = etw_unwind_take_u8(&expression);
	const int64_t offset = etw_unwind_take_sleb(&expression);

	*ret = (struct etw_unwind_place){.kind = ETW_UNWIND_SAVED};
	if (operation == OP_BREG0 + (uint8_t)STACK_REGISTER)
		ret->base = ETW_UNWIND_STACK;
	else if (operation == OP_BREG0 + (uint8_t)FRAME_REGISTER)
		ret->base = ETW_UNWIND_FRAME;
	else
		return false;
	*ret_is_loaded = expression.at < expression.end;
	if (*ret_is_loaded &&
	    (etw_unwind_take_u8(&expression) != OP_DEREF || expression.at < expression.end))
		return false;
	return !expression.is_short && !__builtin_add_overflow(offset, 0, &ret->offset);
}

/*
 * What linkers write of the lazy procedure linkage table of x86-64, whose stubs have no entries of their own: the stack pointer
 * and an offset, and one word more in the part of each stub that is behind its push:
 * breg7 OFFSET; breg16 0; lit15; and; litN; ge; lit3; shl; plus.
 */
static bool read_linkage_expression(const struct machine *machine, struct etw_unwind_bytes bytes,
				    int32_t *ret)
{
	static const uint8_t before[] = {OP_BREG0 + 16, 0, OP_LIT0 + LINKAGE_STUB_BYTES - 1,
					 OP_AND};
	static const uint8_t behind[] = {OP_GE, OP_LIT0 + LINKAGE_SHIFT, OP_SHL, OP_PLUS};
	struct etw_unwind_bytes expression = etw_unwind_take_part(&bytes,
								  etw_unwind_take_uleb(&bytes));
	const uint8_t operation = etw_unwind_take_u8(&expression);
	const int64_t offset = etw_unwind_take_sleb(&expression);
	int64_t pushed = 0;
	uint8_t pushed_at;

	if (ADDRESS_REGISTER != 16 || operation != OP_BREG0 + (uint8_t)STACK_REGISTER)
		return false;
	for (size_t i = 0; i < sizeof(before); i++)
		if (etw_unwind_take_u8(&expression) != before[i])
			return false;
	pushed_at = (uint8_t)(etw_unwind_take_u8(&expression) - OP_LIT0);
	for (size_t i = 0; i < sizeof(behind); i++)
		if (etw_unwind_take_u8(&expression) != behind[i])
			return false;
	if (expression.is_short || expression.at < expression.end ||
	    pushed_at >= LINKAGE_STUB_BYTES)
		return false;
	/* The table begins where a stub may; a copy of the object may lie at any address. */
	if ((machine->pc - machine->entry->begin) % LINKAGE_STUB_BYTES >= pushed_at)
		pushed = 1 << LINKAGE_SHIFT;
	return !__builtin_add_overflow(offset, pushed, ret);
}

static void set_cfa_expression(struct machine *machine, struct etw_unwind_bytes *bytes)
{
	struct etw_unwind_place linkage = {.kind = ETW_UNWIND_SAME, .base = ETW_UNWIND_STACK};
	bool is_loaded = false;

	if (read_linkage_expression(machine, *bytes, &linkage.offset)) {
		etw_unwind_skip(bytes, etw_unwind_take_uleb(bytes));
		machine->now.cfa = linkage;
		machine->is_cfa_strange = false;
		return;
	}
	machine->is_cfa_strange = !read_expression(bytes, &machine->now.cfa, &is_loaded);
	if (!is_loaded)
		machine->now.cfa.kind = ETW_UNWIND_SAME;
}

static void set_place_expression(struct machine *machine, struct etw_unwind_bytes *bytes)
{
	struct etw_unwind_place *place = place_of(&machine->now, etw_unwind_take_uleb(bytes));
	struct etw_unwind_place read;
	bool is_loaded = false;
	const bool is_known = read_expression(bytes, &read, &is_loaded) && !is_loaded;

	if (!place)
		return;
	*place = read;
	if (!is_known)
		machine->is_strange = true;
}

static void remember(struct machine *machine)
{
	if (machine->depth == STATES_MAX) {
		machine->is_strange = true;
		return;
	}
	machine->were_strange[machine->depth] = machine->is_cfa_strange;
	machine->states[machine->depth++] = machine->now;
}

static void recall(struct machine *machine)
{
	if (machine->depth == 0) {
		machine->is_strange = true;
		return;
	}
	machine->now = machine->states[--machine->depth];
	machine->is_cfa_strange = machine->were_strange[machine->depth];
}

enum {
	CFA_ADVANCE = 0x40, /* the upper two bits; the rest is an operand */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xC0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_1 = 0x02,
	CFA_ADVANCE_2 = 0x03,
	CFA_ADVANCE_4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0A,
	CFA_RECALL = 0x0B,
	CFA_DEF = 0x0C,
	CFA_DEF_REGISTER = 0x0D,
	CFA_DEF_OFFSET = 0x0E,
	CFA_DEF_EXPRESSION = 0x0F,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_SF = 0x12,
	CFA_DEF_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_NEGATE_RA = 0x2D,
	CFA_ARGS_SIZE = 0x2E,
};

/* Of a register that is followed, what no rule can say. */
static void note_strange(struct machine *machine, uint64_t number)
{
	if (place_of(&machine->now, number))
		machine->is_strange = true;
}

/* Where a register's value was saved, or that it has none. */
static bool run_register(struct machine *machine, uint8_t code, struct etw_unwind_bytes *bytes)
{
	uint64_t number;

	switch (code) {
	case CFA_OFFSET_EXTENDED:
		number = etw_unwind_take_uleb(bytes);
		set_place(machine, number, ETW_UNWIND_SAVED,
			  scale(machine, etw_unwind_take_uleb(bytes)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		number = etw_unwind_take_uleb(bytes);
		set_place(machine, number, ETW_UNWIND_SAVED,
			  scale(machine, (uint64_t)etw_unwind_take_sleb(bytes)));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(machine, etw_unwind_take_uleb(bytes));
		return true;
	case CFA_UNDEFINED:
		set_place(machine, etw_unwind_take_uleb(bytes), ETW_UNWIND_NONE, 0);
		return true;
	case CFA_SAME_VALUE:
		set_place(machine, etw_unwind_take_uleb(bytes), ETW_UNWIND_SAME, 0);
		return true;
	case CFA_EXPRESSION:
		set_place_expression(machine, bytes);
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		note_strange(machine, etw_unwind_take_uleb(bytes));
		(void)etw_unwind_take_uleb(bytes);
		return true;
	case CFA_VAL_EXPRESSION:
		note_strange(machine, etw_unwind_take_uleb(bytes));
		etw_unwind_skip(bytes, etw_unwind_take_uleb(bytes));
		return true;
	default:
		return false;
	}
}

/* Where the frame lies. */
static bool run_cfa(struct machine *machine, uint8_t code, struct etw_unwind_bytes *bytes)
{
	switch (code) {
	case CFA_DEF:
		set_cfa_base(machine, etw_unwind_take_uleb(bytes));
		set_cfa_offset(machine, (int64_t)etw_unwind_take_uleb(bytes));
		return true;
	case CFA_DEF_SF:
		set_cfa_base(machine, etw_unwind_take_uleb(bytes));
		set_cfa_offset(machine, scale(machine, (uint64_t)etw_unwind_take_sleb(bytes)));
		return true;
	case CFA_DEF_REGISTER:
		set_cfa_base(machine, etw_unwind_take_uleb(bytes));
		return true;
	case CFA_DEF_OFFSET:
		set_cfa_offset(machine, (int64_t)etw_unwind_take_uleb(bytes));
		return true;
	case CFA_DEF_OFFSET_SF:
		set_cfa_offset(machine, scale(machine, (uint64_t)etw_unwind_take_sleb(bytes)));
		return true;
	case CFA_DEF_EXPRESSION:
		set_cfa_expression(machine, bytes);
		return true;
	default:
		return false;
	}
}

static bool run_other(struct machine *machine, uint8_t code, struct etw_unwind_bytes *bytes)
{
	switch (code) {
	case CFA_NOP:
	case CFA_NEGATE_RA: /* the address is signed, which etw_stack_walk() takes away */
		return true;
	case CFA_SET_LOC:
		machine->at = etw_unwind_take_pointer(bytes, machine->entry->pointers);
		return true;
	case CFA_ADVANCE_1:
		machine->at += etw_unwind_take_unsigned(bytes, 1) * machine->entry->code_step;
		return true;
	case CFA_ADVANCE_2:
		machine->at += etw_unwind_take_unsigned(bytes, 2) * machine->entry->code_step;
		return true;
	case CFA_ADVANCE_4:
		machine->at += etw_unwind_take_unsigned(bytes, 4) * machine->entry->code_step;
		return true;
	case CFA_REMEMBER:
		remember(machine);
		return true;
	case CFA_RECALL:
		recall(machine);
		return true;
	case CFA_ARGS_SIZE:
		(void)etw_unwind_take_uleb(bytes);
		return true;
	default:
		return run_cfa(machine, code, bytes) || run_register(machine, code, bytes);
	}
}

/* Runs a program as far as it is about addresses up to @pc. */
static bool run(struct machine *machine, struct etw_unwind_bytes bytes, uint64_t pc)
{
	while (bytes.at < bytes.end && machine->at <= pc) {
		const uint8_t code = etw_unwind_take_u8(&bytes);
		const uint8_t operand = code & 0x3F;
		struct machine *m = machine;

		switch (code & 0xC0) {
		case CFA_ADVANCE:
			m->at += operand * m->entry->code_step;
			break;
		case CFA_OFFSET:
			set_place(m, operand, ETW_UNWIND_SAVED,
				  scale(m, etw_unwind_take_uleb(&bytes)));
			break;
		case CFA_RESTORE:
			restore(m, operand);
			break;
		default:
			if (!run_other(m, code, &bytes))
				return false;
		}
		/* What follows is about the code behind @pc. */
		if (machine->at > pc)
			break;
	}
	return !bytes.is_short && !machine->is_strange;
}

bool etw_unwind_run(const struct etw_unwind_entry *entry, uint64_t pc, struct etw_unwind_rule *ret)
{
	struct machine machine = {.entry = entry, .pc = pc};

	machine.at = entry->begin;
	machine.now.is_signal = entry->is_signal;
	machine.now.frame.base = machine.now.address.base = ETW_UNWIND_CFA;
	if (!run(&machine, entry->common, UINT64_MAX))
		return false;
	machine.initial = machine.now;
	machine.has_initial = true;
	machine.at = entry->begin;
	if (!run(&machine, entry->own, pc) || machine.is_cfa_strange)
		return false;
	*ret = machine.now;
	return true;
}
