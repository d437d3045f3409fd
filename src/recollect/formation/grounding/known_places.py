"""Well-known places in Chinese and in English, for a talk in one and a memory in the other."""

from typing import Final

from recollect.text.data_files import read_rows

PLACES: Final = {row[0]: row[1:] for row in read_rows(__package__, "known_places.txt")}
"""The other names of each place that is known by its Chinese one: the English ones folded."""

IN_CHINESE: Final = {
    english: chinese
    for chinese, names in PLACES.items()
    for english in names
    if len(english) > 3 and english.isascii()
}
"""The Chinese name of each place that is known by its English one."""
