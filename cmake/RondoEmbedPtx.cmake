# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0

# Writes a source that embeds PTX in a program: cmake -DPTX=<file> -DOUT=<file> -P RondoEmbedPtx.cmake
file(READ ${PTX} text)
file(WRITE ${OUT} "// Written by rondo_add_cuda_kernels().
#include <rondo/platform/cuda/options.hpp>

namespace {
const rondo::platform::cuda::EmbeddedPtx embedded(R\"ptx(
${text})ptx\");
}  // namespace
")
