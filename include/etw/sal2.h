/* SPDX-License-Identifier: MIT */
/*
 * Microsoft's source annotations of the second kind (_In_, _Out_, ...), all of them empty.
 * Those of the first kind (__in, __out) are not defined here: libstdc++ uses such names itself.
 */
#ifndef ETW_SAL2_H
#define ETW_SAL2_H

#ifndef _COM_Outptr_
#define _COM_Outptr_
#endif
#ifndef _COM_Outptr_opt_
#define _COM_Outptr_opt_
#endif
#ifndef _Check_return_
#define _Check_return_
#endif
#ifndef _Const_
#define _Const_
#endif
#ifndef _Field_z_
#define _Field_z_
#endif
#ifndef _Frees_ptr_
#define _Frees_ptr_
#endif
#ifndef _Frees_ptr_opt_
#define _Frees_ptr_opt_
#endif
#ifndef _In_
#define _In_
#endif
#ifndef _In_opt_
#define _In_opt_
#endif
#ifndef _In_opt_z_
#define _In_opt_z_
#endif
#ifndef _In_z_
#define _In_z_
#endif
#ifndef _Inout_
#define _Inout_
#endif
#ifndef _Inout_opt_
#define _Inout_opt_
#endif
#ifndef _Inout_opt_z_
#define _Inout_opt_z_
#endif
#ifndef _Inout_z_
#define _Inout_z_
#endif
#ifndef _Interlocked_operand_
#define _Interlocked_operand_
#endif
#ifndef _Maybenull_
#define _Maybenull_
#endif
#ifndef _Must_inspect_result_
#define _Must_inspect_result_
#endif
#ifndef _Notnull_
#define _Notnull_
#endif
#ifndef _NullNull_terminated_
#define _NullNull_terminated_
#endif
#ifndef _Null_terminated_
#define _Null_terminated_
#endif
#ifndef _Out_
#define _Out_
#endif
#ifndef _Out_opt_
#define _Out_opt_
#endif
#ifndef _Out_retval_
#define _Out_retval_
#endif
#ifndef _Outptr_
#define _Outptr_
#endif
#ifndef _Outptr_opt_
#define _Outptr_opt_
#endif
#ifndef _Outptr_opt_result_maybenull_
#define _Outptr_opt_result_maybenull_
#endif
#ifndef _Outptr_result_maybenull_
#define _Outptr_result_maybenull_
#endif
#ifndef _Outptr_result_z_
#define _Outptr_result_z_
#endif
#ifndef _Outref_
#define _Outref_
#endif
#ifndef _Points_to_data_
#define _Points_to_data_
#endif
#ifndef _Post_
#define _Post_
#endif
#ifndef _Post_invalid_
#define _Post_invalid_
#endif
#ifndef _Pre_
#define _Pre_
#endif
#ifndef _Printf_format_string_
#define _Printf_format_string_
#endif
#ifndef _Reserved_
#define _Reserved_
#endif
#ifndef _Ret_maybenull_
#define _Ret_maybenull_
#endif
#ifndef _Ret_maybenull_z_
#define _Ret_maybenull_z_
#endif
#ifndef _Ret_notnull_
#define _Ret_notnull_
#endif
#ifndef _Ret_z_
#define _Ret_z_
#endif
#ifndef _Use_decl_annotations_
#define _Use_decl_annotations_
#endif
#ifndef _Always_
#define _Always_(a)
#endif
#ifndef _Analysis_assume_
#define _Analysis_assume_(a)
#endif
#ifndef _Field_size_
#define _Field_size_(a)
#endif
#ifndef _Field_size_bytes_
#define _Field_size_bytes_(a)
#endif
#ifndef _Field_size_bytes_opt_
#define _Field_size_bytes_opt_(a)
#endif
#ifndef _Field_size_full_
#define _Field_size_full_(a)
#endif
#ifndef _Field_size_opt_
#define _Field_size_opt_(a)
#endif
#ifndef _Function_class_
#define _Function_class_(a)
#endif
#ifndef _IRQL_requires_max_
#define _IRQL_requires_max_(a)
#endif
#ifndef _In_reads_
#define _In_reads_(a)
#endif
#ifndef _In_reads_bytes_
#define _In_reads_bytes_(a)
#endif
#ifndef _In_reads_bytes_opt_
#define _In_reads_bytes_opt_(a)
#endif
#ifndef _In_reads_opt_
#define _In_reads_opt_(a)
#endif
#ifndef _In_reads_opt_z_
#define _In_reads_opt_z_(a)
#endif
#ifndef _In_reads_or_z_
#define _In_reads_or_z_(a)
#endif
#ifndef _In_reads_z_
#define _In_reads_z_(a)
#endif
#ifndef _Inout_updates_
#define _Inout_updates_(a)
#endif
#ifndef _Inout_updates_all_
#define _Inout_updates_all_(a)
#endif
#ifndef _Inout_updates_bytes_
#define _Inout_updates_bytes_(a)
#endif
#ifndef _Inout_updates_bytes_opt_
#define _Inout_updates_bytes_opt_(a)
#endif
#ifndef _Inout_updates_opt_
#define _Inout_updates_opt_(a)
#endif
#ifndef _Inout_updates_z_
#define _Inout_updates_z_(a)
#endif
#ifndef _On_failure_
#define _On_failure_(a)
#endif
#ifndef _Out_writes_
#define _Out_writes_(a)
#endif
#ifndef _Out_writes_all_
#define _Out_writes_all_(a)
#endif
#ifndef _Out_writes_bytes_
#define _Out_writes_bytes_(a)
#endif
#ifndef _Out_writes_bytes_all_
#define _Out_writes_bytes_all_(a)
#endif
#ifndef _Out_writes_bytes_opt_
#define _Out_writes_bytes_opt_(a)
#endif
#ifndef _Out_writes_opt_
#define _Out_writes_opt_(a)
#endif
#ifndef _Out_writes_opt_z_
#define _Out_writes_opt_z_(a)
#endif
#ifndef _Out_writes_z_
#define _Out_writes_z_(a)
#endif
#ifndef _Outptr_opt_result_buffer_
#define _Outptr_opt_result_buffer_(a)
#endif
#ifndef _Outptr_opt_result_bytebuffer_
#define _Outptr_opt_result_bytebuffer_(a)
#endif
#ifndef _Outptr_result_buffer_
#define _Outptr_result_buffer_(a)
#endif
#ifndef _Outptr_result_buffer_maybenull_
#define _Outptr_result_buffer_maybenull_(a)
#endif
#ifndef _Outptr_result_bytebuffer_
#define _Outptr_result_bytebuffer_(a)
#endif
#ifndef _Outptr_result_bytebuffer_maybenull_
#define _Outptr_result_bytebuffer_maybenull_(a)
#endif
#ifndef _Post_equal_to_
#define _Post_equal_to_(a)
#endif
#ifndef _Post_satisfies_
#define _Post_satisfies_(a)
#endif
#ifndef _Pre_satisfies_
#define _Pre_satisfies_(a)
#endif
#ifndef _Readable_bytes_
#define _Readable_bytes_(a)
#endif
#ifndef _Ret_writes_
#define _Ret_writes_(a)
#endif
#ifndef _Ret_writes_bytes_
#define _Ret_writes_bytes_(a)
#endif
#ifndef _Ret_writes_maybenull_
#define _Ret_writes_maybenull_(a)
#endif
#ifndef _Return_type_success_
#define _Return_type_success_(a)
#endif
#ifndef _Struct_size_bytes_
#define _Struct_size_bytes_(a)
#endif
#ifndef _Success_
#define _Success_(a)
#endif
#ifndef _Writable_bytes_
#define _Writable_bytes_(a)
#endif
#ifndef _At_
#define _At_(a, b)
#endif
#ifndef _Deref_out_range_
#define _Deref_out_range_(a, b)
#endif
#ifndef _Field_range_
#define _Field_range_(a, b)
#endif
#ifndef _In_range_
#define _In_range_(a, b)
#endif
#ifndef _Inout_updates_bytes_to_
#define _Inout_updates_bytes_to_(a, b)
#endif
#ifndef _Inout_updates_to_
#define _Inout_updates_to_(a, b)
#endif
#ifndef _Out_range_
#define _Out_range_(a, b)
#endif
#ifndef _Out_writes_bytes_to_
#define _Out_writes_bytes_to_(a, b)
#endif
#ifndef _Out_writes_bytes_to_opt_
#define _Out_writes_bytes_to_opt_(a, b)
#endif
#ifndef _Out_writes_to_
#define _Out_writes_to_(a, b)
#endif
#ifndef _Out_writes_to_opt_
#define _Out_writes_to_opt_(a, b)
#endif
#ifndef _Outptr_result_buffer_to_
#define _Outptr_result_buffer_to_(a, b)
#endif
#ifndef _Outptr_result_bytebuffer_to_
#define _Outptr_result_bytebuffer_to_(a, b)
#endif
#ifndef _Ret_range_
#define _Ret_range_(a, b)
#endif
#ifndef _Ret_writes_to_
#define _Ret_writes_to_(a, b)
#endif
#ifndef _When_
#define _When_(a, b)
#endif

#endif /* ETW_SAL2_H */
