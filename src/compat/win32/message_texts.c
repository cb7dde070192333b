/* SPDX-License-Identifier: MIT */
#include "compat/win32/message_texts.h"

#include <stddef.h>

/* In order of codes. Those of every code in winerror.h. */
static const struct {
	uint32_t code;
	const char *text;
} rows[] = {
	{0, "The operation completed successfully."},
	{1, "Incorrect function."},
	{2, "The system cannot find the file specified."},
	{3, "The system cannot find the path specified."},
	{4, "The system cannot open the file."},
	{5, "Access is denied."},
	{6, "The handle is invalid."},
	{8, "Not enough memory resources are available to process this command."},
	{11, "An attempt was made to load a program with an incorrect format."},
	{12, "The access code is invalid."},
	{13, "The data is invalid."},
	{14, "Not enough memory resources are available to complete this operation."},
	{18, "There are no more files."},
	{19, "The media is write protected."},
	{21, "The device is not ready."},
	{24, "The program issued a command but the command length is incorrect."},
	{29, "The system cannot write to the specified device."},
	{30, "The system cannot read from the specified device."},
	{31, "A device attached to the system is not functioning."},
	{32, "The process cannot access the file because it is being used by another process."},
	{33, "The process cannot access the file because another process has locked a portion of "
	     "the file."},
	{38, "Reached the end of the file."},
	{39, "The disk is full."},
	{50, "The request is not supported."},
	{55, "The specified network resource or device is no longer available."},
	{80, "The file exists."},
	{87, "The parameter is incorrect."},
	{109, "The pipe has been ended."},
	{111, "The file name is too long."},
	{112, "There is not enough space on the disk."},
	{120, "This function is not supported on this system."},
	{121, "The semaphore timeout period has expired."},
	{122, "The data area passed to a system call is too small."},
	{123, "The filename, directory name, or volume label syntax is incorrect."},
	{126, "The specified module could not be found."},
	{127, "The specified procedure could not be found."},
	{131, "An attempt was made to move the file pointer before the beginning of the file."},
	{145, "The directory is not empty."},
	{160, "One or more arguments are not correct."},
	{161, "The specified path is invalid."},
	{170, "The requested resource is in use."},
	{183, "Cannot create a file when that file already exists."},
	{186, "The flag passed is not correct."},
	{193, "%1 is not a valid Win32 application."},
	{203, "The system could not find the environment option that was entered."},
	{206, "The filename or extension is too long."},
	{223, "The file size exceeds the limit allowed and cannot be saved."},
	{233, "No process is on the other end of the pipe."},
	{234, "More data is available."},
	{258, "The wait operation timed out."},
	{259, "No more data is available."},
	{267, "The directory name is invalid."},
	{288, "Attempt to release mutex not owned by caller."},
	{298, "Too many posts were made to a semaphore."},
	{299, "Only part of a ReadProcessMemory or WriteProcessMemory request was completed."},
	{317,
	 "The system cannot find message text for message number 0x%1 in the message file for %2."},
	{487, "Attempt to access invalid address."},
	{534, "Arithmetic result exceeded 32 bits."},
	{995, "The I/O operation has been aborted because of either a thread exit or an "
	      "application request."},
	{996, "Overlapped I/O event is not in a signaled state."},
	{997, "Overlapped I/O operation is in progress."},
	{998, "Invalid access to memory location."},
	{1001, "Recursion too deep; the stack overflowed."},
	{1004, "Invalid flags."},
	{1005, "The volume does not contain a recognized file system.%nPlease make sure that all "
	       "required file system drivers are loaded and that the volume is not corrupted."},
	{1006, "The volume for a file has been externally altered so that the opened file is no "
	       "longer valid."},
	{1008, "An attempt was made to reference a token that does not exist."},
	{1113, "No mapping for the Unicode character exists in the target multi-byte code page."},
	{1117, "The request could not be performed because of an I/O device error."},
	{1150, "The specified program requires a newer version of Windows."},
	{1168, "Element not found."},
	{1223, "The operation was canceled by the user."},
	{1225, "The remote computer refused the network connection."},
	{1229, "An operation was attempted on a nonexistent network connection."},
	{1237, "The operation could not be completed. A retry should be performed."},
	{1244, "The operation being requested was not performed because the user has not been "
	       "authenticated."},
	{1247, "An attempt was made to perform an initialization operation when initialization has "
	       "already been completed."},
	{1300, "Not all privileges or groups referenced are assigned to the caller."},
	{1305, "The revision level is unknown."},
	{1306, "Indicates two revision levels are incompatible."},
	{1313, "A specified privilege does not exist."},
	{1314, "A required privilege is not held by the client."},
	{1332, "No mapping between account names and security IDs was done."},
	{1336, "The access control list (ACL) structure is invalid."},
	{1337, "The security ID structure is invalid."},
	{1338, "The security descriptor structure is invalid."},
	{1359, "An internal error occurred."},
	{1392, "The file or directory is corrupted and unreadable."},
	{1450, "Insufficient system resources exist to complete the requested service."},
	{1460, "This operation returned because the timeout period expired."},
	{1462, "Incorrect size argument."},
	{1465, "Windows was unable to parse the requested XML data."},
	{1603, "Fatal error during installation."},
	{1608, "Unknown property."},
	{1784, "The supplied user buffer is not valid for the requested operation."},
	{1804, "The specified datatype is invalid."},
	{1812, "The specified image file did not contain a resource section."},
	{1813, "The specified resource type cannot be found in the image file."},
	{1814, "The specified resource name cannot be found in the image file."},
	{1815, "The specified resource language ID cannot be found in the image file."},
	{1901, "The specified time is invalid."},
	{2402, "Active connections still exist."},
	{4200, "The GUID passed was not recognized as valid by a WMI data provider."},
	{4201, "The instance name passed was not recognized as valid by a WMI data provider."},
	{4202, "The data item ID passed was not recognized as valid by a WMI data provider."},
	{4203, "The WMI request could not be completed and should be retried."},
	{4204, "The WMI data provider could not be located."},
	{4205, "The WMI data provider references an instance set that has not been registered."},
	{4206, "The WMI data block or event notification has already been enabled."},
	{4207, "The WMI data block is no longer available."},
	{4208, "The WMI data service is not available."},
	{4209, "The WMI data provider failed to carry out the request."},
	{4210, "The WMI MOF information is not valid."},
	{4211, "The WMI registration information is not valid."},
	{4212, "The WMI data block or event notification has already been disabled."},
	{4213, "The WMI data item or data block is read only."},
	{4214, "The WMI data item or data block could not be changed."},
	{4306, "The library, drive, or media pool is empty."},
	{7007, "A close operation is pending on the session."},
	{15000, "The specified channel path is invalid."},
	{15001, "The specified query is invalid."},
	{15002, "The publisher metadata cannot be found in the resource."},
	{15003,
	 "The template for an event definition cannot be found in the resource (error = %1)."},
	{15004, "The specified publisher name is invalid."},
	{15005, "The event data raised by the publisher is not compatible with the event template "
		"definition in the publisher's manifest."},
	{15007, "The specified channel could not be found. Check channel configuration."},
	{15008, "The specified XML text was not well-formed. See Extended Error for more details."},
	{15010, "The caller is trying to change a configuration that cannot be changed."},
	{15027, "The message resource is present but the message is not found in the "
		"string/message table."},
	{15028, "The message id for the desired message could not be found."},
	{15029, "The substitution string for insert index (%1) could not be found."},
	{15030, "The description string for parameter reference (%1) could not be found."},
	{15031, "The maximum number of replacements has been reached."},
	{15032, "The event definition could not be found for event id (%1)."},
	{15033, "The locale specific resource for the desired message is not present."},
	{15100, "The resource loader failed to find MUI file."},
	{15101,
	 "The resource loader failed to load MUI file because the file fail to pass validation."},
	{15105, "The resource loader cache doesn't have loaded MUI entry."},
	{0x80004001, "Not implemented"},
	{0x80004002, "No such interface supported"},
	{0x80004003, "Invalid pointer"},
	{0x80004004, "Operation aborted"},
	{0x80004005, "Unspecified error"},
	{0x8000FFFF, "Catastrophic failure"},
	{0x80040110, "Class does not support aggregation (or class object is remote)"},
	{0x80040154, "Class not registered"},
	{0x800401F0, "CoInitialize has not been called."},
	{0x800401F3, "Invalid class string"},
};

const char *etw_message_text(uint32_t code)
{
	size_t from = 0, to = sizeof(rows) / sizeof(rows[0]);

	/* HRESULTs that hold a Win32 code say what that says. */
	if (code >> 16 == 0x8007)
		code &= 0xFFFF;
	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (rows[middle].code == code)
			return rows[middle].text;
		if (rows[middle].code < code)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}
