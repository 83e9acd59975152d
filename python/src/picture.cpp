// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include "picture.hpp"

#ifdef RONDO_PYTHON_PICTURES

#include <rondo/observe/graph_dot.hpp>

namespace rondo::python {

std::string to_dot(const TaskGraph& graph) { return observe::to_dot(graph); }

}  // namespace rondo::python

#else

#include "errors.hpp"

namespace rondo::python {

std::string to_dot(const TaskGraph&) {
  fail(Errc::unsupported,
       "the package was built without pictures of graphs; build it again where the libraries of rondo::observe are "
       "installed (Debian: libfmt-dev librange-v3-dev nlohmann-json3-dev)");
}

}  // namespace rondo::python

#endif
