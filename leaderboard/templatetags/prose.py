"""Plain text with a little markup."""

from __future__ import annotations

import re

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def backticks(text: str) -> SafeString:
    """The text, escaped, with what stands between backticks as code."""
    return mark_safe(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escape(text)))
