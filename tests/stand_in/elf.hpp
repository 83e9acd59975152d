// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Kernel binaries in the form that compilers write, limited to the parts that a runtime reads: an ELF file whose
/// functions are the kernels. A kernel may have a section that names its cores. In place of a function's code is the
/// address of a host function.
namespace stand_in {

/// The kinds of kernels in these sections.
enum class KernelFor : std::uint32_t { nothing_said = 0, any = 1, cube = 2, vector = 3 };

struct ElfKernel {
  std::string name;
  void (*entry)(std::int64_t*) = nullptr;
  KernelFor core = KernelFor::nothing_said;
};

inline constexpr std::uint16_t npu_machine = 0x1029;
inline constexpr std::string_view meta_prefix = ".ascend.meta.";

[[nodiscard]] inline std::vector<std::byte> elf_of(std::span<const ElfKernel> kernels) {
  struct Section {
    std::string name;
    std::uint32_t type = SHT_PROGBITS;
    std::string bytes{};
    std::uint32_t link = 0;
    std::uint64_t entry = 0;
  };
  const auto append = [](std::string& to, const auto& value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  std::string text, names(1, '\0'), symbols(sizeof(Elf64_Sym), '\0');
  for (const ElfKernel& kernel : kernels) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<std::uint32_t>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;
    symbol.st_value = text.size();
    symbol.st_size = sizeof(kernel.entry);
    append(symbols, symbol);
    append(text, kernel.entry);
    names += kernel.name + '\0';
  }
  std::vector<Section> sections{{"", SHT_NULL}, {".text", SHT_PROGBITS, text}};
  sections.push_back({".symtab", SHT_SYMTAB, symbols, 3, sizeof(Elf64_Sym)});
  sections.push_back({".strtab", SHT_STRTAB, names});
  for (const ElfKernel& kernel : kernels) {
    if (kernel.core == KernelFor::nothing_said) continue;
    Section meta{std::string(meta_prefix) + kernel.name};
    append(meta.bytes, std::uint16_t{1});  // the entry's tag: the type
    append(meta.bytes, std::uint16_t{4});  // the entry's size in bytes
    append(meta.bytes, kernel.core);
    sections.push_back(meta);
  }
  sections.push_back({".shstrtab", SHT_STRTAB});

  std::string file(sizeof(Elf64_Ehdr), '\0'), headers, section_names;
  for (const Section& section : sections) section_names += section.name + '\0';
  sections.back().bytes = section_names;
  std::uint32_t name = 0;
  for (const Section& section : sections) {
    Elf64_Shdr header{};
    header.sh_name = name;
    header.sh_type = section.type;
    header.sh_flags = section.name == ".text" ? SHF_ALLOC | SHF_EXECINSTR : 0;
    header.sh_offset = file.size();
    header.sh_size = section.bytes.size();
    header.sh_link = section.link;
    header.sh_info = section.type == SHT_SYMTAB ? 1 : 0;
    header.sh_addralign = 8;
    header.sh_entsize = section.entry;
    append(headers, header);
    name += static_cast<std::uint32_t>(section.name.size()) + 1;
    file += section.bytes;
    file.resize((file.size() + 7) / 8 * 8);
  }
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = ET_EXEC;
  head.e_machine = npu_machine;
  head.e_version = EV_CURRENT;
  head.e_ehsize = sizeof(Elf64_Ehdr);
  head.e_shoff = file.size();
  head.e_shentsize = sizeof(Elf64_Shdr);
  head.e_shnum = static_cast<std::uint16_t>(sections.size());
  head.e_shstrndx = static_cast<std::uint16_t>(sections.size() - 1);
  std::memcpy(file.data(), &head, sizeof(head));
  file += headers;
  const auto* const bytes = reinterpret_cast<const std::byte*>(file.data());
  return {bytes, bytes + file.size()};
}

/// The kernels in a file that elf_of() wrote, or nothing if it is another file.
[[nodiscard]] inline std::optional<std::vector<ElfKernel>> kernels_of_elf(const void* data, std::size_t size) {
  const auto* const file = static_cast<const char*>(data);
  Elf64_Ehdr head{};
  if (size < sizeof(head)) return {};
  std::memcpy(&head, file, sizeof(head));
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine != npu_machine) return {};
  if (head.e_shoff + std::uint64_t{head.e_shnum} * sizeof(Elf64_Shdr) > size || head.e_shstrndx >= head.e_shnum) {
    return {};
  }
  std::vector<Elf64_Shdr> sections(head.e_shnum);
  std::memcpy(sections.data(), file + head.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const auto name_of = [&](const Elf64_Shdr& section) {
    return std::string_view(file + sections[head.e_shstrndx].sh_offset + section.sh_name);
  };
  std::vector<ElfKernel> kernels;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    for (std::uint64_t at = sizeof(Elf64_Sym); at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      std::memcpy(&symbol, file + section.sh_offset + at, sizeof(symbol));
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      ElfKernel kernel;
      kernel.name = file + sections[section.sh_link].sh_offset + symbol.st_name;
      std::memcpy(&kernel.entry, file + sections[symbol.st_shndx].sh_offset + symbol.st_value, sizeof(kernel.entry));
      for (const Elf64_Shdr& meta : sections) {
        if (name_of(meta) != std::string(meta_prefix) + kernel.name) continue;
        std::memcpy(&kernel.core, file + meta.sh_offset + 4, sizeof(kernel.core));
      }
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

}  // namespace stand_in
