#!/usr/bin/env python3
"""Mutants of the PSCI and the RCU library: which of them does the explorer see, which do the tests, and which does nobody?

    bench/explore_mutants.py [--sample 100] [--seed 1] [--seconds 60] [--no-tests] [--work DIR]

The mutants are those of cargo-mutants of tree.rs, suspend.rs, on_off.rs, statistics.rs and stat_calls.rs of
`psci`, and of all of `rcu`, without those that `.cargo/mutants.toml` lists as equivalent; of them a hundred are drawn by a seed. All are built into
one program, by the mechanism of the seeded faults: a copy of the changed function for each. The explorer looks for each with three seeds, on one
thread; a mutant that is found with some of them only is found by chance. The tests are those of the library and of the simulated board, with
cargo-mutants. Ends with 1 if a mutant is seen by nobody.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of each library: its package, its folder, the files, and the packages whose tests are asked in turn.
LIBRARIES = {
    "psci": ("stopwatt-psci", "crates/code/psci/src", ["tree.rs", "suspend.rs", "on_off.rs", "statistics.rs", "stat_calls.rs"], ["stopwatt-psci", "soc"]),
    "rcu": ("rcu", "crates/code/rcu/src", None, ["rcu", "minikernel"]),
}
SEEDS = (1, 2, 3)


def listed(library):
    """All mutants of a library's files, as cargo-mutants lists them."""
    package, folder, files, _ = LIBRARIES[library]
    command = ["cargo", "mutants", "--package", package, "--list", "--json"]
    for file in files or []:
        command += ["--file", f"**/{file}"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [mutant for mutant in json.loads(output) if mutant["file"].startswith(folder)]


def offset(text, place):
    """The offset in bytes of a line and a column, both from 1; the column counts characters."""
    lines = text.split("\n")
    before = sum(len(line.encode()) + 1 for line in lines[: place["line"] - 1])
    return before + len(lines[place["line"] - 1][: place["column"] - 1].encode())


def quoted(text):
    return json.dumps(text, ensure_ascii=True)


def write(mutants, folder):
    """The lists that the build of the libraries with faults reads."""
    folder.mkdir(parents=True, exist_ok=True)
    for library in LIBRARIES:
        lines = []
        for number, mutant in mutants:
            if mutant["library"] != library:
                continue
            text = (ROOT / mutant["file"]).read_text()
            start, end = (offset(text, mutant["span"][side]) for side in ("start", "end"))
            lines += ["[[fault]]", f"name = {quoted(f'm{number}')}", f"what = {quoted(mutant['name'])}", "[[fault.change]]"]
            lines += [f"file = {quoted(pathlib.Path(mutant['file']).name)}", f"at = [{start}, {end}]", f"after = {quoted(mutant['replacement'])}", ""]
        (folder / f"{library}.toml").write_text("\n".join(lines) if lines else "fault = []\n")


def environment(work):
    return os.environ | {"SEEDED_MUTANTS": str(work / "lists"), "SEEDED_LENIENT": "1", "CARGO_TARGET_DIR": str(work / "build")}


def without_unviable(mutants, work):
    """Leaves out the mutants that do not compile: each error lies in the copy of one of them."""
    unviable = []
    while True:
        write(mutants, work / "lists")
        command = ["cargo", "check", "--release", "-p", "psci-faults", "-p", "rcu-faults", "--message-format", "json"]
        checked = subprocess.run(command, cwd=ROOT, env=environment(work), capture_output=True, text=True)
        wrong, errors = set(), []
        for line in checked.stdout.splitlines():
            message = json.loads(line)
            if message.get("reason") == "build-script-executed" or message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
                continue
            errors.append(message["message"]["rendered"])
            for span in message["message"]["spans"]:
                if not span["is_primary"] or "/out/" not in span["file_name"]:
                    continue
                lines = pathlib.Path(span["file_name"]).read_text().splitlines()[: span["line_start"]]
                marks = [re.search(r"// (?:fault m(\d+)|no fault)$", line) for line in lines]
                last = next((mark for mark in reversed(marks) if mark), None)
                if last and last[1]:
                    wrong.add(int(last[1]))
        left_out = {int(found) for found in re.findall(r"warning: [^:]*: m(\d+) of .* is left out", checked.stderr)}
        if checked.returncode == 0 or not wrong:
            if checked.returncode != 0:
                sys.exit("".join(errors) + checked.stderr + "the mutants do not build, and no copy is to blame")
            # Of constant functions, and what lies in none.
            mutants = [(number, mutant) for number, mutant in mutants if number not in left_out]
            return mutants, unviable + sorted(left_out)
        unviable += sorted(wrong)
        mutants = [(number, mutant) for number, mutant in mutants if number not in wrong]


def explored(program, mutant, number, seconds):
    """What the explorer says of a mutant with each seed: a list of the invariant that broke, `hangs`, or None, and the seconds."""
    results = []
    for seed in SEEDS:
        try:
            command = [program, mutant["library"], f"m{number}", str(seed), str(seconds)]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds * 3 + 60)
            words = ran.stdout.split(maxsplit=4)
        except subprocess.TimeoutExpired:
            words = ["hangs"]
        match words:
            case ["found", invariant, runs, took, _]:
                results.append((invariant, int(runs), float(took)))
            case ["nothing", runs, took]:
                results.append((None, int(runs), float(took)))
            case ["hangs"]:
                results.append(("hangs", 0, 0.0))
            case _:
                # The process ended: a mutant that overflows the stack, or aborts.
                results.append(("aborts", 0, 0.0))
    return results


