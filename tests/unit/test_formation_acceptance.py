"""Acceptance: what of the assistant's message a short reply of the user's takes up."""

import pytest

from benchmarks.support import verdict_on
from recollect.formation.support.acceptance import taken_up

