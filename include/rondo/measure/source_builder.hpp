// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/measure/artifact.hpp>
#include <rondo/measure/callable.hpp>
#include <rondo/measure/concepts.hpp>
#include <rondo/measure/detail/child_process.hpp>
#include <rondo/measure/detail/sha256.hpp>
#include <rondo/measure/worker_pool.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rondo::measure {

/// A candidate as C++ source.
struct SourceCandidate {
  std::string source;
  /// Makes the source on the builder's thread if there is none yet; an exception from it is Fault::instantiation.
  std::function<std::string()> generate = {};
  /// Flags for the compiler, after the builder's own.
  std::vector<std::string> flags = {};
  /// The input for the workload; not compiled.
  std::string argument = {};
};

/// The compiler, its flags, the number of compilations at a time, and their time limit.
struct SourceBuilderOptions {
  std::size_t workers = 2;       ///< compilers that run at the same time
  std::string compiler = "c++";  ///< a path, or a name to search for
  /// The flags besides -shared, -fPIC and, if the compiler takes it, -fno-gnu-unique. With unique symbols, a candidate
  /// would use the inline variables of an earlier one in the same process. Libraries are linked after the source.
  std::vector<std::string> flags = {"-std=c++20", "-O3", "-march=native"};
  double time_limit = 60;           ///< seconds for one build
  std::size_t output_bytes = 8192;  ///< the part of the compiler's output that is kept
  /// The folder for artifacts, kept for later programs; empty: each artifact is removed after use. An artifact in it is
  /// built again if a file that its source includes is newer or gone, as make does with -MD.
  std::string cache = {};
};

/// Compiles candidates to shared objects with the system's compiler, in child processes.
///
/// Sources with the same text, flags, compiler, processor and working folder are compiled only once, as long as the
/// artifact is in use or Options::cache keeps it. A second request for a build under way waits for it without taking a
/// worker. Lifetime: it owns its threads, and the destructor kills their compilers. Artifacts may outlive it. Thread
/// safety: submit_build from any thread. Errors: instantiation; build, with the compiler's output; build_timeout;
/// unknown if no process can be started. A compiler that exceeds the time limit is killed with its children.
class SourceBuilder {
 public:
  using Input = SourceCandidate;
  using Artifact = SharedObject;
  using Options = SourceBuilderOptions;

  /// @throws Error unsupported if the compiler cannot be run; out_of_resources
  explicit SourceBuilder(Options options = {})
      : options_{std::move(options)},
        folder_{std::make_shared<detail::ArtifactFolder>(options_.cache)},
        identity_{identify()},
        pool_{options_.workers, [this](Job job, std::size_t) { work(std::move(job)); }, detail::drop_build} {}

  SourceBuilder(const SourceBuilder&) = delete;
  SourceBuilder& operator=(const SourceBuilder&) = delete;
  ~SourceBuilder() { ending_.store(true, std::memory_order_relaxed); }

  void submit_build(SourceCandidate candidate, OnBuilt<SharedObject> on_built) {
    pool_.submit({std::move(candidate), std::move(on_built)});
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return options_.workers + 1; }

  /// The number of compilers started so far; builds whose artifact existed did not start one.
  [[nodiscard]] std::uint64_t compilations() const noexcept { return compilations_.load(std::memory_order_relaxed); }
  /// The folder of artifacts.
  [[nodiscard]] const std::string& folder() const noexcept { return folder_->path(); }

 private:
  using File = std::shared_ptr<const detail::ArtifactFile>;
  struct Job {
    SourceCandidate candidate;
    OnBuilt<SharedObject> on_built;
  };
  struct Waiter {
    std::string argument;
    OnBuilt<SharedObject> on_built;
  };
  /// The state of an artifact: its file if it is in use, and the callers that wait for its build.
  struct Entry {
    std::weak_ptr<const detail::ArtifactFile> file;
    bool is_building = false;
    std::vector<Waiter> waiters;
  };
  struct Compiled {
    Fault fault = Fault::none;
    std::string text;
    File file;
    double seconds = 0;
  };

