/* SPDX-License-Identifier: MIT */
/*
 * ETW_EACH(operation, arguments...) - operation(number, argument) for each of 1 to 101 arguments, in their order.
 *
 * The number differs from argument to argument; it counts down. The preprocessor has no loop, so there is a macro
 * for each count. For TraceLoggingProvider.h; not for programs.
 */
#ifndef ETW_EACH_ARGUMENT_H
#define ETW_EACH_ARGUMENT_H

#define ETW_JOIN(left, right) ETW_JOIN_(left, right)
#define ETW_JOIN_(left, right) left##right

/* How many arguments there are: 1 to 101. */
#define ETW_COUNT(...) ETW_COUNT_(__VA_ARGS__, 101, 100, 99, 98, 97, 96, 95, 94, 93, 92, \
	91, 90, 89, 88, 87, 86, 85, 84, 83, 82, 81, 80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, \
	69, 68, 67, 66, 65, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, \
	47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, \
	25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, \
	1, 0)
#define ETW_COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
	a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, \
	a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, \
	a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, \
	a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, a83, a84, \
	a85, a86, a87, a88, a89, a90, a91, a92, a93, a94, a95, a96, a97, a98, a99, a100, a101, \
	count, ...) \
	count

#define ETW_EACH(operation, ...) ETW_JOIN(ETW_EACH_, ETW_COUNT(__VA_ARGS__))(operation, __VA_ARGS__)
#define ETW_EACH_1(o, a) o(1, a)
#define ETW_EACH_2(o, a, ...) o(2, a) ETW_EACH_1(o, __VA_ARGS__)
#define ETW_EACH_3(o, a, ...) o(3, a) ETW_EACH_2(o, __VA_ARGS__)
#define ETW_EACH_4(o, a, ...) o(4, a) ETW_EACH_3(o, __VA_ARGS__)
#define ETW_EACH_5(o, a, ...) o(5, a) ETW_EACH_4(o, __VA_ARGS__)
#define ETW_EACH_6(o, a, ...) o(6, a) ETW_EACH_5(o, __VA_ARGS__)
#define ETW_EACH_7(o, a, ...) o(7, a) ETW_EACH_6(o, __VA_ARGS__)
#define ETW_EACH_8(o, a, ...) o(8, a) ETW_EACH_7(o, __VA_ARGS__)
#define ETW_EACH_9(o, a, ...) o(9, a) ETW_EACH_8(o, __VA_ARGS__)
#define ETW_EACH_10(o, a, ...) o(10, a) ETW_EACH_9(o, __VA_ARGS__)
#define ETW_EACH_11(o, a, ...) o(11, a) ETW_EACH_10(o, __VA_ARGS__)
#define ETW_EACH_12(o, a, ...) o(12, a) ETW_EACH_11(o, __VA_ARGS__)
#define ETW_EACH_13(o, a, ...) o(13, a) ETW_EACH_12(o, __VA_ARGS__)
#define ETW_EACH_14(o, a, ...) o(14, a) ETW_EACH_13(o, __VA_ARGS__)
#define ETW_EACH_15(o, a, ...) o(15, a) ETW_EACH_14(o, __VA_ARGS__)
#define ETW_EACH_16(o, a, ...) o(16, a) ETW_EACH_15(o, __VA_ARGS__)
#define ETW_EACH_17(o, a, ...) o(17, a) ETW_EACH_16(o, __VA_ARGS__)
#define ETW_EACH_18(o, a, ...) o(18, a) ETW_EACH_17(o, __VA_ARGS__)
#define ETW_EACH_19(o, a, ...) o(19, a) ETW_EACH_18(o, __VA_ARGS__)
#define ETW_EACH_20(o, a, ...) o(20, a) ETW_EACH_19(o, __VA_ARGS__)
#define ETW_EACH_21(o, a, ...) o(21, a) ETW_EACH_20(o, __VA_ARGS__)
#define ETW_EACH_22(o, a, ...) o(22, a) ETW_EACH_21(o, __VA_ARGS__)
#define ETW_EACH_23(o, a, ...) o(23, a) ETW_EACH_22(o, __VA_ARGS__)
#define ETW_EACH_24(o, a, ...) o(24, a) ETW_EACH_23(o, __VA_ARGS__)
#define ETW_EACH_25(o, a, ...) o(25, a) ETW_EACH_24(o, __VA_ARGS__)
#define ETW_EACH_26(o, a, ...) o(26, a) ETW_EACH_25(o, __VA_ARGS__)
#define ETW_EACH_27(o, a, ...) o(27, a) ETW_EACH_26(o, __VA_ARGS__)
#define ETW_EACH_28(o, a, ...) o(28, a) ETW_EACH_27(o, __VA_ARGS__)
#define ETW_EACH_29(o, a, ...) o(29, a) ETW_EACH_28(o, __VA_ARGS__)
#define ETW_EACH_30(o, a, ...) o(30, a) ETW_EACH_29(o, __VA_ARGS__)
#define ETW_EACH_31(o, a, ...) o(31, a) ETW_EACH_30(o, __VA_ARGS__)
#define ETW_EACH_32(o, a, ...) o(32, a) ETW_EACH_31(o, __VA_ARGS__)
#define ETW_EACH_33(o, a, ...) o(33, a) ETW_EACH_32(o, __VA_ARGS__)
#define ETW_EACH_34(o, a, ...) o(34, a) ETW_EACH_33(o, __VA_ARGS__)
#define ETW_EACH_35(o, a, ...) o(35, a) ETW_EACH_34(o, __VA_ARGS__)
#define ETW_EACH_36(o, a, ...) o(36, a) ETW_EACH_35(o, __VA_ARGS__)
#define ETW_EACH_37(o, a, ...) o(37, a) ETW_EACH_36(o, __VA_ARGS__)
#define ETW_EACH_38(o, a, ...) o(38, a) ETW_EACH_37(o, __VA_ARGS__)
#define ETW_EACH_39(o, a, ...) o(39, a) ETW_EACH_38(o, __VA_ARGS__)
#define ETW_EACH_40(o, a, ...) o(40, a) ETW_EACH_39(o, __VA_ARGS__)
#define ETW_EACH_41(o, a, ...) o(41, a) ETW_EACH_40(o, __VA_ARGS__)
#define ETW_EACH_42(o, a, ...) o(42, a) ETW_EACH_41(o, __VA_ARGS__)
#define ETW_EACH_43(o, a, ...) o(43, a) ETW_EACH_42(o, __VA_ARGS__)
#define ETW_EACH_44(o, a, ...) o(44, a) ETW_EACH_43(o, __VA_ARGS__)
#define ETW_EACH_45(o, a, ...) o(45, a) ETW_EACH_44(o, __VA_ARGS__)
#define ETW_EACH_46(o, a, ...) o(46, a) ETW_EACH_45(o, __VA_ARGS__)
#define ETW_EACH_47(o, a, ...) o(47, a) ETW_EACH_46(o, __VA_ARGS__)
#define ETW_EACH_48(o, a, ...) o(48, a) ETW_EACH_47(o, __VA_ARGS__)
#define ETW_EACH_49(o, a, ...) o(49, a) ETW_EACH_48(o, __VA_ARGS__)
#define ETW_EACH_50(o, a, ...) o(50, a) ETW_EACH_49(o, __VA_ARGS__)
#define ETW_EACH_51(o, a, ...) o(51, a) ETW_EACH_50(o, __VA_ARGS__)
#define ETW_EACH_52(o, a, ...) o(52, a) ETW_EACH_51(o, __VA_ARGS__)
#define ETW_EACH_53(o, a, ...) o(53, a) ETW_EACH_52(o, __VA_ARGS__)
#define ETW_EACH_54(o, a, ...) o(54, a) ETW_EACH_53(o, __VA_ARGS__)
#define ETW_EACH_55(o, a, ...) o(55, a) ETW_EACH_54(o, __VA_ARGS__)
#define ETW_EACH_56(o, a, ...) o(56, a) ETW_EACH_55(o, __VA_ARGS__)
#define ETW_EACH_57(o, a, ...) o(57, a) ETW_EACH_56(o, __VA_ARGS__)
#define ETW_EACH_58(o, a, ...) o(58, a) ETW_EACH_57(o, __VA_ARGS__)
#define ETW_EACH_59(o, a, ...) o(59, a) ETW_EACH_58(o, __VA_ARGS__)
#define ETW_EACH_60(o, a, ...) o(60, a) ETW_EACH_59(o, __VA_ARGS__)
#define ETW_EACH_61(o, a, ...) o(61, a) ETW_EACH_60(o, __VA_ARGS__)
#define ETW_EACH_62(o, a, ...) o(62, a) ETW_EACH_61(o, __VA_ARGS__)
#define ETW_EACH_63(o, a, ...) o(63, a) ETW_EACH_62(o, __VA_ARGS__)
#define ETW_EACH_64(o, a, ...) o(64, a) ETW_EACH_63(o, __VA_ARGS__)
#define ETW_EACH_65(o, a, ...) o(65, a) ETW_EACH_64(o, __VA_ARGS__)
#define ETW_EACH_66(o, a, ...) o(66, a) ETW_EACH_65(o, __VA_ARGS__)
#define ETW_EACH_67(o, a, ...) o(67, a) ETW_EACH_66(o, __VA_ARGS__)
#define ETW_EACH_68(o, a, ...) o(68, a) ETW_EACH_67(o, __VA_ARGS__)
#define ETW_EACH_69(o, a, ...) o(69, a) ETW_EACH_68(o, __VA_ARGS__)
#define ETW_EACH_70(o, a, ...) o(70, a) ETW_EACH_69(o, __VA_ARGS__)
#define ETW_EACH_71(o, a, ...) o(71, a) ETW_EACH_70(o, __VA_ARGS__)
#define ETW_EACH_72(o, a, ...) o(72, a) ETW_EACH_71(o, __VA_ARGS__)
#define ETW_EACH_73(o, a, ...) o(73, a) ETW_EACH_72(o, __VA_ARGS__)
#define ETW_EACH_74(o, a, ...) o(74, a) ETW_EACH_73(o, __VA_ARGS__)
#define ETW_EACH_75(o, a, ...) o(75, a) ETW_EACH_74(o, __VA_ARGS__)
#define ETW_EACH_76(o, a, ...) o(76, a) ETW_EACH_75(o, __VA_ARGS__)
#define ETW_EACH_77(o, a, ...) o(77, a) ETW_EACH_76(o, __VA_ARGS__)
#define ETW_EACH_78(o, a, ...) o(78, a) ETW_EACH_77(o, __VA_ARGS__)
#define ETW_EACH_79(o, a, ...) o(79, a) ETW_EACH_78(o, __VA_ARGS__)
#define ETW_EACH_80(o, a, ...) o(80, a) ETW_EACH_79(o, __VA_ARGS__)
#define ETW_EACH_81(o, a, ...) o(81, a) ETW_EACH_80(o, __VA_ARGS__)
#define ETW_EACH_82(o, a, ...) o(82, a) ETW_EACH_81(o, __VA_ARGS__)
#define ETW_EACH_83(o, a, ...) o(83, a) ETW_EACH_82(o, __VA_ARGS__)
#define ETW_EACH_84(o, a, ...) o(84, a) ETW_EACH_83(o, __VA_ARGS__)
#define ETW_EACH_85(o, a, ...) o(85, a) ETW_EACH_84(o, __VA_ARGS__)
#define ETW_EACH_86(o, a, ...) o(86, a) ETW_EACH_85(o, __VA_ARGS__)
#define ETW_EACH_87(o, a, ...) o(87, a) ETW_EACH_86(o, __VA_ARGS__)
#define ETW_EACH_88(o, a, ...) o(88, a) ETW_EACH_87(o, __VA_ARGS__)
#define ETW_EACH_89(o, a, ...) o(89, a) ETW_EACH_88(o, __VA_ARGS__)
#define ETW_EACH_90(o, a, ...) o(90, a) ETW_EACH_89(o, __VA_ARGS__)
#define ETW_EACH_91(o, a, ...) o(91, a) ETW_EACH_90(o, __VA_ARGS__)
#define ETW_EACH_92(o, a, ...) o(92, a) ETW_EACH_91(o, __VA_ARGS__)
#define ETW_EACH_93(o, a, ...) o(93, a) ETW_EACH_92(o, __VA_ARGS__)
#define ETW_EACH_94(o, a, ...) o(94, a) ETW_EACH_93(o, __VA_ARGS__)
#define ETW_EACH_95(o, a, ...) o(95, a) ETW_EACH_94(o, __VA_ARGS__)
#define ETW_EACH_96(o, a, ...) o(96, a) ETW_EACH_95(o, __VA_ARGS__)
#define ETW_EACH_97(o, a, ...) o(97, a) ETW_EACH_96(o, __VA_ARGS__)
#define ETW_EACH_98(o, a, ...) o(98, a) ETW_EACH_97(o, __VA_ARGS__)
#define ETW_EACH_99(o, a, ...) o(99, a) ETW_EACH_98(o, __VA_ARGS__)
#define ETW_EACH_100(o, a, ...) o(100, a) ETW_EACH_99(o, __VA_ARGS__)
#define ETW_EACH_101(o, a, ...) o(101, a) ETW_EACH_100(o, __VA_ARGS__)

#endif /* ETW_EACH_ARGUMENT_H */
