"""The limits on attacks hold."""

import os

import pytest

from tests.security.harness import attack, limited
from tests.security.hostile_files import MEGABYTE, fifo


def test_a_wait_in_the_tests_process_is_interrupted(tmp_path):
    path = fifo("pipe")(tmp_path)
    with pytest.raises(AssertionError, match="took longer than"), limited(timeout_s=0.2):
        os.open(path, os.O_RDONLY)


def test_released_memory_is_counted():
    with pytest.raises(AssertionError, match="of memory"), limited(limit_bytes=100 * MEGABYTE):
        bytearray(b"x") * (300 * MEGABYTE)


def test_a_blocked_program_is_killed(tmp_path):
    done = attack("import os; os.mkfifo('p'); open('p')", tmp_path, timeout_s=2.0)
    assert done.hung
    assert not done.contained


def test_a_program_that_exhausts_the_memory_is_killed(tmp_path):
    source = "a = bytearray(b'x') * (400 * 1024**2); input()\nwhile True: pass"
    done = attack(source, tmp_path, limit_bytes=200 * MEGABYTE)
    assert done.over_memory or done.peak_bytes
    assert not done.contained
