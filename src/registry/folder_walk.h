/* SPDX-License-Identifier: MIT */
/* The files below a folder that may hold definitions: whether they are to be installed or only read. */
#ifndef ETW_REGISTRY_FOLDER_WALK_H
#define ETW_REGISTRY_FOLDER_WALK_H

#define ETW_REGISTRY_DEPTH_MAX 64 /* folders within folders */

struct etw_registry_walk {
	void *context;
	/* A regular file, whatever it is. Returns 0, or what ends the walk. */
	int (*file)(void *context, const char *path);
	/* A link that leads to no file; may be NULL. */
	void (*pass_over)(void *context);
	/* A file or folder that cannot be looked at. */
	void (*complain)(void *context, const char *path, int error);
};

/*
 * etw_registry_walk() - every file below a folder, in the order of names.
 *
 * Symbolic links are followed to files, not to folders. Returns 0; -ENOMEM; what a callback ended it with.
 */
int etw_registry_walk(const struct etw_registry_walk *walk, const char *folder);

#endif
