"""Builds the documentation as a site that needs no network, and checks it: the commands on the pages that site/run.toml names are run, what
those pages show of their output is compared, and every link is looked up.

Run by `cargo xtask site`, with the Python package installed: python site/build.py
"""

from __future__ import annotations

import html.parser
import inspect
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE, OUT = ROOT / "target" / "site-source", ROOT / "target" / "site"
# Pages that lie outside of docs/, by their name on the site.
OUTSIDE = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md"}
# Seconds that a command of a page may take.
LONGEST = 120
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def relinked(text: str, at: pathlib.Path, page: pathlib.PurePosixPath) -> str:
    """The text of a page of the site with its links: those to files that are no pages become what they are called."""

    def place(target: str) -> str | None:
        there = (at.parent / target).resolve()
        if not there.exists():
            raise SystemExit(f"{at.relative_to(ROOT)}: the link to {target} leads nowhere")
        name = there.relative_to(ROOT).as_posix()
        if name in OUTSIDE:
            name = OUTSIDE[name]
        elif name == "docs/adr":
            name = "adr/index.md"
        elif name.startswith("docs/") and there.is_file():
            name = name.removeprefix("docs/")
        else:
            return None
        return os.path.relpath(name, page.parent)

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found.group(1), found.group(2), found.group(3) or ""
        if urllib.parse.urlparse(target).scheme:
            return found.group(0)
        to = place(target)
        return f"[{words}]({to}{anchor})" if to else f"{words} (`{os.path.relpath((at.parent / target).resolve(), ROOT)}`)"

    text = IMAGE.sub(lambda found: f"![{found.group(1)}]({place(found.group(2)) or found.group(2)})", text)
    return LINK.sub(link, text)


def pages() -> dict[pathlib.PurePosixPath, pathlib.Path]:
    """Every page of the site, and the file it is made from."""
    found = {pathlib.PurePosixPath(name): ROOT / file for file, name in OUTSIDE.items()}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        found[pathlib.PurePosixPath(file.relative_to(ROOT / "docs").as_posix())] = file
    return found


def python_interface() -> str:
    """The page of the Python package, from the package."""
    import stopwatt
    import stopwatt.dask
    import stopwatt.sensitivity

    lines = ["# The Python package, name by name", "", inspect.getdoc(stopwatt) or "", ""]
    names = [(f"stopwatt.{name}", getattr(stopwatt, name)) for name in stopwatt.__all__]
    names += [("stopwatt.dask.sweep", stopwatt.dask.sweep), ("stopwatt.sensitivity.costs", stopwatt.sensitivity.costs)]
    for name, thing in names:
        described = inspect.getdoc(thing)
        if not described:
            raise SystemExit(f"{name} has no docstring")
        shown = f"{name}{inspect.signature(thing)}" if inspect.isfunction(thing) else name
        lines += [f"## {name}", "", "```python", shown, "```", "", described, ""]
        if inspect.isclass(thing):
            for part, value in vars(thing).items():
                doc = inspect.getdoc(value)
                if not part.startswith("_") and doc:
                    lines += [f"**{part}**", "", doc, ""]
    text = "\n".join(lines)
    # Literal blocks of docstrings are indented already, which Markdown takes as code.
    return re.sub(r":(?:class|func):`([^`]*)`", r"`\1`", text).replace("::\n", ":\n")


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


def commands(text: str) -> list[str]:
    """The commands of a block, if it is one of commands."""
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return lines if lines and all(line.startswith("stopwatt ") for line in lines) else []


def plan() -> str:
    """The plan that docs/sweeps.md shows."""
    shown = [text for _, language, text in blocks((ROOT / "docs" / "sweeps.md").read_text()) if language == "toml"]
    return shown[0] + "\n"


def squeezed(line: str) -> str:
    return " ".join(line.split())


