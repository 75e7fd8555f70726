"""Reads reStructuredText as a document would, and prints every table: title or section, then its rows."""
import sys

from docutils import nodes
from docutils.core import publish_doctree

document = publish_doctree(open(sys.argv[1], encoding="utf-8").read(), settings_overrides={"halt_level": 2})
for table in document.findall(nodes.table):
    title = next(table.findall(nodes.title), None)
    section = table.parent.next_node(nodes.title) or document.next_node(nodes.title)
    print("table", " ".join((title or section).astext().split()))
    for row in table.findall(nodes.row):
        print("row", " | ".join(" ".join(entry.astext().split()) for entry in row.findall(nodes.entry)))
