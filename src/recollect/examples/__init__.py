"""
Examples: the ``Example`` memories of a scope, of which the best for an input go into its prompt.

`Examples` keeps them and selects among them; a `Selection` renders what was chosen.
"""

from recollect.examples.choosing import Basis, Chosen, Selection
from recollect.examples.keeping import Examples, Imported
from recollect.examples.values import Example

__all__ = ["Basis", "Chosen", "Example", "Examples", "Imported", "Selection"]
