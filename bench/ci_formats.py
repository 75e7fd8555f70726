#!/usr/bin/env python3
"""Do the programs that read our formats for continuous integration take them?

    cargo build --release && python3 bench/ci_formats.py [--program target/release/stopwatt]

junitparser reads the XML, and check-jsonschema holds the action and the template against the
schemas of GitHub and GitLab. Both come from PyPI into an environment of their own below target/.
"""

import argparse
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "target/judge-ci"


def run(*command, **more):
    """Runs a command to its end and returns what it printed."""
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **more)
    return done.returncode, done.stdout, done.stderr


def must(*command, **more):
    code, out, err = run(*command, **more)
    if code != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {code}:\n{out}{err}")
    return out


def judges():
    """The programs that judge: Python's interpreter with the packages."""
    python = HOME / "python/bin/python"
    if not python.exists():
        venv.create(HOME / "python", with_pip=True)
        must(python, "-m", "pip", "install", "--quiet", "junitparser", "check-jsonschema")
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "target/release/stopwatt", type=Path)
    program = parser.parse_args().program.resolve()
    HOME.mkdir(parents=True, exist_ok=True)
    python = judges()

    case = ["--case", "suspend-deepest", "--mode", "serial", "--release", "juno-v2.12", "--iterations", "6", "--replace"]
    must(program, "-q", "run", "psci-latency", *case, "-o", HOME / "base")
    must(program, "-q", "run", "psci-latency", *case, "--set", "costs.scp.take=100 us", "-o", HOME / "slower")

    def compared(form, *more):
        code, out, err = run(program, "compare", HOME / "base", HOME / "slower", "--format", form, *more)
        if code not in (0, 1):
            sys.exit(err)
        return code, out

    wrong = []

    def judged(what, good, said=""):
        print(f"{what:<62} {'yes' if good else 'NO'}")
        if not good:
            wrong.append(f"{what}: {said}")

    code, text = compared("junit")
    (HOME / "junit.xml").write_text(text)
    count = (
        "import sys,junitparser; of=junitparser.JUnitXml.fromfile(sys.argv[1]); "
        "cases=[case for suite in of for case in suite]; "
        "print(len(cases), sum(suite.tests for suite in of), sum(suite.failures for suite in of), "
        "sum(any(isinstance(r, junitparser.Failure) for r in case.result) for case in cases))"
    )
    cases, tests, failures, with_failure = map(int, must(python, "-c", count, HOME / "junit.xml").split())
    judged("junitparser finds as many cases and failures as are told", (cases, failures) == (tests, with_failure), text)
    judged("JUnit fails where the comparison does", (failures > 0) == (code == 1), f"{failures} failed, status {code}")

    check = HOME / "python/bin/check-jsonschema"
    for name, schema in [("ci/github/action.yml", "vendor.github-actions"), ("ci/gitlab/compare.yml", None)]:
        path = ROOT / name
        if schema is None:
            # The second document is the jobs; check-jsonschema reads one.
            path = HOME / "gitlab.yml"
            path.write_text((ROOT / name).read_text().split("\n---\n")[1])
            schema = "vendor.gitlab-ci"
        status, out, err = run(check, "--builtin-schema", schema, "--data-transform", "gitlab-ci", path)
        judged(f"{name} is by the schema of its service", status == 0, out + err)

    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
