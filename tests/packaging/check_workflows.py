#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""check_workflows.py <folder of the repository>

Checks the files that the hosting site reads, which cannot be run here. A workflow's job is one call of a script of the
repository, so that it holds no logic: every `run` is a single command whose program is a script that exists, is
executable and, for tools/test and tools/portability, takes the matrix' values; `uses` names a version. Issue forms,
CITATION.cff, CHANGELOG.md, the hooks of pre-commit and the devcontainer are complete. The checks themselves are tried on bad
examples first."""
import json
import os
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(sys.argv[1])


def values_of(job):
    """The job's commands for each value of the matrix."""
    matrix = job.get("strategy", {}).get("matrix", {})
    for key, values in matrix.items():
        for value in values:
            yield "${{ matrix." + key + " }}", str(value)


def check_command(command, job, where):
    if not isinstance(command, str) or "\n" in command.strip() or re.search(r"[;&|]", command):
        yield f"{where}: a step runs more than one command: {command!r}"
        return
    script = re.search(r"(?<![\w./])tools/[\w/]+", command)
    if script is None:
        if not command.startswith("gh release create "):
            yield f"{where}: a step runs no script of the repository: {command}"
        return
    if not os.access(ROOT / script[0], os.X_OK):
        yield f"{where}: {script[0]} is not there or cannot be executed"
        return
    presets = {p["name"] for p in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"] if not p.get("hidden")}
    known = {"tools/test": presets, "tools/portability": portability_machines()}.get(script[0])
    if known is None:
        return
    words = command.split()[1:]
    for word in words if "${{" not in command else [value for name, value in values_of(job) if name in command]:
        if word not in known:
            yield f"{where}: {script[0]} does not know {word}"


def portability_machines():
    text = (ROOT / "tools/portability").read_text()
    return set(re.search(r"^machines=\((.*)\)$", text, re.MULTILINE)[1].split())


def check_workflow(text, where):
    workflow = yaml.safe_load(text)
    # YAML 1.1 reads `on` as true.
    if not {"name", True, "permissions", "jobs"} <= set(workflow):
        yield f"{where}: name, on, permissions or jobs is missing"
        return
    for name, job in workflow["jobs"].items():
        place = f"{where}, job {name}"
        if not isinstance(job.get("runs-on"), str):
            yield f"{place}: runs-on is missing"
        if not any("run" in step for step in job.get("steps", [])):
            yield f"{place}: runs nothing"
        for step in job.get("steps", []):
            if "uses" in step and not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]):
                yield f"{place}: {step['uses']} names no version"
            if "run" in step:
                yield from check_command(step["run"], job, place)


def check_form(text, where):
    form = yaml.safe_load(text)
    if not {"name", "description", "body"} <= set(form):
        yield f"{where}: name, description or body is missing"
        return
    ids = [field.get("id") for field in form["body"]]
    if None in ids or len(set(ids)) != len(ids):
        yield f"{where}: a field has no id of its own"
    for field in form["body"]:
        if field.get("type") not in ("textarea", "input", "dropdown") or not field.get("attributes", {}).get("label"):
            yield f"{where}: field {field.get('id')} has an unknown type or no label"


def version_of_headers():
    text = (ROOT / "include/rondo/version.hpp").read_text()
    return ".".join(re.search(rf"int {part} = (\d+);", text)[1] for part in ("major", "minor", "patch"))


def check_changelog(text, where):
    if f"\n## [{version_of_headers()}] - " not in text:
        yield f"{where}: there is no section [{version_of_headers()}] with a date"


def check_citation(text, where):
    citation, version = yaml.safe_load(text), version_of_headers()
    if not {"cff-version", "message", "title", "authors"} <= set(citation):
        yield f"{where}: cff-version, message, title or authors is missing"
    if citation.get("version") != version:
        yield f"{where}: the version is {citation.get('version')}, that of version.hpp is {version}"


def check_hooks(text, where):
    for repo in yaml.safe_load(text)["repos"]:
        if repo["repo"] != "local":
            yield f"{where}: the hooks of {repo['repo']} would be loaded from elsewhere"
            continue
        for hook in repo["hooks"]:
            if not os.access(ROOT / hook["entry"].split()[0], os.X_OK):
                yield f"{where}: {hook['entry']} is not there or cannot be executed"


def check_container(text, where):
    command = json.loads(text).get("postCreateCommand", "").split()
    if not command or not os.access(ROOT / command[0], os.X_OK):
        yield f"{where}: {command[:1]} is not there or cannot be executed"


HEAD = "name: n\non: push\npermissions: {}\njobs:\n  a:\n    runs-on: x\n    steps:\n"
BAD = [
    (check_workflow, "name: n\non: push\njobs: {}\n", "permissions or jobs is missing"),
    (check_workflow, HEAD + "      - run: tools/test nothing\n", "does not know nothing"),
    (check_workflow, HEAD + "      - run: tools/nothing\n", "is not there"),
    (check_workflow, HEAD + "      - run: make all\n", "runs no script"),
    (check_workflow, HEAD + "      - run: tools/test gcc-debug && true\n", "more than one command"),
    (check_workflow, HEAD + "      - uses: actions/checkout@main\n", "names no version"),
    (check_workflow, HEAD + "      - uses: actions/checkout@v4\n", "runs nothing"),
    (
        check_workflow,
        HEAD.replace("steps", "strategy: {matrix: {preset: [gcc-none]}}\n    steps") + "      - run: tools/test ${{ matrix.preset }}\n",
        "does not know gcc-none",
    ),
    (check_form, "name: n\ndescription: d\nbody: [{type: input, attributes: {label: l}}]\n", "no id"),
    (check_form, "name: n\ndescription: d\nbody: [{type: box, id: i, attributes: {label: l}}]\n", "unknown type"),
    (check_citation, "{cff-version: 1, message: m, title: t, authors: a, version: 0.0.1}", "that of version.hpp"),
    (check_changelog, "\n## [0.0.1] - 2020-01-01\n", "there is no section"),
    (check_hooks, "repos: [{repo: local, hooks: [{entry: tools/none}]}]", "is not there"),
    (check_hooks, "repos: [{repo: elsewhere}]", "loaded from elsewhere"),
    (check_container, '{"postCreateCommand": "tools/none"}', "is not there"),
]
faults = []
for check, text, expected in BAD:
    found = list(check(text, "bad example"))
    if not any(expected in fault for fault in found):
        faults.append(f"{check.__name__} does not find '{expected}' in a bad example, but {found}")

FILES = [
    (check_workflow, ROOT.glob(".github/workflows/*.yml")),
    (check_form, (path for path in ROOT.glob(".github/ISSUE_TEMPLATE/*.yml") if path.name != "config.yml")),
    (check_citation, [ROOT / "CITATION.cff"]),
    (check_changelog, [ROOT / "CHANGELOG.md"]),
    (check_hooks, [ROOT / ".pre-commit-config.yaml"]),
    (check_container, [ROOT / ".devcontainer/devcontainer.json"]),
]
checked = 0
for check, paths in FILES:
    for path in paths:
        faults += check(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
        checked += 1
if checked < 8:
    faults.append(f"only {checked} files were found to check")
print(*faults, sep="\n")
print(f"{checked} files checked")
sys.exit(1 if faults else 0)
