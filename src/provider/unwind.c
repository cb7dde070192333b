/* SPDX-License-Identifier: MIT */
#include "provider/unwind.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include "base/bytes.h"

/* Numbers of registers in the tables. */
#if defined(__x86_64__)
#define STACK_REGISTER   7
#define FRAME_REGISTER   6
#define ADDRESS_REGISTER 16
#elif defined(__aarch64__)
#define STACK_REGISTER   31
#define FRAME_REGISTER   29
#define ADDRESS_REGISTER 30
#elif defined(__i386__)
#define STACK_REGISTER   4
#define FRAME_REGISTER   5
#define ADDRESS_REGISTER 8
#else
#define STACK_REGISTER   UINT64_MAX
#define FRAME_REGISTER   UINT64_MAX
#define ADDRESS_REGISTER UINT64_MAX
#endif

#define STATES_MAX 8 /* that a program may remember */

/* Encodings of pointers. */
#define POINTER_NONE     0xFF
#define POINTER_FORMAT   0x0F
#define POINTER_RELATIVE 0x70
#define POINTER_TO_HERE  0x10
#define POINTER_TO_TABLE 0x30
#define POINTER_ABSOLUTE 0x00
#define FORMAT_ADDRESS   0x00
#define FORMAT_U16       0x02
#define FORMAT_U32       0x03
#define FORMAT_U64       0x04
#define FORMAT_S16       0x0A
#define FORMAT_S32       0x0B
#define FORMAT_S64       0x0C

#define TABLE_SORTED (POINTER_TO_TABLE | FORMAT_S32)

/* Operations of expressions. */
#define OP_DEREF 0x06
#define OP_BREG0 0x70

/* Bytes of an object; what is read behind their end is 0, and the end is noted. */
struct bytes {
	const uint8_t *at, *end;
	bool is_short;
};

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
/*
 * Of a program that is fully static the C library tells the code alone, and the tables lie behind it: here is where the
 * whole of it lies. @base: how far from the addresses in its file
 */
static void widen_to_program(struct etw_unwind_object *object, uintptr_t base)
{
	const ElfW(Phdr) *header =
		(const void *)getauxval(AT_PHDR); /* NOLINT(performance-no-int-to-ptr) */

	for (unsigned long i = getauxval(AT_PHNUM); i > 0; i--, header++) {
		const uintptr_t start = base + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (start < object->start)
			object->start = start;
		if (start + header->p_filesz > object->end)
			object->end = start + header->p_filesz;
	}
}
#endif

bool etw_unwind_find_object(uintptr_t pc, struct etw_unwind_object *object)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
	struct dl_find_object found;

	if (object->start && pc >= object->start && pc < object->end)
		return true;
	if (_dl_find_object((void *)pc, &found) != 0)
		return false;
	object->start = (uintptr_t)found.dlfo_map_start;
	object->end = (uintptr_t)found.dlfo_map_end;
	object->table = found.dlfo_eh_frame;
	if ((uintptr_t)object->table - object->start >= object->end - object->start &&
	    object->table)
		widen_to_program(object, found.dlfo_link_map->l_addr);
	return true;
#else
	(void)pc;
	(void)object;
	return false;
#endif
}

/* Where the next @count bytes are; NULL: there are fewer. */
static const uint8_t *take(struct bytes *bytes, size_t count)
{
	const uint8_t *at = bytes->at;

	if ((size_t)(bytes->end - at) < count) {
		bytes->is_short = true;
		bytes->at = bytes->end;
		return NULL;
	}
	bytes->at += count;
	return at;
}

/* An integer of 1, 2, 4 or 8 bytes. The tables have the machine's order of bytes, which is little-endian on all. */
static uint64_t take_unsigned(struct bytes *bytes, size_t count)
{
	const uint8_t *at = take(bytes, count);

	return at ? etw_load_unsigned(at, count) : 0;
}

static uint64_t take_signed(struct bytes *bytes, size_t count)
{
	const uint8_t *at = take(bytes, count);

	return at ? (uint64_t)etw_load_signed(at, count) : 0;
}

static uint8_t take_u8(struct bytes *bytes)
{
	return (uint8_t)take_unsigned(bytes, sizeof(uint8_t));
}

static uint32_t take_u32(struct bytes *bytes)
{
	return (uint32_t)take_unsigned(bytes, sizeof(uint32_t));
}

static uint64_t take_uleb(struct bytes *bytes)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = take_u8(bytes);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static int64_t take_sleb(struct bytes *bytes)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = take_u8(bytes);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

