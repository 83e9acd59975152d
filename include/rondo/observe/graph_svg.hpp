// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/error.hpp>
#include <rondo/measure/artifact.hpp>
#include <rondo/measure/detail/child_process.hpp>
#include <rondo/observe/concepts.hpp>
#include <rondo/observe/graph_dot.hpp>
#include <rondo/platform/file.hpp>

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ostream>
#include <string>

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
/// @throws Error unsupported if there is no `dot`, out_of_resources if it fails, invalid_argument if a temporary file
/// cannot be written or read
inline void draw_dot(std::ostream& out, const std::string& dot,
                     std::chrono::milliseconds limit = std::chrono::minutes{10}) {
  const measure::detail::ArtifactFolder folder{std::string{}};
  const std::string from = folder.path() + "/graph.dot";
  const std::string to = folder.path() + "/graph.svg";
  rondo::detail::write_file(from.c_str(), "what Graphviz reads cannot be written there", dot);
  const auto run = measure::detail::run_child({"dot", "-Tsvg", from, "-o", to},
                                              {.seconds = std::chrono::duration<double>(limit).count()});
  if (run.start_error == ENOENT) {
    throw Error(Errc::unsupported,
                Error::Text("pictures of graphs are laid out by Graphviz, and there is no program `dot`; install it "
                            "(Debian: graphviz), or write to_dot() to a file"));
  }
  if (!run.ok()) detail::fail_dot(run, limit);
  out << rondo::detail::read_file(to.c_str(), "the picture cannot be read");
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
