"""Exports of a scope in Recollect's form and other programs' forms, with counts of losses."""

from __future__ import annotations

from recollect.exporters.export_lines import Exported, Form, lines_of
from recollect.exporters.langgraph_items import items_of
from recollect.exporters.mcp_memory import graph_of

__all__ = ("Exported", "Form", "graph_of", "items_of", "lines_of")
