#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""collect.py <repository> <folder>

Writes the input of mkdocs into the folder: docs/, which has the pages of the repository under the names of PAGES and of
docs/, and mkdocs.yml, whose navigation is the list of pages in docs/README.md."""
import json
import posixpath
import re
import shutil
import sys
from pathlib import Path

ROOT, WORK = Path(sys.argv[1]), Path(sys.argv[2])
DOCS = WORK / "docs"

# Pages outside of docs/, and docs/README.md, whose list is the navigation.
PAGES = {
    "README.md": "index.md",
    "docs/README.md": "contents.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "SECURITY.md": "security.md",
    "packaging/README.md": "packaging.md",
}
for path in [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")]:
    name = path.relative_to(ROOT).as_posix()
    PAGES.setdefault(name, name.removeprefix("docs/"))

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def rewritten(text, source):
    """The page with links to the places of their targets on the site. If the site has no such page, only the text of
    the link is left."""

    def link(match):
        image, label, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match[0]
        path, _, fragment = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if path == "docs/decisions":
            path, fragment = "docs/README.md", "decisions"
        if image:
            found = path.removeprefix("docs/")
        elif path in PAGES:
            found = PAGES[path]
        else:
            return label if label.startswith("`") else f"`{label}`" if "/" in label else label
        found = posixpath.relpath(found, posixpath.dirname(PAGES[source]) or ".")
        return f"{image}[{label}]({found}{'#' + fragment if fragment else ''})"

    lines, in_block = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            in_block = not in_block
        if not in_block and not line.startswith("    "):
            line = LINK.sub(link, line)
            # Python's Markdown wants an empty line before a list.
            starts_item = re.match(r"([-*]|\d+\.) ", line)
            if starts_item and lines and lines[-1] and not re.match(r"\s|([-*]|\d+\.) ", lines[-1]):
                lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def title(source):
    text = (ROOT / source).read_text(encoding="utf-8")
    found = re.search(r"^# (.*)$", text, re.MULTILINE)[1].replace("`", "")
    number = re.match(r"docs/decisions/(\d{4})-", source)
    return f"{number[1]} {found}" if number and not found.startswith(number[1]) else found


def navigation():
    nav, section, group = [{"Rondo": "index.md"}], None, None
    for line in (ROOT / "docs/README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = group = []
            nav.append({line[3:]: section})
            if line == "## Decisions":
                group = []
                section.append({"All decisions": group})
        elif section is not None and re.fullmatch(r"[A-Z][^.]*:", line):
            group = []
            section.append({line[:-1]: group})
        elif match := re.match(r"- \[[^\]]*\]\(([^)]+)\)", line):
            path = posixpath.normpath(posixpath.join("docs", match[1]))
            group.append({title(path): PAGES[path]})
        elif line.startswith("- All public names"):
            group.append({"All public names": "reference/annotated.html"})
    return nav


for source, name in PAGES.items():
    target = DOCS / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(rewritten((ROOT / source).read_text(encoding="utf-8"), source), encoding="utf-8")
shutil.copytree(ROOT / "docs/images", DOCS / "images")
# A page in place of the reference, so that mkdocs finds what its navigation names; tools/site puts the real one there.
(DOCS / "reference").mkdir()
(DOCS / "reference/annotated.html").write_text("<!doctype html><title>Reference</title>")
shutil.copy(ROOT / "tools/lib/site/pages.css", DOCS / "pages.css")

settings = {
    "site_name": "Rondo",
    "site_description": "Sets a device graph up once and runs it round after round",
    "site_url": "",
    "docs_dir": "docs",
    "use_directory_urls": False,
    "theme": {
        "name": "material",
        "font": False,
        "features": ["navigation.sections", "navigation.top", "toc.follow", "search.highlight"],
        "palette": [
            {
                "media": f"(prefers-color-scheme: {name})",
                "scheme": scheme,
                "primary": "indigo",
                "toggle": {"icon": f"material/weather-{icon}", "name": f"Switch to the {other} scheme"},
            }
            for name, scheme, icon, other in (("light", "default", "sunny", "dark"), ("dark", "slate", "night", "light"))
        ],
    },
    "extra_css": ["pages.css"],
    "extra": {"generator": False},
    "plugins": ["search"],
    "markdown_extensions": [
        "tables",
        "sane_lists",
        "pymdownx.superfences",
        {"pymdownx.highlight": {"guess_lang": False}},
        {"toc": {"permalink": True}},
    ],
    "nav": navigation(),
}
# JSON is YAML.
(WORK / "mkdocs.yml").write_text(json.dumps(settings, indent=2), encoding="utf-8")
