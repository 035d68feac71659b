#!/usr/bin/env python3
"""Builds the parts of a release, on a developer's machine or in .github/workflows/release.yml.

    packaging/build.py archive [--target TRIPLE]     the program with man pages, completions and licences
    packaging/build.py wheel [--target TRIPLE]       the Python package
    packaging/build.py image ARCHIVE                 the root file system of the container image
    packaging/build.py checksums                     SHA256SUMS over everything in the output folder
    packaging/build.py version [--tag TAG]           the version; fails if files or a tag disagree about it

Python 3.11 with its standard library is enough, except for wheels (see requirements.txt).
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import licences

ROOT = Path(__file__).resolve().parent.parent
COMPLETIONS = {
    "bash": "veilpath.bash",
    "zsh": "_veilpath",
    "fish": "veilpath.fish",
    "powershell": "_veilpath.ps1",
    "elvish": "veilpath.elv",
}
# The menu entry for Linux desktops, by folder in ~/.local or /usr/local.
DESKTOP = {"veilpath.desktop": "share/applications", "veilpath.svg": "share/icons/hicolor/scalable/apps"}
# Executable files.
PROGRAMS = ("veilpath", "veilpath.exe", "Veilpath.command")
# Static Linux binaries, and Windows binaries that do not need the Visual C++ runtime.
STATIC = "-C target-feature=+crt-static"
# Get random numbers from the system call: a static program does not find the C library's function, and an empty root has no
# /dev/urandom.
SYSTEM_CALL = '--cfg getrandom_backend="linux_getrandom"'
# Wheels load on every Linux distribution since 2014.
GLIBC = "2.17"
# The user id in the container image, which is unlikely to exist on the machine.
USER = 65532


class BuildError(Exception):
    """The reason why nothing was built."""


def main() -> None:
    """Runs one command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "dist", help="output folder [target/dist]")
    commands = parser.add_subparsers(required=True)
    archive = commands.add_parser("archive")
    archive.add_argument("--target", default=None, help="[default: this machine; on Linux with musl if its target and musl-gcc are installed]")
    archive.add_argument("--runner", default="", help="starts a program of another processor, such as qemu-aarch64")
    archive.set_defaults(run=lambda options: build_archive(options.out, options.target or default_target(), options.runner))
    wheel = commands.add_parser("wheel")
    wheel.add_argument("--target", default=None, help="[default: this machine]")
    wheel.set_defaults(run=lambda options: build_wheel(options.out, options.target or host_target()))
    image = commands.add_parser("image")
    image.add_argument("archive", type=Path)
    image.set_defaults(run=lambda options: build_image(options.out, options.archive))
    sums = commands.add_parser("checksums")
    sums.set_defaults(run=lambda options: write_checksums(options.out))
    number = commands.add_parser("version")
    number.add_argument("--tag", help="such as v1.2.3")
    number.set_defaults(run=lambda options: check_version(options.tag))
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    try:
        print(options.run(options))
    except (BuildError, FileNotFoundError, subprocess.CalledProcessError) as error:
        # FileNotFoundError means that a program is not installed.
        sys.exit(f"error: {error}")