static void skip(struct bytes *bytes, uint64_t count)
{
	if ((uint64_t)(bytes->end - bytes->at) < count) {
		bytes->is_short = true;
		count = (uint64_t)(bytes->end - bytes->at);
	}
	bytes->at += count;
}

/* The next @count bytes by themselves. */
static struct bytes take_part(struct bytes *bytes, uint64_t count)
{
	struct bytes part = {.at = bytes->at};

	skip(bytes, count);
	part.end = bytes->at;
	return part;
}

/* An encoded pointer; relative ones but for those to their own place are none that a table of code has. */
static uint64_t take_pointer(struct bytes *bytes, uint8_t encoding)
{
	const uint64_t here = (uintptr_t)bytes->at;
	uint64_t value;

	switch (encoding & POINTER_FORMAT) {
	case FORMAT_ADDRESS:
		value = take_unsigned(bytes, sizeof(void *));
		break;
	case FORMAT_U16:
		value = take_unsigned(bytes, 2);
		break;
	case FORMAT_S16:
		value = take_signed(bytes, 2);
		break;
	case FORMAT_U32:
		value = take_unsigned(bytes, 4);
		break;
	case FORMAT_S32:
		value = take_signed(bytes, 4);
		break;
	case FORMAT_U64:
	case FORMAT_S64:
		value = take_unsigned(bytes, 8);
		break;
	default:
		bytes->is_short = true;
		return 0;
	}
	if ((encoding & POINTER_RELATIVE) == POINTER_TO_HERE)
		return here + value;
	if ((encoding & POINTER_RELATIVE) != POINTER_ABSOLUTE)
		bytes->is_short = true;
	return value;
}

/* What the entry of a function, and that which it has in common with others, say. */
struct entry {
	uint64_t begin, end; /* addresses of code */
	uint64_t code_step;
	int64_t data_step;
	struct bytes common, own; /* programs */
	uint64_t address_register;
	uint8_t pointers; /* how the entry's own are encoded */
	bool has_data;    /* bytes of a length that is told stand in front of the entry's program */
	bool is_signal;
};

/* An entry's length, and where it ends. Larger ones than 4 GiB have another form, and there are none. */
static bool take_entry(const struct etw_unwind_object *object, const uint8_t *at, struct bytes *ret)
{
	uint32_t length;

	if ((uintptr_t)at < object->start || (uintptr_t)at >= object->end)
		return false;
	*ret = (struct bytes){.at = at, .end = at + (object->end - (uintptr_t)at)};
	length = take_u32(ret);
	if (ret->is_short || length == UINT32_MAX || length > (size_t)(ret->end - ret->at))
		return false;
	ret->end = ret->at + length;
	return length > 0;
}

/* The letters of a common entry that tell what its data is. */
static bool read_augmentation(struct bytes letters, struct bytes *data, struct entry *entry)
{
	(void)take_u8(&letters); /* 'z' */
	for (uint8_t letter = take_u8(&letters); letter; letter = take_u8(&letters)) {
		uint8_t encoding;

		switch (letter) {
		case 'R':
			entry->pointers = take_u8(data);
			break;
		case 'P':
			encoding = take_u8(data);
			(void)take_pointer(data, encoding & POINTER_FORMAT);
			break;
		case 'L':
			(void)take_u8(data);
			break;
		case 'S':
			entry->is_signal = true;
			break;
		case 'B':
			break;
		default:
			return false;
		}
	}
	return !data->is_short;
}

static bool read_common(const struct etw_unwind_object *object, const uint8_t *at,
			struct entry *entry)
{
	struct bytes bytes, letters, data;
	uint8_t version;

	if (!take_entry(object, at, &bytes) || take_u32(&bytes) != 0)
		return false;
	version = take_u8(&bytes);
	letters = bytes;
	while (take_u8(&bytes) != 0 && !bytes.is_short)
		;
	entry->code_step = take_uleb(&bytes);
	entry->data_step = take_sleb(&bytes);
	entry->address_register = version == 1 ? take_u8(&bytes) : take_uleb(&bytes);
	entry->pointers = FORMAT_ADDRESS;
	if (bytes.is_short || entry->address_register != ADDRESS_REGISTER)
		return false;
	if (*letters.at == 'z') {
		entry->has_data = true;
		data = take_part(&bytes, take_uleb(&bytes));
		if (!read_augmentation(letters, &data, entry))
			return false;
	} else if (*letters.at != 0) {
		return false;
	}
	entry->common = bytes;
	return !bytes.is_short;
}

