"""Builds the wheel for aarch64 with a linker from PyPI, and imports it in Debian's arm64 Python under qemu-user.

Run it in an environment with what requirements.txt lists: target/python/tools/bin/python python/foreign.py. Nothing is installed: Debian's packages are unpacked into a
folder below target. It needs qemu-aarch64 (package qemu-user), apt-get, and the Rust target aarch64-unknown-linux-gnu.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "python" / "aarch64"
# What the interpreter needs to start and to import an extension module.
PACKAGES = ["python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libc6", "libgcc-s1", "zlib1g", "libexpat1", "libssl3", "libffi8"]
SCRIPT = """
import platform, stopwatt
recording = stopwatt.run("psci-latency", release="last", iterations=1, free_seeds=0, case="suspend-level0")
print(platform.machine(), recording, recording.measures)
assert platform.machine() == "aarch64" and len(recording.measures) > 0
"""


def main():
    wheels = FOLDER / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    build = [sys.executable, "-m", "maturin", "build", "--quiet", "--release", "--locked", "--zig"]
    build += ["--target", "aarch64-unknown-linux-gnu", "--out", wheels]
    # maturin looks for a Python that has zig on the path.
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ.get("PATH", "")])
    subprocess.run(build, cwd=ROOT / "python", check=True, env={**os.environ, "PATH": path})
    (wheel,) = wheels.glob("*.whl")
    root, state = FOLDER / "root", FOLDER / "apt"
    if not (root / "usr/bin/python3.11").exists():
        for below in ("state/lists/partial", "cache/archives/partial", "debs"):
            (state / below).mkdir(parents=True, exist_ok=True)
        options = {
            "APT::Architecture": "arm64",
            "APT::Architectures": "arm64",
            "APT::Sandbox::User": "",
            "Dir::State": state / "state",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": state / "cache",
        }
        apt = ["apt-get", "-q", *(part for key, value in options.items() for part in ("-o", f"{key}={value}"))]
        quiet = {"stdout": subprocess.DEVNULL, "check": True, "env": {**os.environ, "LC_ALL": "C"}}
        subprocess.run([*apt, "update"], **quiet)
        subprocess.run([*apt, "download", *PACKAGES], cwd=state / "debs", **quiet)
        for package in (state / "debs").glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    site = FOLDER / "site"
    shutil.rmtree(site, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    qemu = ["qemu-aarch64", "-L", root, root / "usr/bin/python3.11", "-c", SCRIPT]
    done = subprocess.run(qemu, env={**os.environ, "PYTHONPATH": str(site), "PYTHONHOME": str(root / "usr")})
    print(f"{wheel.name}: {'imported and run' if done.returncode == 0 else 'FAILED'} under qemu-aarch64")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