def build_archive(out: Path, target: str, runner: str) -> Path:
    """Builds the program for a target, with its documentation and service files, as .tar.gz or .zip."""
    flags = [os.environ.get("RUSTFLAGS", "")]
    flags += [] if "apple" in target else [STATIC]
    flags += [SYSTEM_CALL] if "linux" in target else []
    environment = os.environ | {"RUSTFLAGS": " ".join(flags).strip()}
    cargo = ["cargo", "build", "--release", "--locked", "-p", "veilpath-cli", "--target", target]
    subprocess.run(cargo, cwd=ROOT, env=environment, check=True, stdout=sys.stderr)
    suffix = ".exe" if "windows" in target else ""
    program = target_folder() / target / "release" / f"veilpath{suffix}"
    name = f"veilpath-{version()}-{target}"
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder) / name
        content.mkdir()
        shutil.copy(program, content)
        run = [*shlex.split(runner), os.fspath(content / program.name)]
        reported = subprocess.run([*run, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
        if reported != version():
            raise BuildError(f"the program says that it is version {reported}")
        subprocess.run([*run, "man", "--folder", content / "man" / "man1"], check=True)
        (content / "completions").mkdir()
        for shell, file in COMPLETIONS.items():
            script = subprocess.run([*run, "completions", shell], check=True, capture_output=True).stdout
            (content / "completions" / file).write_bytes(script)
        for file in ("README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"):
            shutil.copy(ROOT / file, content)
        (content / "LICENSES-THIRD-PARTY.txt").write_text(licences.third_party(ROOT, target), encoding="utf-8")
        if "linux" in target:
            shutil.copytree(ROOT / "packaging" / "systemd", content / "systemd")
            shutil.copy(ROOT / "packaging" / "compose.yaml", content)
            for file, folder in DESKTOP.items():
                (content / folder).mkdir(parents=True)
                shutil.copy(ROOT / "packaging" / "desktop" / file, content / folder)
        if "apple" in target:
            shutil.copy(ROOT / "packaging" / "macos" / "Veilpath.command", content)
        return pack(content, out, "zip" if "windows" in target else "tar.gz")


def build_wheel(out: Path, target: str) -> Path:
    """Builds the Python package for a target."""
    maturin = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--target", target, "--out", os.fspath(out)]
    if "linux" in target:
        # Zig can link against an old glibc without a container that has one.
        maturin += ["--zig", "--compatibility", f"manylinux_{GLIBC.replace('.', '_')}"]
    before = set(out.glob("*.whl"))
    # maturin looks for zig in the first Python on the PATH.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    subprocess.run(maturin, cwd=ROOT / "python", env=os.environ | {"PATH": path}, check=True, stdout=sys.stderr)
    built = set(out.glob("*.whl")) - before or before
    return max(built, key=lambda path: path.stat().st_mtime)


def build_image(out: Path, archive: Path) -> Path:
    """Writes the root file system of the container image, from a static Linux archive, with owners and permissions."""
    target = archive.name.removesuffix(".tar.gz").split("-", 2)[-1]
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[target.split("-")[0]]
    path = out / f"rootfs-{machine}.tar"
    with tarfile.open(archive) as source, tarfile.open(path, "w") as image:
        files = {member.name.split("/", 1)[1]: member for member in source.getmembers() if "/" in member.name}

        def from_archive(name: str, to: str, mode: int = 0o644) -> None:
            file = source.extractfile(files[name])
            if file is None:
                raise BuildError(f"{name} in {archive} is not a file")
            add(image, to, file.read(), mode)

        add(image, "etc/passwd", f"veilpath:x:{USER}:{USER}::/state:/sbin/nologin\n".encode())
        add(image, "etc/group", f"veilpath:x:{USER}:\n".encode())
        from_archive("veilpath", "veilpath", 0o755)
        for name in ("LICENSE-APACHE", "LICENSE-MIT", "LICENSES-THIRD-PARTY.txt"):
            from_archive(name, f"licenses/{name}")
        # The only folders that the image's user owns: /state for identity and journals, and /data for a job's files.
        for folder in ("state", "data"):
            add_folder(image, folder, 0o700, USER)
    return path


def write_checksums(out: Path) -> Path:
    """Writes checksums for `sha256sum --check`."""
    path = out / "SHA256SUMS"
    files = sorted(file for file in out.iterdir() if file.name.endswith((".tar.gz", ".zip", ".whl")))
    if not files:
        raise BuildError(f"{out} has no archives and no wheels")
    path.write_text("".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files))
    return path


def check_version(tag: str | None) -> str:
    """The version, if all files and the tag agree on it."""
    found = {"Cargo.toml": version()}
    for name in ("python/Cargo.toml", "python/pyproject.toml"):
        content = read_toml(ROOT / name)
        found[name] = (content.get("package") or content["project"])["version"]
    if tag is not None:
        found["the tag"] = tag.removeprefix("refs/tags/").removeprefix("v")
    if len(set(found.values())) > 1:
        raise BuildError("the versions differ: " + ", ".join(f"{name} has {value}" for name, value in found.items()))
    return version()


def version() -> str:
    """The version of the workspace."""
    return str(read_toml(ROOT / "Cargo.toml")["workspace"]["package"]["version"])


def host_target() -> str:
    """The default target of rustc."""
    lines = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout.splitlines()
    return next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))


def default_target() -> str:
    """The target of this machine, with musl if it is installed: unlike glibc, musl never loads system libraries to resolve names."""
    musl = host_target().replace("-linux-gnu", "-linux-musl")
    libraries = subprocess.run(["rustc", "--print", "target-libdir", "--target", musl], capture_output=True, text=True)
    is_installed = libraries.returncode == 0 and Path(libraries.stdout.strip()).is_dir()
    # A dependency contains C code.
    has_compiler = shutil.which("musl-gcc") is not None or "-linux-musl" in host_target()
    target = musl if is_installed and has_compiler else host_target()
    print(f"building for {target}", file=sys.stderr)
    return target


def target_folder() -> Path:
    """Cargo's target folder."""
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target")


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file."""
    with path.open("rb") as file:
        return tomllib.load(file)


def pack(content: Path, out: Path, kind: str) -> Path:
    """Writes an archive that depends only on the folder's content, not on times or users."""
    path = out / f"{content.name}.{kind}"
    with archive_file(path, kind) as archive:
        for file in sorted(content.rglob("*")):
            if not file.is_file():
                continue
            name = file.relative_to(content.parent).as_posix()
            mode = 0o755 if file.name in PROGRAMS else 0o644
            add(archive, name, file.read_bytes(), mode)
    return path


@contextlib.contextmanager
def archive_file(path: Path, kind: str) -> Iterator[tarfile.TarFile | zipfile.ZipFile]:
    """Opens an archive for writing."""
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            yield archive
        return
    with (
        path.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        yield archive


def add(archive: tarfile.TarFile | zipfile.ZipFile, name: str, content: bytes, mode: int = 0o644) -> None:
    """Adds a file owned by root."""
    if isinstance(archive, zipfile.ZipFile):
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, content)
        return
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = mode
    archive.addfile(member, io.BytesIO(content))


def add_folder(archive: tarfile.TarFile, name: str, mode: int, user: int) -> None:
    """Adds an empty folder owned by a user."""
    member = tarfile.TarInfo(name)
    member.type = tarfile.DIRTYPE
    member.mode = mode
    member.uid = member.gid = user
    archive.addfile(member)


if __name__ == "__main__":
    main()
