// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/measure/detail/child_process.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/observe/graph_dot.hpp>

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <system_error>

/// A graph as a picture, laid out by Graphviz. For set-up only.
namespace rondo::observe {

namespace detail {

/// Throws the reason why `dot` failed.
[[noreturn]] inline void fail_dot(const measure::detail::ChildOutcome& run, std::chrono::milliseconds limit) {
  Error::Text text("Graphviz's program `dot` ");
  if (run.start_error != 0) {
    text.append({"cannot be started: ", std::strerror(run.start_error)});
  } else if (run.timed_out) {
    text.append({"took longer than ", limit.count(), " ms"});
  } else if (WIFSIGNALED(run.status)) {
    text.append({"was ended by signal ", WTERMSIG(run.status)});
  } else {
    text.append({"returned ", WEXITSTATUS(run.status)});
  }
  text.append({"; to_dot() returns what it reads, to be laid out in another way"});
  if (!run.output.empty()) text.append({". Its output: ", run.output.c_str()});
  throw Error(Errc::out_of_resources, text);
}

}  // namespace detail

/// Converts DOT to SVG with Graphviz's `dot`, which must be installed. Waits for it, at most for `limit`.
/// @throws Error unsupported if there is no `dot`, out_of_resources if it fails
inline void draw_dot(std::ostream& out, const std::string& dot,
                     std::chrono::milliseconds limit = std::chrono::minutes{10}) {
  struct Folder {
    std::string path;
    Folder() {
      std::error_code error;
      path = (std::filesystem::temp_directory_path(error) / "rondo-graph-XXXXXX").string();
      if (error) measure::detail::fail_call("no temporary folder could be made", error.value());
      if (::mkdtemp(path.data()) == nullptr) measure::detail::fail_call("no temporary folder could be made", errno);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } const folder;
  const std::string from = folder.path + "/graph.dot";
  const std::string to = folder.path + "/graph.svg";
  std::ofstream{from} << dot;
  const auto run = measure::detail::run_child({"dot", "-Tsvg", from, "-o", to},
                                              {.seconds = std::chrono::duration<double>(limit).count()});
  if (run.start_error == ENOENT) {
    throw Error(Errc::unsupported,
                Error::Text("pictures of graphs are laid out by Graphviz, and there is no program `dot`; install it "
                            "(Debian: graphviz), or write to_dot() to a file"));
  }
  if (!run.ok()) detail::fail_dot(run, limit);
  out << std::ifstream{to}.rdbuf();
}

/// Draws a graph as SVG; see to_dot(). @throws Error on errors of draw_dot()
inline void write_graph(std::ostream& out, const graph::GraphView& graph, const GraphNotes& notes = {}) {
  draw_dot(out, to_dot(graph, notes));
}

/// Draws a graph that is not frozen yet. @throws Error on errors of freeze() and draw_dot()
inline void write_graph(std::ostream& out, const TaskGraph& graph) { draw_dot(out, to_dot(graph)); }

/// Draws a session's graph, with the notes of notes_of().
template <HasOneGraph Session>
void write_graph(std::ostream& out, Session& session) {
  draw_dot(out, to_dot(session));
}

}  // namespace rondo::observe
