// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/tensor/concept.hpp>

#include <cstddef>

// Near misses of a TensorPair: each model is a pair but for one thing, and fails in precisely the part that asks for
// it.

namespace {

using namespace rondo;

/// A pair with host memory of type E for a tensor with handle H.
template <class H, class E>
struct HostPair {
  [[nodiscard]] H handle() const { return {}; }
  [[nodiscard]] E* data() const { return nullptr; }
  [[nodiscard]] std::size_t size() const { return 0; }
};
template <class H, class E>
struct DeviceSide {
  [[nodiscard]] H handle() const { return {}; }
  [[nodiscard]] DevicePtr<E> device() const { return {}; }
};

static_assert(BoundPair<HostPair<Input<float>, const float>> &&
              check_tensor_pair<HostPair<Input<float>, const float>>());
static_assert(BoundPair<HostPair<Input<float>, float>>);  // more than an input needs
static_assert(BoundPair<HostPair<Output<float>, float>> && check_tensor_pair<HostPair<Output<float>, float>>());
static_assert(BoundPair<HostPair<InputOutput<float>, float>>);
static_assert(TensorPair<DeviceSide<Resident<float>, float>> &&
              check_tensor_pair<DeviceSide<Resident<float>, float>>());
static_assert(TensorPair<DeviceSide<Workspace<float>, float>>);

// A host pair or a device pair, each for its own directions.
static_assert(HostTensorPair<HostPair<Input<float>, float>> && !DeviceTensorPair<HostPair<Input<float>, float>>);
static_assert(HostTensorPair<HostPair<HostInput<float>, float>> && !HostTensorPair<HostPair<Resident<float>, float>>);
static_assert(DeviceTensorPair<DeviceSide<Output<float>, float>> && !HostTensorPair<DeviceSide<Output<float>, float>>);
static_assert(!DeviceTensorPair<DeviceSide<HostInput<float>, float>>);

/// Which tensor it is, it says; but no pair, for want of host memory.
template <class P>
concept LacksHostMemory = HasHandle<P> && !HostTensorPair<P> && !TensorPair<P> && !BoundPair<P>;
template <class P>
concept LacksDeviceMemory = HasHandle<P> && !DeviceTensorPair<P> && !TensorPair<P> && !BoundPair<P>;
template <class P>
concept LacksHandle = !HasHandle<P> && !HostTensorPair<P> && !DeviceTensorPair<P> && !TensorPair<P> && !BoundPair<P>;

// --- handle
struct NoHandle {
  [[nodiscard]] const float* data() const { return nullptr; }
  [[nodiscard]] std::size_t size() const { return 0; }
};
struct HandleIsAKey : HostPair<Input<float>, const float> {
  [[nodiscard]] TensorKey handle() const { return {}; }
};
struct HandleIsNotConst : NoHandle {
  Input<float> handle() { return {}; }
};
struct HandleIsPrivate : NoHandle {
 private:
  [[maybe_unused]] [[nodiscard]] Input<float> handle() const { return {}; }
};
static_assert(LacksHandle<NoHandle>);
static_assert(LacksHandle<HandleIsAKey>);
static_assert(LacksHandle<HandleIsNotConst>);
static_assert(LacksHandle<HandleIsPrivate>);
static_assert(LacksHandle<int> && LacksHandle<float[4]>);

// --- host memory
static_assert(LacksHostMemory<HostPair<Output<float>, const float>>);       // an output is written
static_assert(LacksHostMemory<HostPair<InputOutput<float>, const float>>);  // so is an inout
static_assert(LacksHostMemory<HostPair<Input<float>, const double>>);
static_assert(LacksHostMemory<HostPair<Input<float>, const std::int32_t>>);
static_assert(LacksHostMemory<HostPair<Output<float>, void>>);
struct NoSize {
  [[nodiscard]] Input<float> handle() const { return {}; }
  [[nodiscard]] const float* data() const { return nullptr; }
};
struct NoData {
  [[nodiscard]] Input<float> handle() const { return {}; }
  [[nodiscard]] std::size_t size() const { return 0; }
};
struct DataIsNotConst : NoData {
  float* data() { return nullptr; }
};
struct SizeIsText : NoSize {
  [[nodiscard]] const char* size() const { return ""; }
};
static_assert(LacksHostMemory<NoSize>);
static_assert(LacksHostMemory<NoData>);
static_assert(LacksHostMemory<DataIsNotConst>);
static_assert(LacksHostMemory<SizeIsText>);
// Device memory takes the place of host memory, but for a host input, whose bytes the host brings.
static_assert(DeviceBoundPair<DeviceSide<Input<float>, float>>);
static_assert(!DeviceBoundPair<HostPair<Input<float>, float>> && !BoundPair<DeviceSide<HostInput<float>, float>>);

// --- device memory
static_assert(LacksDeviceMemory<HostPair<Resident<float>, float>>);
static_assert(LacksDeviceMemory<HostPair<Workspace<float>, float>>);
static_assert(LacksDeviceMemory<DeviceSide<Resident<float>, std::int32_t>>);
struct DeviceIsAHostPointer {
  [[nodiscard]] Resident<float> handle() const { return {}; }
  [[nodiscard]] float* device() const { return nullptr; }
};
struct DeviceIsANumber {
  [[nodiscard]] Resident<float> handle() const { return {}; }
  [[nodiscard]] std::uint64_t device() const { return 0; }
};
static_assert(LacksDeviceMemory<DeviceIsAHostPointer>);
static_assert(LacksDeviceMemory<DeviceIsANumber>);

// What stays on the device is a pair, but no round binds it.
static_assert(!BoundPair<DeviceSide<Resident<float>, float>> && !BoundPair<DeviceSide<Workspace<float>, float>>);

}  // namespace
