"""Every public name says what it takes, what it returns, and shows itself at work."""

import importlib
import inspect
import re

import pytest

from tests.unit.test_site import SITE, loaded

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
UNSAID = (inspect.Parameter.empty, inspect.Signature.empty)
NAMES = [
    (module, name)
    for module, names in loaded(SITE / "api.py").public_names().items()
    for name in names
]


def sections(text):
    """Return the text of each numpydoc section, under its title."""
    parts = SECTION.split(inspect.cleandoc(text or ""))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(section):
    """Return the names that a section describes, as in `a, b : type`."""
    heads = re.findall(r"^(\*{0,2}\w[\w, *]*?)(?: :.*)?$", section, re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def parameters_of(thing):
    """Return what a caller may pass; `*args` and `**options` may be described or not."""
    open_ended = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(thing).parameters.values()
    return [one for one in found if one.kind not in open_ended]


def called_by_users(thing):
    """Tell whether users call it: errors are raised for them, and protocols say what to write."""
    if not inspect.isclass(thing):
        return True
    return not issubclass(thing, Exception) and not getattr(thing, "_is_protocol", False)


def lacking(thing):
    """Return what the docstring and the signature of a public class or function do not tell."""
    found = sections(thing.__doc__)
    lacks = [] if ">>> " in found.get("Examples", "") else ["an example"]
    if not called_by_users(thing):
        return lacks
    known = described(found.get("Parameters", "") + "\n" + found.get("Attributes", ""))
    for one in parameters_of(thing):
        lacks += [] if one.name in known else [f"what {one.name} is"]
        lacks += [f"the type of {one.name}"] if one.annotation in UNSAID else []
    if not inspect.isclass(thing):
        returned = inspect.signature(thing).return_annotation
        lacks += ["the type of what it returns"] if returned in UNSAID else []
        if returned not in (None, "None") and not {"Returns", "Yields"} & set(found):
            lacks.append("what it returns")
    return lacks


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{m}.{n}" for m, n in NAMES])
def test_public_names_say_what_they_take_and_return_and_show_it(module, name):
    assert lacking(getattr(importlib.import_module(module), name)) == []


def half_told(told: int, kept: int, untyped=None) -> int:
    """Return a sum.

    Parameters
    ----------
    told : int
        Not ``kept : int``.
    """


def test_what_is_missing_is_named():
    assert lacking(half_told) == [
        "an example", "what kept is", "what untyped is", "the type of untyped", "what it returns",
    ]  # fmt: skip
