// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/detail/compiled.hpp>
#include <rondo/session/session_impl.hpp>
#include <rondo/session/shaped_session.hpp>
#if RONDO_HAS_BODIES
#include <rondo/memory/lay_out.hpp>
#endif

/// The bodies of ShapedSession's members that rounds of known shapes do not use. Include shaped_session.hpp instead.
namespace rondo {

template <Platform P, class Policies, class Capacity, std::size_t Depth>
ShapedSession<P, Policies, Capacity, Depth>::ShapedSession(Shapes shapes, const Options& options)
    : Base(options, shapes.graph().interface()),
      Flights(platform_, shapes.graph().tensors().size(), Bytes{}),
      options_{options},
      shapes_{std::move(shapes)},
      graph_{shapes_.graph()},
      others_{platform_, detail::check_memory_kinds(graph_.interface(), P::name, memory_kinds_of<P>()), slots, false},
      offsets_(graph_.tensors().size(), 0),
      sizes_(detail::count_ports(graph_.interface())),
      size_words_((1 + max_rank) * sizes_.size() + graph_.symbols().size()),
      entries_{size_words_.size()} {
  if constexpr (NamesSavedFile<Options>) {
    if (options.saved.path() != nullptr) {
      throw Error(Errc::unsupported, Error::Text{options.saved.path(),
                                                 ": a session of many shapes is not saved; leave "
                                                 "Options::saved out"});
    }
  }
  Flights::limit_to(slots);
  for (std::size_t t = 0; t < offsets_.size(); ++t) {
    const graph::TensorRecord& tensor = graph_.tensors()[t];
    resets_workspace_ = resets_workspace_ || tensor.zeroed == Zeroed::once;
    if (tensor.is_delivered_alone()) Flights::limit_to(1);
    if (tensor.direction != Direction::resident) continue;
    if (tensor.is_symbolic()) {
      throw Error(Errc::invalid_argument,
                  Error::Text{"resident '", graph_.name(tensor.name),
                              "' has a symbolic size; what stays between rounds of different shapes needs a size of "
                              "its own"});
    }
    if (tensor.is_outside_arena()) continue;
    offsets_[t] = align_up(residents_end_, P::Arch::tensor_alignment);
    residents_end_ = offsets_[t] + arch::block_bytes<typename P::Arch>(tensor.bytes);
    if (residents_end_ > std::uint64_t{1} << 62U) {
      throw Error(Errc::out_of_memory, Error::Text{"the residents up to '", graph_.name(tensor.name), "' take ",
                                                   residents_end_, " bytes; the most is 2^62"});
    }
  }
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
template <class Channel, class Settle>
Status ShapedSession<P, Policies, Capacity, Depth>::run_on(Channel channel, std::uint32_t slot, Settle settle,
                                                           DynamicBindings<ShapedSession>& bindings) noexcept {
  if (const Status status = refusal(); !status) return status;
  if (!bindings.are_of(*this)) return without_text(Status{Errc::wrong_tensor});
  const auto run = [&]() -> Status {
    const std::span<detail::Binding> list = bindings.list();
    const std::span<const std::int64_t> symbols = bindings.stated_symbols();
    const launch::KeyView key = key_of(list, symbols);
    std::unique_ptr<Entry>* found = entries_.find_last(key);
    if (found == nullptr) {
      if (const Status s = change_shape(key, sizes_, symbols, found); !s) return s;
    }
    Entry& entry = **found;
    if constexpr (!Channel::is_synchronous) in_slot_[slot] = &entry;
    round_observer().enters(Phase::bind);
    const Status status = entry.instances()[slot].run(channel, round_observer(), settle, list);
    if (!status.ok()) explain_failure(entry, status);
    return status;
  };
  if (bindings.is_settled()) [[likely]]
    return run();
  return Base::template run_packed<Channel>(slot, bindings, {}, run);
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
launch::KeyView ShapedSession<P, Policies, Capacity, Depth>::key_of(std::span<const detail::Binding> list,
                                                                    std::span<const std::int64_t> symbols) noexcept {
  std::size_t words = 0;
  for (std::size_t b = 0; b < list.size(); ++b) {
    const std::uint32_t t = index(list[b].key.tensor());
    sizes_[b] = {t, list[b].bytes / size_of(graph_.tensors()[t].type), nullptr};
    size_words_[words++] = detail::size_word(sizes_[b].count, t);
    for (std::size_t d = 0; d < max_rank && !symbols.empty(); ++d) size_words_[words++] = ~std::uint64_t{0};
  }
  for (const std::int64_t value : symbols) size_words_[words++] = static_cast<std::uint64_t>(value);
  return {size_words_.data(), words};
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
void ShapedSession<P, Policies, Capacity, Depth>::explain_failure(const Entry& entry, Status status) noexcept {
  const std::uint64_t what = shared_.refusal_detail;
  (void)keep(status, detail::explain_status(entry.view(), status, what, entry.instances().failure_text(platform_)));
  if (this->poisoned()) this->poison(text_);
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
Status ShapedSession<P, Policies, Capacity, Depth>::change_shape(launch::KeyView key,
                                                                 std::span<const launch::BoundSize> sizes,
                                                                 std::span<const std::int64_t> values,
                                                                 std::unique_ptr<Entry>*& found) noexcept {
  const std::uint64_t delivered = this->delivered();
  // Without a queue only run_round() waits here. Rounds that coroutines await start now, or nothing will start them.
  if (!Flights::is_queued || resets_workspace_) this->deliver_all(Flights::is_queued);
  if (has_delivered(delivered)) return Status{Errc::busy};  // submitted anew, which asks for a refusal
  if (const Status status = refusal(); !status) return status;
  entries_.forget_last();
  found = entries_.find_in_table(key);
  if (found != nullptr) {
    const Status zeroed = resets_workspace_ ? (*found)->zero_workspace(platform_, base_) : Status{};
    if (zeroed.ok()) return zeroed;
    entries_.forget_last();  // so that the next round of the shape zeroes them
    return note_failure(zeroed);
  }
  const Status made = make_entry(key, sizes, values, found);
  if (made.poisoned()) return made;
  return has_delivered(delivered) ? Status{Errc::busy} : made;
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
Status ShapedSession<P, Policies, Capacity, Depth>::make_entry(launch::KeyView key,
                                                               std::span<const launch::BoundSize> sizes,
                                                               std::span<const std::int64_t> symbols,
                                                               std::unique_ptr<Entry>*& made) noexcept {
  std::vector<std::int64_t> values;
  try {
    check_bound(sizes);
    values = launch::solve(graph_, sizes, symbols);
    const auto shape = shapes_.find_or_resolve(values);
    const std::vector<std::uint64_t> words(key.begin(), key.end());  // a completion may overwrite those of the key
    this->deliver_all(true);
    made = &insert(words, shape);
    return {};
  } catch (const Error& error) {
    if (const Status status = refusal(); !status) return status;
    if (is_loss(error.code())) return note_loss(error.code(), error.what());
    Error::Text text(error.what());
    for (std::size_t s = 0; s < values.size(); ++s) {
      text.append(Error::Text{s == 0 ? "; " : ", ", graph_.name(graph_.symbols()[s]), " = ", values[s]});
    }
    return keep(Status{error.code()}, text);
  } catch (const std::bad_alloc&) {
    return keep(Status{Errc::out_of_memory}, Error::Text("the host has no memory left for another shape"));
  } catch (const std::exception& error) {
    return keep(Status{Errc::invalid_argument},
                Error::Text{"a planner, or other code of yours that sets up a shape, threw: ", error.what()});
  } catch (...) {
    return keep(Status{Errc::invalid_argument}, Error::Text("code of yours that sets up a shape threw an exception"));
  }
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
void ShapedSession<P, Policies, Capacity, Depth>::check_bound(std::span<const launch::BoundSize> sizes) const {
  std::vector<std::uint32_t> bound(graph_.tensors().size(), 0);
  for (const launch::BoundSize& size : sizes) {
    if (size.tensor >= bound.size()) throw Error(Errc::wrong_tensor, Error::Text(describe(Errc::wrong_tensor)));
    ++bound[size.tensor];
  }
  for (std::size_t t = 0; t < bound.size(); ++t) {
    const graph::TensorRecord& tensor = graph_.tensors()[t];
    const bool is_port = is_bound_each_round(tensor.direction);
    if (bound[t] == (is_port ? 1 : 0)) continue;
    const Errc code = !is_port ? Errc::wrong_tensor : bound[t] == 0 ? Errc::unbound_tensor : Errc::bound_twice;
    throw Error(code, Error::Text{"tensor '", graph_.name(tensor.name), "': ", describe(code)});
  }
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
auto ShapedSession<P, Policies, Capacity, Depth>::make_shape_entry(std::shared_ptr<const Resolved> shape)
    -> std::unique_ptr<Entry> {
  const detail::ShapedArena needed = Entry::parts_of(*shape);
  grow(needed);
  auto entry = std::make_unique<Entry>(platform_, std::move(shape), base_, parts_, others_, shared_, options_);
  this->reserve_in_queue(Bytes{needed.each_slot + entry->instances()[0].refresher().device_bytes().value});
  entry->instances().unblock(uploaded_);
  check(entry->zero_workspace(platform_, base_), "setting workspaces to zero");
  detail::log_opened<P, Policies>(platform_, entry->view(), arena_bytes(),
                                  Bytes{entry->instances()[0].refresher().table().image().size()}, slots);
  return entry;
}

/// Moves all known shapes to the new arena. A shape cannot move if the arguments of one of its tasks never change, or
/// the update strategy never rewrites the addresses in question; it is then set up again with the same plan.
template <Platform P, class Policies, class Capacity, std::size_t Depth>
void ShapedSession<P, Policies, Capacity, Depth>::rebase() {
  try {
    entries_.for_each([&](std::unique_ptr<Entry>& entry) {
      if (entry->can_move()) {
        entry->move(base_, parts_);
      } else {
        std::shared_ptr<const Resolved> shape = entry->shape();
        entry.reset();
        entry = std::make_unique<Entry>(platform_, std::move(shape), base_, parts_, others_, shared_, options_);
      }
      entry->instances().unblock(uploaded_);
      check(entry->zero_workspace(platform_, base_));
    });
  } catch (...) {
    entries_.clear();  // some are unusable; each is set up again when it is next used
  }
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
void ShapedSession<P, Policies, Capacity, Depth>::grow(const detail::ShapedArena& wanted) {
  detail::ShapedArena parts{std::max({parts_.shared, wanted.shared, residents_end_}),
                            std::max(parts_.each_slot, wanted.each_slot)};
  const std::uint64_t whole = detail::sum_or_most(parts.shared, detail::bytes_or_most(slots, parts.each_slot));
  // Tensors without elements also need an address.
  parts.bytes = std::max({parts_.bytes, wanted.bytes, whole == 0 ? std::uint64_t{P::Arch::arena_alignment} : whole});
  if (parts.bytes == parts_.bytes) {
    if (std::exchange(parts_, parts) != parts && slots > 1) rebase();
    return;
  }
  std::vector<std::byte> residents(base_ ? residents_end_ : 0);
  if (!residents.empty()) {
    check(platform_.copy_out(residents.data(), DevicePtr<const std::byte>{base_}, Bytes{residents.size()}));
    check(platform_.wait());
  }
  const detail::ShapedArena before = parts_;
  const auto release = [this] {
    this->arena_watch_.forget();
    return release_arena();
  };
  try {
    check(release());
    allocate_arena(parts, residents);
  } catch (...) {
    (void)release();
    parts_ = {};
    try {
      if (before.bytes != 0) allocate_arena(before, residents);
    } catch (...) {  // not even the previous size: all shapes are forgotten, and residents need an upload
      entries_.clear();
      this->forget_uploads_in_arena();
    }
    rebase();
    throw;
  }
  rebase();
}
template <Platform P, class Policies, class Capacity, std::size_t Depth>
void ShapedSession<P, Policies, Capacity, Depth>::allocate_arena(const detail::ShapedArena& parts,
                                                                 std::span<const std::byte> residents) {
  base_ = platform_.allocate(Bytes{parts.bytes}, Bytes{P::Arch::arena_alignment});
  parts_ = parts;
  if (!this->arena_watch_.enter(platform_, base_, arena_bytes(), true)) throw std::bad_alloc();
  if (residents.empty()) return;
  check(platform_.copy_in(base_, residents.data(), Bytes{residents.size()}));
  check(platform_.wait());
}

template <Platform P, class Policies, class Capacity, std::size_t Depth>
Status ShapedSession<P, Policies, Capacity, Depth>::find_resident(TensorKey key, DevicePtr<std::byte>& at) noexcept {
  const std::uint32_t t = index(key.tensor());
  const bool is_in_arena = others_.address(t) == 0;
  if (is_in_arena && !base_) {
    try {
      grow({});
    } catch (const Error& error) {
      return is_loss(error.code()) ? note_loss(error.code(), error.what()) : Status::of_tensor(error.code(), t);
    } catch (const std::bad_alloc&) {
      return Status::of_tensor(Errc::out_of_memory, t);
    }
  }
  at = DevicePtr<std::byte>{is_in_arena ? base_.address() + offsets_[t] : others_.address(t)};
  return {};
}

}  // namespace rondo
