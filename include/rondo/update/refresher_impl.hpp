// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rondo/update/deferred_refresher_impl.hpp>
#include <rondo/update/direct_refresher_impl.hpp>
#include <rondo/update/refresher.hpp>
