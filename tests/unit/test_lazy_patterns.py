"""Patterns that are compiled late are valid, and act as others do."""

import gc
import re
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

from recollect import formation
from recollect import text as texts
from recollect.text.lazy_patterns import lazy_pattern

LATE = "recollect.worker.formation_run, recollect.formation.rule_requests"


def test_every_pattern_is_valid() -> None:
    """A wrong one would else be found by the first talk that reaches it."""
    for package in (formation, texts):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    kind = type(lazy_pattern("a"))
    found = [each for each in gc.get_objects() if type(each) is kind]

    for each in found:
        each.search("")
    assert 200 < len(found)


def test_it_acts_as_a_compiled_pattern() -> None:
    word = r"(?P<word>a+)"
    late, early = lazy_pattern(word, re.IGNORECASE), re.compile(word, re.IGNORECASE)

    assert early.pattern == late.pattern
    for said in ("Aab aa", ""):
        assert early.findall(said) == late.findall(said)
        assert early.sub("-", said, count=1) == late.sub("-", said, count=1)
        assert early.split(said) == late.split(said)
        assert bool(early.fullmatch(said)) == bool(late.fullmatch(said))
        assert bool(early.search(said, 1)) == bool(late.search(said, 1))
    assert (early.groupindex, early.flags) == (late.groupindex, late.flags)


def test_formation_is_loaded_without_compiling_them() -> None:
    code = (
        f"import gc, {LATE}, sys; from recollect.text.lazy_patterns import lazy_pattern\n"
        "kind = type(lazy_pattern('a'))\n"
        "found = [each for each in gc.get_objects() if type(each) is kind]\n"
        "print(len(found), sum('search' in vars(each) for each in found), 'numpy' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    count, compiled, has_numpy = done.stdout.split()
    assert (True, "0", "False") == (int(count) > 200, compiled, has_numpy)
