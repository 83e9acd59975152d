// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/platform/file.hpp>

#include <ostream>
#include <span>
#include <streambuf>
#include <string>
#include <utility>

namespace rondo::detail {

/// The buffer of an output stream that writes into a NewFile.
class NewFileBuffer final : public std::streambuf {
 public:
  explicit NewFileBuffer(NewFile& file) : file_{file} { setp(text_, text_ + sizeof(text_)); }

 private:
  int_type overflow(int_type c) override {
    (void)NewFileBuffer::sync();
    if (!traits_type::eq_int_type(c, traits_type::eof())) (void)sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override {
    file_.write(std::as_bytes(std::span<const char>(pbase(), pptr())));
    setp(text_, text_ + sizeof(text_));
    return 0;
  }

  NewFile& file_;
  char text_[16384];
};

/// Writes a file as a whole: `write` gets a std::ostream. @throws Error as NewFile; std::ios_base::failure if the
/// stream fails otherwise; and as `write` does
template <class Write>
void write_file(const std::string& path, const char* what, Write&& write) {
  NewFile file(path.c_str(), what);
  NewFileBuffer buffer(file);
  std::ostream out(&buffer);
  out.exceptions(std::ios_base::badbit | std::ios_base::failbit);  // also rethrows what the buffer throws
  std::forward<Write>(write)(out);
  out.flush();
  file.commit();
}

}  // namespace rondo::detail
