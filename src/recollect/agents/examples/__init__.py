"""
Examples: the ``Example`` memories of a scope, of which the best for an input go into its prompt.

`Examples` keeps them and selects among them; a `Selection` renders what was chosen.
"""

from recollect.agents.examples.example_store import Examples, ImportedExamples
from recollect.agents.examples.example_values import Example
from recollect.agents.examples.selection import Basis, Chosen, Selection

__all__ = ["Basis", "Chosen", "Example", "Examples", "ImportedExamples", "Selection"]
