"""The service: a secret address, our own page only, and an error in words for everything else."""

import asyncio
import json
import threading

import httpx
import pytest

from mercer.errors import DomainError
from mercer.explorer.html_page import escaped_json, policy_of, render
from mercer.explorer.local_server import listen, serve_explorer
from mercer.explorer.web_service import explorer_service, new_token

JSON = {"content-type": "application/json"}
TOKEN = "secret"


def answered(name, parts):
    if name == "wrong":
        raise DomainError("that is wrong")
    if name == "mistake":
        raise RuntimeError("a mistake")
    return {"name": name, "parts": parts}


def ask(path, content=b"{}", method="POST", headers=JSON, host="127.0.0.1"):
    async def one():
        app = explorer_service("<!doctype html>page", answered, TOKEN)
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.request(method, path, content=content, headers=headers)

    return asyncio.run(one())


def test_the_page_answers_under_its_token():
    found = ask(f"/{TOKEN}/", method="GET", content=None)
    assert found.text.endswith("page")
    assert found.headers["content-security-policy"].startswith(policy_of(False))
    assert found.headers["x-frame-options"] == "DENY"
    assert ask(f"/{TOKEN}/ask/row", b'{"row": 1}').json() == {"name": "row", "parts": {"row": 1}}


@pytest.mark.parametrize("path", ["/", "/ask/row", "/other/ask/row", f"/{TOKEN}x/"])
def test_without_the_token_there_is_nothing(path):
    found = ask(path)
    assert found.status_code == 404
    assert TOKEN not in found.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:99"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"content-type": "text/plain"}, 403),
        ({"origin": "http://127.0.0.1"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_other_origins_are_refused(headers, status):
    assert ask(f"/{TOKEN}/ask/row", headers=JSON | headers).status_code == status


def test_other_names_of_this_computer_are_refused():
    assert ask(f"/{TOKEN}/", method="GET", host="evil.example").status_code == 400


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b'{"a": NaN}', 400),
        (b"[" * 100_000, 400),
        (b"\xff\xfe", 400),
        (b" " * 1_100_000, 400),
    ],
)
def test_odd_bodies_are_refused(content, status):
    found = ask(f"/{TOKEN}/ask/row", content)
    assert found.status_code == status
    assert found.json()["error"]


def test_errors_are_told_in_words():
    assert ask(f"/{TOKEN}/ask/wrong").json() == {"refused": "that is wrong"}
    found = ask(f"/{TOKEN}/ask/mistake")
    assert found.status_code == 500
    assert "a mistake" not in found.text.replace("made a mistake", "")


def test_tokens_differ():
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 20


def test_a_port_in_use_is_answered_by_the_next_free_one():
    with listen(0) as first:
        port = first.getsockname()[1]
        with listen(port) as second:
            assert second.getsockname()[0] == "127.0.0.1"
            assert port < second.getsockname()[1] < port + 50


@pytest.mark.parametrize("port", [-1, 70_000])
def test_ports_that_are_none_are_refused(port):
    with pytest.raises(DomainError, match="--port"):
        listen(port)


def test_the_server_says_its_address_and_ends(monkeypatch):
    import uvicorn

    told, asked = [], []

    class Server(uvicorn.Server):
        async def main_loop(self):
            async with httpx.AsyncClient() as client:
                asked.append(await client.get(told[0]))

    monkeypatch.setattr(uvicorn, "Server", Server)
    thread = threading.Thread(
        target=serve_explorer, args=(lambda base: f"page at {base}", answered, 0, told.append)
    )
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert told[0].startswith("http://127.0.0.1:")
    assert asked[0].text == "page at /" + told[0].split("/")[3] + "/"


def test_nothing_from_the_data_becomes_markup():
    evil = '</script><img src=x onerror="alert(1)"><!--'
    page = render(evil, {"trouble": evil, "opening": {"title": "\u2028</SCRIPT>"}})
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert page.lower().count("</script") == 2
    assert json.loads(escaped_json({"a": evil}))["a"] == evil


@pytest.mark.parametrize("exported", [True, False])
def test_the_policy_allows_our_own_script_only(exported):
    policy = policy_of(exported)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert ("connect-src" in policy) is not exported
    page = render("x", {"trouble": ""}, exported)
    assert 'src="http' not in page
    assert ("fetch(" in page) is not exported