  [[nodiscard]] std::string identify();
  [[nodiscard]] std::string key_of(const SourceCandidate& candidate) const;
  void work(Job job) noexcept;
  [[nodiscard]] Compiled compile(const SourceCandidate& candidate, const std::string& key);
  /// Whether a flag is for the linker, or the name of a file to link.
  [[nodiscard]] static bool is_linked(const std::string& flag) noexcept {
    const std::size_t version = flag.find(".so.");
    const bool has_version =
        version != std::string::npos && flag.find_first_not_of("0123456789.", version + 4) == std::string::npos;
    return flag.starts_with("-l") || flag.starts_with("-Wl,") || flag == "-Xlinker" || flag.ends_with(".a") ||
           flag.ends_with(".o") || flag.ends_with(".so") || has_version;
  }
  [[nodiscard]] static bool is_current(const std::string& kept);
  [[nodiscard]] static bool keep(const std::string& stem, const std::string& kept) noexcept;
  static void answer(Waiter waiter, Compiled compiled) noexcept {
    Built<SharedObject> outcome{compiled.fault, std::move(compiled.text), std::nullopt, compiled.seconds};
    if (compiled.file) outcome.artifact.emplace(std::move(compiled.file), std::move(waiter.argument));
    detail::tell(waiter.on_built, std::move(outcome));
  }

  Options options_;
  std::atomic<bool> ending_{false};
  std::shared_ptr<const detail::ArtifactFolder> folder_;
  std::string identity_;
  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::atomic<std::uint64_t> compilations_{0};
  WorkerPool<Job> pool_;  // declared last, since its threads use all members above
};

/// The causes of a different result besides source and flags: the compiler, and the processor for -march=native. Adds
/// -fno-gnu-unique to the flags.
inline std::string SourceBuilder::identify() {
  const std::string no_unique = "-fno-gnu-unique";
  detail::ChildOutcome asked = detail::run_child({options_.compiler, "--version", no_unique}, {10, 4096});
  if (asked.ok() && asked.output.find(no_unique) == std::string::npos) {  // g++ reports success, and what is wrong
    options_.flags.insert(options_.flags.begin(), no_unique);
  } else {
    asked = detail::run_child({options_.compiler, "--version"}, {10, 4096});
  }
  if (!asked.ok()) {
    throw Error(Errc::unsupported,
                Error::Text{"the compiler ", options_.compiler, " cannot be run: ",
                            asked.start_error != 0 ? std::strerror(asked.start_error) : asked.output.c_str(),
                            "; install one, or name another in SourceBuilderOptions::compiler"});
  }
  std::string identity = options_.compiler + '\n' + asked.output;
  std::ifstream processors{"/proc/cpuinfo"};
  bool has_model = false, has_flags = false;
  for (std::string line; std::getline(processors, line) && !(has_model && has_flags);) {
    if (!has_model && line.starts_with("model name")) has_model = true, identity += line + '\n';
    if (!has_flags && (line.starts_with("flags") || line.starts_with("Features"))) has_flags = true, identity += line;
  }
  return identity;
}

inline std::string SourceBuilder::key_of(const SourceCandidate& candidate) const {
  detail::Sha256 hash;
  const auto add = [&hash](const std::string& part) {
    hash.update(fmt::format("{}:", part.size()));  // so that different lists of parts give different hashes
    hash.update(part);
  };
  add(identity_);
  for (const auto* flags : {&options_.flags, &candidate.flags}) {
    add(fmt::to_string(flags->size()));
    for (const std::string& flag : *flags) add(flag);
  }
  // Relative paths of includes are from the folder in which the compiler runs.
  std::error_code error;
  add(std::filesystem::current_path(error).string());
  add(candidate.source);
  return hash.hex();
}

inline void SourceBuilder::work(Job job) noexcept {
  Waiter self{std::move(job.candidate.argument), std::move(job.on_built)};
  Compiled compiled;
  std::string key;
  try {
    if (job.candidate.source.empty() && job.candidate.generate) job.candidate.source = job.candidate.generate();
    key = key_of(job.candidate);
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    if (entry.is_building) {
      entry.waiters.push_back(std::move(self));
      return;
    }
    compiled.file = entry.file.lock();
    entry.is_building = !compiled.file;
  } catch (...) {
    auto [fault, text] = detail::current_fault(Fault::instantiation);
    return answer(std::move(self), {fault, std::move(text), nullptr, 0});
  }
  if (compiled.file) return answer(std::move(self), std::move(compiled));
  try {
    compiled = compile(job.candidate, key);
  } catch (...) {
    auto [fault, text] = detail::current_fault(Fault::unknown);
    compiled = {Fault::unknown, std::move(text), nullptr, 0};
  }
  std::vector<Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(key);
    waiters.swap(entry->second.waiters);
    entry->second.is_building = false;
    entry->second.file = compiled.file;
    if (!compiled.file) entries_.erase(entry);
  }
  for (Waiter& waiter : waiters) {
    answer(std::move(waiter),
           {compiled.fault, detail::text_of(compiled.text.c_str()), compiled.file, compiled.seconds});
  }
  answer(std::move(self), std::move(compiled));  // the file itself, so that nothing here keeps it alive any longer
}

