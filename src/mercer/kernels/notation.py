"""Notation: kernels as text, in the library's own words, read without running any of it.

An expression is what one would write in Python, and what `repr` of a kernel prints::

    sum       product + product + …                at least one side is a kernel
    product   power * power * …
    power     part ** 2
    part      thing .on('column', 3, slice(0, 2), missing='own category') …
    thing     Name(argument, name=argument, …)     a public kernel, model or rule of the algebra
              name                                 "gaussian", "linear", …
              number, text, True, None, (…), […], {…}, slice(…), float('inf')

There is nothing else: no other names, no attributes but ``on``, no arithmetic of numbers. A kernel
that holds a Python function cannot be written down, because a function cannot.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from mercer.errors import MercerError, ValidityError, suggestion
from mercer.kernels.base import Kernel
from mercer.kernels.names import NAMES, functional, makers

__all__ = ["NotationError", "parse"]

MAX_CHARACTERS = 100_000  # characters
MAX_DEPTH = 60  # brackets within brackets
SHOWN_TEXT = 24  # characters of the place where something is wrong

TOKEN = re.compile(
    r"""(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<text>r?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"))
      | (?P<name>[^\W\d]\w*)
      | (?P<sign>\*\*|[()\[\]{},:=+*.-])
      | (?P<strange>\S)""",
    re.VERBOSE,
)
CONSTANTS = {"True": True, "False": False, "None": None, "inf": math.inf}
CLOSING = {"(": ")", "[": "]", "{": "}"}
# What a constructor may raise when its arguments make no sense.
REFUSALS = (MercerError, TypeError, ValueError, AttributeError, ArithmeticError, LookupError)


class NotationError(ValidityError):
    """An expression that cannot be read; `place` is the character at which it goes wrong."""

    def __init__(self, message: str, place: int = 0) -> None:
        super().__init__(message)
        self.place = place


def parse(text: str) -> Kernel:
    """Return the kernel that an expression stands for. Nothing is evaluated as Python.

    Parameters
    ----------
    text : str
        As `repr` writes kernels, or one of their names.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> parse("Gaussian('median').on('height', 'weight') + 2 * Categorical().on('species')")
    Gaussian(bandwidth='median').on('height', 'weight') + 2.0 * Categorical().on('species')
    >>> parse("gaussian")
    Gaussian(bandwidth='median')
    >>> parse("normalize(Gausian(1.0))")
    Traceback (most recent call last):
        ...
    mercer.kernels.notation.NotationError: at character 11 of the kernel expression,
    'Gausian(1.0))': unknown name 'Gausian'; did you mean 'Gaussian'?
    """
    if not isinstance(text, str):
        raise NotationError(f"a kernel expression is text, found {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise NotationError(
            f"a kernel expression has at most {MAX_CHARACTERS} characters, found {len(text)}"
        )
    reader = _Reader(text)
    start = reader.place
    found = reader.sum()
    if reader.next.kind != "end":
        reader.refuse_rest()
    if not isinstance(found, Kernel):
        reader.refuse(f"expected a kernel, found {_kind(found)}", start)
    return found


class Token(NamedTuple):
    """A piece of the expression: its kind, what is written, and where."""

    kind: str
    text: str
    place: int


class _Reader:
    """Reads an expression from left to right, one method for each line of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            Token(str(found.lastgroup), found.group(), found.start())
            for found in TOKEN.finditer(text)
        ]
        self.tokens.append(Token("end", "", len(text)))
        self.index = 0
        self.depth = 0

    # ---- the grammar ------------------------------------------------------------------------

    def sum(self) -> Any:
        return self.chain("+", self.product, operator.add)

    def product(self) -> Any:
        return self.chain("*", self.power, operator.mul)

    def chain(self, sign: str, part: Callable[[], Any], join: Callable[[Any, Any], Any]) -> Any:
        """Read parts with a sign between them, which bind from left to right."""
        left = part()
        while self.next.text == sign:
            place = self.take().place
            right = part()
            for side in (left, right):
                if not isinstance(side, Kernel) and not _is_number(side):
                    self.refuse(f"{sign!r} joins kernels and numbers, found {_kind(side)}", place)
            if not isinstance(left, Kernel) and not isinstance(right, Kernel):
                self.refuse(f"{left} {sign} {right} is arithmetic; write its result", place)
            left = self.made(place, join, left, right)
        return left

    def power(self) -> Any:
        base = self.part()
        if self.next.text != "**":
            return base
        place = self.take().place
        exponent = self.next
        if not isinstance(base, Kernel) or not exponent.text.isdecimal():
            self.refuse("'**' takes a kernel and a whole number, as in Linear() ** 2", place)
        self.take()
        if self.next.text == "**":
            self.refuse("write (k ** a) ** b for a power of a power")
        return self.made(place, operator.pow, base, self.number(exponent))

    def part(self) -> Any:
        found = self.thing()
        links = 0
        while self.next.text == ".":
            links += 1
            if links > MAX_DEPTH:
                self.refuse(f"more than {MAX_DEPTH} times .on(...)")
            self.take()
            place = self.next
            if place.text != "on" or not isinstance(found, Kernel):
                self.refuse("only .on(...) may follow a kernel, and nothing other things", place)
            self.take()
            columns, options = self.arguments()
            if set(options) - {"missing"}:
                self.refuse(f".on(...) has no option {min(set(options) - {'missing'})!r}", place)
            found = self.made(place.place, found.on, *columns, **options)
        return found

    def thing(self) -> Any:
        token = self.next
        if token.text == "-" or token.text == "+":
            self.take()
            if self.next.kind != "number" and self.next.text not in ("inf", "float"):
                self.refuse("a sign stands before numbers only; kernels have none", token)
            value = self.thing()
            return -value if token.text == "-" else value
        if token.text in CLOSING:
            return self.group()
        if token.text in ("'", '"'):
            self.refuse("this text is not closed", token)
        if token.kind not in ("number", "text", "name"):
            self.refuse("expected a kernel or a value", token)
        self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "text":
            return self.string(token)
        return self.named(token)

    def named(self, token: Token) -> Any:
        """Read a name, and its arguments if it has any."""
        name = token.text
        if self.next.text != "(":
            if name in CONSTANTS:
                return CONSTANTS[name]
            if name in NAMES:
                return NAMES[name]
            if name in makers():
                self.refuse(f"write {name}(...), with its arguments in parentheses", token)
            self.unknown(token)
        python = name in ("slice", "float")
        if not python and name not in makers():
            self.unknown(token)
        positional, keywords = self.arguments()
        if python:
            return self.builtin(token, positional, keywords)
        maker = makers()[name]
        self.check(token, maker, positional, keywords)
        return self.made(token.place, maker, *positional, **keywords)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Read what is in parentheses behind a name: values, and then values with names."""
        if self.next.text != "(":
            self.refuse("expected '('")
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        self.open()
        while self.next.text != ")":
            token, after = self.next, self.tokens[min(self.index + 1, len(self.tokens) - 1)]
            if token.kind == "name" and after.text == "=":
                if token.text in keywords:
                    self.refuse(f"{token.text!r} is given twice", token)
                self.index += 2
                keywords[token.text] = self.sum()
            elif keywords:
                self.refuse("an argument without a name stands behind one with a name", token)
            else:
                positional.append(self.sum())
            self.separate(")")
        self.close(")")
        return positional, keywords

    def group(self) -> Any:
        """Read parentheses, a tuple, a list or a dict."""
        opening = self.open()
        closing = CLOSING[opening.text]
        items: list[Any] = []
        comma = False
        while self.next.text != closing:
            item = self.sum()
            if opening.text == "{":
                item = item, self.value()
            items.append(item)
            comma = self.separate(closing)
        self.close(closing)
        if opening.text == "(":
            return items[0] if len(items) == 1 and not comma else tuple(items)
        if opening.text == "[":
            return items
        return self.made(opening.place, dict, items)

    def value(self) -> Any:
        if self.next.text != ":":
            self.refuse("expected ':' and a value")
        self.take()
        return self.sum()

    def builtin(self, token: Token, values: list[Any], keywords: dict[str, Any]) -> Any:
        """Return ``slice(...)`` or ``float('inf')``, the only ones of Python's own."""
        if token.text == "float":
            if keywords or values not in (["inf"], ["-inf"]):
                self.refuse("float(...) is for 'inf' alone", token)
            return float(values[0])
        whole = all(value is None or type(value) is int for value in values)
        if keywords or not whole or not 1 <= len(values) <= 3:
            self.refuse("slice(...) takes one to three whole numbers", token)
        return slice(*values)

    # ---- tokens -----------------------------------------------------------------------------

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    @property
    def place(self) -> int:
        return self.next.place

    def take(self) -> Token:
        token = self.next
        self.index += 1
        return token

    def open(self) -> Token:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.refuse(f"more than {MAX_DEPTH} brackets within brackets")
        return self.take()

    def close(self, closing: str) -> None:
        if self.next.text != closing:
            self.refuse(f"expected {closing!r}")
        self.depth -= 1
        self.take()

    def separate(self, closing: str) -> bool:
        """Read a comma; without one the closing bracket must come next."""
        if self.next.text == ",":
            self.take()
            return True
        if self.next.text != closing:
            self.refuse_rest(f"expected ',' or {closing!r}")
        return False

    def number(self, token: Token) -> int | float:
        try:
            return int(token.text) if token.text.isdecimal() else float(token.text)
        except ValueError:  # Python limits the digits of whole numbers
            self.refuse("a number with too many digits", token)

    def string(self, token: Token) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about backslashes that stand for themselves
            try:
                return str(ast.literal_eval(token.text))
            except (SyntaxError, ValueError):
                self.refuse("this text has a backslash that means nothing", token)

    # ---- what is made, and complaints -------------------------------------------------------

    def made(self, place: int, maker: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Return what a kernel's constructor makes; say where its complaint belongs."""
        try:
            return maker(*args, **kwargs)
        except RecursionError:
            self.refuse("the expression has too many parts", place)
        except REFUSALS as error:
            self.refuse(str(error), place, error)

    def check(
        self, token: Token, maker: Any, positional: list[Any], keywords: Mapping[str, Any]
    ) -> None:
        """Compare arguments with those that a constructor takes."""
        signature = inspect.signature(maker)
        known = [name for name in signature.parameters if name != "self"]
        for name in keywords:
            if name not in known:
                hint = suggestion(name, known) if known else ""
                self.refuse(f"{token.text} has no parameter {name!r}{hint}", token)
        try:
            signature.bind(*positional, **keywords)
        except TypeError as error:
            shown = [
                name if parameter.default is parameter.empty else f"{name}={parameter.default!r}"
                for name, parameter in signature.parameters.items()
            ]
            self.refuse(f"{error}; it is written {token.text}({', '.join(shown)})", token)

    def unknown(self, token: Token) -> NoReturn:
        if token.text in functional():
            self.refuse(
                f"{token.text} takes a Python function, which an expression cannot hold; make "
                "this kernel in Python",
                token,
            )
        hint = suggestion(token.text, {*makers(), *NAMES})
        if self.depth and "did you mean" not in hint:
            hint = "; if it is a text, such as the name of a column, put it into quotes"
        self.refuse(f"unknown name {token.text!r}{hint}", token)

    def refuse_rest(self, expected: str = "expected '+', '*', '**' or '.on(...)'") -> NoReturn:
        """Complain about what stands where a sign should."""
        text = self.next.text
        if text == "-":
            self.refuse("a difference of kernels need not be a kernel; only '+' and '*' join them")
        if text == "/":
            self.refuse("kernels are not divided; write a factor, as in 0.5 * k")
        if text in (")", "]", "}"):
            self.refuse(f"nothing is open that {text!r} could close")
        self.refuse(expected)

    def refuse(
        self, message: str, where: Token | int | None = None, cause: Exception | None = None
    ) -> NoReturn:
        place = self.place if where is None else where if isinstance(where, int) else where.place
        rest = self.text[place : place + SHOWN_TEXT]
        shown = (
            f"{rest!r}{'…' if place + SHOWN_TEXT < len(self.text) else ''}" if rest else "its end"
        )
        raise NotationError(
            f"at character {place + 1} of the kernel expression, {shown}: {message}", place
        ) from cause


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: object) -> str:
    return f"{value!r}" if _is_number(value) or isinstance(value, str) else type(value).__name__
