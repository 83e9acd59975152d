// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace audio {

static_assert(std::endian::native == std::endian::little, "a .wav file is written as memory is");

/// Writes samples between -1 and 1 as 16-bit integers, two to a frame. Returns whether the file could be written.
inline bool write_wav(const std::string& path, std::span<const float> samples, std::uint32_t hertz) {
  constexpr std::uint16_t channels = 2, bytes = 2;
  const auto size = static_cast<std::uint32_t>(samples.size() * bytes);
  std::ofstream out(path, std::ios::binary);
  const auto word = [&out](auto value) { out.write(reinterpret_cast<const char*>(&value), sizeof value); };
  out << "RIFF";
  word(std::uint32_t{36 + size});
  out << "WAVEfmt ";
  word(std::uint32_t{16});
  word(std::uint16_t{1});  // the format: integers
  word(channels);
  word(hertz);
  word(std::uint32_t{hertz * channels * bytes});
  word(std::uint16_t{channels * bytes});
  word(std::uint16_t{8 * bytes});
  out << "data";
  word(size);
  std::vector<std::int16_t> integers(samples.size());
  std::transform(samples.begin(), samples.end(), integers.begin(),
                 [](float x) { return static_cast<std::int16_t>(std::lround(std::clamp(x, -1.0F, 1.0F) * 32767)); });
  out.write(reinterpret_cast<const char*>(integers.data()), static_cast<std::streamsize>(size));
  return static_cast<bool>(out.flush());
}

}  // namespace audio
