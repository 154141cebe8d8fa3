"""Learning curves as a plot; matplotlib is an extra, so the test has a marker of its own."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.train


def test_curves_of_several_fits_are_drawn_as_a_png(tmp_path: Path) -> None:
    from bgserver.training.curves import draw_curves  # noqa: PLC0415 -- an optional extra

    logs = []
    for name, epochs in (("first", 3), ("empty", 0), ("second", 1)):
        path = tmp_path / f"{name}.jsonl"
        entry = {"error": 0.05, "sibling_error": 0.02, "scout_error": 0.06}
        path.write_text("".join(json.dumps(entry) + "\n" for _ in range(epochs)))
        logs.append(path)
    out = tmp_path / "curves.png"
    draw_curves(logs, out)
    content = out.read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width > height > 400
