"""What the pages show: their commands and their Python are run, and what they say is printed is compared.

`run.toml` beside this file says what is not run, with the reason, and which files of a reader's own stand for what.
"""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What takes minutes is run as well.
SLOW = "--slow" in sys.argv
# The explorer, which `cargo xtask site` builds.
EXPLORER = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/stopwatt-explore"
# Seconds that a command of a page may take.
LONGEST = 3600 if SLOW else 120
# In front of a command that is `stopwatt` from a checkout.
FROM_A_CHECKOUT = "cargo run --release -- "


def blocks(text: str) -> list[tuple[int, str, str]]:
    """The fenced blocks of a page: line, language, text."""
    found, language, begin, lines = [], None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(.*)$", line)
        if fence and language is None:
            language, begin, lines = fence.group(1).strip(), number, []
        elif fence:
            found.append((begin, language, "\n".join(lines)))
            language = None
        elif language is not None:
            lines.append(line)
    return found


def is_command(line: str) -> bool:
    """Whether the line calls the program, or something of the checkout."""
    return line.startswith(("stopwatt ", "cargo ", "python ", "pip ", "bench/", "target/"))


def shown(language: str, text: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with what the block says it prints; none if it is no block of commands."""
    if language == "yaml":
        # A job of continuous integration.
        return [(command, []) for command in re.findall(r"(?:- | {2})run: (stopwatt .*)", text)]
    if language not in ("", "console", "sh"):
        return []
    lines = text.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        found: list[tuple[str, list[str]]] = []
        for line in lines:
            if line.startswith("$ "):
                found.append((line[2:].strip(), []))
            elif found:
                found[-1][1].append(line)
        return found
    lines = [line.strip() for line in lines if line.strip()]
    return [(line, []) for line in lines] if lines and is_command(lines[0]) and all(map(is_command, lines)) else []


def squeezed(line: str) -> str:
    """The line with one space where there are several."""
    return " ".join(line.split())


def shape(line: str) -> str:
    """What is left of a line when its numbers may be others: their places."""
    return squeezed(re.sub(r"[│─╞═╡┌┐└┘├┤┬┴┼╌┆#█]+", " ", re.sub(r"-?\d[\d.,]*", "0", line)))


def is_there(line: str, printed: list[str], by_shape: bool) -> bool:
    """Whether a line was printed, as a line or broken elsewhere; one that ends in dots, as far as the dots."""
    same = shape if by_shape else squeezed
    wanted = same(line.rstrip().removesuffix("..."))
    return any(same(it) == wanted for it in printed) or wanted in same(" ".join(printed))


class Shown:
    """Runs the pages in one folder that looks like a checkout, and keeps what is wrong."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.wrong = folder, []
        self.ran = self.compared = self.pythons = 0
        self.rules = tomllib.loads((ROOT / "xtask" / "site" / "run.toml").read_text())
        self.used: set[str] = set()
        for name in ("data", "crates", "docs", "python"):
            (folder / name).symlink_to(ROOT / name)
        for name, source in self.rules["files"].items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            page, mark, number = source.partition("#")
            if mark:
                (folder / name).write_text(blocks((ROOT / page).read_text())[int(number)][2] + "\n")
            else:
                shutil.copy(ROOT / page, folder / name)

    def rule(self, kind: str, text: str) -> bool:
        """Whether a rule of `run.toml` is about this text."""
        known = [rule["text"] for rule in self.rules[kind] if rule["text"] in text]
        self.used.update(f"{kind}: {it}" for it in known)
        return bool(known)

    def call(self, command: str, at: str) -> list[str] | None:
        """Runs a command; the lines it printed, or none if it is not to be run."""
        if self.rule("not_run", command) or (self.rule("slow", command) and not SLOW):
            return None
        plain = command.split("  #")[0].split(" > ")[0].split(" | ")[0]
        plain = plain.replace(FROM_A_CHECKOUT, "stopwatt ")
        words = shlex.split(plain)
        if words[:2] == ["stopwatt", "explore"]:
            call = [str(EXPLORER), *words[2:]]
        elif words[0] == "stopwatt":
            call = [sys.executable, "-m", "stopwatt", *words[1:]]
        elif words[0] == "python":
            call = [sys.executable, *words[1:]]
        else:
            self.wrong.append(f"{at}: it is not known how to run `{command}`")
            return None
        # 1 is an answer: a regression, a schedule that breaks something; 3 says that it cannot be told.
        return self.done(call, command, at, (0, 1, 3))

    def done(self, call: list[str], name: str, at: str, right: tuple[int, ...]) -> list[str] | None:
        begin = time.monotonic()
        environment = {**os.environ, "NO_COLOR": "1"}
        try:
            done = subprocess.run(call, cwd=self.folder, capture_output=True, text=True, timeout=LONGEST, env=environment)
        except subprocess.TimeoutExpired:
            self.wrong.append(f"{at}: `{name}` takes more than {LONGEST} s")
            return None
        if "--verbose" in sys.argv:
            print(f"{time.monotonic() - begin:6.1f} s  {at}: {name}", flush=True)
        if done.returncode not in right and not self.rule("refused", name):
            self.wrong.append(f"{at}: `{name}` ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        return done.stdout.splitlines() + done.stderr.splitlines()

    def compare(self, lines: list[str], printed: list[str], by_shape: bool, at: str) -> None:
        """Every line that a page shows is one of those printed."""
        lines = [line for line in lines if line.strip() and line.strip() != "..."]
        self.compared += len(lines)
        self.wrong += [f"{at}: not printed (any more): {line}" for line in lines if not is_there(line, printed, by_shape)]

    def page(self, page: pathlib.Path) -> None:
        """Runs a page from its top."""
        name, printed, code = page.relative_to(ROOT).as_posix(), [], ""
        for line, language, text in blocks(page.read_text()):
            at = f"{name}:{line}"
            if language == "python" and not self.rule("not_run", text):
                code += text + "\n"
            commands = shown(language, text)
            for command, says in commands:
                lines = self.call(command, at)
                if lines is None:
                    continue
                self.ran += 1
                printed += lines
                self.compare(says, lines, self.rule("by_shape", command), at)
            if language == "" and not commands and printed:
                by_shape = self.rule("by_shape", text)
                lines = [line for line in text.splitlines() if line.strip()]
                # A block of which nothing was printed shows something else: a layout, a file.
                if any(is_there(line, printed, by_shape) for line in lines):
                    self.compare(lines, printed, by_shape, at)
        if code:
            self.pythons += 1
            self.done([sys.executable, "-c", code], "the page's Python", name, (0,))

    def pages(self, pages: list[pathlib.Path]) -> list[str]:
        """Runs all pages, those first that `run.toml` puts first; returns what is wrong."""
        first = [ROOT / name for name in self.rules["first"]]
        for page in first + [page for page in pages if page not in first]:
            self.page(page)
        # What is compared by its shape is mostly slow.
        for kind in ("not_run", "slow", "refused", *(["by_shape"] if SLOW else [])):
            unused = [rule["text"] for rule in self.rules[kind] if f"{kind}: {rule['text']}" not in self.used]
            self.wrong += [f"xtask/site/run.toml: no page has `{text}` (any more)" for text in unused]
        print(
            f"{self.ran} commands and the Python of {self.pythons} pages were run{'' if SLOW else ', those that take minutes left out'}, "
            f"{self.compared} lines of what they print compared"
        )
        return self.wrong
