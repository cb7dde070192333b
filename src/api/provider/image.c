/* SPDX-License-Identifier: MIT */
/* etw/image.h: images of a program's own. */
#include <etw/image.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/provider/copies.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/utf.h"
#include "provider/images.h"
#include "wire/symbol_file.h"

#define ADDRESS_END    (UINT64_C(1) << 56) /* of programs; what lies above is the kernel's */
#define FILE_BYTES_MAX (INT64_C(256) << 20)

/* Whether the first copy does this; it may be older. */
static bool has_images(void)
{
	const size_t end = offsetof(struct etw_copy, image_withdraw) +
			   sizeof(etw_first_copy->image_withdraw);

	return !etw_copy_is_strange() && (!etw_first_copy || etw_first_copy->bytes >= end);
}

static bool is_zero(const uint64_t *words, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all |= words[i];
	return !all;
}

static int check_image(const struct libetw_image *image)
{
	uint64_t base = (uintptr_t)image->base;
	size_t bytes;

	if (!base || !image->size || base >= ADDRESS_END || image->size > ADDRESS_END - base ||
	    !image->path || !image->path[0] ||
	    !is_zero(image->reserved, ARRAY_SIZE(image->reserved)) || image->reserved_pad ||
	    image->build_id_bytes > WIRE_BUILD_ID_BYTES ||
	    (image->build_id_bytes && !image->build_id))
		return -EINVAL;
	bytes = strnlen(image->path, WIRE_MESSAGE_NAME_MAX + 1);
	if (bytes > WIRE_MESSAGE_NAME_MAX)
		return -ENAMETOOLONG;
	return etw_utf8_is_valid((const uint8_t *)image->path, bytes) ? 0 : -EILSEQ;
}

/* @ret: owned memory of malloc(), NULL without symbols. */
static int take_symbols(const struct libetw_symbol *symbols, size_t count, uint64_t image_bytes,
			struct etw_image_symbol **ret)
{
	CLEANUP(freep) struct etw_image_symbol *own = NULL;

	*ret = NULL;
	if (!count)
		return 0;
	if (!symbols)
		return -EINVAL;
	if (count > WIRE_IMAGE_SYMBOLS_MAX)
		return -E2BIG;
	own = calloc(count, sizeof(*own));
	if (!own)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct libetw_symbol *from = &symbols[i];
		size_t bytes;

		if (!from->name || !from->name[0] || from->reserved_pad ||
		    from->offset >= image_bytes || from->size > image_bytes - from->offset)
			return -EINVAL;
		bytes = strnlen(from->name, WIRE_IMAGE_SYMBOL_NAME_MAX + 1);
		if (bytes > WIRE_IMAGE_SYMBOL_NAME_MAX)
			return -ENAMETOOLONG;
		if (!etw_utf8_is_valid((const uint8_t *)from->name, bytes))
			return -EILSEQ;
		own[i] = (struct etw_image_symbol){from->offset, from->size, (uint32_t)bytes,
						   from->name};
	}
	*ret = TAKE(own);
	return 0;
}

int libetw_image_announce(const struct libetw_image *image, uint64_t *ret)
{
	CLEANUP(freep) struct etw_image_symbol *symbols = NULL;
	struct etw_images_request request;
	uint32_t number;

	if (!has_images())
		return -EOPNOTSUPP;
	if (etw_first_copy)
		return etw_first_copy->image_announce(image, ret);
	if (!image || !ret)
		return -EINVAL;
	TRY(check_image(image));
	TRY(take_symbols(image->symbols, image->symbol_count, image->size, &symbols));
	request = (struct etw_images_request){
		.base = (uintptr_t)image->base,
		.byte_count = image->size,
		.path = image->path,
		.build_id = image->build_id,
		.build_id_bytes = image->build_id_bytes,
		.symbols = symbols,
		.symbol_count = (uint32_t)image->symbol_count,
	};
	TRY(etw_images_announce(&request, &number));
	*ret = number;
	return 0;
}

static int find_range(uint64_t image, struct etw_symbol_range *ret)
{
	if (image > UINT32_MAX)
		return -ENOENT;
	return etw_images_find((uint32_t)image, &ret->base, &ret->byte_count);
}

int libetw_image_add_symbols(uint64_t image, const struct libetw_symbol *symbols, size_t count)
{
	CLEANUP(freep) struct etw_image_symbol *own = NULL;
	struct etw_symbol_range range;

	if (!has_images())
		return -EOPNOTSUPP;
	if (etw_first_copy)
		return etw_first_copy->image_add_symbols(image, symbols, count);
	TRY(find_range(image, &range));
	TRY(take_symbols(symbols, count, range.byte_count, &own));
	return etw_images_add_symbols((uint32_t)image, own, (uint32_t)count);
}

/* @ret: owned memory of malloc() */
static int read_file(const char *path, struct etw_bytes *ret, uint8_t **ret_room)
{
	CLEANUP(etw_file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EBADMSG;
	if (status.st_size > FILE_BYTES_MAX)
		return -EFBIG;
	*ret_room = malloc((size_t)status.st_size + 1);
	if (!*ret_room)
		return -ENOMEM;
	ret->at = *ret_room;
	return etw_file_read_all(fd, *ret_room, (size_t)status.st_size, &ret->left);
}

int libetw_image_add_symbol_file(uint64_t image, const char *path, enum libetw_symbol_form form)
{
	CLEANUP(etw_symbol_file_done) struct etw_symbol_file table = {0};
	CLEANUP(freep) uint8_t *room = NULL;
	struct etw_symbol_range range;
	struct etw_bytes file = {0};

	if (!has_images())
		return -EOPNOTSUPP;
	if (etw_first_copy)
		return etw_first_copy->image_add_symbol_file(image, path, form);
	if (!path)
		return -EINVAL;
	TRY(find_range(image, &range));
	TRY(read_file(path, &file, &room));
	TRY(etw_symbol_file_parse(file, (enum etw_symbol_form)form, &range, &table));
	return etw_images_add_symbols((uint32_t)image, table.at, table.count);
}

int libetw_image_withdraw(uint64_t image)
{
	if (!has_images())
		return -EOPNOTSUPP;
	if (etw_first_copy)
		return etw_first_copy->image_withdraw(image);
	return image > UINT32_MAX ? -ENOENT : etw_images_withdraw((uint32_t)image);
}
