"""Hypothesis strategies: kernels as random expressions, tables, machines and their parameters."""

from hypothesis import strategies as st

from mercer.kernels import Constant, Gaussian, Laplacian, Linear, Polynomial

EXPONENTS = st.integers(-6, 6)
MACHINES = [
    "ridge", "process", "logistic", "svc", "svr", "components", "classes", "nu", "one class",
    "quantile",
]  # fmt: skip
WEIGHTED = ("ridge", "process", "logistic", "classes", "nu", "quantile")
SHARES = st.sampled_from([0.05, 0.3, 0.5, 0.8])
WEIGHTS = st.sampled_from([1.0, 1.0, 0.5, 2.0, 1e-3, 1e3, 0.0])


@st.composite
def scales(draw):
    """Return a positive number of any size that people use."""
    return draw(st.sampled_from([1.0, 2.0, 5.0])) * 10.0 ** draw(EXPONENTS)


@st.composite
def leaves(draw):
    kind = draw(st.sampled_from(["linear", "polynomial", "gaussian", "laplacian", "constant"]))
    if kind == "linear":
        return Linear()
    if kind == "polynomial":
        return Polynomial(draw(st.integers(1, 3)), offset=draw(st.sampled_from([0.0, 1.0, 0.1])))
    if kind == "constant":
        return Constant(draw(st.sampled_from([1.0, 0.3])))
    return (Gaussian if kind == "gaussian" else Laplacian)(draw(scales()))


def kernels():
    """Return random expressions of the algebra."""

    def grown(children):
        pairs = st.tuples(children, children)
        return st.one_of(
            pairs.map(lambda two: two[0] + two[1]),
            pairs.map(lambda two: two[0] * two[1]),
            st.tuples(st.sampled_from([0.5, 3.0, 1e4]), children).map(lambda two: two[0] * two[1]),
        )

    return st.recursive(leaves(), grown, max_leaves=3)


@st.composite
def tables(draw):
    """Return rows whose columns have sizes of their own, some rows being the same."""
    count, width = draw(st.integers(2, 7)), draw(st.integers(1, 3))
    units = [10.0**e for e in draw(st.lists(EXPONENTS, min_size=width, max_size=width))]
    shift = draw(st.sampled_from([0.0, 0.0, 1.0, 1e3]))
    entry = st.integers(-20, 20).map(lambda v: v / 4 + v**3 / 7)
    rows = draw(
        st.lists(st.lists(entry, min_size=width, max_size=width), min_size=count, max_size=count)
    )
    if draw(st.booleans()):
        rows[0] = list(rows[-1])
    return [[(v + shift) * unit for v, unit in zip(row, units, strict=True)] for row in rows]


@st.composite
def cases(draw):
    """Return a machine, its parameters, a kernel and a table."""
    machine = draw(st.sampled_from(MACHINES))
    X = draw(tables())
    n = len(X)
    y = [float(v) for v in draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))]
    parameters = {}
    if machine in ("ridge", "process", "logistic"):
        parameters = {"penalty": draw(scales()), "intercept": draw(st.booleans())}
    if machine == "logistic":
        y = [int(v > 0) for v in y]
        y[0], y[-1] = 0, 1
    elif machine == "svc":
        y = [int(v > 0) for v in y]
        y[0], y[-1] = 0, 1
        parameters = {"C": draw(scales()), "max_iter": 2000}
    elif machine == "svr":
        parameters = {"C": draw(scales()), "epsilon": 0.1, "max_iter": 2000}
    elif machine in ("classes", "nu"):
        y = [int(v) % 3 for v in y]
        y[0], y[-1] = 0, 1
        parameters = {"max_iter": 2000}
        parameters |= {"C": draw(scales())} if machine == "classes" else {"nu": draw(SHARES)}
    elif machine == "quantile":
        parameters = {"C": draw(scales()), "level": [0.1, draw(SHARES)], "max_iter": 2000}
    elif machine == "one class":
        parameters = {"nu": draw(SHARES), "max_iter": 2000}
    found = {
        "machine": machine, "parameters": parameters, "kernel": repr(draw(kernels())),
        "X": X, "y": y,
    }  # fmt: skip
    if machine in WEIGHTED and draw(st.booleans()):
        found["weights"] = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    return found