def run_page(page: pathlib.Path, not_run: list[dict[str, str]], folder: pathlib.Path) -> tuple[int, int, list[str]]:
    """Runs the commands of a page in order, in a checkout of its own; returns how many were run, how many lines of output were compared,
    and what is wrong."""
    ran, compared, wrong, printed = 0, 0, [], []
    all = blocks(page.read_text())
    for line, language, text in all:
        if language not in ("", "console"):
            continue
        for command in commands(text):
            if any(known["command"] in command for known in not_run):
                for known in not_run:
                    known["used"] = known.get("used", "") or ("yes" if known["command"] in command else "")
                continue
            arguments = shlex.split(command.split("  #")[0].split(" > ")[0].split(" | ")[0])[1:]
            call = [sys.executable, "-m", "stopwatt", *arguments]
            ran += 1
            begin = time.monotonic()
            try:
                done = subprocess.run(
                    call, cwd=folder, capture_output=True, text=True, timeout=LONGEST, env={**os.environ, "NO_COLOR": "1"}
                )
            except subprocess.TimeoutExpired:
                wrong.append(f"{page.relative_to(ROOT)}:{line}: `{command}` takes more than {LONGEST} s")
                continue
            if "--verbose" in sys.argv:
                print(f"{time.monotonic() - begin:6.1f} s  {page.name}:{line}: {command}", flush=True)
            printed += done.stdout.splitlines()
            # 1 is an answer: a regression, a check that fails.
            if done.returncode not in (0, 1):
                wrong.append(f"{page.relative_to(ROOT)}:{line}: `{command}` ended with {done.returncode}: {done.stderr.strip()[:400]}")
    if ran:
        there = {squeezed(line) for line in printed}
        for line, language, text in all:
            if language == "" and not commands(text) and not text.startswith(("cargo ", "recordings/", "$")):
                lines = [squeezed(it) for it in text.splitlines() if it.strip() and it.strip() != "..."]
                found = [it in there for it in lines]
                # A block of which nothing was printed shows something else: a layout, a file.
                if any(found):
                    compared += len(lines)
                    wrong += [
                        f"{page.relative_to(ROOT)}:{line}: not printed (any more): {it}" for it, is_there in zip(lines, found) if not is_there
                    ]
    return ran, compared, wrong


class Page(html.parser.HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.anchors.update(value for key, value in values.items() if key in ("id", "name"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loads.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preconnect", "preload"):
            self.loads.append(values["href"])


def with_worker() -> None:
    """Puts a script beside the pages that the theme would fetch from the web: with it, the search works on pages opened from a folder."""
    npm = ROOT / "target" / "site-npm"
    shim = npm / "node_modules" / "iframe-worker" / "shim" / "index.js"
    if not shim.exists():
        npm.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", npm, "iframe-worker@1.0.4"], check=True)
    to = OUT / "assets" / "javascripts" / "iframe-worker.js"
    shutil.copy(shim, to)
    for page in OUT.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        there = os.path.relpath(to, page.parent)
        page.write_text(text.replace("https://unpkg.com/iframe-worker/shim", there), encoding="utf-8")


def broken() -> list[str]:
    """Links of the site that lead nowhere, and what its pages would fetch from elsewhere."""
    read = {file: Page(file.read_text(encoding="utf-8")) for file in OUT.rglob("*.html")}
    wrong = [] if (OUT / "search" / "search_index.js").exists() else ["the search would need a server"]
    for file, page in read.items():
        for target in page.links + page.loads:
            parts = urllib.parse.urlparse(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    wrong.append(f"{file.relative_to(OUT)} loads {target} from elsewhere")
                continue
            there = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                wrong.append(f"{file.relative_to(OUT)} leads to {target}, which is not there")
            elif parts.fragment and there in read and parts.fragment not in read[there].anchors and parts.fragment != "__skip":
                wrong.append(f"{file.relative_to(OUT)} leads to {target}, which has no such place")
    return wrong


def main() -> int:
    begin = time.monotonic()
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCE)
    for page, file in pages().items():
        (SOURCE / page).write_text(relinked(file.read_text(), file, page))
    decisions = sorted((ROOT / "docs" / "adr").glob("*.md"))
    listed = [f"- [{file.read_text().splitlines()[0].removeprefix('# ')}]({file.name})" for file in decisions]
    (SOURCE / "adr" / "index.md").write_text("# Decisions\n\n" + "\n".join(listed) + "\n")
    (SOURCE / "python-interface.md").write_text(python_interface())

    wrong = []
    run = tomllib.loads((ROOT / "site" / "run.toml").read_text())
    not_run = run["not_run"]
    if "--no-commands" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in ("platforms", "published", "workloads", "crates", "docs"):
                (folder / name).symlink_to(ROOT / name)
            (folder / "plan.toml").write_text(plan())
            total = [0, 0]
            for name in run["pages"]:
                ran, compared, bad = run_page(ROOT / name, not_run, folder)
                total = [total[0] + ran, total[1] + compared]
                wrong += bad
            print(f"{total[0]} commands of the pages were run, {total[1]} lines of their output compared")
        wrong += [f"site/run.toml: no page has `{it['command']}` (any more)" for it in not_run if not it.get("used")]
    shutil.rmtree(OUT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(ROOT / "site" / "mkdocs.yml")], check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    # Only a server shows it, and its links are those of a server.
    (OUT / "404.html").unlink()
    with_worker()
    wrong += broken()
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(list(OUT.rglob('*.html')))} pages in {OUT.relative_to(ROOT)}, {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
