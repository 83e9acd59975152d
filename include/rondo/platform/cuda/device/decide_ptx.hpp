// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Written by tools/embed_cuda_kernel; change decide.cu instead.
namespace rondo::platform::cuda {

inline constexpr char decide_ptx[] = R"ptx(
.version 6.3
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional
(
	.param .b64 cudaGraphSetConditional_param_0,
	.param .b32 cudaGraphSetConditional_param_1
)
;
.visible .entry rondo_decide(
	.param .u64 rondo_decide_param_0,
	.param .u64 rondo_decide_param_1,
	.param .u64 rondo_decide_param_2,
	.param .u32 rondo_decide_param_3
)
{
	.reg .pred 	%p<15>;
	.reg .b16 	%rs<14>;
	.reg .b32 	%r<25>;
	.reg .b64 	%rd<31>;
	ld.param.u32 	%r3, [rondo_decide_param_3];
	ld.param.u64 	%rd19, [rondo_decide_param_0];
	ld.param.u64 	%rd20, [rondo_decide_param_1];
	cvta.to.global.u64 	%rd2, %rd19;
	ld.global.u64 	%rd4, [%rd2+8];
	setp.eq.s64 	%p4, %rd4, 0;
	mov.u16 	%rs12, 0;
	@%p4 bra 	$L__BB0_7;
	ld.global.u64 	%rd3, [%rd2];
	setp.gt.u64 	%p5, %rd4, 3;
	mov.u16 	%rs12, 0;
	mov.u64 	%rd26, 0;
	@%p5 bra 	$L__BB0_4;
	bra.uni 	$L__BB0_2;
$L__BB0_4:
	and.b64  	%rd26, %rd4, -4;
	mov.b32 	%r24, 0;
	mov.u64 	%rd27, %rd26;
	mov.u64 	%rd28, %rd3;
$L__BB0_5:
	.pragma "nounroll";
	ld.u8 	%r5, [%rd28];
	ld.u8 	%r6, [%rd28+1];
	shl.b32 	%r7, %r6, 8;
	or.b32  	%r8, %r7, %r5;
	ld.u8 	%r9, [%rd28+2];
	shl.b32 	%r10, %r9, 16;
	ld.u8 	%r11, [%rd28+3];
	shl.b32 	%r12, %r11, 24;
	or.b32  	%r13, %r12, %r10;
	or.b32  	%r14, %r13, %r8;
	or.b32  	%r24, %r14, %r24;
	add.s64 	%rd28, %rd28, 4;
	add.s64 	%rd27, %rd27, -4;
	setp.ne.s64 	%p6, %rd27, 0;
	@%p6 bra 	$L__BB0_5;
	prmt.b32 	%r16, %r24, %r17, 50;
	or.b32  	%r18, %r24, %r16;
	prmt.b32 	%r19, %r18, %r20, 1;
	or.b32  	%r21, %r18, %r19;
	bfe.u32 	%r22, %r21, 0, 8;
	cvt.u16.u32 	%rs12, %r22;
	setp.ne.s64 	%p7, %rd4, %rd26;
	@%p7 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_7;
$L__BB0_2:
	sub.s64 	%rd30, %rd4, %rd26;
	add.s64 	%rd29, %rd3, %rd26;
$L__BB0_3:
	.pragma "nounroll";
	ld.u8 	%rs8, [%rd29];
	or.b16  	%rs12, %rs8, %rs12;
	add.s64 	%rd30, %rd30, -1;
	add.s64 	%rd29, %rd29, 1;
	setp.eq.s64 	%p8, %rd30, 0;
	@%p8 bra 	$L__BB0_7;
	bra.uni 	$L__BB0_3;
$L__BB0_7:
	ld.param.u64 	%rd18, [rondo_decide_param_2];
	cvta.to.global.u64 	%rd1, %rd20;
	setp.eq.s32 	%p9, %r3, 1;
	@%p9 bra 	$L__BB0_8;
	bra.uni 	$L__BB0_9;
$L__BB0_8:
	ld.global.u64 	%rd25, [%rd2+16];
	st.global.u64 	[%rd1], %rd25;
	mov.pred 	%p14, -1;
	bra.uni 	$L__BB0_11;
$L__BB0_9:
	and.b16  	%rs9, %rs12, 255;
	setp.ne.s16 	%p14, %rs9, 0;
	setp.ne.s32 	%p10, %r3, 2;
	@%p10 bra 	$L__BB0_11;
	ld.global.u64 	%rd22, [%rd1];
	add.s64 	%rd24, %rd22, -1;
	st.global.u64 	[%rd1], %rd24;
	setp.eq.s16 	%p11, %rs9, 0;
	setp.ne.s64 	%p12, %rd24, 0;
	and.pred  	%p14, %p11, %p12;
$L__BB0_11:
	selp.u32 	%r23, 1, 0, %p14;
	{
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd18;
	.param .b32 param1;
	st.param.b32 	[param1+0], %r23;
	call.uni
	cudaGraphSetConditional,
	(
	param0,
	param1
	);
	}
	ret;
}
)ptx";

}  // namespace rondo::platform::cuda
