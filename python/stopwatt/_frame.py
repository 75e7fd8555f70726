"""A page in a notebook."""

from __future__ import annotations

import html


def frame(page: str, height: int) -> str:
    """The page in a frame of its own, in pixels of height: its style and its script meet nothing of the notebook."""
    inside = html.escape(page, quote=True)
    return (
        f'<iframe srcdoc="{inside}" sandbox="allow-scripts allow-popups" loading="lazy"'
        f' style="width:100%;height:{height}px;border:1px solid #8884"></iframe>'
    )
