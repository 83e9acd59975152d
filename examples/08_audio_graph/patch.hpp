// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels.hpp"

#include <rondo/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace audio {

/// The whole synthesiser as a graph `G`: a rondo::TaskGraph, or a PlainGraph, which has the same interface.
///
///     position ▶ sequencer ─┬▶ 3 × oscillator ▶ mix ▶ envelope ▶ filter ─┬▶ chorus left ──┐
///                           │                        lfo ──▲─────────────┴▶ chorus right ─┤
///                           ├▶ oscillator ▶ envelope ▶ filter ▶ echo ─────────────────────┤
///                           ├▶ oscillator ▶ envelope ▶ filter ▶ drive ────────────────────┼▶ mix ▶ master ▶ sound
///                           └▶ kick, hat ◀ noise ▶ mix ───────────────────────────────────┤            ▲
///                                                            send ▶ 6 × comb ▶ 2 × mix ▶ 2 × allpass ──┘
template <class G>
struct Patch {
  using Position = decltype(std::declval<G&>().template host_input<std::int64_t>("", {1}));
  using Sound = decltype(std::declval<G&>().template output<float>("", {1}));
  using State = decltype(std::declval<G&>().template resident<float>("", {1}));
  using Seed = decltype(std::declval<G&>().template resident<std::uint32_t>("", {1}));

  Position position;  ///< the number of the block
  Sound sound;        ///< frames × 2
  std::vector<State> states{};
  std::vector<std::int64_t> state_sizes{};
  Seed seed;

  explicit Patch(G& g)
      : position{g.template host_input<std::int64_t>("position", {1})},
        sound{g.template output<float>("sound", {frames, 2})},
        seed{g.template resident<std::uint32_t>("seed", {1})} {
    int signals = 0;
    const auto signal = [&] { return g.template workspace<float>("signal" + std::to_string(++signals), {frames}); };
    const auto state = [&](std::int64_t size) {
      state_sizes.push_back(size);
      states.push_back(g.template resident<float>("state" + std::to_string(states.size()), {size}));
      return states.back();
    };
    const auto control = g.template workspace<float>("control", {controls});
    g.template add<Sequencer>(position, control);
    const auto slow = signal(), wobble = signal();
    g.template add<Lfo>(state(1), slow, 0.11F);
    g.template add<Lfo>(state(1), wobble, 5.3F);

    const auto voice = [&](Control which, float detune) {
      const auto y = signal();
      g.template add<Oscillator>(control, state(2), y, static_cast<std::uint32_t>(which), detune);
      return y;
    };
    const auto shaped = [&](auto x, Control which, float attack, float release) {
      const auto y = signal();
      g.template add<Envelope>(x, control, state(1), y, static_cast<std::uint32_t>(which), attack, release);
      return y;
    };
    const auto filtered = [&](auto x, auto sweep, float low, float high, float damping) {
      const auto y = signal();
      g.template add<Filter>(x, sweep, state(2), y, low, high, damping);
      return y;
    };
    const auto mixed = [&](auto a, auto b, auto c, float gain) {
      const auto y = signal();
      g.template add<Mix>(a, b, c, y, gain);
      return y;
    };

    const auto low = voice(pad_low, 1.006F), middle = voice(pad_middle, 1.005F), high = voice(pad_high, 1.004F);
    const auto pad = filtered(shaped(mixed(low, middle, high, 0.25F), pad_low, 0.4F, 0.5F), slow, 300, 3000, 0.7F);
    const auto pad_left = signal(), pad_right = signal();
    g.template add<Chorus>(pad, slow, state(2049), pad_left, 400.0F, 1.0F);
    g.template add<Chorus>(pad, slow, state(2049), pad_right, 400.0F, -1.0F);

    const auto tune = signal();
    g.template add<Echo>(filtered(shaped(voice(lead, 1.003F), lead, 0.004F, 0.15F), wobble, 1500, 2600, 0.4F),
                         state(18'001), tune, 0.45F);
    const auto deep = signal();
    g.template add<Drive>(filtered(shaped(voice(bass, 0.5F), bass, 0.005F, 0.08F), slow, 200, 500, 0.5F), deep, 2.0F);

    const auto hiss = signal(), kick = signal(), hat = signal();
    g.template add<Noise>(seed, hiss);
    g.template add<Kick>(control, state(2), kick);
    g.template add<Hat>(control, hiss, state(2), hat);
    const auto rhythm = mixed(deep, kick, kick, 0.4F);
    const auto treble = mixed(tune, hat, tune, 0.18F);

    const auto left = mixed(pad_left, rhythm, treble, 0.8F), right = mixed(pad_right, rhythm, treble, 0.8F);
    const auto send = mixed(pad, tune, hat, 0.12F);
    const auto reverb = [&](int spread) {
      const auto comb = [&](int size, float feedback) {
        const auto y = signal();
        g.template add<Comb>(send, state(size + spread + 2), y, feedback, 0.25F);
        return y;
      };
      const auto y = signal();
      const auto first = comb(1687, 0.84F), second = comb(1801, 0.83F), third = comb(2053, 0.81F);
      g.template add<Allpass>(mixed(first, second, third, 0.5F), state(606 + spread), y, 0.5F);
      return y;
    };
    const auto wet_left = reverb(0), wet_right = reverb(37);
    g.template add<Master>(left, right, wet_left, wet_right, state(1), sound, 0.6F);
  }
};

}  // namespace audio
