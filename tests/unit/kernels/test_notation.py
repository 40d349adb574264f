"""Kernel expressions are read as they are written, and nothing else is."""

import builtins
import contextlib
import os
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import ValidityError
from mercer.kernels import (
    Categorical,
    Chi2,
    Constant,
    Gaussian,
    Idf,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    QuadraticForm,
    Spectrum,
    Text,
    WeisfeilerLehman,
    exp,
    gaussian_over,
    named,
    normalize,
    parse,
    polynomial,
)
from mercer.kernels.names import NAMES, functional, makers
from mercer.kernels.notation import MAX_CHARACTERS, MAX_DEPTH, NotationError
from mercer.values import Value
from tests.laws.registry import KERNELS

WRITTEN = {
    "Gaussian('median').on('height','weight') + 2 * Spectrum(3).on('seq')":
        Gaussian("median").on("height", "weight") + 2 * Spectrum(3).on("seq"),
    "normalize(WeisfeilerLehman(5))": normalize(WeisfeilerLehman(5)),
    "gaussian_over(Linear(), 2.0)": gaussian_over(Linear(), 2.0),
    "Polynomial(3, offset=1.0) ** 2": Polynomial(3, offset=1.0) ** 2,
    "  gaussian ": named("gaussian"),
    "linear + laplacian": Linear() + Laplacian("median"),
    "polynomial": named("polynomial"),
    "polynomial(Linear(), [1, 0, 2.5])": polynomial(Linear(), (1.0, 0.0, 2.5)),
    "precomputed": named("precomputed"),
    "precomputed()": named("precomputed"),
    "1 + Linear()": 1 + Linear(),
    "Linear() + 1.5": Linear() + Constant(1.5),
    "Linear() * 2": 2 * Linear(),
    "2 * Linear() * Gaussian(1.)": 2 * Linear() * Gaussian(1.0),
    "Linear() + Gaussian(1) * Chi2(2)": Linear() + Gaussian(1) * Chi2(2),
    "(Linear() + Gaussian(1)) * Gaussian(2)": (Linear() + Gaussian(1)) * Gaussian(2),
    "2 * Linear() ** 3": 2 * Linear() ** 3,
    "((Linear() + 1) ** 2) ** 2": ((Linear() + 1) ** 2) ** 2,
    "Linear() + (Linear() + Linear())": Linear() + (Linear() + Linear()),
    "Gaussian(bandwidth=(1, 2.0, .5,))": Gaussian((1.0, 2.0, 0.5)),
    "Gaussian((1))": Gaussian(1),
    "Gaussian(1e-3)": Gaussian(0.001),
    "Polynomial(2, -1.0)": Polynomial(2, -1.0),
    "Polynomial(2, offset = + 1)": Polynomial(2, 1),
    "Matern(float('inf'), 2.0)": Matern(float("inf"), 2.0),
    "Matern(inf, 2.0)": Matern(float("inf"), 2.0),
    "QuadraticForm([[2.0, 1.0], [1.0, 2.0]])": QuadraticForm([[2.0, 1.0], [1.0, 2.0]]),
    "Linear().on(0, -1, slice(1, None, 2))": Linear().on(0, -1, slice(1, None, 2)),
    "Linear().on(slice(2))": Linear().on(slice(2)),
    "Linear().on('a b', \"it's\", 'é', 'x\\ty')": Linear().on("a b", "it's", "é", "x\ty"),
    "Gaussian(1).on('x', missing='own category')": Gaussian(1).on("x", missing="own category"),
    "(Linear() + Gaussian(1)).on(0).on(0)": (Linear() + Gaussian(1)).on(0).on(0),
    "exp(0.5 * Linear())\n  + Categorical( )": exp(0.5 * Linear()) + Categorical(),
    "Text(idf={'cat': 2.0, 'dog': 1}, ngrams=(1, 2), sublinear=True, stop_words=None)":
        Text(idf={"cat": 2.0, "dog": 1}, ngrams=(1, 2), sublinear=True, stop_words=None),
    "Text(idf=Idf(('cat',), (2.0,)))": Text(idf=Idf(("cat",), (2.0,))),
    r"Text(token_pattern=r'\w+', idf=None)": Text(token_pattern=r"\w+", idf=None),
    r"Text(token_pattern='\w+', idf=None)": Text(token_pattern=r"\w+", idf=None),
    "Text(analyzer='char', lowercase=False)": Text(analyzer="char", lowercase=False),
}  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_an_expression_is_what_it_would_be_in_python(text):
    assert parse(text) == WRITTEN[text]


def holds_functions(value):
    if isinstance(value, Value):
        return any(map(holds_functions, value.parameters().values()))
    return any(map(holds_functions, value)) if isinstance(value, tuple) else callable(value)


@pytest.mark.parametrize("entry", KERNELS, ids=str)
def test_every_kernel_without_functions_can_be_read_from_its_repr(entry):
    kernel = entry.kernel
    if holds_functions(kernel):
        with pytest.raises(NotationError):
            parse(repr(kernel))
    else:
        assert parse(repr(kernel)) == kernel


