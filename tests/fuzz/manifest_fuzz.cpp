// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Any bytes as the manifest of a dump: an Error, or a description whose files are in the dump's folder and whose
// indices are in range, and which is the same after it was written and read again.
#include <fuzz/fuzz.hpp>
#include <rondo/observe/manifest.hpp>

using namespace rondo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  (void)folder.write("manifest.json", {data, size});
  fuzz::allow_refusal([&] {
    const observe::DumpedRound round = observe::read_manifest(folder.path());
    for (const observe::DumpedTensor& tensor : round.tensors) fuzz::require(tensor.memory < round.tensors.size());
    for (const observe::DumpedTask& task : round.tasks) {
      fuzz::require(!task.args.empty() && task.args.find('/') == std::string::npos);
      for (const auto* const list : {&task.read, &task.written}) {
        for (const observe::DumpedContents& each : *list) {
          fuzz::require(each.tensor < round.tensors.size() && each.file.find('/') == std::string::npos);
        }
      }
    }
    observe::write_manifest(round);
    const std::string text = folder.read("manifest.json");
    observe::write_manifest(observe::read_manifest(folder.path()));
    fuzz::require(folder.read("manifest.json") == text);
  });
  return 0;
}
