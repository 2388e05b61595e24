"""What runs the cells of a matrix: the command line, the folder for all that they write, and a verdict for each."""

import argparse
import os
import socket
import sys
import tempfile
import time


def main(bench, document):
    """Runs the cells that the command line picks, or all, and exits with 1 if one failed."""
    parser = argparse.ArgumentParser(description=document)
    parser.add_argument("sabir")
    parser.add_argument("programs")
    parser.add_argument("cells", nargs="*")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sabir-agents-") as root:
        made = bench(os.path.abspath(chosen.sabir), os.path.abspath(chosen.programs), root)
        sys.exit(1 if made.run(chosen.cells) else 0)


def verdict(name, cell, *arguments):
    """Runs a cell, says how it went, and returns 1 for a failure."""
    started = time.monotonic()
    try:
        remark, failed = cell(*arguments), 0
    except Exception as problem:
        remark, failed = f"{type(problem).__name__}: {problem}"[-3000:], 1
    print(f"{name:<18} {'FAILED' if failed else 'ok':<7}{time.monotonic() - started:5.1f} s  {remark}", flush=True)
    return failed


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
