"""Builds the documentation as a site that needs no network, and checks it: what the pages show is run and compared (see shown.py), and every
link is looked up.

Run by `cargo xtask site`, with the Python package installed: python xtask/site/build.py [--no-commands] [--slow] [--verbose]
"""

from __future__ import annotations

import html.parser
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

import shown

ROOT = shown.ROOT
SOURCE, OUT = ROOT / "target" / "site-source", ROOT / "target" / "site"
# Pages that lie outside of docs/ or are called otherwise, by their name on the site.
OUTSIDE = {"docs/README.md": "who-reads-what.md", "README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
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
        if file.relative_to(ROOT).as_posix() in OUTSIDE:
            continue
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


def claims() -> str:
    """What documents state, line by line."""
    def told(*words: str) -> str:
        call = [sys.executable, "-m", "stopwatt", "claims", *words]
        return subprocess.run(call, check=True, capture_output=True, text=True, cwd=ROOT).stdout

    names = [document["name"] for document in json.loads(told("--format", "json"))["documents"]]
    return "\n".join(f"## {name}\n\n```\n{told(name)}```\n" for name in names)


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


def searched(word: str) -> list[str]:
    """Searches for a word in a browser, on a page that was opened from the folder."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("the search was not tried: there is no chromium here")
        return []
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=20000"]
        page = f"{(OUT / 'index.html').as_uri()}?q={word}"
        done = subprocess.run([browser, *options, "--dump-dom", page], capture_output=True, text=True, timeout=120)
    found = re.search(r'md-search-result__meta">\s*(\d+) matching document', done.stdout)
    if not found:
        return [f"a search for `{word}` on a page opened from the folder finds nothing: {done.stderr.strip()[-300:]}"]
    print(f"a search for `{word}` from the folder finds {found.group(1)} pages")
    return []


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
    with (SOURCE / "claims.md").open("a") as page:
        page.write("\n" + claims())

    wrong = []
    if "--no-commands" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            wrong += shown.Shown(pathlib.Path(folder)).pages(list(pages().values()))
    shutil.rmtree(OUT, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(ROOT / "xtask" / "site" / "mkdocs.yml")], check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    # Only a server shows it, and its links are those of a server.
    (OUT / "404.html").unlink()
    with_worker()
    wrong += broken() + searched("bakery")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(list(OUT.rglob('*.html')))} pages in {OUT.relative_to(ROOT)}, {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
