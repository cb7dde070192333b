/* SPDX-License-Identifier: MIT */
/*
 * Modules. A handle is the loader's, of dlopen(); those of the DLLs of Windows that this archive stands for are one handle of
 * its own.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "compat/win32/module_names.h"
#include "compat/win32/object.h"
#include "compat/win32/text.h"

static char windows; /* its address is the handle of the DLLs of Windows */
static char program; /* its address is the program's */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *backslash = strrchr(path, '\\');
	const char *last = slash > backslash ? slash : backslash;

	return last ? last + 1 : path;
}

/* "NAME.dll" is libNAME.so of Linux, or a file of that very name. */
static void *open_named(const char *name, int flags)
{
	char *path = etw_linux_path(name);
	char library[512];
	size_t length;
	void *handle;

	if (!path)
		return NULL;
	handle = dlopen(path, flags);
	length = strlen(base_of(path));
	if (length > 4 && !strcasecmp(base_of(path) + length - 4, ".dll"))
		length -= 4;
	if (!handle && !strchr(name, '/') && !strchr(name, '\\') && length < sizeof(library) - 8) {
		memcpy(library, "lib", 3);
		memcpy(library + 3, base_of(path), length);
		memcpy(library + 3 + length, ".so", 4);
		handle = dlopen(library, flags);
	}
	if (!handle)
		SetLastError(access(path, F_OK) ? ERROR_MOD_NOT_FOUND : ERROR_BAD_EXE_FORMAT);
	free(path);
	return handle;
}

HMODULE LoadLibraryExA(LPCSTR lpLibFileName, HANDLE hFile, DWORD dwFlags)
{
	(void)hFile;
	if (!lpLibFileName || !*lpLibFileName)
		return etw_fail_null(ERROR_INVALID_PARAMETER);
	/* What is in a DLL beside code cannot be looked at by dlopen(). */
	if (dwFlags & (LOAD_LIBRARY_AS_DATAFILE | LOAD_LIBRARY_AS_IMAGE_RESOURCE))
		return etw_fail_null(ERROR_NOT_SUPPORTED);
	if (etw_module_is_known(base_of(lpLibFileName)))
		return &windows;
	return open_named(lpLibFileName, RTLD_NOW | RTLD_LOCAL);
}

HMODULE LoadLibraryExW(LPCWSTR lpLibFileName, HANDLE hFile, DWORD dwFlags)
{
	char *name = etw_narrow(lpLibFileName);
	HMODULE module = LoadLibraryExA(name, hFile, dwFlags);

	free(name);
	return module;
}

HMODULE LoadLibraryA(LPCSTR lpLibFileName)
{
	return LoadLibraryExA(lpLibFileName, NULL, 0);
}

HMODULE LoadLibraryW(LPCWSTR lpLibFileName)
{
	return LoadLibraryExW(lpLibFileName, NULL, 0);
}

BOOL FreeLibrary(HMODULE hLibModule)
{
	if (!hLibModule)
		return etw_fail(ERROR_INVALID_HANDLE);
	if (hLibModule == &windows || hLibModule == &program)
		return TRUE;
	return dlclose(hLibModule) ? etw_fail(ERROR_INVALID_HANDLE) : TRUE;
}

FARPROC GetProcAddress(HMODULE hModule, LPCSTR lpProcName)
{
	void *function = NULL;
	FARPROC ret;

	/* Functions have no numbers on Linux. */
	if (IS_INTRESOURCE(lpProcName)) {
		SetLastError(ERROR_PROC_NOT_FOUND);
		return NULL;
	}
	if (hModule == &windows) {
		ret = etw_module_function(lpProcName);
		if (ret)
			return ret;
	}
	function = dlsym(!hModule || hModule == &windows || hModule == &program ? RTLD_DEFAULT
										: hModule,
			 lpProcName);
	if (!function)
		SetLastError(ERROR_PROC_NOT_FOUND);
	memcpy(&ret, &function, sizeof(ret));
	return ret;
}

HMODULE GetModuleHandleA(LPCSTR lpModuleName)
{
	void *handle;

	if (!lpModuleName)
		return &program;
	if (etw_module_is_known(base_of(lpModuleName)))
		return &windows;
	handle = open_named(lpModuleName, RTLD_NOW | RTLD_NOLOAD);
	/* The handle counts no use of the module. */
	if (handle)
		(void)dlclose(handle);
	else
		SetLastError(ERROR_MOD_NOT_FOUND);
	return handle;
}

HMODULE GetModuleHandleW(LPCWSTR lpModuleName)
{
	char *name = etw_narrow(lpModuleName);
	HMODULE module = GetModuleHandleA(name);

	free(name);
	return module;
}

static BOOL handle_of_address(const void *address, HMODULE *ret)
{
	Dl_info info;

	if (!dladdr(address, &info))
		return etw_fail(ERROR_MOD_NOT_FOUND);
	*ret = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	if (!*ret)
		*ret = &program;
	return TRUE;
}

BOOL GetModuleHandleExA(DWORD dwFlags, LPCSTR lpModuleName, HMODULE *phModule)
{
	if (dwFlags & GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS)
		return handle_of_address(lpModuleName, phModule);
	*phModule = GetModuleHandleA(lpModuleName);
	return *phModule != NULL;
}

BOOL GetModuleHandleExW(DWORD dwFlags, LPCWSTR lpModuleName, HMODULE *phModule)
{
	if (dwFlags & GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS)
		return handle_of_address(lpModuleName, phModule);
	*phModule = GetModuleHandleW(lpModuleName);
	return *phModule != NULL;
}

BOOL DisableThreadLibraryCalls(HMODULE hLibModule)
{
	/* Libraries of Linux hear of no threads. */
	return hLibModule ? TRUE : etw_fail(ERROR_INVALID_HANDLE);
}

/* Owned path of a module's file. */
static char *file_of(HMODULE module)
{
	struct link_map *map = NULL;

	if (!module || module == &program)
		return etw_process_path(getpid());
	if (module == &windows) {
		Dl_info info;

		/* The library that stands for them. */
		if (dladdr((const void *)(uintptr_t)SetLastError, &info))
			return strdup(info.dli_fname);
		return etw_fail_null(ERROR_MOD_NOT_FOUND);
	}
	if (dlinfo(module, RTLD_DI_LINKMAP, &map) || !map->l_name || !*map->l_name)
		return etw_fail_null(ERROR_MOD_NOT_FOUND);
	return strdup(map->l_name);
}

DWORD GetModuleFileNameA(HMODULE hModule, LPSTR lpFilename, DWORD nSize)
{
	char *path = file_of(hModule);
	DWORD length = 0;

	if (path)
		length = etw_return_narrow(path, lpFilename, nSize, ETW_SIZE_CUT);
	free(path);
	return length;
}

DWORD GetModuleFileNameW(HMODULE hModule, LPWSTR lpFilename, DWORD nSize)
{
	char *path = file_of(hModule);
	DWORD length = 0;

	if (path)
		length = etw_return_wide(path, lpFilename, nSize, ETW_SIZE_CUT);
	free(path);
	return length;
}
