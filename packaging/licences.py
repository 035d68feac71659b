"""The licences of the crates in a program, which must be distributed with it."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

NAMES = ("licen", "copying", "copyright", "notice", "unlicense")


def third_party(root: Path, target: str) -> str:
    """All licence texts, each with the crates that have it."""
    crates = linked(root, target)
    texts: dict[str, list[str]] = defaultdict(list)
    for crate in crates:
        name = f"{crate['name']} {crate['version']} ({crate['license']})"
        for text in licence_texts(Path(crate["manifest_path"]).parent) or [f"Licence: {crate['license']}"]:
            texts[text].append(name)
    head = f"The program contains {len(crates)} crates by others, and Rust's standard library (MIT OR Apache-2.0).\n"
    parts = [f"{'=' * 78}\n" + "".join(f"{name}\n" for name in names) + f"\n{text}\n" for text, names in texts.items()]
    return head + "\n" + "\n".join(parts)


def linked(root: Path, target: str) -> list[dict[str, Any]]:
    """The third-party crates in the program, by name."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    needs = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [id for id, package in packages.items() if package["name"] == "veilpath-cli"]
    found = set(waiting)
    while waiting:
        for dependency in needs[waiting.pop()]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in found:
                found.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    others = (packages[id] for id in found if packages[id]["source"] is not None)
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def licence_texts(folder: Path) -> list[str]:
    """The licence files of a crate."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name.lower().startswith(NAMES))
    return ["\n".join(line.rstrip() for line in file.read_text("utf-8", "replace").strip().splitlines()) for file in files]
