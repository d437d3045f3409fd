"""
Examples of solved tasks: the ``Example`` memories of a scope, selected for a prompt.

`Examples` stores and selects them; a `Selection` renders the selected ones.
"""

from recollect.agents.examples.example_store import Examples, ImportedExamples
from recollect.agents.examples.example_values import Example
from recollect.agents.examples.selection import Basis, Chosen, Selection

__all__ = ["Basis", "Chosen", "Example", "Examples", "ImportedExamples", "Selection"]
