"""How a prompt marks a message of which nothing holds any more; see `Store.lapsed`."""

from typing import Final

LAPSED: Final = ("no longer holds", "已失效")
"""In English and in Chinese; its characters are the same in both scripts."""
