// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/graph/kernel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// The parts of a synthesiser. Each works on a block of 64 frames; its state from block to block is an InOut tensor
/// that stays on the device. None of them is inlined, so that all callers compute the same bits.
namespace audio {

using rondo::CoreType;
using rondo::In;
using rondo::InOut;
using rondo::Out;

inline constexpr std::size_t frames = 64;
inline constexpr int rate = 48'000;
inline constexpr float pi = 3.14159265F;
inline constexpr float seconds_per_frame = 1.0F / static_cast<float>(rate);

/// The output of the sequencer for a block: a frequency and a gate for each voice, and for each drum whether it is
/// struck.
enum Control : std::size_t { pad_low, pad_middle, pad_high, lead, bass, voices };
inline constexpr std::size_t kick_at = 2 * voices;
inline constexpr std::size_t hat_at = kick_at + 1;
inline constexpr std::size_t controls = 16;

struct Kernel {
  static constexpr auto core = CoreType::vector;
};

/// Four chords of two seconds, an arpeggio, a bass line and two drums.
struct Sequencer : Kernel {
  static constexpr std::string_view name = "sequencer";
  [[gnu::noinline]] static void run(In<std::int64_t> block, Out<float> control) noexcept {
    constexpr std::array<std::array<int, 3>, 4> chords = {{{57, 60, 64}, {53, 57, 60}, {55, 60, 64}, {55, 59, 62}}};
    constexpr std::int64_t step = rate / 8 / static_cast<int>(frames);  // an eighth of a second, in blocks
    const std::int64_t at = block[0] / step;
    const bool begins = block[0] % step == 0;
    const auto& chord = chords[static_cast<std::size_t>(at / 16 % 4)];
    for (std::size_t c = 0; c < control.size(); ++c) control[c] = 0;
    const auto note = [&](Control voice, int key, bool gate) {
      control[2 * voice] = 440.0F * std::exp2(static_cast<float>(key - 69) / 12.0F);
      control[2 * voice + 1] = gate ? 1.0F : 0.0F;
    };
    note(pad_low, chord[0], at % 16 < 14);
    note(pad_middle, chord[1], at % 16 < 14);
    note(pad_high, chord[2], at % 16 < 14);
    note(lead, chord[static_cast<std::size_t>(at % 3)] + 12 * static_cast<int>(1 + at / 3 % 2), at % 4 != 3);
    note(bass, chord[0] - 24, at % 4 < 3);
    control[kick_at] = begins && at % 4 == 0 ? 1.0F : 0.0F;
    control[hat_at] = begins && at % 2 == 1 ? 1.0F : 0.0F;
  }
};

/// A slow sine between 0 and 1.
struct Lfo : Kernel {
  static constexpr std::string_view name = "lfo";
  [[gnu::noinline]] static void run(InOut<float> phase, Out<float> y, float hertz) noexcept {
    for (float& out : y) {
      out = 0.5F + 0.5F * std::sin(2 * pi * phase[0]);
      phase[0] += hertz * seconds_per_frame;
      phase[0] -= std::floor(phase[0]);
    }
  }
};

/// A sawtooth whose jump is smoothed against aliasing, and a second one that is detuned.
struct Oscillator : Kernel {
  static constexpr std::string_view name = "oscillator";
  [[gnu::noinline]] static void run(In<float> control, InOut<float> phases, Out<float> y, std::uint32_t voice,
                                    float detune) noexcept {
    const float frequency = control[2 * voice];
    for (float& out : y) out = 0;
    for (std::size_t saw = 0; saw < 2; ++saw) {
      const float step = frequency * (saw == 0 ? 1.0F : detune) * seconds_per_frame;
      float phase = phases[saw];
      for (float& out : y) {
        float value = 2 * phase - 1;
        if (phase < step) {
          const float t = phase / step;
          value -= t + t - t * t - 1;
        } else if (phase > 1 - step) {
          const float t = (phase - 1) / step;
          value -= t * t + t + t + 1;
        }
        out += 0.5F * value;
        phase += step;
        if (phase >= 1) phase -= 1;
      }
      phases[saw] = phase;
    }
  }
};

/// y = x, faded in and out by the voice's gate.
struct Envelope : Kernel {
  static constexpr std::string_view name = "envelope";
  [[gnu::noinline]] static void run(In<float> x, In<float> control, InOut<float> level, Out<float> y,
                                    std::uint32_t voice, float attack, float release) noexcept {
    const float goal = control[2 * voice + 1];
    const float pace = 1 - std::exp(-seconds_per_frame / (goal > level[0] ? attack : release));
    for (std::size_t i = 0; i < y.size(); ++i) {
      level[0] += pace * (goal - level[0]);
      y[i] = level[0] * x[i];
    }
  }
};

struct Noise : Kernel {
  static constexpr std::string_view name = "noise";
  [[gnu::noinline]] static void run(InOut<std::uint32_t> state, Out<float> y) noexcept {
    std::uint32_t s = state[0] | 1U;
    for (float& out : y) {
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
      out = static_cast<float>(static_cast<std::int32_t>(s)) * 4.6566129e-10F;
    }
    state[0] = s;
  }
};

/// A sine that falls from 170 to 45 Hz. `state`: seconds since the stroke, and the phase.
struct Kick : Kernel {
  static constexpr std::string_view name = "kick";
  [[gnu::noinline]] static void run(In<float> control, InOut<float> state, Out<float> y) noexcept {
    if (control[kick_at] > 0) state[0] = state[1] = 0;
    for (float& out : y) {
      out = std::exp(-9 * state[0]) * std::sin(2 * pi * state[1]);
      state[1] += (45 + 125 * std::exp(-30 * state[0])) * seconds_per_frame;
      state[1] -= std::floor(state[1]);
      state[0] += seconds_per_frame;
    }
  }
};

/// High-passed noise that decays. `state`: the level, and the last sample.
struct Hat : Kernel {
  static constexpr std::string_view name = "hat";
  [[gnu::noinline]] static void run(In<float> control, In<float> noise, InOut<float> state, Out<float> y) noexcept {
    if (control[hat_at] > 0) state[0] = 1;
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = state[0] * (noise[i] - state[1]);
      state[1] = noise[i];
      state[0] *= 0.9992F;
    }
  }
};

