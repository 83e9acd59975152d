#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check_links.py <folder>

Checks that every link and image of the site's pages leads to a file of the site and, where it names one, to an anchor
that is there. Nothing is loaded from elsewhere: a page that refers to a script, style or image of another site fails.
Two faults of doxygen 1.9.4 are left out: its summaries name an anchor for nested classes that its tables lack, and its
list of concepts names pages for those without a comment, which it does not write."""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(sys.argv[1]).resolve()
LISTS = ("concepts", "namespaces")


def is_in_reference(path):
    return path.is_relative_to(ROOT / "reference")


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], {"", "__top"}
        self.feed(path.read_text(encoding="utf-8", errors="replace"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name):
                self.anchors.add(attributes[name])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append((tag, attributes.get("rel", ""), attributes[name]))


pages = {path: Page(path) for path in sorted(ROOT.rglob("*.html"))}
faults, checked = [], 0
for path, page in pages.items():
    for tag, relation, link in page.links:
        parts = urlsplit(link)
        if parts.scheme in ("http", "https") or link.startswith("//"):
            if tag in ("script", "img", "iframe") or (tag == "link" and relation in ("stylesheet", "icon", "preconnect")):
                faults.append(f"{path.relative_to(ROOT)}: loads {link}")
            continue
        if parts.scheme:
            continue
        if is_in_reference(path) and (link == "#nested-classes" or (parts.path.startswith("concept") and path.stem in LISTS)):
            continue
        checked += 1
        target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
        if target.is_dir():
            target /= "index.html"
        if not target.is_file():
            faults.append(f"{path.relative_to(ROOT)}: {link} leads nowhere")
        elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
            faults.append(f"{path.relative_to(ROOT)}: {link} names an anchor that is not there")
print(*faults, sep="\n")
print(f"{checked} links on {len(pages)} pages, {len(faults)} of them wrong")
sys.exit(1 if faults or checked < 1000 else 0)
