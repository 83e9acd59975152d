// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "random_format.hpp"

#include <rondo/args/layout.hpp>
#include <rondo/args/literal.hpp>
#include <rondo/args/system_slot.hpp>

#include <doctest/doctest.h>
#include <random.hpp>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace rondo::args;
using namespace rondo::literals;
using rondo::Shape;

struct Laid {
  LayoutSize size;
  std::vector<Slot> slots;
};

Laid lay_out(std::string_view format, const Signature& signature) {
  Laid laid;
  laid.size = try_lay_out(format, signature, {});
  REQUIRE(laid.size.ok());
  laid.slots.resize(laid.size.slots);
  const LayoutSize again = try_lay_out(format, signature, laid.slots);
  REQUIRE(again.ok());
  REQUIRE(again.slots == laid.size.slots);
  REQUIRE(again.bytes == laid.size.bytes);
  return laid;
}

std::size_t refreshable_slots(const Laid& laid) {
  std::size_t n = 0;
  for (const Slot& slot : laid.slots) {
    n += slot.kind == SlotKind::input || slot.kind == SlotKind::output || slot.kind == SlotKind::workspace ? 1 : 0;
  }
  return n;
}

/// Addresses that say what they are, to recognise them in an image.
constexpr std::uint64_t args_base = 0xA000'0000;
std::uint64_t address_of(const Slot& slot) {
  switch (slot.kind) {
    case SlotKind::null: return 0;
    case SlotKind::constant: return slot.value;
    case SlotKind::args_block: return args_base + slot.value;
    case SlotKind::input: return 0x1'0000 + slot.tensor;
    case SlotKind::output: return 0x2'0000 + slot.tensor;
    case SlotKind::workspace: return 0x3'0000 + slot.index;
    default: return 0x4'0000 + static_cast<std::uint64_t>(slot.kind);
  }
}

std::vector<std::uint64_t> words_of(const Laid& laid) {
  std::vector<unsigned char> image(laid.size.block_bytes);
  for (const Slot& slot : laid.slots) {
    const std::uint64_t value = address_of(slot);
    REQUIRE(slot.offset + slot.width <= image.size());
    std::memcpy(image.data() + slot.offset, &value, slot.width);
  }
  std::vector<std::uint64_t> words(image.size() / 8);
  std::memcpy(words.data(), image.data(), image.size());
  return words;
}

constexpr Signature nothing{};

constexpr Shape four_d{1, 40, 1024, 256};
constexpr Shape scalar{};
constexpr Shape two_four_d[] = {four_d, four_d};
constexpr Shape four_d_and_scalar[] = {four_d, scalar};

constexpr Parameter three[] = {{}, {}, {}};
constexpr Parameter dynamic_amid[] = {{}, {Occurrence::dynamic, 1}, {}};
constexpr Parameter attention_inputs[] = {
    {Occurrence::required, 1, {&four_d, 1}},     {Occurrence::dynamic, 2, two_four_d},
    {Occurrence::dynamic, 2, four_d_and_scalar}, {Occurrence::optional, 0},
    {Occurrence::optional, 1, {&four_d, 1}},     {Occurrence::optional, 0}};
constexpr Parameter attention_outputs[] = {{Occurrence::dynamic, 2, four_d_and_scalar}};
constexpr Signature attention{attention_inputs, attention_outputs, 1};

Reason reason_of(std::string_view format, const Signature& signature) {
  return try_lay_out(format, signature, {}).failure.reason;
}

}  // namespace

TEST_CASE("system addresses and tilings take one slot each") {
  const Laid laid = lay_out("{ffts_addr}{overflow_addr}{t}{t_ffts.non_tail}{t_ffts.tail}", nothing);
  CHECK(laid.size.bytes == 40);
  CHECK(laid.slots[1].kind == SlotKind::overflow_addr);
  CHECK(laid.slots[1].offset == 8);
  CHECK(laid.slots[3].variant == Variant::non_tail);
  CHECK(laid.slots[4].variant == Variant::tail);
  CHECK(refreshable_slots(laid) == 0);
}

