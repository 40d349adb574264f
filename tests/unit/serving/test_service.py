"""A model over HTTP: the same answers as in Python, and a named error for whatever is wrong."""

import asyncio
import json

import httpx
import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import DomainError
from mercer.serving import Limits
from mercer.serving.batches import Batches
from mercer.serving.requests import IS_DATE, Asked, Refused
from mercer.serving.server import run
from mercer.serving.service import service
from mercer.sources import read_frame, recipe
from mercer.studies import SavedModel
from mercer.studies.guard import Guard

JSON = {"content-type": "application/json"}


def table(count=60, seed=0):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "size": rng.normal(3.0, 1.0, count).round(3),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, count), "D"),
            "home": rng.choice(["lake", "wood"], count),
        }
    )
    return rows.assign(kind=np.where(rows["size"] + (rows.home == "lake") > 3.5, "big", "small"))


@pytest.fixture(scope="module")
def known():
    from sklearn.pipeline import make_pipeline

    sheet = read_frame(table(), "kind")
    model = make_pipeline(mercer.Encode(), mercer.SVC("gaussian", probability=True))
    model.fit(sheet.X, sheet.y)
    seen = Guard.of(sheet, np.arange(0), np.zeros(0)).notes()
    return SavedModel(model, recipe(sheet), {"recipe": recipe(sheet), "seen": seen})


def ask(known, path, content=None, method="POST", limits=None, headers=JSON, host="localhost"):
    async def one():
        app = service(known, limits)
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            body = content if isinstance(content, bytes | None) else json.dumps(content).encode()
            return await client.request(method, path, content=body, headers=headers)

    return asyncio.run(one())


def rows_of(frame):
    days = frame["day"].dt.strftime("%Y-%m-%d")
    return json.loads(frame.drop(columns="kind").assign(day=days).to_json(orient="records"))


def test_the_answers_are_those_of_python(known):
    new = table(20, seed=1)
    found = ask(known, "/predict", {"rows": rows_of(new), "probabilities": True})
    assert found.status_code == 200
    answers = found.json()["answers"]
    X = read_frame(new.drop(columns="kind"), types={"home": "categorical"}).X
    chances = known.machine.predict_proba(X)
    assert [a["prediction"] for a in answers] == known.classes[chances.argmax(axis=1)].tolist()
    told = [[a["probabilities"][label] for label in known.classes] for a in answers]
    assert np.allclose(told, chances, rtol=1e-10)
    plain = ask(known, "/predict", {"rows": rows_of(new)}).json()["answers"]
    assert [a["prediction"] for a in plain] == known.machine.predict(X).tolist()


def test_new_categories_and_far_rows_are_answered_and_marked(known):
    rows = [{"size": 3.0, "day": "2024-02-01", "home": "moon"},
            {"size": 1e9, "day": None, "home": None}]  # fmt: skip
    answers = ask(known, "/predict", {"rows": rows}).json()["answers"]
    assert "home 'moon' was never seen" in answers[0]["careful"]
    assert any("is outside" in text for text in answers[1]["careful"])


def test_explain_says_score_and_known_rows(known):
    row = rows_of(table(1, seed=3))[0]
    found = ask(known, "/explain", {"row": row, "count": 3}).json()
    assert len(found["known_rows"]) == 3 and found["toward"] in ("big", "small")
    assert sum(found["probabilities"].values()) == pytest.approx(1.0)
    assert ask(known, "/explain", {"row": row, "count": 0}).status_code == 422


def test_health_page_and_description_are_there(known):
    assert ask(known, "/health", method="GET").json()["status"] == "ok"
    described = ask(known, "/openapi.json", method="GET").json()
    row = described["components"]["schemas"]["Row"]
    assert row["required"] == ["size", "day", "home"]
    assert row["properties"]["size"]["type"] == ["number", "null"]
    page = ask(known, "/", method="GET")
    assert "<script" not in page.text and "size" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_names_of_columns_are_escaped_on_the_page():
    frame = pd.DataFrame({"<script>alert(1)</script>": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]})
    sheet = read_frame(frame, "y")
    machine = mercer.KernelRidge("linear", 0.1).fit(sheet.X, sheet.y)
    page = ask(SavedModel(machine, recipe(sheet)), "/", method="GET").text
    assert "<script>" not in page and "&lt;script&gt;" in page


GOOD = {"size": 3.0, "day": "2024-02-01", "home": "lake"}
WRONG = {
    "not JSON": (b"{rows: 1}", 400, "not JSON"),
    "no text": (b"\xff\xfe\x00", 400, "not JSON"),
    "NaN": (b'{"rows": [{"size": NaN, "day": null, "home": null}]}', 400, "NaN is not JSON"),
    "twice": (b'{"rows": [], "rows": []}', 400, "twice"),
    "deep": (b"[" * 100_000, 400, "nested|not JSON"),
    "no object": ([GOOD], 422, "must be an object"),
    "no rows": ({"rows": []}, 422, "at least one row"),
    "typo": ({"rows": [GOOD], "probabilites": True}, 422, "'probabilites'"),
    "no column": ({"rows": [{"size": 1.0, "home": "lake"}]}, 422, "row 0 has no column 'day'"),
    "text": ({"rows": [GOOD, GOOD | {"size": "3"}]}, 422, "row 1: column 'size' must be a number"),
    "truth": ({"rows": [GOOD | {"size": True}]}, 422, "'size' must be a number"),
    "huge": ({"rows": [GOOD | {"size": 10**400}]}, 422, "'size' must be a number"),
    "date": ({"rows": [GOOD | {"day": "2024-13-01"}]}, 422, "'day' must be a date"),
    "no leap": ({"rows": [GOOD | {"day": "2023-02-30"}]}, 422, "'day' must be a date"),
    "number": ({"rows": [GOOD | {"home": 3}]}, 422, "'home' must be a text"),
    "surrogate": (b'{"rows": [{"size": 1, "day": null, "home": "\\ud800"}]}', 422, "whole let"),
    "row": ({"rows": ["lake"]}, 422, "row 0 must be an object"),
    "many": ({"rows": [GOOD] * 11}, 422, "at most 10"),
    "long": (b" " * 3000, 413, "at most 2000 bytes"),
}