/// y = (a + b + c) gain
struct Mix : Kernel {
  static constexpr std::string_view name = "mix";
  [[gnu::noinline]] static void run(In<float> a, In<float> b, In<float> c, Out<float> y, float gain) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = gain * (a[i] + b[i] + c[i]);
  }
};

/// A low-pass of two poles, whose corner frequency moves with `sweep` from `low` to `high` Hz.
struct Filter : Kernel {
  static constexpr std::string_view name = "filter";
  [[gnu::noinline]] static void run(In<float> x, In<float> sweep, InOut<float> state, Out<float> y, float low,
                                    float high, float damping) noexcept {
    float low_pass = state[0], band_pass = state[1];
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float corner = low + (high - low) * sweep[i];
      const float f = std::min(2 * std::sin(pi * corner * seconds_per_frame), 0.9F);
      low_pass += f * band_pass;
      band_pass += f * (x[i] - low_pass - damping * band_pass);
      y[i] = low_pass;
    }
    state[0] = low_pass;
    state[1] = band_pass;
  }
};

/// Soft clipping.
struct Drive : Kernel {
  static constexpr std::string_view name = "drive";
  [[gnu::noinline]] static void run(In<float> x, Out<float> y, float gain) noexcept {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::tanh(gain * x[i]);
  }
};

/// A chorus: the signal and a copy of it whose delay varies. `line`: a ring buffer; its last element is the position in
/// it.
struct Chorus : Kernel {
  static constexpr std::string_view name = "chorus";
  [[gnu::noinline]] static void run(In<float> x, In<float> sway, InOut<float> line, Out<float> y, float depth,
                                    float sign) noexcept {
    const std::size_t room = line.size() - 1;
    auto at = static_cast<std::size_t>(line[room]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      line[at] = x[i];
      const float delay = 300 + depth * (sign > 0 ? sway[i] : 1 - sway[i]);
      const auto whole = static_cast<std::size_t>(delay);
      const float rest = delay - static_cast<float>(whole);
      const float near = line[(at + room - whole) % room], far = line[(at + room - whole - 1) % room];
      y[i] = 0.7F * x[i] + 0.5F * (near + rest * (far - near));
      at = (at + 1) % room;
    }
    line[room] = static_cast<float>(at);
  }
};

/// An echo that repeats; `line` as above.
struct Echo : Kernel {
  static constexpr std::string_view name = "echo";
  [[gnu::noinline]] static void run(In<float> x, InOut<float> line, Out<float> y, float feedback) noexcept {
    const std::size_t room = line.size() - 1;
    auto at = static_cast<std::size_t>(line[room]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = x[i] + line[at];
      line[at] = feedback * y[i];
      at = at + 1 == room ? 0 : at + 1;
    }
    line[room] = static_cast<float>(at);
  }
};

/// A comb filter of a reverb: an echo whose repetitions lose high frequencies. `line` has one more element: the state
/// of the low-pass.
struct Comb : Kernel {
  static constexpr std::string_view name = "comb";
  [[gnu::noinline]] static void run(In<float> x, InOut<float> line, Out<float> y, float feedback, float damp) noexcept {
    const std::size_t room = line.size() - 2;
    auto at = static_cast<std::size_t>(line[room]);
    float low = line[room + 1];
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = line[at];
      low += (1 - damp) * (y[i] - low);
      line[at] = x[i] + feedback * low;
      at = at + 1 == room ? 0 : at + 1;
    }
    line[room] = static_cast<float>(at);
    line[room + 1] = low;
  }
};

/// An all-pass: spreads a signal in time without changing its spectrum; `line` as that of Echo.
struct Allpass : Kernel {
  static constexpr std::string_view name = "allpass";
  [[gnu::noinline]] static void run(In<float> x, InOut<float> line, Out<float> y, float gain) noexcept {
    const std::size_t room = line.size() - 1;
    auto at = static_cast<std::size_t>(line[room]);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float old = line[at];
      line[at] = x[i] + gain * old;
      y[i] = old - gain * line[at];
      at = at + 1 == room ? 0 : at + 1;
    }
    line[room] = static_cast<float>(at);
  }
};

/// The dry and wet sound of both channels as frames of two samples, limited to 1 by a gain that recovers slowly.
struct Master : Kernel {
  static constexpr std::string_view name = "master";
  [[gnu::noinline]] static void run(In<float> left, In<float> right, In<float> wet_left, In<float> wet_right,
                                    InOut<float> gain, Out<float, 2> sound, float wet) noexcept {
    for (std::size_t i = 0; i < sound.extent(0); ++i) {
      const float l = left[i] + wet * wet_left[i], r = right[i] + wet * wet_right[i];
      const float peak = std::max(std::abs(l), std::abs(r));
      gain[0] = std::min(gain[0] + 0.00002F, 0.9F / std::max(peak, 0.9F));
      sound(i, 0) = gain[0] * l;
      sound(i, 1) = gain[0] * r;
    }
  }
};

}  // namespace audio
