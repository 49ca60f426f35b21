"""Text from outside made safe: class and category names may hold anything."""

from __future__ import annotations

import re
from html import escape

_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def text(value: object) -> str:
    """Make any text safe inside XML: escaped, and without characters that XML has no place for."""
    return escape(_FORBIDDEN.sub("\ufffd", str(value)))
