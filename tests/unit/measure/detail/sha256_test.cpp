// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/measure/detail/sha256.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using rondo::measure::detail::Sha256;

namespace {

std::string hash(std::string_view text) {
  Sha256 sha;
  sha.update(text);
  return sha.hex();
}

}  // namespace

// The examples of FIPS 180-4, and lengths around a block's end; the latter as coreutils' sha256sum has them.
TEST_CASE("Digests are those of the standard") {
  CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(hash(std::string(55, 'x')) == "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  CHECK(hash(std::string(56, 'x')) == "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  CHECK(hash(std::string(64, 'x')) == "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
}

TEST_CASE("A text in pieces has the digest of the whole") {
  Sha256 sha;
  for (const char c : std::string(100, 'q')) sha.update(std::string_view(&c, 1));
  CHECK(sha.hex() == hash(std::string(100, 'q')));
}
