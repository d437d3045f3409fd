"""Draw a graph as SVG, with the layout of networkx and no other package."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Final, TypeAlias

from recollect.errors import LimitError
from recollect.graph.network import load_networkx

if TYPE_CHECKING:
    from networkx import DiGraph, MultiDiGraph

PICTURE_NODES_MAX: Final = 200
LABEL_CHARACTERS_MAX: Final = 40

_SEED: Final = 1
_SIDE_PX: Final = 160
_MARGIN_PX: Final = 90
_RADIUS_PX: Final = 9
_BEND_PX: Final = 26

Point: TypeAlias = tuple[float, float]

_HEAD: Final = (
    "<style>text{font:13px sans-serif;text-anchor:middle;fill:#1f2933}"
    ".relation{font-size:11px;fill:#52606d}.node{fill:#3e7cb1}.center{fill:#d1495b}"
    "path{fill:none;stroke:#9aa5b1;stroke-width:1.3}</style>"
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z" style="fill:#9aa5b1;stroke:none"/>'
    "</marker></defs>"
)


def svg_of(graph: MultiDiGraph | DiGraph, center: str | None = None) -> str:
    """
    Return a picture of *graph*: a dot per entity, an arrow per relation.

    Equal graphs have equal pictures. Labels are escaped, and cut at ``LABEL_CHARACTERS_MAX``
    characters; the tooltip has the whole name.

    Args:
        center: The entity to highlight.

    Raises:
        LimitError: The graph has more than ``PICTURE_NODES_MAX`` entities: use less depth.
        MissingExtraError: networkx is not installed.
    """
    if len(graph) > PICTURE_NODES_MAX:
        raise LimitError(
            "entities of a picture", len(graph), PICTURE_NODES_MAX, "PICTURE_NODES_MAX"
        )
    side = 2 * _MARGIN_PX + _SIDE_PX * math.sqrt(len(graph))
    places = _places(graph, side)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side:.0f} {side:.0f}" role="img">',
        _HEAD,
        *_edges(graph, places),
        *(_node(name, places[name], is_center=name == center) for name in graph),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _places(graph: MultiDiGraph | DiGraph, side: float) -> dict[str, Point]:
    nx = load_networkx()
    if len(graph) == 1:
        return dict.fromkeys(graph, (side / 2, side / 2))
    laid = nx.spring_layout(nx.Graph(graph), seed=_SEED, k=2 / math.sqrt(max(1, len(graph))))
    half = side / 2 - _MARGIN_PX
    return {
        name: (side / 2 + half * float(x), side / 2 + half * float(y))
        for name, (x, y) in laid.items()
    }


def _edges(graph: MultiDiGraph | DiGraph, places: Mapping[str, Point]) -> list[str]:
    """Draw the relations, with several between the same two entities bent apart."""
    drawn: list[str] = []
    between: dict[frozenset[str], int] = {}
    for source, target, fields in graph.edges(data=True):
        pair = frozenset((source, target))
        turn = between[pair] = between.get(pair, -1) + 1
        label = str(fields.get("relation", ""))
        if source == target:
            drawn.append(_loop(places[source], turn, label))
        else:
            # The sign of a bend depends on the arrow's direction: normalise it per pair.
            side = 1 if source < target else -1
            bend = _BEND_PX * side * ((turn + 1) // 2) * (1 if turn % 2 else -1)
            drawn.append(_arrow(places[source], places[target], bend, label))
    return drawn


def _arrow(start: Point, end: Point, bend: float, label: str) -> str:
    (x1, y1), (x2, y2) = start, end
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    along = ((x2 - x1) / length, (y2 - y1) / length)
    cx, cy = (x1 + x2) / 2 - 2 * bend * along[1], (y1 + y2) / 2 + 2 * bend * along[0]
    to_end = math.hypot(x2 - cx, y2 - cy) or 1.0
    x2 -= (x2 - cx) / to_end * _RADIUS_PX
    y2 -= (y2 - cy) / to_end * _RADIUS_PX
    middle = ((start[0] + 2 * cx + end[0]) / 4, (start[1] + 2 * cy + end[1]) / 4)
    path = f"M{x1:.1f} {y1:.1f}Q{cx:.1f} {cy:.1f} {x2:.1f} {y2:.1f}"
    return f'<path d="{path}" marker-end="url(#arrow)"/>{_text(label, middle, "relation")}'


def _loop(at: Point, turn: int, label: str) -> str:
    x, y = at
    size = 36 + 14 * turn
    path = (
        f"M{x - 6:.1f} {y + 6:.1f}C{x - size:.1f} {y + size:.1f} {x + size:.1f} {y + size:.1f} "
        f"{x + 7:.1f} {y + 8:.1f}"
    )
    place = (x, y + size * 0.8 + 8)
    return f'<path d="{path}" marker-end="url(#arrow)"/>{_text(label, place, "relation")}'


def _node(name: str, at: Point, *, is_center: bool) -> str:
    kind = "node center" if is_center else "node"
    dot = f'<circle class="{kind}" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{_RADIUS_PX}"/>'
    label = _text(name, (at[0], at[1] - _RADIUS_PX - 5), "name")
    return f"<g><title>{_escaped(name)}</title>{dot}{label}</g>"


def _text(label: str, at: Point, kind: str) -> str:
    is_long = len(label) > LABEL_CHARACTERS_MAX
    short = label[: LABEL_CHARACTERS_MAX - 1] + "…" if is_long else label
    return f'<text class="{kind}" x="{at[0]:.1f}" y="{at[1]:.1f}">{_escaped(short)}</text>'


def _escaped(text: str) -> str:
    """Return *text* escaped for XML, without the characters that XML forbids."""
    kept = (each for each in text if not _is_forbidden(each))
    return escape("".join(kept), quote=True)


def _is_forbidden(character: str) -> bool:
    is_control = unicodedata.category(character) in {"Cc", "Cs"} and character not in "\t\n"
    return is_control or character in "\ufffe\uffff"
