"""`recollect eval`: measure what a model remembers of conversations, and add cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.formation_config import FormationOptions, forming_options
from recollect.cli.options import Target, memory_options, run, split_address
from recollect.cli.output import counted, note, print_json, progress_bar, visible
from recollect.cli.store_choice import opened
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.evaluation import EvalReport, EvaluationCase, Measured, RunPlan
    from recollect.evaluation.case_drafts import CaseDraft
    from recollect.evaluation.case_runner import ModelOf
    from recollect.formation.types import MemoryType

ORACLE: Final = "oracle"
_RUN: Final = "run"
_AT_ONCE: Final = 4

_EXAMPLE: Final = """
\b
Examples:
  recollect eval --model anthropic/claude-haiku-4-5 --json today.json
  recollect eval my_cases.toml --model ollama/llama3.2 --against today.json --strict
  recollect eval run my_cases.toml --model oracle
  recollect eval --replay recorded.jsonl
"""
_ADD_EXAMPLE: Final = """
\b
Examples:
  recollect eval add my_cases.toml --formation 018f4b33-3c00-7000-8000-000000000001
  recollect eval add my_cases.toml --memory User/User --scope acme/users/ada
"""


class _Evaluation(click.Group):
    """A group whose default command is `run`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Pass the arguments to `run`, unless they name another command or ask for help."""
        is_named = bool(args) and (args[0] in self.commands or args[0] in {"-h", "--help"})
        return super().parse_args(ctx, args if is_named else [_RUN, *args])


@click.group("eval", cls=_Evaluation, epilog=_EXAMPLE, short_help="Measure what a model remembers.")
def evaluate() -> None:
    """
    Measure what a model remembers: `recollect eval [CASES.toml…]` is short for `run`.

    `recollect eval run --help` shows its options.
    """


@evaluate.command(_RUN, epilog=_EXAMPLE, short_help="Run cases with a model (the default).")
@click.argument("files", metavar="[CASES.toml]...", nargs=-1)
@forming_options()
@click.option("--tag", "tags", multiple=True, help="Only cases with this tag or language.")
@click.option("--record", metavar="FILE", help="Record the model's answers in this file.")
@click.option("--replay", metavar="FILE", help="Answer from a recording, without a model.")
@click.option("--json", "json_file", metavar="FILE", help="Write the report there.")
@click.option("--against", metavar="FILE", help="Compare with a report of another run.")
@click.option("--langsmith", metavar="DATASET", help="Send the cases to this dataset of yours.")
@click.option("--strict", is_flag=True, help="Exit with status 1 if an expectation is not met.")
@click.option(
    "--at-once", type=click.IntRange(1, 64), default=_AT_ONCE, show_default=True, help="Cases."
)
def run_(
    files: tuple[str, ...],
    tags: tuple[str, ...],
    record: str | None,
    replay: str | None,
    json_file: str | None,
    against: str | None,
    langsmith: str | None,
    strict: bool,  # noqa: FBT001 (an option's value)
    at_once: int,
    forming: FormationOptions,
) -> None:
    """
    Run cases and print what was remembered, next to an oracle and an empty model.

    The model 'oracle' answers as the cases expect. From --config only prompts and limits apply.
    """
    from recollect.evaluation import RunPlan, chosen, load_cases, read_report, shipped_cases

    cases = chosen(load_cases(*files) if files else shipped_cases(), tags)
    if not cases:
        raise UsageError(f"no case has one of the tags {', '.join(tags)}")
    then = read_report(Path(against)) if against else None
    model_of = _model_of(forming, record, replay)
    settings = forming.assistants.default
    # A replay answers in its recorded order; an oracle is another model for each case.
    one_by_one = replay is not None or forming.model == ORACLE
    plan = RunPlan(settings=settings, at_once=1 if one_by_one else at_once)
    measured = _measured(cases, model_of, plan)
    report = _reported(cases, measured, model_of(cases[0]).identity, RunPlan(settings=settings))
    _print(report, then)
    if json_file is not None:
        _write(json_file, report)
    if langsmith is not None:
        _send(measured, langsmith)
    if strict and not report.is_met:
        raise SystemExit(1)


def _model_of(forming: FormationOptions, record: str | None, replay: str | None) -> ModelOf:
    """Return the model for each case: by name, recorded, or from a recording."""
    from recollect.models import RecordedModel, Replay

    if replay is not None:
        if record is not None:
            msg = "--replay asks no model, so there is nothing to --record: leave one out"
            raise UsageError(msg)
        replayed = Replay(replay)
        return lambda _: replayed
    if record is not None and Path(record).exists():
        raise UsageError(f"{record!r} exists: name a new file, a recording is of one run")
    named = _named_model(forming)
    if record is None:
        return named
    recordings: dict[int, RecordedModel] = {}

    def recorded(case: EvaluationCase) -> RecordedModel:
        inner = named(case)
        return recordings.setdefault(id(inner), RecordedModel(inner, record))

    return recorded


def _named_model(forming: FormationOptions) -> ModelOf:
    from recollect.cli.memory_choice import opened_model
    from recollect.evaluation import deeds_of
    from recollect.testing.oracle import Oracle

    if forming.model == ORACLE:
        return lambda case: Oracle(deeds_of(case))
    model = opened_model(forming)
    if model is None:
        msg = "which model? --model provider/model, 'oracle' or 'rules', or --replay FILE"
        raise UsageError(msg)
    return lambda _: model


def _measured(cases: Sequence[EvaluationCase], model_of: ModelOf, plan: RunPlan) -> list[Measured]:
    from recollect.evaluation import measured, run_cases

    with progress_bar("eval") as bar:
        shown = replace(
            plan, notice=lambda done, total: bar.update(f"case {done} of {total}", done / total)
        )
        runs = run(lambda: run_cases(cases, model_of, shown))
    return [measured(each) for each in runs]


def _reported(
    cases: Sequence[EvaluationCase], measured: Sequence[Measured], model: str, plan: RunPlan
) -> EvalReport:
    from recollect.evaluation import deeds_of, report_of
    from recollect.testing.oracle import Oracle

    nothing = Oracle((), identity="nothing/1")
    controls = {
        "oracle": _measured(cases, lambda case: Oracle(deeds_of(case)), plan),
        "nothing": _measured(cases, lambda _: nothing, plan),
    }
    return report_of(model, measured, controls)


def _print(report: EvalReport, then: EvalReport | None) -> None:
    from recollect.evaluation.eval_report import page
    from recollect.evaluation.run_comparison import compared, comparison_page

    _echo(page(report))
    if then is not None:
        click.echo()
        _echo(comparison_page(compared(report, then)))


def _echo(text: str) -> None:
    """Print lines without terminal control characters, keeping their indentation."""
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        spaced = "".join(each if each == " " else visible(each) or " " for each in line[indent:])
        click.echo(" " * indent + spaced)


def _write(file: str, report: EvalReport) -> None:
    from recollect.evaluation import write_report

    try:
        write_report(Path(file), report)
    except OSError as error:
        raise UsageError(f"{file!r} cannot be written: {error.strerror}") from error


def _send(measured: Sequence[Measured], dataset: str) -> None:
    from recollect.evaluation.langsmith_export import dataset_rows, export

    count = export(dataset_rows(measured), dataset)
    note(f"{counted(count, 'row')} sent to the LangSmith dataset {dataset!r}")


@evaluate.command(epilog=_ADD_EXAMPLE, short_help="Add a case from a receipt or a correction.")
@click.argument("file", metavar="CASES.toml")
@memory_options(embedder=False)
@click.option("--formation", metavar="ID", help="Expect what this formation did.")
@click.option("--memory", "address", metavar="TYPE/KEY", help="Expect this memory as it is now.")
@click.option("--name", help="Name of the case.")
@click.option("--types", "types_file", metavar="FILE", help="Your memory types, .toml or .json.")
def add(
    target: Target,
    file: str,
    formation: str | None,
    address: str | None,
    name: str | None,
    types_file: str | None,
) -> None:
    """Append a case to CASES.toml, made from a formation's receipt or a corrected memory."""
    from recollect.evaluation.case_drafts import append_case
    from recollect.formation.types import load_types

    if (formation is None) == (address is None):
        raise UsageError("name one of them: --formation ID, or --memory TYPE/KEY")
    types: tuple[MemoryType, ...] = load_types(Path(types_file)) if types_file else ()
    draft = run(lambda: _draft(target, formation, address, types))
    called = append_case(Path(file), replace(draft, name=name) if name else draft)
    if target.is_json:
        print_json({"file": file, "case": called})
    else:
        note(f"{called!r} was added to {file!r}: look it over, then `recollect eval {file}`")


async def _draft(
    target: Target, formation: str | None, address: str | None, types: Sequence[MemoryType]
) -> CaseDraft:
    from recollect.evaluation.case_capture import draft_of_formation, draft_of_memory

    async with opened(target) as memory:
        if formation is not None:
            return await draft_of_formation(memory, target.scope, formation, types=types)
        type_name, key = split_address(address or "")
        return await draft_of_memory(memory, target.scope, type_name, key, types=types)
