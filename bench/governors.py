#!/usr/bin/env python3
"""The governors beside the kernel's own C code: which share of 100 000 random steps ends in the same choice, by release.

    bench/governors.py [--steps 100000] [--work DIR]

Fetches Debian's packages linux-source-VERSION, those of the machine's suite and of other suites (under an apt configuration of their own: the machine's
sources stay as they are), takes menu.c, teo.c and the governor of power domains out of them, compiles them with the headers of crates/experiments/idle/kernel and bench/beside_kernel/shim and runs both on the same steps.
Ends with 1 if one choice of a thousand differs for any release. Needs gcc, dpkg, xz and Rust. The packages are 120 to 170 MB each and are deleted once
read; what is kept is in the folder DIR, target/bench/governors by default.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Suites of Debian: where 5.10 is, that of long-term kernels, and those of the newest ones.
SUITES = ["bullseye", "bookworm", "trixie", "trixie-backports", "sid"]
PACKAGES = ["linux-source-5.10", "linux-source-6.1", "linux-source-6.12", "linux-source-7.2", "linux-source-7.3"]
FILES = ["menu.c", "teo.c", "gov.h", "governor.c", "domain_governor.c"]


def run(command, **more):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{result.stdout[-4000:]}")
    return result.stdout


def archive():
    """Where this machine takes Debian's packages from, and the key that they are signed with."""
    for path in [pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*"))]:
        text = path.read_text() if path.is_file() else ""
        found = re.search(r"(?:URIs:\s*|^deb (?:\[[^\]]*\] )?)(\S+/debian/?)(?:\s|$)", text, re.MULTILINE)
        if found:
            return found.group(1)
    sys.exit("neither debian.sources nor sources.list of apt names a place for Debian's packages")


def apt(work):
    """Options of apt with sources and a cache of its own."""
    folder = work / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    listed = folder / "sources.list"
    key = "/usr/share/keyrings/debian-archive-keyring.gpg"
    listed.write_text("".join(f"deb [signed-by={key}] {archive()} {suite} main\n" for suite in SUITES))
    return [f"-oDir::Etc::sourcelist={listed}", "-oDir::Etc::sourceparts=/dev/null", f"-oDir::State::lists={folder}/lists",
            f"-oDir::Cache={folder}/cache", "-oAPT::Sandbox::User=root"]


def fetch(work):
    """The governors' files of each package, in folders named after the releases; packages that cannot be had are named."""
    sources = work / "sources"
    sources.mkdir(exist_ok=True)
    options = apt(work)
    run(["apt-get", *options, "update", "-q"])
    for package in PACKAGES:
        found = subprocess.run(["apt-cache", *options, "show", "--no-all-versions", package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        version = re.search(r"^Version: (\S+)", found.stdout, re.MULTILINE)
        if not version:
            print(f"{package} is in none of the suites", file=sys.stderr)
            continue
        folder = sources / re.match(r"[\d.]+", version.group(1)).group(0)
        if any((folder / name).is_file() for name in FILES[3:]):
            continue
        print(f"fetching {package} {version.group(1)}", file=sys.stderr)
        run(["apt-get", *options, "download", "-q", package], cwd=work)
        deb = next(work.glob(f"{package}_*.deb"))
        folder.mkdir(exist_ok=True)
        governors = "'*/drivers/cpuidle/governors/*' '*domain*governor.c'"
        unpack = (f"dpkg-deb --fsys-tarfile '{deb}' | tar -x --to-stdout --wildcards './usr/src/linux-source-*.tar.xz' | xz -dc "
                  f"| tar -x -C '{folder}' '--transform=s|.*/||' --wildcards {governors}")
        run(["bash", "-o", "pipefail", "-c", unpack])
        deb.unlink()
        for file in folder.iterdir():
            if file.name not in FILES:
                file.unlink()
    return sources


def compare(what, work, sources, count):
    """Runs our code beside the kernel's, and ends as that does."""
    manifest = ROOT / "bench/beside_kernel/Cargo.toml"
    command = ["cargo", "run", "--quiet", "--release", "--locked", "--manifest-path", manifest, "--target-dir", work / "build", "--", what, sources, count]
    sys.exit(subprocess.run([str(word) for word in command]).returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/bench/governors")
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    compare("governors", work, fetch(work), arguments.steps)


if __name__ == "__main__":
    main()
