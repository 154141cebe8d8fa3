"""Everything is compiled before the first question."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_no_question_waits_for_the_compiler() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.late_kernels"], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
