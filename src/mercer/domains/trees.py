"""Trees: labeled nodes with ordered children, such as parses of sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains.points import Domain, Items, Points, RowIndex, name_type, select_ragged
from mercer.domains.tables import things
from mercer.errors import DomainError

__all__ = ["TREES", "TreeDomain", "Trees"]

TOKEN = re.compile(r"[()]|[^\s()]+")


class Trees(Points):
    """All nodes of all trees, a parent always before its children.

    Attributes
    ----------
    labels : ndarray of str
        One of each node.
    parents : ndarray of int
        The place of each node's parent, counted from the root of its tree; −1 for a root. The
        children of a node stand in the order of their places.
    starts : ndarray of int
        Where each tree begins among the nodes, and where the last one ends.

    Examples
    --------
    >>> trees = TREES.admit(["(S (NP she) (VP sleeps))"])
    >>> trees.labels.tolist(), trees.parents.tolist()
    (['S', 'NP', 'she', 'VP', 'sleeps'], [-1, 0, 1, 0, 3])
    """

    def __init__(self, labels: np.ndarray, parents: np.ndarray, starts: np.ndarray) -> None:
        super().__init__()
        self.labels = labels
        self.parents = parents
        self.starts = starts

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def bytes(self) -> int:
        return 16 * len(self.labels)

    def take(self, rows: RowIndex) -> Trees:
        starts, places = select_ragged(self.starts, rows)
        return Trees(self.labels[places], self.parents[places], starts)

    def concat(self, other: Trees) -> Trees:
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        labels = np.concatenate([self.labels, other.labels])
        return Trees(labels, np.concatenate([self.parents, other.parents]), starts)

    @property
    def inner(self) -> np.ndarray:
        """The places of the nodes that have children."""
        offsets = np.repeat(self.starts[:-1], np.diff(self.starts))
        below = self.parents >= 0
        return np.unique(self.parents[below] + offsets[below])

    def units(self) -> list[list[str]]:
        return [list(map(str, part)) for part in np.split(self.labels, self.starts[1:-1])]

    def items(self) -> Iterator[Any]:
        """Yield each tree as nested tuples; a node without children is its label."""
        for a, b in zip(self.starts[:-1], self.starts[1:], strict=True):
            nodes: list[Any] = [[label] for label in self.labels[a:b]]
            for i in range(b - a - 1, -1, -1):  # children are whole before their parents
                node = nodes[i]
                nodes[i] = (node[0], *reversed(node[1:])) if len(node) > 1 else node[0]
                if i > 0:
                    nodes[self.parents[a + i]].append(nodes[i])
            yield nodes[0] if isinstance(nodes[0], tuple) else (nodes[0],)


@dataclass(frozen=True)
class TreeDomain(Domain):
    """Trees as nested tuples, (label, child, …), in which a bare string is a leaf; or the same
    with brackets, "(label child …)". A label is a string; in brackets it may be left out before
    a child in brackets, as in treebanks, and is then empty.

    Examples
    --------
    >>> one = TREES.admit([("S", ("NP", "she"), ("VP", "sleeps")), "(S (NP she) (VP sleeps))"])
    >>> [tree for tree in one.items()][1]
    ('S', ('NP', 'she'), ('VP', 'sleeps'))
    >>> TREES.admit(["(S (NP she)"])
    Traceback (most recent call last):
        ...
    mercer.errors.DomainError: item 0 of X: the bracket at character 0 is not closed
    """

    def admit(self, X: Items | Points, name: str = "X") -> Trees:
        if isinstance(X, Trees):
            return X
        labels: list[str] = []
        parents: list[int] = []
        starts = [0]
        for i, item in enumerate(things(X, name).items()):
            where = f"item {i} of {name}"
            read = _parse(item, where) if isinstance(item, str) else _flatten(item, where)
            labels += read[0]
            parents += read[1]
            starts.append(len(labels))
        texts = np.empty(len(labels), dtype=object)
        texts[:] = labels
        return Trees(texts, np.array(parents, dtype=np.int64), np.array(starts, dtype=np.int64))


TREES = TreeDomain()


def _parse(text: str, where: str) -> tuple[list[str], list[int]]:
    """Read a tree in brackets without recursion, so that it may be as deep as it likes."""
    labels: list[str] = []
    parents: list[int] = []
    opened: list[tuple[int, int]] = []  # nodes that are not closed, and where they were opened
    expect_label = False
    for found in TOKEN.finditer(text):
        token, place = found.group(), found.start()
        if not opened and (token != "(" or labels):
            raise DomainError(f"{where}: {_outside(token, place, bool(labels))}")
        if expect_label and token == ")":
            raise DomainError(f"{where}: the bracket closed at character {place} has no label")
        if expect_label:
            expect_label = False
            if token != "(":
                labels[-1] = token
                continue
        if token == ")":
            opened.pop()
            continue
        parents.append(opened[-1][0] if opened else -1)
        if token == "(":
            opened.append((len(labels), place))
            expect_label = True
        labels.append("" if token == "(" else token)
    if opened:
        raise DomainError(f"{where}: the bracket at character {opened[-1][1]} is not closed")
    if not labels:
        raise DomainError(f"{where} is empty; a tree has at least a root, as in '(S)'")
    return labels, parents


def _outside(token: str, place: int, complete: bool) -> str:
    """Say what is wrong with a token that is in no bracket."""
    if complete:
        return f"the tree is complete before {token!r} at character {place}"
    if token == ")":
        return f"nothing is open at character {place}"
    return (
        f"a tree in brackets begins with '(', as in '(NP she)', found {token!r} at character "
        f"{place}"
    )


def _flatten(tree: object, where: str) -> tuple[list[str], list[int]]:
    """Read nested tuples without recursion, in the order of reading."""
    if not isinstance(tree, tuple | list):
        raise DomainError(
            f"{where} is {name_type(tree)}, not a tree: nested tuples or brackets in a string"
        )
    labels: list[str] = []
    parents: list[int] = []
    waiting: list[tuple[Any, int]] = [(tree, -1)]
    while waiting:
        node, parent = waiting.pop()
        place = len(labels)
        if isinstance(node, tuple | list):
            if not node:
                raise DomainError(f"{where}: node {place} is empty; it needs a label")
            waiting += [(child, place) for child in reversed(node[1:])]
            node = node[0]
        if not isinstance(node, str):
            raise DomainError(
                f"{where}: the label of node {place} is of type {type(node).__name__}, not a "
                "string"
            )
        labels.append(str(node))
        parents.append(parent)
    return labels, parents
