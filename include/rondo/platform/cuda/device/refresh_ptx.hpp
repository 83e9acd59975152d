// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Written by tools/embed_cuda_kernel; change refresh.cu instead.
namespace rondo::platform::cuda {

inline constexpr char refresh_ptx[] = R"ptx(
.version 6.3
.target sm_70
.address_size 64
.visible .entry rondo_refresh(
	.param .u64 rondo_refresh_param_0,
	.param .u64 rondo_refresh_param_1,
	.param .u64 rondo_refresh_param_2,
	.param .u64 rondo_refresh_param_3
)
{
	.reg .pred 	%p<10>;
	.reg .b32 	%r<43>;
	.reg .b64 	%rd<40>;
	ld.param.u64 	%rd18, [rondo_refresh_param_2];
	mov.u32 	%r14, %ctaid.x;
	mov.u32 	%r15, %ntid.x;
	mul.wide.u32 	%rd22, %r14, %r15;
	mov.u32 	%r16, %tid.x;
	cvt.u64.u32 	%rd23, %r16;
	add.s64 	%rd38, %rd22, %rd23;
	setp.ge.u64 	%p1, %rd38, %rd18;
	@%p1 bra 	$L__BB0_10;
	ld.param.u64 	%rd19, [rondo_refresh_param_0];
	ld.param.u64 	%rd20, [rondo_refresh_param_3];
	cvta.to.global.u64 	%rd1, %rd20;
	ld.param.u64 	%rd21, [rondo_refresh_param_1];
	cvta.to.global.u64 	%rd2, %rd21;
	cvta.to.global.u64 	%rd3, %rd19;
	cvt.u64.u32 	%rd4, %r15;
	mov.u32 	%r17, %nctaid.x;
	cvt.u64.u32 	%rd24, %r17;
	mul.lo.s64 	%rd6, %rd24, %rd4;
	mov.b32 	%r23, 3;
	mov.b32 	%r22, 2;
	mov.b32 	%r21, 1;
	bra.uni 	$L__BB0_2;
$L__BB0_3:
	st.global.u64 	[%rd39], %rd10;
$L__BB0_9:
	add.s64 	%rd38, %rd38, %rd6;
	setp.lt.u64 	%p9, %rd38, %rd18;
	@%p9 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_10;
$L__BB0_2:
	shl.b64 	%rd25, %rd38, 4;
	add.s64 	%rd26, %rd2, %rd25;
	ld.global.u64 	%rd27, [%rd26];
	ld.global.v2.u32 	{%r18, %r1}, [%rd26+8];
	cvt.u64.u32 	%rd28, %r18;
	add.s64 	%rd39, %rd3, %rd28;
	cvta.global.u64 	%rd9, %rd39;
	and.b32  	%r19, %r1, 2147483647;
	mul.wide.u32 	%rd29, %r19, 8;
	add.s64 	%rd30, %rd1, %rd29;
	ld.global.u64 	%rd31, [%rd30];
	add.s64 	%rd10, %rd31, %rd27;
	setp.lt.s32 	%p2, %r1, 0;
	and.b64  	%rd32, %rd9, 7;
	setp.ne.s64 	%p4, %rd32, 0;
	or.pred  	%p5, %p2, %p4;
	@%p5 bra 	$L__BB0_4;
	bra.uni 	$L__BB0_3;
$L__BB0_4:
	and.b64  	%rd33, %rd9, 3;
	setp.eq.s64 	%p6, %rd33, 0;
	@%p6 bra 	$L__BB0_7;
	setp.gt.s32 	%p3, %r1, -1;
	selp.b32 	%r38, 8, 4, %p3;
	mov.b32 	%r39, 0;
	mov.u32 	%r40, %r21;
	mov.u32 	%r41, %r22;
	mov.u32 	%r42, %r23;
$L__BB0_6:
	shl.b32 	%r24, %r39, 3;
	shl.b32 	%r25, %r40, 3;
	shl.b32 	%r26, %r41, 3;
	shl.b32 	%r27, %r42, 3;
	shr.u64 	%rd34, %rd10, %r27;
	shr.u64 	%rd35, %rd10, %r26;
	shr.u64 	%rd36, %rd10, %r25;
	shr.u64 	%rd37, %rd10, %r24;
	cvt.u32.u64 	%r28, %rd37;
	cvt.u32.u64 	%r29, %rd36;
	bfi.b32 	%r30, %r29, %r28, 8, 8;
	cvt.u32.u64 	%r31, %rd35;
	bfi.b32 	%r32, %r31, %r30, 16, 8;
	cvt.u32.u64 	%r33, %rd34;
	bfi.b32 	%r34, %r33, %r32, 24, 8;
	st.global.u8 	[%rd39], %r34;
	shr.u32 	%r35, %r34, 24;
	st.global.u8 	[%rd39+3], %r35;
	shr.u32 	%r36, %r34, 16;
	st.global.u8 	[%rd39+2], %r36;
	shr.u32 	%r37, %r34, 8;
	st.global.u8 	[%rd39+1], %r37;
	add.s32 	%r39, %r39, 4;
	add.s32 	%r40, %r40, 4;
	add.s32 	%r41, %r41, 4;
	add.s32 	%r42, %r42, 4;
	add.s64 	%rd39, %rd39, 4;
	add.s32 	%r38, %r38, -4;
	setp.eq.s32 	%p7, %r38, 0;
	@%p7 bra 	$L__BB0_9;
	bra.uni 	$L__BB0_6;
$L__BB0_7:
	st.global.u32 	[%rd39], %rd10;
	@%p2 bra 	$L__BB0_9;
	{ .reg .b32 tmp; mov.b64 {tmp, %r13}, %rd10; }
	st.global.u32 	[%rd39+4], %r13;
	bra.uni 	$L__BB0_9;
$L__BB0_10:
	ret;
}
.visible .entry rondo_refresh_carried(
	.param .align 8 .b8 rondo_refresh_carried_param_0[4096]
)
{
	.reg .pred 	%p<12>;
	.reg .b16 	%rs<2>;
	.reg .b32 	%r<45>;
	.reg .b64 	%rd<59>;
	mov.b64 	%rd28, rondo_refresh_carried_param_0;
	mov.u64 	%rd1, %rd28;
	ld.param.u64 	%rd4, [rondo_refresh_carried_param_0+16];
	mov.u32 	%r14, %ctaid.x;
	mov.u32 	%r15, %ntid.x;
	cvt.u64.u32 	%rd5, %r15;
	mul.wide.u32 	%rd6, %r14, %r15;
	mov.u32 	%r16, %tid.x;
	cvt.u64.u32 	%rd7, %r16;
	add.s64 	%rd8, %rd6, %rd7;
	setp.ge.u64 	%p1, %rd8, %rd4;
	mov.u32 	%r39, %nctaid.x;
	@%p1 bra 	$L__BB1_10;
	ld.param.u64 	%rd29, [rondo_refresh_carried_param_0];
	cvta.to.global.u64 	%rd2, %rd29;
	ld.param.u64 	%rd30, [rondo_refresh_carried_param_0+8];
	cvta.to.global.u64 	%rd3, %rd30;
	cvt.u64.u32 	%rd31, %r39;
	mul.lo.s64 	%rd9, %rd31, %rd5;
	mov.b32 	%r23, 3;
	mov.b32 	%r22, 2;
	mov.b32 	%r21, 1;
	mov.u64 	%rd56, %rd8;
	bra.uni 	$L__BB1_2;
$L__BB1_3:
	st.global.u64 	[%rd57], %rd13;
$L__BB1_9:
	add.s64 	%rd56, %rd56, %rd9;
	setp.lt.u64 	%p9, %rd56, %rd4;
	@%p9 bra 	$L__BB1_2;
	bra.uni 	$L__BB1_10;
$L__BB1_2:
	shl.b64 	%rd32, %rd56, 4;
	add.s64 	%rd33, %rd3, %rd32;
	ld.global.u64 	%rd34, [%rd33];
	ld.global.v2.u32 	{%r18, %r1}, [%rd33+8];
	cvt.u64.u32 	%rd35, %r18;
	add.s64 	%rd57, %rd2, %rd35;
	cvta.global.u64 	%rd12, %rd57;
	and.b32  	%r19, %r1, 2147483647;
	mul.wide.u32 	%rd36, %r19, 8;
	add.s64 	%rd37, %rd1, %rd36;
	ld.param.u64 	%rd38, [%rd37+48];
	add.s64 	%rd13, %rd38, %rd34;
	setp.lt.s32 	%p2, %r1, 0;
	and.b64  	%rd39, %rd12, 7;
	setp.ne.s64 	%p4, %rd39, 0;
	or.pred  	%p5, %p2, %p4;
	@%p5 bra 	$L__BB1_4;
	bra.uni 	$L__BB1_3;
$L__BB1_4:
	and.b64  	%rd40, %rd12, 3;
	setp.eq.s64 	%p6, %rd40, 0;
	@%p6 bra 	$L__BB1_7;
	setp.gt.s32 	%p3, %r1, -1;
	selp.b32 	%r40, 8, 4, %p3;
	mov.b32 	%r41, 0;
	mov.u32 	%r42, %r21;
	mov.u32 	%r43, %r22;
	mov.u32 	%r44, %r23;
$L__BB1_6:
	shl.b32 	%r24, %r41, 3;
	shl.b32 	%r25, %r42, 3;
	shl.b32 	%r26, %r43, 3;
	shl.b32 	%r27, %r44, 3;
	shr.u64 	%rd41, %rd13, %r27;
	shr.u64 	%rd42, %rd13, %r26;
	shr.u64 	%rd43, %rd13, %r25;
	shr.u64 	%rd44, %rd13, %r24;
	cvt.u32.u64 	%r28, %rd44;
	cvt.u32.u64 	%r29, %rd43;
	bfi.b32 	%r30, %r29, %r28, 8, 8;
	cvt.u32.u64 	%r31, %rd42;
	bfi.b32 	%r32, %r31, %r30, 16, 8;
	cvt.u32.u64 	%r33, %rd41;
	bfi.b32 	%r34, %r33, %r32, 24, 8;
	st.global.u8 	[%rd57], %r34;
	shr.u32 	%r35, %r34, 24;
	st.global.u8 	[%rd57+3], %r35;
	shr.u32 	%r36, %r34, 16;
	st.global.u8 	[%rd57+2], %r36;
	shr.u32 	%r37, %r34, 8;
	st.global.u8 	[%rd57+1], %r37;
	add.s32 	%r41, %r41, 4;
	add.s32 	%r42, %r42, 4;
	add.s32 	%r43, %r43, 4;
	add.s32 	%r44, %r44, 4;
	add.s64 	%rd57, %rd57, 4;
	add.s32 	%r40, %r40, -4;
	setp.eq.s32 	%p7, %r40, 0;
	@%p7 bra 	$L__BB1_9;
	bra.uni 	$L__BB1_6;
$L__BB1_7:
	st.global.u32 	[%rd57], %rd13;
	@%p2 bra 	$L__BB1_9;
	{ .reg .b32 tmp; mov.b64 {tmp, %r13}, %rd13; }
	st.global.u32 	[%rd57+4], %r13;
	bra.uni 	$L__BB1_9;
$L__BB1_10:
	ld.param.u64 	%rd22, [%rd1+40];
	setp.ge.u64 	%p10, %rd8, %rd22;
	@%p10 bra 	$L__BB1_13;
	ld.param.u64 	%rd21, [%rd1+24];
	ld.param.u64 	%rd46, [%rd1+32];
	cvta.to.global.u64 	%rd47, %rd46;
	cvt.u64.u32 	%rd48, %r39;
	mul.lo.s64 	%rd23, %rd48, %rd5;
	shl.b64 	%rd49, %rd21, 3;
	add.s64 	%rd50, %rd6, %rd49;
	add.s64 	%rd51, %rd50, %rd7;
	add.s64 	%rd52, %rd51, %rd1;
	add.s64 	%rd24, %rd52, 48;
	add.s64 	%rd25, %rd47, %rd8;
	mov.u64 	%rd58, 0;
$L__BB1_12:
	add.s64 	%rd53, %rd24, %rd58;
	ld.param.u8 	%rs1, [%rd53];
	add.s64 	%rd54, %rd25, %rd58;
	st.global.u8 	[%rd54], %rs1;
	add.s64 	%rd58, %rd58, %rd23;
	add.s64 	%rd55, %rd8, %rd58;
	setp.lt.u64 	%p11, %rd55, %rd22;
	@%p11 bra 	$L__BB1_12;
$L__BB1_13:
	ret;
}
)ptx";

}  // namespace rondo::platform::cuda
