"""`RecollectExampleSelector`: the examples of a scope as LangChain's example selector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

from langchain_core.example_selectors import BaseExampleSelector

from recollect.agents.examples import Basis, Example, Examples
from recollect.agents.examples.selection import SelectionOptions
from recollect.errors import MissingKeyError, UsageError
from recollect.recall.query import query_in
from recollect.sync.method_pairs import PairCall, delegated_pair


class SelectOptions(TypedDict, total=False):
    """The options of `Examples.select`."""

    count: int
    budget_tokens: int | None
    by: Basis
    diversity: float
    min_score: float | None
    tags: Sequence[str]


class RecollectExampleSelector(BaseExampleSelector):
    """
    Selects examples of a scope for the input of a few-shot prompt, the best last.

    *input_key*, *output_key* and *reason_key* name an example's parts in the prompt's variables;
    *options* are those of `Examples.select`. The input is the variable named *input_key*, or the
    only variable.

    Raises:
        UsageError: An option is outside its range.
    """

    def __init__(
        self,
        examples: Examples,
        *,
        input_key: str = "input",
        output_key: str = "output",
        reason_key: str = "reason",
        **options: Unpack[SelectOptions],
    ) -> None:
        self.examples = examples
        self.input_key = input_key
        self.output_key = output_key
        self.reason_key = reason_key
        self.options = options
        SelectionOptions(**options)  # validates the options now, not at the first prompt

    async def _add_example(self, call: PairCall, example: dict[str, str]) -> str:
        """
        Store an example, and return its key.

        Raises:
            MissingKeyError: It has no input or no output.
        """
        given = self._example_in(example)
        add, aadd = self.examples.add, self.examples.aadd
        return (await call(add, aadd, given.input, given.output, reason=given.reason)).key

    async def _select_examples(
        self, call: PairCall, input_variables: dict[str, str]
    ) -> list[dict[str, str]]:
        """Return the examples for an input as variables of a prompt, the best last."""
        asked = self._input_in(input_variables)
        if not asked.strip():
            return []
        select, aselect = self.examples.select, self.examples.aselect
        selection = await call(select, aselect, asked, **self.options)
        return [
            {
                self.input_key: each.input,
                self.output_key: each.output,
                self.reason_key: each.reason or "",
            }
            for each in reversed(selection.examples)
        ]

    add_example, aadd_example = delegated_pair(_add_example)
    select_examples, aselect_examples = delegated_pair(_select_examples)

    def _example_in(self, example: Mapping[str, str]) -> Example:
        for key in (self.input_key, self.output_key):
            if key not in example:
                raise MissingKeyError(
                    f"the example has no {key!r}; it has {', '.join(sorted(example)) or 'nothing'}"
                )
        return Example(
            input=example[self.input_key],
            output=example[self.output_key],
            reason=example.get(self.reason_key) or None,
        )

    def _input_in(self, variables: Mapping[str, str]) -> str:
        if self.input_key in variables:
            return query_in(variables[self.input_key])
        if len(variables) == 1:
            return query_in(next(iter(variables.values())))
        msg = f"which of {', '.join(sorted(variables))} is the input? Name it as input_key"
        raise UsageError(msg)