TEST_CASE("all instances expand to one slot for each tensor") {
  const Parameter inputs[] = {{}, {Occurrence::dynamic, 3}, {Occurrence::optional, 0}, {}, {}};
  const Parameter outputs[] = {{Occurrence::dynamic, 5}};
  const Laid laid = lay_out("{i_instance*}{o_instance*}", {inputs, outputs});
  CHECK(laid.size.bytes == 88);
  CHECK(laid.slots[3].index == 1);
  CHECK(laid.slots[3].instance == 2);
  CHECK(laid.slots[3].tensor == 3);
  CHECK(laid.slots[4].index == 3);
  CHECK(laid.slots[4].tensor == 4);
  CHECK(laid.slots[10].kind == SlotKind::output);
  CHECK(laid.slots[10].tensor == 4);
}

TEST_CASE("all inputs, outputs and workspaces expand in order") {
  const Laid laid = lay_out("{i*}{o*}{ws*}", {three, three});
  CHECK(laid.size.bytes == 176);
  CHECK(laid.slots.size() == 22);
}

TEST_CASE("of all workspaces those that exist have addresses and the rest are null") {
  const Laid laid = lay_out("{ws*}", {{}, {}, 3});
  CHECK(laid.slots[2].kind == SlotKind::workspace);
  CHECK(laid.slots[2].index == 2);
  CHECK(laid.slots[3].kind == SlotKind::null);
  CHECK(refreshable_slots(laid) == 3);
}

