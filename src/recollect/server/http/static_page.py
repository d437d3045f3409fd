"""Serve the web page: its built files, read once at start, or a note on how to build it."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from recollect.server.http.compression import takes_gzip
from recollect.server.http.problems import PAGE_PATH, not_served

STATIC: Final = Path(__file__).parents[1] / "static"
INDEX: Final = "index.html"
API: Final = "docs"
"""The path of the API documentation; it is served as the page to every client."""
PLACES: Final = frozenset({
    "overview", "chat", "memories", "recall", "profile", "graph", "review", "formation", "types",
    "settings", "api",
})  # fmt: skip
"""The screens of the page, which the page itself addresses behind the "#"."""
# Their names contain a hash of their content, so they can be cached forever.
_ASSETS: Final = "assets/"
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_SMALLER: Final = 0.9
"""Compress a file if that leaves at most this share of its size; pictures hardly shrink."""
_NOT_BUILT: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Recollect</title>
<p>The service runs, but its page is not built: install Node 20 or newer with npm, run
<code>make page</code> in the project, or <code>pip install .</code> again, and restart the service.
<a href="/openapi.json">/openapi.json</a> describes the API.</p>
<p lang="zh-Hans">服务正在运行，但页面尚未构建：请安装 Node 20 或更新版本和 npm，在项目中运行
<code>make page</code>，或重新运行 <code>pip install .</code>，然后重启服务。
<a href="/openapi.json">/openapi.json</a> 说明了 API。</p>
<p lang="zh-Hant">服務正在執行，但頁面尚未建置：請安裝 Node 20 或更新版本和 npm，在專案中執行
<code>make page</code>，或重新執行 <code>pip install .</code>，然後重新啟動服務。
<a href="/openapi.json">/openapi.json</a> 說明了 API。</p></html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of the page."""

    content: bytes
    media_type: str
    tag: str


def is_built(folder: Path) -> bool:
    """Return True if *folder* holds a built page."""
    return (folder / INDEX).is_file()


def read_files(folder: Path) -> Mapping[str, File]:
    """Return the files of a built page by path, empty if it is not built."""
    if not is_built(folder):
        return {}
    # Python's own table: the registry of Windows may map .js to plain text.
    types = mimetypes.MimeTypes()
    found: dict[str, File] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            kind = types.guess_type(path.name)[0] or "application/octet-stream"
            tag = hashlib.sha256(content).hexdigest()[:32]
            name = path.relative_to(folder).as_posix()
            found[name] = File(content=content, media_type=kind, tag=tag)
    return found


class PackedFiles:
    """Compressed copies of the page's files, each made when it is first requested."""

    def __init__(self) -> None:
        self._by_tag: dict[str, bytes | None] = {}

    async def of(self, file: File) -> bytes | None:
        """Return the content gzipped, ``None`` if that saves little; equal bytes every time."""
        if file.tag not in self._by_tag:
            self._by_tag[file.tag] = await to_thread.run_sync(_gzipped, file.content)
        return self._by_tag[file.tag]


def _gzipped(content: bytes) -> bytes | None:
    packed = gzip.compress(content, mtime=0)  # without a time, so that equal files are equal bytes
    return packed if len(packed) <= _SMALLER * len(content) else None


def screen_address(path: str, query: str) -> str:
    """
    Return the address of the screen that *path* names, relative to *path*.

    >>> screen_address("memories/Fact/home", "scope=mira")
    '../../#/memories/Fact/home?scope=mira'
    """
    name = "api" if path.strip("/") == API else path
    up = "../" * path.count("/") or "./"
    return f"{up}#/{quote(name)}{'?' if query else ''}{quote(query, safe='=&%+')}"


def _forwarding_page(address: str) -> str:
    """Return a 404 page that forwards to the page, which shows the error itself."""
    link = escape(address)
    return f"""\
<!doctype html><html lang="en"><meta charset="utf-8"><title>404 · Recollect</title>
<meta http-equiv="refresh" content="0; url={link}">
<p>There is no such place. <a href="{link}">To the page</a></p>
<p lang="zh-Hans">没有这个页面。<a href="{link}">前往页面</a></p>
<p lang="zh-Hant">沒有這個頁面。<a href="{link}">前往頁面</a></p></html>
"""


def _deep(path: str, query: str) -> Response:
    """Redirect a browser to the screen that *path* names, or answer 404."""
    address = screen_address(path, query)
    if path.split("/", 1)[0] in PLACES | {API}:
        return Response(status_code=307, headers={"location": address})
    return Response(_forwarding_page(address), status_code=404, media_type="text/html")


def page_router(folder: Path = STATIC) -> APIRouter:
    """Return the routes of the page; files are read in advance, not on each request."""
    files, copies = read_files(folder), PackedFiles()
    router = APIRouter(include_in_schema=False)

    async def page(request: Request) -> Response:
        """Return a file of the page."""
        path = str(request.path_params.get(PAGE_PATH, request.url.path.lstrip("/")))
        accepts = request.headers.get("accept", "")
        if not files and not path:
            return Response(_NOT_BUILT, media_type="text/html")
        file = files.get(INDEX if path in {"", API} else path)
        if file is None:
            is_screen = "text/html" in accepts and not path.startswith(("v1/", "health/", _ASSETS))
            if files and is_screen:
                return _deep(path, request.url.query)
            return not_served(request).response()
        is_for_ever = path.startswith(_ASSETS)
        copy = await copies.of(file)
        packed = copy if takes_gzip(request.headers.get("accept-encoding", "")) else None
        headers = {
            "etag": f'"{file.tag}-gzip"' if packed else f'"{file.tag}"',
            "cache-control": _FOR_EVER if is_for_ever else "no-cache",
            "content-security-policy": _POLICY,
        }
        if copy:
            headers["vary"] = "accept-encoding"
        if request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        if packed:
            headers["content-encoding"] = "gzip"
        return Response(packed or file.content, media_type=file.media_type, headers=headers)

    # HEAD for files and screens only: on every path it would hide the 404 and 405 of other routes.
    below = [f"{name}/{{rest:path}}" for name in (API, *PLACES)]
    for name in ("", API, *PLACES, *below, *files):
        router.add_api_route(f"/{name}", page, methods=["HEAD"])
    router.add_api_route(f"/{{{PAGE_PATH}:path}}", page, methods=["GET"])
    return router
