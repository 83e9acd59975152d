// SPDX-FileCopyrightText: 2026 The Rondo authors
// SPDX-License-Identifier: Apache-2.0

// Math.min and Math.max take as many values as the stack holds; these take any number.

export const leastOf = (values) => values.reduce((least, value) => Math.min(least, value), Infinity);
export const mostOf = (values) => values.reduce((most, value) => Math.max(most, value), -Infinity);