def tested(mutants, work):
    """The numbers of the mutants that a test sees."""
    seen = set()
    for library, (package, _, files, testers) in LIBRARIES.items():
        left = {mutant["name"]: number for number, mutant in mutants if mutant["library"] == library}
        for tester in testers:
            if not left:
                break
            output = work / "tests" / tester
            shutil.rmtree(output, ignore_errors=True)
            output.mkdir(parents=True)
            command = ["cargo", "mutants", "--package", package, "--test-package", tester, "--profile", "mutants", "--output", output, "--jobs", "1"]
            command += ["--minimum-test-timeout", "10", "--build-timeout", "300", "--cargo-arg=--tests", "--baseline", "skip", "--timeout", "120"]
            command += [argument for name in left for argument in ("--re", "^" + re.escape(name) + "$")]
            settings = os.environ | {"CARGO_INCREMENTAL": "1", "SEEDED_LENIENT": "1"}
            ran = subprocess.run(command, cwd=ROOT, env=settings)
            if ran.returncode not in (0, 2, 3):
                sys.exit(f"cargo mutants of {package} ended with {ran.returncode}")
            caught = [(output / "mutants.out" / file).read_text().splitlines() for file in ("caught.txt", "timeout.txt")]
            for name in sum(caught, []):
                if name in left:
                    seen.add(left.pop(name))
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--sample", type=int, default=100, help="how many mutants are drawn; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="draws them")
    parser.add_argument("--seconds", type=int, default=60, help="for which the explorer looks with each seed")
    parser.add_argument("--library", choices=sorted(LIBRARIES), help="of one library only")
    parser.add_argument("--jobs", type=int, default=1, help="mutants that are looked for at once")
    parser.add_argument("--no-tests", action="store_true", help="leave the tests out")
    parser.add_argument("--json", type=pathlib.Path, help="leave the results in this file as well")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "target/mutants-explored")
    options = parser.parse_args()
    work = options.work.resolve()

    every = []
    for library in LIBRARIES:
        if options.library in (None, library):
            every += [mutant | {"library": library} for mutant in listed(library)]
    drawn = sorted(random.Random(options.seed).sample(range(len(every)), min(options.sample or len(every), len(every))))
    mutants, unviable = without_unviable([(number, every[number]) for number in drawn], work)
    print(f"{len(every)} mutants, {len(drawn)} drawn with seed {options.seed}; {len(unviable)} do not compile as a copy of their function", flush=True)
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "explore", "--example", "look_for"], cwd=ROOT, env=environment(work), check=True)
    program = work / "build/release/examples/look_for"

    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        looks = {pool.submit(explored, program, mutant, number, options.seconds): (number, mutant) for number, mutant in mutants}
        for done in concurrent.futures.as_completed(looks):
            number, mutant = looks[done]
            results[number] = done.result()
            said = ", ".join(f"{what or 'nothing'} {took:.1f} s" for what, _, took in results[number])
            print(f"{mutant['name'].removeprefix('crates/code/')}: {said}", flush=True)
    by_explorer = {number for number, found in results.items() if all(what for what, _, _ in found)}
    by_chance = {number for number, found in results.items() if any(what for what, _, _ in found)} - by_explorer
    by_tests = set() if options.no_tests else tested(mutants, work)

    names = {number: mutant["name"].removeprefix("crates/code/") for number, mutant in mutants}
    for number in sorted(by_chance):
        print(f"found by chance: {names[number]}")
    for number in sorted(set(names) - by_explorer - by_tests):
        print(f"nobody sees {names[number]}")
    print(f"{'file':<24} {'mutants':>7} {'both':>5} {'explorer only':>14} {'tests only':>11} {'nobody':>7} {'by chance':>10}")
    rows = sorted({mutant["file"] for _, mutant in mutants}) + [None]
    for file in rows:
        own = {number for number, mutant in mutants if file in (None, mutant["file"])}
        both = len(own & by_explorer & by_tests)
        only = len(own & by_explorer - by_tests)
        tests = len((own & by_tests) - by_explorer)
        nobody = len(own - by_explorer - by_tests)
        shown = file.removeprefix("crates/code/").replace("/src", "") if file else "all"
        print(f"{shown:<24} {len(own):>7} {both:>5} {only:>14} {tests:>11} {nobody:>7} {len(own & by_chance):>10}")
    if options.json:
        rows = [{"name": names[n], "explorer": results[n], "tests": n in by_tests} for n in sorted(names)]
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if set(names) - by_explorer - by_tests else 0


if __name__ == "__main__":
    sys.exit(main())
