"""A submission's source as HTML: coloured by classes, numbered, every line with an address (#L12)."""

from __future__ import annotations

import re

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

MOST_COLOURED = 60_000
"""Characters above which a source is shown plain: colouring takes about a second for 200 kB."""

# Characters that reorder or hide what is shown, so that a source could look other than it runs.
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def numbered(source: str, failing_line: int | None = None) -> SafeString:
    """The lines of the source, the failing one marked. Everything in it is escaped."""
    lines = format_html_join(
        "",
        '<span class="line{}" id="L{}"><a href="#L{}" aria-label="line {}">{}</a><span>{}\n</span></span>',
        (
            (" failing" if number == failing_line else "", number, number, number, number, line)
            for number, line in enumerate(_lines(source), 1)
        ),
    )
    return format_html('<pre class="source" tabindex="0"><code>{}</code></pre>', lines)


def coloured(source: str) -> SafeString:
    """The source without numbers, for what is only read."""
    lines = format_html_join("\n", "{}", ((line,) for line in _lines(source)))
    return format_html('<pre class="source unnumbered" tabindex="0"><code>{}</code></pre>', lines)


def _lines(source: str) -> list[SafeString]:
    source = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    if len(source) <= MOST_COLOURED:
        # Pygments escapes, and closes every span at the end of its line.
        lexer = PythonLexer(stripnl=False, ensurenl=False)
        html = highlight(source, lexer, HtmlFormatter(nowrap=True)).removesuffix("\n")
    else:
        html = escape(source)
    return [mark_safe(_HIDDEN.sub(_visible, line)) for line in html.split("\n")]


def _visible(match: re.Match[str]) -> str:
    return f'<span class="hidden-character">U+{ord(match[0]):04X}</span>'
