// expect: rondo: policies override defaults; derive them from rondo::DefaultPolicies
// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#include <rondo/platform/null.hpp>
#include <rondo/session/open.hpp>

struct Policies {
  using Update = rondo::update::ModelIo;
};

template class rondo::RoundSession<rondo::NullPlatform, Policies>;
