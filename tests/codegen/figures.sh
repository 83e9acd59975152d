# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by the scripts that count instructions. Compares what they count with figures, such as those of a page.

# figures_of <page> <header>: the rows of the table whose first line begins with <header>, a line for each row, with
# blanks between the cells and between the parts of a cell.
figures_of() {
  awk -v header="$2" 'index($0, header) == 1 { inside = 1; next }
                      !inside || /^\|[-:|]+$/ { next }
                      !/^\|/ { exit }
                      { gsub(/,/, ""); gsub(/[|\/]/, " "); print }' "$1"
}

# agree <what> <counted> <figures>: whether both lists have as many words, and each count is the figure at its place,
# within 2 % of it or 1. Says what differs.
agree() {
  local counted figures i margin is_close=yes
  read -ra counted <<<"$2"
  read -ra figures <<<"$3"
  if [ ${#counted[@]} -ne ${#figures[@]} ]; then
    echo "$1: counted $2; the figures are '$3'"
    return 1
  fi
  for i in "${!counted[@]}"; do
    [ "${counted[i]}" != "${figures[i]}" ] || continue
    margin=$((figures[i] / 50 > 1 ? figures[i] / 50 : 1))
    if [ $((counted[i] - figures[i])) -gt $margin ] || [ $((figures[i] - counted[i])) -gt $margin ]; then
      echo "$1: counted ${counted[i]}, which is not ${figures[i]} within $margin"
      is_close=
    fi
  done
  [ -n "$is_close" ]
}
