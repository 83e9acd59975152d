// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cuda_stand_in {

/// The kernels of src/cuda/refresh.cu; `p` holds the parameters of the launch, one after another.
void run_refresh(std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* p);
void run_refresh_carried(std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* p);

/// The kernel of src/cuda/decide.cu.
void run_decide(std::uint32_t blocks, std::uint32_t threads, const std::uint64_t* p);
/// What the driver's device function does.
void set_condition(std::uint64_t handle, std::uint32_t value);

}  // namespace cuda_stand_in