def test_most_kernels_hold_no_functions():
    assert sum(not holds_functions(entry.kernel) for entry in KERNELS) > 0.8 * len(KERNELS)


@pytest.mark.parametrize("name", NAMES)
def test_plain_names_are_those_of_machines(name):
    assert parse(name) == named(name)


WRONG = [
    ("", 0, "its end: expected a kernel"),
    ("   ", 3, "expected a kernel"),
    ("Gausian(1.0)", 0, "unknown name 'Gausian'; did you mean 'Gaussian'"),
    ("Linear() + normalise(Linear())", 11, "did you mean 'normalize'"),
    ("gausian", 0, "did you mean 'gaussian'"),
    ("zzz", 0, "unknown name 'zzz'; known are 'ArcCosine'"),
    ("Linear().on(height)", 12, "put it into quotes"),
    ("Linear", 0, r"write Linear\(...\)"),
    ("Gaussian(1.0", 12, r"its end: expected ',' or '\)'"),
    ("Gaussian(1.0]", 12, "nothing is open that ']' could close"),
    ("Gaussian(1.0))", 13, r"nothing is open that '\)' could close"),
    ("Gaussian(1.0) Linear()", 14, r"expected '\+'"),
    ("Gaussian(1.0)(2)", 13, r"expected '\+'"),
    ("Linear(),", 8, r"expected '\+'"),
    ("Linear() -  Linear()", 9, "difference of kernels"),
    ("Linear() / 2", 9, r"0\.5 \* k"),
    ("-Linear()", 0, "before numbers only"),
    ("Linear() + ", 11, "its end: expected a kernel"),
    ("+", 0, "before numbers only"),
    ("2 * 3 * Linear()", 2, "arithmetic"),
    ("1 + 1", 2, "arithmetic"),
    ("Linear() + 'a'", 9, "joins kernels and numbers, found 'a'"),
    ("Linear() * None", 9, "found NoneType"),
    ("Linear() + True", 9, "found bool"),
    ("Linear() ** 0.5", 9, "a whole number"),
    ("Linear() ** -2", 9, "a whole number"),
    ("Linear() ** 0", 9, "from 1 on"),
    ("Linear() ** 2 ** 2", 14, "power of a power"),
    ("2 ** 2", 2, "takes a kernel"),
    ("Polynomial()", 0, r"missing a required argument: 'degree'.*Polynomial\(degree, offset=0"),
    ("Polynomial(1, 2, 3, 4)", 0, "too many positional"),
    ("Polynomial(2, ofset=1.0)", 0, "no parameter 'ofset'; did you mean 'offset'"),
    ("Polynomial(2, 1.0, offset=1.0)", 0, "multiple values"),
    ("Polynomial(degree=2, 1.0)", 21, "stands behind one with a name"),
    ("Gaussian(bandwidth=1, bandwidth=2)", 22, "given twice"),
    ("2 * Gaussian(-1.0)", 4, "bandwidth of Gaussian must be"),
    ("Gaussian('medium')", 0, "did you mean 'median'"),
    ("Linear() + Spectrum(3)", 9, "compare different things"),
    ("exp(2.0)", 0, "about kernels"),
    ("Linear().on()", 9, "at least one column"),
    ("Linear().on(1.5)", 9, "a column is an index"),
    ("Linear().on('a', mising='error')", 9, "no option 'mising'"),
    ("Linear().off(1)", 9, r"only \.on"),
    ("Linear().on", 11, r"expected '\('"),
    ("(1.5).on(0)", 6, r"only \.on"),
    ("Gaussian('median)", 9, "not closed"),
    ("Gaussian(\"median')", 9, "not closed"),
    (r"Linear().on('\x')", 12, "backslash"),
    ("Gaussian(@)", 9, "expected a kernel or a value"),
    ("Gaussian(1.0; 2.0)", 12, "expected ','"),
    ("Linear(*[1])", 7, "expected a kernel or a value"),
    ("Constant(" + 9000 * "9" + ")", 9, "too many digits"),
    ("float('inf')", 0, "expected a kernel, found inf"),
    ("Matern(float('nan'), 1.0)", 7, "'inf' alone"),
    ("Matern(float(1), 1.0)", 7, "'inf' alone"),
    ("Linear().on(slice('a'))", 12, "whole numbers"),
    ("Linear().on(slice())", 12, "one to three"),
    ("Text(idf={'a' 1})", 14, "expected ':'"),
    ("Text(idf={[1]: 1})", 9, "unhashable"),
    ("'gaussian'", 0, "expected a kernel, found 'gaussian'"),
    ("[Linear()]", 0, "expected a kernel, found list"),
    ("pullback(Linear(), f)", 0, "takes a Python function"),
    ("from_function(len)", 0, "takes a Python function"),
    ("Linear() + rescale(Linear(), f)", 11, "takes a Python function"),
    ("parse('Linear()')", 0, "unknown name 'parse'"),
]


