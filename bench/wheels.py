"""Installs the package's wheel into a fresh environment of every Python from 3.10 to 3.14, asks it a question, and has twine check it.

`cargo xtask judge wheels` runs it: python bench/wheels.py [WHEEL]

Without WHEEL it builds one, with the tools that `cargo xtask needs` brings. A Python is looked for on PATH and below ~/.pyenv/versions.
What is missing is unpacked from Debian below target/wheels (debootstrap, as root), whose suites have 3.11, 3.13 and 3.14. It says which
versions ran, and fails if one that is here does not, or if fewer than four are here.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORK = ROOT / "target" / "wheels"
VERSIONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
# Suites of Debian that have a Python, for a machine that has it not.
SUITES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}
# Scripts that debootstrap has for suites that are younger than itself.
SCRIPT = pathlib.Path("/usr/share/debootstrap/scripts/sid")
MIRROR = "http://deb.debian.org/debian"

QUESTION = """
import pickle, stopwatt, sys
small = dict(release="last", iterations=1, free_seeds=0, case="suspend-level0", mode="parallel", order="free")
recording = stopwatt.run("psci-latency", **small)
assert recording.findings.cells and len(recording.measures) and "html" in recording.report("html")
assert len(pickle.loads(pickle.dumps(recording)).measures) == len(recording.measures)
came = stopwatt.what_if("psci-latency", {"scp.channels": [1, 2]}, **small)
assert len(came.points) == 2
try:
    stopwatt.run("psci-latency", release="nosuch")
    sys.exit("a release that is not there was taken")
except stopwatt.UsageError:
    pass
print(sys.version.split()[0], stopwatt.__version__)
"""


def done(*command: object) -> str:
    # From a folder that no data lies above: what is built in counts.
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd="/")
    if ran.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))[:200]} ended with {ran.returncode}: {ran.stderr.strip()[-600:]}")
    return ran.stdout.strip()


def interpreter(version: str) -> list[object] | None:
    """The command that starts a Python of this version, which may lie in a Debian of its own."""
    found = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    found += [pathlib.Path(path)] if (path := shutil.which(f"python{version}")) else []
    for python in found:
        if subprocess.run([python, "-c", "import venv"], capture_output=True).returncode == 0:
            return [python]
    suite = SUITES.get(version)
    if suite is None or not shutil.which("debootstrap"):
        return None
    debian = WORK / suite
    if not (debian / "usr/bin" / f"python{version}").exists():
        shutil.rmtree(debian, ignore_errors=True)
        known = SCRIPT.with_name(suite)
        script = [] if known.exists() else [MIRROR, SCRIPT]
        try:
            done("debootstrap", "--variant=minbase", "--include=python3,python3-venv", suite, debian, *script)
        except RuntimeError as error:
            print(f"{version}: Debian's {suite} could not be unpacked: {str(error)[-200:]}")
            return None
    return ["chroot", debian, f"/usr/bin/python{version}"]


def try_out(version: str, python: list[object], wheel: pathlib.Path) -> str:
    """What the question prints in a fresh environment."""
    inside = pathlib.Path(python[1]) if python[0] == "chroot" else None
    home = (inside / "try") if inside else WORK / f"try-{version}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    shutil.copy(wheel, home)
    (home / "question.py").write_text(QUESTION)
    # As the interpreter sees it.
    seen = pathlib.Path("/try") if inside else home
    start = python[:2] if inside else []
    done(*python, "-m", "venv", seen / "env")
    own = [*start, seen / "env/bin/python"]
    done(*own, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", seen / wheel.name)
    return done(*own, seen / "question.py")


def the_wheel() -> pathlib.Path:
    if sys.argv[1:]:
        return pathlib.Path(sys.argv[1]).resolve()
    wheels, tools = ROOT / "target/python/wheels", ROOT / "target/python/tools"
    path = f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"
    build = [tools / "bin/pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", wheels, ROOT / "python"]
    subprocess.run(build, env={**os.environ, "PATH": path, "MATURIN_PEP517_ARGS": "--locked"}, check=True)
    return max(wheels.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)


def main() -> None:
    wheel = the_wheel()
    WORK.mkdir(parents=True, exist_ok=True)
    ran, wrong, missing = [], [], []
    if "-abi3-" not in wheel.name:
        wrong.append(f"{wheel.name} is not of the stable interface (abi3), so it is for one Python alone")
    checks = WORK / "twine"
    if not (checks / "bin/twine").exists():
        done(sys.executable, "-m", "venv", checks)
        done(checks / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "twine==7.0.0")
    print(done(checks / "bin/twine", "check", "--strict", wheel))
    for version in VERSIONS:
        python = interpreter(version)
        if python is None:
            missing.append(version)
            continue
        try:
            print(f"{version}: {try_out(version, python, wheel)}", flush=True)
            ran.append(version)
        except RuntimeError as error:
            wrong.append(f"{version}: {error}")
    print(f"ran with Python {', '.join(ran)}" + (f"; not here: {', '.join(missing)}" if missing else ""))
    if len(ran) < 4:
        wrong.append("fewer than four versions ran")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