TEST_CASE("a star folds dynamic tensors, so that it equals naming each tensor without a star") {
  const Signature signature{dynamic_amid, dynamic_amid, 2};
  const Laid laid = lay_out("{i*}{o*}{ws0*}{ws1*}", signature);
  CHECK(laid.size.bytes == 80);
  const Laid spelled = lay_out("{i0}{i1}{i2}{o0}{o1}{o2}{ws0}{ws1}", signature);
  CHECK(spelled.slots == laid.slots);
  // head: 3 inputs, 3 outputs, 2 workspaces; tail: the lists of the two dynamic tensors
  CHECK(words_of(laid) == std::vector<std::uint64_t>{0x1'0000, args_base + 64, 0x1'0002, 0x2'0000, args_base + 72,
                                                     0x2'0002, 0x3'0000, 0x3'0001, 0x1'0001, 0x2'0001});
}

TEST_CASE("unfolded dynamic tensors stand in place") {
  const Parameter inputs[] = {{}, {Occurrence::dynamic, 3}, {}};
  const Laid laid = lay_out("{i0*}{i1*}{i2*}", {inputs});
  CHECK(laid.size.bytes == 40);
  CHECK(words_of(laid) == std::vector<std::uint64_t>{0x1'0000, 0x1'0001, 0x1'0002, 0x1'0003, 0x1'0004});
  CHECK(lay_out("{i0}{i1}{i2}", {inputs}).size.bytes == 48);
}

TEST_CASE("shape blocks have the sizes that the Graph Engine gives them") {
  const Laid laid = lay_out("{ffts_addr}{i0*}{i_desc1}{i_desc2}{i4*}{o_desc0}{ws0*}{t_ffts.tail}", attention);
  CHECK(laid.size.bytes == 328);
  CHECK(laid.size.block_bytes == 328);
  CHECK(laid.slots[2].value == 64);
  CHECK(laid.slots[3].value == 64 + 104);
  CHECK(laid.slots[5].value == 64 + 104 + 80);
}

TEST_CASE("a shape block holds the offset of its addresses, the shapes, and the addresses, which are refreshable") {
  const Laid laid = lay_out("{t}{i_desc2}", attention);
  constexpr std::uint64_t mark = 0x1'0000'0000;
  CHECK(words_of(laid) == std::vector<std::uint64_t>{0x4'0000 + static_cast<std::uint64_t>(SlotKind::tiling),
                                                     args_base + 16, 64, mark | 4, 1, 40, 1024, 256, mark | 1, 1,
                                                     0x1'0003, 0x1'0004});
  CHECK(refreshable_slots(laid) == 2);
  CHECK(laid.slots[10].index == 2);
  CHECK(laid.slots[10].instance == 0);
  CHECK(laid.slots[11].instance == 1);
}

TEST_CASE("an unfolded shape block stands in place and has no pointer") {
  const Laid laid = lay_out("{i_desc2*}{t}", attention);
  CHECK(laid.size.bytes == 88);
  CHECK(laid.slots[0].kind == SlotKind::constant);
  CHECK(laid.slots[0].value == 64);
}

TEST_CASE("hidden inputs keep their family and number") {
  CHECK(lay_out("{hi.hcom0*}{}", nothing).size.bytes == 16);
  const Laid laid = lay_out("{hi.hcom0*}{hi.hcom1*}{hi.tilefwk2*}{hi.hcclsk3*}", nothing);
  CHECK(laid.slots[0].index == 0);
  CHECK(laid.slots[1].index == 1);
  CHECK(laid.slots[1].variant == Variant::hcom);
  CHECK(laid.slots[2].variant == Variant::tilefwk);
  CHECK(laid.slots[3].variant == Variant::hcclsk);
  CHECK(laid.slots[3].index == 3);
  CHECK(laid.slots[3].kind == SlotKind::hidden_input);
}

TEST_CASE("literals and placeholders keep their width, without padding between them") {
  const Laid zero = lay_out("{#0}{#18446744073709551615}", nothing);
  CHECK(zero.size.bytes == 16);
  CHECK(zero.slots[1].value == 0xFFFF'FFFF'FFFF'FFFF);
  const Laid places = lay_out("{}{}{.32b}{}", nothing);
  CHECK(places.size.bytes == 28);
  CHECK(places.size.block_bytes == 32);
  CHECK(places.slots[3].offset == 20);
  CHECK(places.slots[2].width == 4);
  const Laid values = lay_out("{#42}{#.32b114}{#514}", nothing);
  CHECK(values.size.bytes == 20);
  CHECK(values.slots[1].width == 4);
  CHECK((values.slots[0].value == 42 && values.slots[0].offset == 0));
  CHECK((values.slots[1].value == 114 && values.slots[1].offset == 8));
  CHECK((values.slots[2].value == 514 && values.slots[2].offset == 12));
}

TEST_CASE("the tail starts at a multiple of 8 even after an odd number of 32-bit fields") {
  const Laid laid = lay_out("{.32b}{i_desc2}", attention);
  CHECK(laid.slots[1].value == 16);
  CHECK(laid.size.bytes == 16 + 80);
}

TEST_CASE("the parts of a sunk tiling are slots of their own") {
  const Laid laid = lay_out(
      "{tiling_context}{*op_type}{tiling_context.tiling_key}{tiling_context.tiling_data}{tiling_context.block_dim}",
      nothing);
  CHECK(laid.size.bytes == 40);
  CHECK(laid.slots[0].variant == Variant::none);
  CHECK(laid.slots[2].variant == Variant::tiling_key);
}

TEST_CASE("a super-kernel's slots name their sub-node and need its signature only for tensors") {
  const Laid hidden = lay_out("{skn1hi.hcom0*}{skn1hi.tilefwk0*}{skn1hi.hcclsk0*}", nothing);
  CHECK(hidden.size.bytes == 24);
  CHECK(hidden.slots[2].node == 1);
  const Laid event = lay_out("{skn1event_addr200000*}", nothing);
  CHECK(event.slots[0].index == 200000);
  CHECK(event.slots[0].kind == SlotKind::event_addr);

  const SubNode nodes[] = {{3, {three, three, 1}}, {9, attention}};
  const Laid laid = lay_out("{skn9i_desc2}{skn3i*}{skn9ws0}", {{}, {}, 0, nodes});
  CHECK(laid.slots[0].node == 9);
  CHECK(laid.slots[1].node == 3);
  CHECK(laid.slots[4].node == 9);
  CHECK(laid.slots.back().node == 9);
  CHECK(laid.slots.back().tensor == 4);
  CHECK(reason_of("{skn4i0}", {{}, {}, 0, nodes}) == Reason::no_such_sub_node);
  CHECK(reason_of("{skn3i3}", {{}, {}, 0, nodes}) == Reason::no_such_input);
}

TEST_CASE("the block of a memcpy task has two refreshable slots") {
  const Parameter one[] = {{}};
  const Laid laid = lay_out("{}{}{}{}{i_instance0*}{o_instance0*}{#.32b1}{.32b}{}", {one, one});
  CHECK(refreshable_slots(laid) == 2);
  CHECK(laid.size.bytes == 64);
  CHECK(laid.slots[4].offset == 32);
  CHECK(laid.slots[5].offset == 40);
}

TEST_CASE("a flat instance without a star is folded and takes 16 bytes") {
  const Parameter inputs[] = {{Occurrence::dynamic, 6}};
  const Parameter outputs[] = {{Occurrence::dynamic, 5}};
  const Laid laid = lay_out(
      "{i_instance0}{i_instance0*}{i_instance2*}{o_instance3}{o_instance1}{o_instance3*}{i_instance2}{o_instance4}",
      {inputs, outputs});
  CHECK(laid.size.bytes == 104);
}

TEST_CASE("tensors without instances") {
  const Parameter inputs[] = {{Occurrence::optional, 0}, {Occurrence::dynamic, 0}, {}};
  const Signature signature{inputs, inputs};
  SUBCASE("an input is one null slot, folded or not") {
    for (const std::string_view text : {"{i0}{i1}{i2}", "{i0*}{i1*}{i2*}", "{i*}"}) {
      const Laid laid = lay_out(text, signature);
      CHECK(laid.size.bytes == 24);
      CHECK(laid.slots[0].kind == SlotKind::null);
      CHECK(laid.slots[1].kind == SlotKind::null);
      CHECK(laid.slots[2].kind == SlotKind::input);
      CHECK(laid.slots[2].tensor == 0);
    }
  }
  SUBCASE("an output is one null slot unless it is dynamic and unfolded") {
    CHECK(words_of(lay_out("{o*}", signature)) == std::vector<std::uint64_t>{0, 0, 0x2'0000});
    CHECK(words_of(lay_out("{o0*}{o2*}", signature)) == std::vector<std::uint64_t>{0, 0x2'0000});
    CHECK(lay_out("{o1*}", signature).size.bytes == 0);
  }
  SUBCASE("a shape block is empty but there") {
    CHECK(words_of(lay_out("{i_desc1}", signature)) == std::vector<std::uint64_t>{args_base + 8, 8});
  }
}

TEST_CASE("a format that does not fit the kernel is refused for the right reason") {
  const Signature signature{three, dynamic_amid, 2};
  CHECK(reason_of("{i3}", signature) == Reason::no_such_input);
  CHECK(reason_of("{o3*}", signature) == Reason::no_such_output);
  CHECK(reason_of("{i_desc3}", signature) == Reason::no_such_input);
  CHECK(reason_of("{o_desc7}", signature) == Reason::no_such_output);
  CHECK(reason_of("{i_desc0}", signature) == Reason::shape_missing);
  CHECK(reason_of("{i_instance3*}", signature) == Reason::no_such_input_instance);
  CHECK(reason_of("{o_instance3}", signature) == Reason::no_such_output_instance);
  CHECK(reason_of("{ws2}", signature) == Reason::no_such_workspace);
  CHECK(reason_of("{ws1}", signature) == Reason::none);
  CHECK(reason_of("{ws*}", {{}, {}, 16}) == Reason::none);
  CHECK(reason_of("{ws*}", {{}, {}, 17}) == Reason::too_many_workspaces);
  CHECK(reason_of("{ws16}", {{}, {}, 17}) == Reason::none);
  CHECK(reason_of("{skn1i0}", signature) == Reason::no_such_sub_node);
  for (const std::string_view text : {"{skn1ws0}", "{skn1i_instance0}", "{skn1i_desc0}"}) {
    CHECK(reason_of(text, signature) == Reason::no_such_sub_node);
  }

  const Parameter twice[] = {{Occurrence::required, 2}};
  const Parameter optional_twice[] = {{Occurrence::optional, 2}};
  for (const std::string_view text : {"{i*}", "{i0}", "{i_instance*}", "{i_desc0}"}) {
    CHECK(reason_of(text, {twice}) == Reason::wrong_instance_count);
    CHECK(reason_of(text, {optional_twice}) == Reason::wrong_instance_count);
  }
  const Shape six_d[] = {{1, 2, 3, 4, 5, 6}};
  const Parameter deep[] = {{Occurrence::required, 1, six_d}};
  CHECK(reason_of("{i_desc0}", {deep}) == Reason::rank_above_limit);
  const Shape five_d[] = {{1, 2, 3, 4, 5}};
  const Parameter less_deep[] = {{Occurrence::required, 1, five_d}};
  CHECK(reason_of("{i_desc0}", {less_deep}) == Reason::none);
  const Parameter many[] = {{Occurrence::dynamic, 0xFFFF'FFFF, six_d}};
  for (const std::string_view text : {"{i*}", "{i0*}", "{i_instance*}", "{i_desc0}"}) {
    CHECK(reason_of(text, {many}) == Reason::block_too_large);
  }
  CHECK(reason_of("{i_instance0*}", {many}) == Reason::none);
}

TEST_CASE("a format that is refused has no size, and writes no slot") {
  std::vector<Slot> slots(8);
  const LayoutSize size = try_lay_out("{i0*}{i1*}{i9*}", {three}, slots);
  CHECK(size.failure.reason == Reason::no_such_input);
  CHECK(size.slots == 0);
  CHECK(size.bytes == 0);
  CHECK(size.block_bytes == 0);
  for (const Slot& slot : slots) CHECK(slot == Slot{});
}

TEST_CASE("a kind of slot that does not exist has no name") {
  CHECK(std::string_view{to_string(SlotKind::hidden_input)} == "hidden input");
  CHECK(std::string_view{to_string(static_cast<SlotKind>(static_cast<int>(SlotKind::hidden_input) + 1))} == "?");
  CHECK(std::string_view{to_string(static_cast<SlotKind>(255))} == "?");
}

TEST_CASE("a refusal by the kernel names the pattern and its position in the format's text") {
  CHECK(check_layout("", nothing).bytes == 0);
  constexpr std::string_view format = "{t}{#.32b7}{i3*}{o0}";
  const LayoutSize size = try_lay_out(format, {three, three}, {});
  CHECK(size.failure == Failure{Reason::no_such_input, 11, 5, 11});
  try {
    (void)check_layout(format, {three, three});
    FAIL("no error");
  } catch (const rondo::Error& error) {
    CHECK(error.code() == rondo::Errc::invalid_argument);
    CHECK(std::string_view{error.what()} ==
          "args format: pattern \"{i3*}\" at position 11: the kernel has no input of this number");
  }
}

TEST_CASE("buffers that are too small are filled and never overrun") {
  constexpr std::string_view format = "{i_desc2}{i*}{ws*}";
  const Laid whole = lay_out(format, attention);
  for (std::size_t room = 0; room <= whole.slots.size(); ++room) {
    std::vector<Slot> slots(room);
    const LayoutSize size = try_lay_out(format, attention, slots);
    REQUIRE(size.slots == whole.slots.size());
    for (std::size_t i = 0; i < room; ++i) REQUIRE(slots[i] == whole.slots[i]);
  }
}

TEST_CASE("random formats for random kernels give slots that tile the block, of the sizes in the grammar's table") {
  using test::below;
  auto random = rondo::test::make_random<test::Random>(42);
  std::size_t laid_out = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<Shape> pool(40);
    for (Shape& instance : pool) {
      const Shape kinds[] = {scalar, four_d, {3}, {2, 2}};
      instance = kinds[below(random, 4)];
    }
    std::vector<Parameter> lists[2];
    for (auto& list : lists) {
      for (std::uint64_t n = below(random, 5); n > 0; --n) {
        const std::span<const Shape> shapes = std::span(pool).subspan(below(random, 30));
        switch (below(random, 3)) {
          case 0: list.push_back({Occurrence::required, 1, shapes}); break;
          case 1: list.push_back({Occurrence::optional, below(random, 2) == 0 ? 1U : 0U, shapes}); break;
          default: list.push_back({Occurrence::dynamic, static_cast<std::uint32_t>(below(random, 5)), shapes});
        }
      }
    }
    const Signature signature{lists[0], lists[1], static_cast<std::uint32_t>(below(random, 4))};

    // The text, and by the table of the grammar the bytes that it takes.
    std::string text;
    std::uint64_t bytes = 0;
    for (std::uint64_t n = below(random, 9); n > 0; --n) {
      const std::size_t side = below(random, 2);
      const char letter = side == 0 ? 'i' : 'o';
      const std::vector<Parameter>& list = lists[side];
      const bool star = below(random, 2) == 0;
      const auto tensor_bytes = [&](const Parameter& p, bool unfolded) -> std::uint64_t {
        if (p.occurrence != Occurrence::dynamic) return 8;
        if (p.count == 0) return side == 0 || !unfolded ? 8 : 0;
        return 8 * std::uint64_t{p.count} + (unfolded ? 0 : 8);
      };
      std::uint64_t instances = 0;
      for (const Parameter& p : list) instances += p.count;
      const std::uint64_t ir = list.empty() ? 0 : below(random, list.size());
      switch (below(random, 8)) {
        case 0:
          text += "{.32b}";
          bytes += 4;
          break;
        case 1:
          text += "{#7}";
          bytes += 8;
          break;
        case 2:
          text += std::string{"{"} + letter + "*}";
          for (const Parameter& p : list) bytes += tensor_bytes(p, false);
          break;
        case 3:
          if (list.empty()) break;
          text += std::string{"{"} + letter + std::to_string(ir) + (star ? "*}" : "}");
          bytes += tensor_bytes(list[ir], star);
          break;
        case 4:
          if (list.empty()) break;
          text += std::string{"{"} + letter + "_desc" + std::to_string(ir) + (star ? "*}" : "}");
          bytes += star ? 8 : 16;
          for (std::uint32_t k = 0; k < list[ir].count; ++k) {
            const std::size_t rank = list[ir].instances[k].rank();
            bytes += 16 + 8 * (rank == 0 ? 1 : rank);
          }
          break;
        case 5:
          text += std::string{"{"} + letter + "_instance*}";
          bytes += 8 * instances;
          break;
        case 6:
          if (instances == 0) break;
          text +=
              std::string{"{"} + letter + "_instance" + std::to_string(below(random, instances)) + (star ? "*}" : "}");
          bytes += star ? 8 : 16;
          break;
        default: text += "{ws*}"; bytes += 128;
      }
    }
    CAPTURE(text);
    const Laid laid = lay_out(text, signature);
    std::uint64_t in_slots = 0;
    for (const Slot& slot : laid.slots) in_slots += slot.width;
    REQUIRE(in_slots == bytes);
    REQUIRE(laid.size.bytes >= bytes);
    REQUIRE(laid.size.bytes <= bytes + 4);
    REQUIRE(laid.size.block_bytes % 8 == 0);
    REQUIRE(laid.size.block_bytes - laid.size.bytes < 8);
    std::uint32_t end = 0;
    std::uint32_t gaps = 0;
    for (const Slot& slot : laid.slots) {
      REQUIRE(slot.offset >= end);
      gaps += slot.offset - end;
      end = slot.offset + slot.width;
      if (slot.kind == SlotKind::input || slot.kind == SlotKind::output) {
        const auto& list = lists[slot.kind == SlotKind::input ? 0 : 1];
        std::uint32_t tensor = slot.instance;
        for (std::uint32_t i = 0; i < slot.index; ++i) tensor += list[i].count;
        REQUIRE(slot.index < list.size());
        REQUIRE(slot.instance < list[slot.index].count);
        REQUIRE(slot.tensor == tensor);
      }
    }
    REQUIRE(end == laid.size.bytes);
    REQUIRE(gaps == laid.size.bytes - bytes);
    for (const Slot& slot : laid.slots) {
      if (slot.kind == SlotKind::args_block) REQUIRE((slot.value % 8 == 0 && slot.value < laid.size.block_bytes + 8));
    }
    laid_out += laid.size.slots;
  }
  CHECK(laid_out > 200000);
}

namespace {

struct Kernel {
  static constexpr auto args = "{ffts_addr}{i0*}{i_desc1}{i_desc2}{i4*}{o_desc0}{ws0*}{t_ffts.tail}"_args;
};

}  // namespace

TEST_CASE("a layout of constants is a constant and equals the one made at run time") {
  constexpr auto& constant = static_layout<Kernel::args, attention>;
  static_assert(constant.bytes == 328 && constant.block_bytes == 328);
  const Laid laid = lay_out(Kernel::args.view(), attention);
  REQUIRE(constant.slot_count == laid.slots.size());
  for (std::size_t i = 0; i < laid.slots.size(); ++i) CHECK(constant.slots[i] == laid.slots[i]);
}
