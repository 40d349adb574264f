"""Small files, written where they are needed."""

from __future__ import annotations

import pytest


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a text or bytes into a file and returns its path."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
