"""
What the site has beyond the pages of docs/: files of the project, an index of decisions, routes.

mkdocs calls the functions that begin with ``on_``. A link of a page that leaves docs/ works in the
repository as it is; on the site it leads to a copy of the file that it names, below ``project/``.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = "docs"
COPIES: Final = "project"
DECISIONS: Final = "decisions/index.md"
ROUTES: Final = "<!-- the routes of the service -->"
LANGUAGES: Final[Mapping[str, str]] = {".py": "python", ".toml": "toml", ".json": "json"}
CODE: Final = re.compile(r"^( *)(```+)([^\n`]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
NOT_RUN: Final = re.compile(r"^( *```+python) no-run: [^\n]*$", re.MULTILINE)
LINK: Final = re.compile(r"(?P<before>\]\()(?P<target>(?!\w+:)[^)#\s]+)(?P<after>(?:#[^)\s]*)?\))")


def site_place(path: str) -> str:
    """
    Return where the site has the file at *path* of the repository, as a path below its pages.

    >>> site_place("docs/cli.md"), site_place("SECURITY.md"), site_place("examples/assistant.py")
    ('cli.md', 'project/SECURITY.md', 'project/examples/assistant.py.md')
    >>> site_place("docs/decisions")
    'decisions/index.md'
    """
    if path == f"{DOCS}/decisions":
        return DECISIONS
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return f"{COPIES}/{path if path.endswith('.md') else f'{path}.md'}"


def repository_place(page: str) -> str:
    """
    Return the path in the repository of a page of the site.

    >>> repository_place("cli.md"), repository_place("project/examples/assistant.py.md")
    ('docs/cli.md', 'examples/assistant.py')
    """
    if not page.startswith(f"{COPIES}/"):
        return f"{DOCS}/{page}"
    path = page.removeprefix(f"{COPIES}/")
    return path if Path(ROOT, path).is_file() else path.removesuffix(".md")


def linked_file(target: str, source: str) -> str:
    """
    Return the path in the repository that a link of the file *source* means.

    >>> linked_file("../README.md", "docs/langgraph.md"), linked_file("cli.md", "docs/service.md")
    ('README.md', 'docs/cli.md')
    """
    return os.path.normpath(PurePosixPath(source).parent / target).replace(os.sep, "/")


def site_text(text: str, page: str) -> str:
    """
    Return the text of a page with links as they are on the site.

    >>> site_text("[first](../README.md#figures)", "langgraph.md")
    '[first](project/README.md#figures)'
    >>> site_text("[first](docs/cli.md)", "project/README.md")
    '[first](../cli.md)'
    """
    source = repository_place(page)
    here = PurePosixPath(page).parent

    def placed(link: re.Match[str]) -> str:
        target = site_place(linked_file(link["target"], source))
        relative = os.path.relpath(target, here).replace(os.sep, "/")
        return f"{link['before']}{relative}{link['after']}"

    parts = []
    end = 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(placed, text[end : code.start()]), NOT_RUN.sub(r"\1", code[0])]
        end = code.end()
    return "".join([*parts, LINK.sub(placed, text[end:])])


def linked_outside(pages: Iterable[tuple[str, str]]) -> set[str]:
    """Return the files outside docs/ that *pages* (path in the repository, text) link to."""
    found = {
        linked_file(link["target"], source)
        for source, text in pages
        for link in LINK.finditer(CODE.sub("", text))
    }
    return {each for each in found if not each.startswith(DOCS) and Path(ROOT, each).is_file()}


def copied_files() -> dict[str, str]:
    """Return the text of every file outside docs/ that the site shows, by its path."""
    waiting = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in ROOT.joinpath(DOCS).rglob("*.md")
    }
    found: dict[str, str] = {}
    while waiting:
        names = linked_outside(waiting.items()) - found.keys()
        waiting = {name: ROOT.joinpath(name).read_text("utf-8") for name in names}
        found |= waiting
        waiting = {name: text for name, text in waiting.items() if name.endswith(".md")}
    return found


def page_of_file(path: str, text: str) -> str:
    """Return a page that shows a file: a Markdown file as it is, another one as code."""
    if path.endswith(".md"):
        return text
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"# {path}\n\n````{language}\n{text}````\n"


def decisions_page() -> str:
    """Return a page that lists every decision by its title."""
    lines = [
        "# Decisions",
        "",
        "Choices that are costly to undo: the question, the options, why.",
        "",
    ]
    for path in sorted(ROOT.joinpath(DOCS, "decisions").glob("0*.md")):
        title = path.read_text("utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join([*lines, ""])


def routes_table(document: Mapping[str, Any]) -> str:
    """Return the routes of an OpenAPI document, as a table for each of its tags."""
    groups: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            group = (operation.get("tags") or ["others"])[0]
            summary = operation.get("summary") or operation.get("operationId", "")
            row = f"| `{method.upper()} {path}` | {summary.replace('|', ' ')} |"
            groups.setdefault(group, []).append(row)
    parts = [
        "\n".join([f"## {group.capitalize()}", "", "| Route | What it does |", "|---|---|", *rows])
        for group, rows in groups.items()
    ]
    return "\n\n".join(parts)


def service_document() -> dict[str, Any]:
    """Return the OpenAPI document of the service, which nothing has to run for."""
    sys.path.insert(0, str(ROOT / "src"))
    import recollect  # noqa: PLC0415
    from recollect.server import Settings, create_app  # noqa: PLC0415

    app = create_app(Settings(), lambda: recollect.open("memory:", embedder="none"))
    found: dict[str, Any] = app.openapi()
    return found


def search_settings(page: str) -> dict[str, Any]:
    """
    Return what the site's search is told of a page: pages that explain come before lists.

    >>> search_settings("erasing.md"), search_settings("reference.md")
    ({'boost': 2}, {'boost': 0.5})
    >>> search_settings("project/examples/forget.py.md")
    {'exclude': True}
    """
    if page.startswith(f"{COPIES}/"):
        return (
            {"boost": 0.5}
            if Path(ROOT, page.removeprefix(f"{COPIES}/")).is_file()
            else {"exclude": True}
        )
    is_list = page.startswith(("reference", "decisions/", "benchmarks", "differences"))
    return {"boost": 0.5 if is_list else 2}


def on_files(files: Any, *, config: Any) -> Any:
    """Add what is not below docs/."""
    # It reports each dictionary that it loads as loudly as a warning of the build.
    logging.getLogger("jieba").setLevel(logging.WARNING)
    from mkdocs.structure.files import File  # noqa: PLC0415

    for path, text in copied_files().items():
        files.append(File.generated(config, site_place(path), content=page_of_file(path, text)))
    files.append(File.generated(config, DECISIONS, content=decisions_page()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Turn links that leave docs/, fill in the routes of the service, and weigh the page."""
    text = site_text(markdown, page.file.src_uri)
    page.meta.setdefault("search", search_settings(page.file.src_uri))
    return text.replace(ROUTES, routes_table(service_document())) if ROUTES in text else text


def with_question_words(program: str, script: str) -> str:
    """
    Return the theme's search program with ours before it, once, however often it is built.

    >>> with_question_words(with_question_words("search()", "ours()"), "ours()").splitlines()
    ['ours()', 'search()']
    """
    return program if program.startswith(script) else f"{script}\n{program}"


def on_post_build(*, config: Any) -> None:
    """Let the search of the site understand a question as it is asked."""
    script = Path(ROOT, "tools", "site_search.js").read_text("utf-8")
    for path in Path(config.site_dir).glob("assets/javascripts/workers/search.*.js"):
        path.write_text(with_question_words(path.read_text("utf-8"), script), "utf-8")
