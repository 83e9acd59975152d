// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/onboard/codes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace rondo;
using namespace rondo::platform::onboard;

namespace {

struct Meaning {
  Errc errc;
  std::vector<int> codes;
};

/// Every code that the runtime's documentation and headers list (API 1.17).
const Meaning table[] = {
    {Errc::ok, {0}},
    {Errc::invalid_argument,
     {100000, 100002, 100003, 100004, 100005, 100006, 100007, 100008, 100009, 100010, 100011, 100012, 100013, 100014,
      100015, 100016, 100017, 100018, 100019, 100020, 100021, 100022, 100023, 100024, 100025, 100027, 100028, 100029,
      100030, 100031, 100032, 100033, 100034, 100035, 100038, 100040, 100041, 100042, 100043, 100044, 100045, 107000,
      107003, 107004, 107005, 107006, 107007, 107009, 107010, 107011, 107012, 107013, 107014, 107015, 107016, 107017,
      107018, 107021, 107039, 107042, 107043, 107044, 148046, 148047, 148048, 148049, 148053, 200004, 200005, 207013,
      207015, 507024, 507027, 507028, 507031, 507038, 507039, 507040, 507041, 507910, 507911}},
    {Errc::misaligned, {107008, 200003}},
    {Errc::no_such_device, {107001, 200002, 207004, 507033}},
    {Errc::not_open, {100001, 100037, 107002}},
    {Errc::busy, {107037, 107040, 148051, 507004, 507006}},
    {Errc::out_of_memory, {200000, 207001, 207018}},
    {Errc::out_of_resources, {207005, 207007, 207008, 207009, 207010, 207011, 207012, 207014, 300000, 507002, 507032}},
    {Errc::timed_out,
     {100036, 107019, 107020, 207020, 507012, 507014, 507017, 507034, 507046, 507047, 507048, 507905, 507915}},
    {Errc::stopped, {107022, 107023, 107035, 507023}},
    {Errc::unsupported,
     {100026, 100039, 107024, 107025, 107026, 107027, 107028, 107029, 107030, 107031, 107032, 107033, 107034, 107036,
      107038, 107041, 107045, 148050, 148052, 200001, 200006, 200007, 207000, 207006, 207019, 207021, 507009, 507903}},
    {Errc::device_failed,
     {207002, 207003, 207016, 207017, 500000, 500001, 500002, 500003, 500004, 500005, 507000, 507001,
      507003, 507005, 507007, 507008, 507010, 507011, 507013, 507015, 507016, 507018, 507019, 507020,
      507021, 507022, 507025, 507026, 507029, 507030, 507035, 507036, 507037, 507042, 507043, 507044,
      507045, 507049, 507050, 507051, 507052, 507053, 507054, 507055, 507056, 507057, 507899, 507900,
      507901, 507902, 507904, 507906, 507907, 507908, 507909, 507912, 507913, 507914, 507916}},
};
/// From where to where the table has codes.
constexpr std::pair<int, int> ranges[] = {{0, 0},           {100000, 100045}, {107000, 107045}, {148046, 148053},
                                          {200000, 200007}, {207000, 207021}, {300000, 300000}, {500000, 500005},
                                          {507000, 507057}, {507899, 507916}};

}  // namespace

TEST_CASE("Each of the runtime's codes comes to one of ours") {
  for (const auto& [first, last] : ranges) {
    for (int code = first; code <= last; ++code) {
      CAPTURE(code);
      int found = 0;
      for (const Meaning& meaning : table) {
        if (std::count(meaning.codes.begin(), meaning.codes.end(), code) == 0) continue;
        ++found;
        CHECK(errc_of(code) == meaning.errc);
      }
      CHECK(found == 1);
    }
  }
  CHECK(errc_of(999999) == Errc::device_failed);  // nobody knows, so nothing is promised any more
}

TEST_CASE("What was waited for may go on where only the host gave up") {
  for (const int code : {507046, 107019, 107000}) CHECK(may_go_on(code));
  for (const int code : {0, 507015, 507014, 507034, 107020, 107023}) CHECK_FALSE(may_go_on(code));
}

TEST_CASE("A kernel that failed is found in the runtime's words") {
  CHECK(kernel_named_in("[DFX_INFO]AI Core kernel execution failed, task_id=3, flip_num=0, fault kernel_name=saxpy, "
                        "fault kernel info ext=none, program id=2") == "saxpy");
  CHECK(kernel_named_in("fault kernel_name=gemm_mix_aic") == "gemm");
  CHECK(kernel_named_in("fault kernel_name=none, fault kernel info ext=none") == "");
  CHECK(kernel_named_in("no device") == "");
}

TEST_CASE("A device that failed, or does not finish, poisons; a call that was refused does not") {
  CHECK(status_of(0).ok());
  CHECK(status_of(507015).poisoned());
  CHECK(status_of(507046).poisoned());
  CHECK(status_of(107023).poisoned());
  CHECK_FALSE(status_of(207001).poisoned());
  CHECK_FALSE(status_of(107000).poisoned());
  // What once poisoned and need not.
  for (const int code : {107024, 107029, 107041, 207004, 207007, 207010, 207012, 507903, 507033, 100001}) {
    CAPTURE(code);
    CHECK_FALSE(status_of(code).poisoned());
  }
}

TEST_CASE("A failed call becomes an Error with the call, the code, what it means and the runtime's own words") {
  Calls calls;
  check(calls, "a2a3_onboard", "aclInit", 0);
  try {
    check(calls, "a2a3_onboard", "aclrtMalloc", 207001);
    FAIL("nothing was thrown");
  } catch (const Error& e) {
    CHECK(e.code() == Errc::out_of_memory);
    CHECK(std::string(e.what()) ==
          "a2a3_onboard: aclrtMalloc returned 207001: the device has not enough memory; use smaller tensors");
  }
  calls.recent_error = []() -> const char* { return "EL0004: no memory"; };
  try {
    check(calls, "a5_onboard", "aclrtMalloc", 207001);
    FAIL("nothing was thrown");
  } catch (const Error& e) {
    CHECK(std::string(e.what()).find("; the runtime reports: EL0004: no memory") != std::string::npos);
  }
}
