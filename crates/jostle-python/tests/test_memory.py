"""How many entries a result may have."""

import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("resource")

LIMITED = """
import resource
import numpy as np, jostle

points = np.zeros((4000, 3))
jostle.pairs(points[:10], 1.0, threads=1)
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + {mebi} * 2**20, resource.RLIM_INFINITY))
try:
    print(len({search}))
except MemoryError as refused:
    print(refused)
"""


def under(mebi, search):
    """What a search prints in a process that may take so many MiB more."""
    program = textwrap.dedent(LIMITED.format(mebi=mebi, search=search))
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells addresses")
@pytest.mark.parametrize(
    ("search", "entries", "mebi"),
    [
        ("jostle.pairs(points, 1.0, threads=1)", 7_998_000, 320),
        ("jostle.find(points, 1.0, threads=1)", 7_998_000, 320),
        ("jostle.neighbor_list('i', points[:2000], 1.0, threads=1)", 3_998_000, 320),
        ("jostle.neighbor_list('ijdDS', points[:2000], 1.0, threads=1)[0]", 3_998_000, 1000),
        ("jostle.neighbors(points[:2000], 1.0, vectors=True, shifts=True, threads=1).indices", 3_998_000, 800),
    ],
)
def test_lists_keep_to_the_memory_of_the_process(search, entries, mebi):
    assert under(mebi, search) == str(entries)
    refused = under(mebi // 4, search)
    assert f"{entries} pairs or neighbours, more than memory holds" in refused


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells addresses")
@pytest.mark.parametrize(
    "question",
    [
        "points({}, threads=1)",
        "circles({}, 1.0, threads=1)",
        "boxes({0}, {0}, threads=1)",
        "rays({0}, {0} + 1.0, threads=1)",
        "nearest({}, 4000, threads=1)",
    ],
)
def test_answers_keep_to_the_memory_of_the_process(question):
    asked = f"jostle.PreparedSet(points, 1.0).{question}"
    assert under(600, asked.format("points[:1000]")) == "1000"
    assert "answers so far, more than memory holds" in under(600, asked.format("points"))