@pytest.mark.parametrize(("text", "place", "message"), WRONG, ids=[w[0][:40] for w in WRONG])
def test_a_wrong_expression_says_where_and_why(text, place, message):
    with pytest.raises(ValidityError, match=message) as caught:
        parse(text)
    assert caught.value.place == place
    assert f"at character {place + 1} of" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("thing", [None, 3, b"Linear()", Linear(), ["Linear()"]], ids=str)
def test_only_text_is_read(thing):
    with pytest.raises(ValidityError, match="is text"):
        parse(thing)


HOSTILE = [
    "__import__('os').system('true')",
    "os.system('true')",
    "eval('1')",
    "exec('1')",
    "open('/etc/passwd')",
    "Linear().__class__",
    "Linear().__class__.__mro__",
    "Linear().on.__globals__",
    "().__class__.__bases__[0].__subclasses__()",
    "Linear().on(__import__('os'))",
    "Linear().pair(1, 2)",
    "lambda: 0",
    "[x for x in (1,)]",
    "Linear() if True else Linear()",
    "Linear() or Linear()",
    "(k := Linear())",
    "Linear().on(f'{1}')",
    "Linear().on(b'a')",
    "globals()['os']",
    "Linear()[0]",
    "Gaussian(1) == Gaussian(1)",
    "not Linear()",
    "~Linear()",
    "Linear() @ Linear()",
    "await Linear()",
    "yield",
    "Gaussian(`1`)",
    "Gaussian(1)\x00",
    "Linear()#comment",
    "mercer.kernels.Linear()",
    "kernel(Linear)",
    "check(Linear(), [[1.0]])",
    "Kernel()",
    "VectorKernel()",
    "Block(1, 2)",
    "slice(0, 1)",
    "float('1e5')",
    "Polynomial(10 ** 10 ** 10)",
    "FromSciPy('os')",
    "Density(FromSciPy('__builtins__', {}))",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_is_run(text, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("an expression has run code")

    with monkeypatch.context() as patched:
        patched.setattr(os, "system", refuse)
        for name in ("eval", "exec", "open"):
            patched.setattr(builtins, name, refuse)
        with pytest.raises(NotationError):
            parse(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "(" * (MAX_DEPTH + 1) + "Linear()" + ")" * (MAX_DEPTH + 1),
        "exp(" * 1000 + "Linear()" + ")" * 1000,
        "-" * 50_000 + "1",
        "Linear()" + " + Linear()" * 8000,
        "Linear()" + ".on(0)" * 10_000,
        "[" * 40_000 + "]" * 40_000,
        "Linear()" + "**2" * 20_000,
        "Linear() + " * (MAX_CHARACTERS // 8),
        "'" + "\\" * 50_000,
    ],
    ids=lambda text: text[:12],
)
def test_long_and_deep_expressions_are_refused_not_suffered(text):
    with pytest.raises(NotationError):
        parse(text)


def test_brackets_up_to_the_limit_are_read():
    assert parse("(" * MAX_DEPTH + "linear" + ")" * MAX_DEPTH) == Linear()


@given(text=st.text(alphabet="Linear()Gauson+*.'\"[]{},:=-12 e\\é", max_size=40))
def test_any_text_is_read_or_refused(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with contextlib.suppress(ValidityError):
            assert parse(text).proof() is not None


LEAVES = st.sampled_from(
    [Linear(), Gaussian(1.5), Gaussian("median"), Polynomial(2, 0.5), Laplacian((1.0, 2.0))]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(st.floats(0, 1e9), inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(1, 5)).map(lambda pair: pair[0] ** pair[1]),
        st.tuples(inner, st.text(min_size=1)).map(lambda pair: pair[0].on(pair[1], 0)),
        inner.map(exp),
        inner.map(normalize),
    ),
    max_leaves=8,
)


@given(kernel=TREES)
def test_any_tree_of_kernels_can_be_read_from_its_repr(kernel):
    assert parse(repr(kernel)) == kernel


def test_what_is_read_computes_the_same():
    X = np.random.default_rng(0).normal(size=(5, 3))
    k = 0.5 * Gaussian(1.3) + Polynomial(2, offset=1.0).on(0, 2)
    assert parse(repr(k))(X).tobytes() == k(X).tobytes()


def test_the_lexicon_has_the_public_kernels_and_models():
    import mercer.kernels
    import mercer.models

    assert {"Gaussian", "Text", "normalize", "precomputed", "Idf"} <= set(makers())
    assert {"from_function", "pullback", "rescale", "from_basis"} <= functional()
    assert not functional() & set(makers())
    public = {*mercer.kernels.__all__, *mercer.models.__all__}
    assert {*makers(), *functional()} <= public
    assert not {"Kernel", "Model", "kernel", "model", "check", "Block", "Proof"} & set(makers())