def test_the_pattern_of_dates_is_the_calendar():
    import datetime

    first = datetime.date(1896, 1, 1)
    days = [first + datetime.timedelta(i) for i in range(0, 40_000)]
    assert all(IS_DATE.fullmatch(day.isoformat()) for day in days)
    for year in (*range(1, 2501), 9999):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        assert bool(IS_DATE.fullmatch(f"{year:04}-02-29")) is leap
        assert not IS_DATE.fullmatch(f"{year:04}-04-31")


@pytest.mark.parametrize("name", WRONG)
def test_whatever_is_wrong_has_a_named_error(known, name):
    content, status, sentence = WRONG[name]
    found = ask(known, "/predict", content, limits=Limits(bytes=2000, rows=10))
    if name == "deep":  # whether that is too long or too deep first depends on the limit
        found = ask(known, "/predict", content)
    assert found.status_code == status, found.text
    assert any(part in found.json()["error"] for part in sentence.split("|"))


def test_other_types_addresses_methods_and_names_of_hosts_are_refused(known):
    body = {"rows": [GOOD]}
    plain = ask(known, "/predict", body, headers={"content-type": "text/plain"})
    assert plain.status_code == 415 and "application/json" in plain.json()["error"]
    assert ask(known, "/other", method="GET").status_code == 404
    wrong = ask(known, "/predict", method="GET")
    assert wrong.status_code == 405 and "POST" in wrong.headers["allow"]
    assert ask(known, "/health", method="GET", host="elsewhere.example").status_code == 400


def test_one_bad_request_does_not_spoil_those_that_are_answered_with_it(known):
    from mercer.serving.answers import Answers

    answers = Answers(known)
    odd = Asked([{"size": float("inf"), "day": None, "home": None}])
    found = answers.predict([Asked([GOOD]), odd, Asked([GOOD, GOOD])])
    assert isinstance(found[1], Refused) and "infinite" in found[1].sentence
    assert [len(found[i]["answers"]) for i in (0, 2)] == [1, 2]


def test_requests_that_come_meanwhile_are_answered_together():
    sizes = []

    def work(asked):
        import time

        sizes.append(len(asked))
        time.sleep(0.05)
        return [{"n": one.rows[0]["n"]} for one in asked]

    async def many():
        batches = Batches(work, 100)
        found = await asyncio.gather(*(batches.ask(Asked([{"n": i}])) for i in range(50)))
        batches.close()
        return [one["n"] for one in found]

    assert asyncio.run(many()) == list(range(50))
    assert sum(sizes) == 50 and len(sizes) <= 3


def test_too_many_and_too_slow_requests_are_turned_away(known, monkeypatch):
    import time

    monkeypatch.setattr(
        "mercer.serving.answers.Answers.predict",
        lambda self, asked: time.sleep(0.3) or [{"answers": []} for _ in asked],
    )
    late = ask(known, "/predict", {"rows": [GOOD]}, limits=Limits(seconds=0.1))
    assert late.status_code == 503 and "within 0.1 s" in late.json()["error"]
    assert late.headers["retry-after"] == "1"

    async def crowd():
        batches = Batches(lambda asked: time.sleep(0.2) or [{} for _ in asked], 2)
        asks = (batches.ask(Asked([{}])) for _ in range(5))
        found = await asyncio.gather(*asks, return_exceptions=True)
        batches.close()
        return found

    refused = [one for one in asyncio.run(crowd()) if isinstance(one, Refused)]
    assert refused and refused[0].status == 503


def test_a_body_that_comes_too_slowly_is_given_up(known):
    async def slow():
        yield b'{"rows": '
        await asyncio.sleep(5)

    async def one():
        transport = httpx.ASGITransport(app=service(known, Limits(seconds=0.2)))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post("/predict", content=slow(), headers=JSON)

    assert asyncio.run(one()).status_code == 408


def test_machines_of_arrays_are_served_and_others_refused():
    X = np.random.default_rng(0).normal(size=(30, 2))
    machine = mercer.KernelRidge("gaussian", 0.1).fit(X, X[:, 0])
    found = ask(SavedModel(machine), "/predict", {"rows": [{"x0": 0.5, "x1": 0.0}]})
    assert found.json()["answers"][0]["prediction"] == pytest.approx(
        machine.predict([[0.5, 0]])[0]
    )
    chances = ask(SavedModel(machine), "/predict", {"rows": [{"x0": 0, "x1": 0}],
                                                    "probabilities": True})  # fmt: skip
    assert chances.status_code == 422 and "no probabilities" in chances.json()["error"]
    words = mercer.KernelRidge(mercer.kernels.Spectrum(2), 0.1).fit(["abab", "bcbc"], [0.0, 1.0])
    with pytest.raises(DomainError, match="rows of a table"):
        service(SavedModel(words))


@pytest.mark.parametrize(("port", "message"), [(70_000, "from 0 to 65535"), (-1, "from 0 to")])
def test_ports_that_are_none_are_refused(known, port, message):
    with pytest.raises(DomainError, match=message):
        run(known, port=port)


def test_a_missing_extra_is_named(known, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    with pytest.raises(ImportError, match=r"pip install 'mercer\[serve\]'"):
        run(known)


def test_a_port_that_is_taken_is_named(known):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DomainError, match=f"port {port}: address already in use"):
            run(known, port=port)