inline SourceBuilder::Compiled SourceBuilder::compile(const SourceCandidate& candidate, const std::string& key) {
  const std::string kept = folder_->path() + "/" + key + ".so";
  if (folder_->keeps() && is_current(kept)) {
    return {Fault::none, {}, std::make_shared<detail::ArtifactFile>(folder_, kept), 0};
  }
  compilations_.fetch_add(1, std::memory_order_relaxed);
  // The name is unique to this build: an older file with the same content may be about to be removed.
  const std::string stem = fmt::format("{}/{}-{}", folder_->path(), key, folder_->unique_name());
  const std::string source = stem + ".cpp";
  std::ofstream file{source, std::ios::binary};
  file << candidate.source;
  file.close();
  if (!file) {
    (void)::unlink(source.c_str());
    return {Fault::unknown, "the source cannot be written to " + source, nullptr, 0};
  }

  // Files to link follow the source: from a library, the linker takes only what the files before it lack.
  std::vector<std::string> command{options_.compiler}, linked{source};
  for (const std::vector<std::string>* const flags : {&std::as_const(options_.flags), &candidate.flags}) {
    bool is_argument = false;
    for (const std::string& flag : *flags) {
      (is_argument || is_linked(flag) ? linked : command).push_back(flag);
      is_argument = !is_argument && flag == "-Xlinker";
    }
  }
  command.insert(command.end(), linked.begin(), linked.end());
  command.insert(command.end(), {"-shared", "-fPIC", "-o", stem + ".so"});
  if (folder_->keeps()) command.insert(command.end(), {"-MD", "-MF", stem + ".d"});
  detail::ChildOutcome outcome = detail::run_child(command, {options_.time_limit, options_.output_bytes, &ending_});
  (void)::unlink(source.c_str());
  Compiled compiled{Fault::none, std::move(outcome.output), nullptr, outcome.seconds};
  if (outcome.stopped) {
    compiled.fault = Fault::stopped;
    compiled.text = "the builder is gone";
  } else if (outcome.timed_out) {
    compiled.fault = Fault::build_timeout;
    compiled.text.insert(0, fmt::format("not built within {:g} s\n", options_.time_limit));
  } else if (outcome.start_error != 0) {
    compiled.fault = Fault::unknown;
    compiled.text = "the compiler cannot be started: " + std::string{std::strerror(outcome.start_error)};
  } else if (!outcome.ok()) {
    compiled.fault = Fault::build;
    if (WIFSIGNALED(outcome.status)) {
      compiled.text.insert(0, fmt::format("the compiler was ended by signal {}\n", WTERMSIG(outcome.status)));
    }
  } else if (::access((stem + ".so").c_str(), R_OK) != 0) {
    compiled.fault = Fault::build;
    compiled.text.insert(0, "the compiler reports success but made no file\n");
  }
  const bool is_kept = compiled.fault == Fault::none && folder_->keeps() && keep(stem, kept);
  if (folder_->keeps() && !is_kept) (void)::unlink((stem + ".d").c_str());
  if (compiled.fault != Fault::none) {
    (void)::unlink((stem + ".so").c_str());
    return compiled;
  }
  compiled.file = std::make_shared<detail::ArtifactFile>(folder_, is_kept ? kept : stem + ".so");
  return compiled;
}

/// Whether the artifact exists and no file that it was made from is newer. The files are in a list for make beside it,
/// the source first, which is removed once it is compiled.
inline bool SourceBuilder::is_current(const std::string& kept) {
  std::error_code error;
  const auto made = std::filesystem::last_write_time(kept, error);
  if (error) return false;
  std::ifstream list{kept + ".d"};
  std::string name;
  std::size_t number = 0;
  for (std::string part; list >> part;) {
    if (part == "\\") continue;  // the list goes on in the next line
    name += part;
    if (name.back() == '\\') {  // the name has a space here
      name.back() = ' ';
      continue;
    }
    // The first name is the artifact's, and the second the source's.
    if (number++ >= 2 && (std::filesystem::last_write_time(name, error) > made || error)) return false;
    name.clear();
  }
  return number >= 2;
}

/// Gives an artifact and its list of files the names that they keep, once their contents have reached the disk: after a
/// crash of the system a file is complete or missing. The artifact comes last, so that it never lacks its list.
inline bool SourceBuilder::keep(const std::string& stem, const std::string& kept) noexcept {
  for (const char* const end : {".d", ".so"}) {
    const detail::Fd file{::open((stem + end).c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file || ::fsync(file.get()) != 0) return false;
  }
  return ::rename((stem + ".d").c_str(), (kept + ".d").c_str()) == 0 &&
         ::rename((stem + ".so").c_str(), kept.c_str()) == 0;
}

static_assert(check_builder<SourceBuilder>());

}  // namespace rondo::measure