static bool read_entry(const struct etw_unwind_object *object, const uint8_t *at, struct entry *ret)
{
	struct bytes bytes;
	const uint8_t *back;
	uint32_t distance;

	if (!take_entry(object, at, &bytes))
		return false;
	back = bytes.at;
	distance = take_u32(&bytes);
	*ret = (struct entry){0};
	if (distance == 0 || distance > (uintptr_t)back - object->start ||
	    !read_common(object, back - distance, ret))
		return false;
	ret->begin = take_pointer(&bytes, ret->pointers);
	ret->end = ret->begin + take_pointer(&bytes, ret->pointers & POINTER_FORMAT);
	if (ret->has_data)
		skip(&bytes, take_uleb(&bytes));
	ret->own = bytes;
	return !bytes.is_short;
}

/* The last entry of the sorted table that begins at @pc or before. */
static const uint8_t *search(const struct etw_unwind_object *object, uintptr_t pc)
{
	const uint8_t *table = object->table;
	struct bytes bytes = {.at = table};
	uint8_t version, frames, counts, entries;
	uint64_t count, low = 0, high;

	if (!table || (uintptr_t)table < object->start || (uintptr_t)table >= object->end)
		return NULL;
	bytes.end = table + (object->end - (uintptr_t)table);
	version = take_u8(&bytes);
	frames = take_u8(&bytes);
	counts = take_u8(&bytes);
	entries = take_u8(&bytes);
	if (version != 1 || entries != TABLE_SORTED || counts == POINTER_NONE)
		return NULL;
	(void)take_pointer(&bytes, frames);
	count = take_pointer(&bytes, counts);
	if (bytes.is_short || count > (uint64_t)(bytes.end - bytes.at) / 8)
		return NULL;
	for (high = count; low < high;) {
		const uint64_t middle = low + (high - low) / 2;
		const int64_t begin = etw_load_signed(bytes.at + middle * 8, 4);

		if ((uintptr_t)table + (uintptr_t)begin <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	bytes.at += (low - 1) * 8 + 4;
	return table + (int32_t)take_u32(&bytes);
}

struct machine {
	const struct entry *entry;
	struct etw_unwind_rule now, initial; /* initial: behind the common program */
	struct etw_unwind_rule states[STATES_MAX];
	unsigned depth;
	bool has_initial;
	bool is_strange; /* something that cannot be told in a rule */
	bool is_cfa_strange;
	bool were_strange[STATES_MAX]; /* is_cfa_strange of the states */
	uint64_t at;
};

/* The place of a register that is followed; NULL: one that is not. */
static struct etw_unwind_place *place_of(struct etw_unwind_rule *rule, uint64_t number)
{
	if (number == FRAME_REGISTER)
		return &rule->frame;
	return number == ADDRESS_REGISTER ? &rule->address : NULL;
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
static bool read_expression(struct bytes *bytes, struct etw_unwind_place *ret, bool *ret_is_loaded)
{
	struct bytes expression = take_part(bytes, take_uleb(bytes));
	const uint8_t operation = take_u8(&expression);
	const int64_t offset = take_sleb(&expression);

	*ret = (struct etw_unwind_place){.kind = ETW_UNWIND_SAVED};
	if (operation == OP_BREG0 + (uint8_t)STACK_REGISTER)
		ret->base = ETW_UNWIND_STACK;
	else if (operation == OP_BREG0 + (uint8_t)FRAME_REGISTER)
		ret->base = ETW_UNWIND_FRAME;
	else
		return false;
	*ret_is_loaded = expression.at < expression.end;
	if (*ret_is_loaded && (take_u8(&expression) != OP_DEREF || expression.at < expression.end))
		return false;
	return !expression.is_short && !__builtin_add_overflow(offset, 0, &ret->offset);
}

static void set_cfa_expression(struct machine *machine, struct bytes *bytes)
{
	bool is_loaded = false;

	machine->is_cfa_strange = !read_expression(bytes, &machine->now.cfa, &is_loaded);
	if (!is_loaded)
		machine->now.cfa.kind = ETW_UNWIND_SAME;
}

static void set_place_expression(struct machine *machine, struct bytes *bytes)
{
	struct etw_unwind_place *place = place_of(&machine->now, take_uleb(bytes));
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
static bool run_register(struct machine *machine, uint8_t code, struct bytes *bytes)
{
	uint64_t number;

	switch (code) {
	case CFA_OFFSET_EXTENDED:
		number = take_uleb(bytes);
		set_place(machine, number, ETW_UNWIND_SAVED,
			  (int64_t)take_uleb(bytes) * machine->entry->data_step);
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		number = take_uleb(bytes);
		set_place(machine, number, ETW_UNWIND_SAVED,
			  take_sleb(bytes) * machine->entry->data_step);
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(machine, take_uleb(bytes));
		return true;
	case CFA_UNDEFINED:
		set_place(machine, take_uleb(bytes), ETW_UNWIND_NONE, 0);
		return true;
	case CFA_SAME_VALUE:
		set_place(machine, take_uleb(bytes), ETW_UNWIND_SAME, 0);
		return true;
	case CFA_EXPRESSION:
		set_place_expression(machine, bytes);
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		note_strange(machine, take_uleb(bytes));
		(void)take_uleb(bytes);
		return true;
	case CFA_VAL_EXPRESSION:
		note_strange(machine, take_uleb(bytes));
		skip(bytes, take_uleb(bytes));
		return true;
	default:
		return false;
	}
}

/* Where the frame lies. */
static bool run_cfa(struct machine *machine, uint8_t code, struct bytes *bytes)
{
	switch (code) {
	case CFA_DEF:
		set_cfa_base(machine, take_uleb(bytes));
		set_cfa_offset(machine, (int64_t)take_uleb(bytes));
		return true;
	case CFA_DEF_SF:
		set_cfa_base(machine, take_uleb(bytes));
		set_cfa_offset(machine, take_sleb(bytes) * machine->entry->data_step);
		return true;
	case CFA_DEF_REGISTER:
		set_cfa_base(machine, take_uleb(bytes));
		return true;
	case CFA_DEF_OFFSET:
		set_cfa_offset(machine, (int64_t)take_uleb(bytes));
		return true;
	case CFA_DEF_OFFSET_SF:
		set_cfa_offset(machine, take_sleb(bytes) * machine->entry->data_step);
		return true;
	case CFA_DEF_EXPRESSION:
		set_cfa_expression(machine, bytes);
		return true;
	default:
		return false;
	}
}

static bool run_other(struct machine *machine, uint8_t code, struct bytes *bytes)
{
	switch (code) {
	case CFA_NOP:
	case CFA_NEGATE_RA: /* the address is signed, which etw_stack_walk() takes away */
		return true;
	case CFA_SET_LOC:
		machine->at = take_pointer(bytes, machine->entry->pointers);
		return true;
	case CFA_ADVANCE_1:
		machine->at += take_unsigned(bytes, 1) * machine->entry->code_step;
		return true;
	case CFA_ADVANCE_2:
		machine->at += take_unsigned(bytes, 2) * machine->entry->code_step;
		return true;
	case CFA_ADVANCE_4:
		machine->at += take_unsigned(bytes, 4) * machine->entry->code_step;
		return true;
	case CFA_REMEMBER:
		remember(machine);
		return true;
	case CFA_RECALL:
		recall(machine);
		return true;
	case CFA_ARGS_SIZE:
		(void)take_uleb(bytes);
		return true;
	default:
		return run_cfa(machine, code, bytes) || run_register(machine, code, bytes);
	}
}

/* Runs a program as far as it is about addresses up to @pc. */
static bool run(struct machine *machine, struct bytes bytes, uint64_t pc)
{
	while (bytes.at < bytes.end && machine->at <= pc) {
		const uint8_t code = take_u8(&bytes);
		const uint8_t operand = code & 0x3F;
		struct machine *m = machine;

		switch (code & 0xC0) {
		case CFA_ADVANCE:
			m->at += operand * m->entry->code_step;
			break;
		case CFA_OFFSET:
			set_place(m, operand, ETW_UNWIND_SAVED,
				  (int64_t)take_uleb(&bytes) * m->entry->data_step);
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

bool etw_unwind_find_rule(const struct etw_unwind_object *object, uintptr_t pc,
			  struct etw_unwind_rule *ret)
{
	const uint8_t *at = search(object, pc);
	struct entry entry;
	struct machine machine = {.entry = &entry};

	if (!at || !read_entry(object, at, &entry) || pc < entry.begin || pc >= entry.end)
		return false;
	machine.at = entry.begin;
	machine.now.is_signal = entry.is_signal;
	machine.now.frame.base = machine.now.address.base = ETW_UNWIND_CFA;
	if (!run(&machine, entry.common, UINT64_MAX))
		return false;
	machine.initial = machine.now;
	machine.has_initial = true;
	machine.at = entry.begin;
	if (!run(&machine, entry.own, pc) || machine.is_cfa_strange)
		return false;
	*ret = machine.now;
	return true;
}
