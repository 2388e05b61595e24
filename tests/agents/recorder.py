"""Stands in the place of an agent CLI for one process: notes how it was started and what it was told, and starts the CLI.

Usage: recorder.py FOLDER PROGRAM [ARGUMENT…]. Below FOLDER it leaves `start.json`, a copy of the process's own folder in `own`, and the
lines in `input.jsonl`. The folder as it was when the process began is what whoever starts the CLI again needs.
"""

import json
import os
import shutil
import subprocess
import sys
import threading


def main():
    into, command = sys.argv[1], sys.argv[2:]
    own = os.path.dirname(os.getcwd())
    shutil.copytree(own, os.path.join(into, "own"), symlinks=True, dirs_exist_ok=True)
    with open(os.path.join(into, "start.json"), "w") as start:
        json.dump({"command": command, "environment": dict(os.environ), "own": own}, start)
    child = subprocess.Popen(command, stdin=subprocess.PIPE)
    threading.Thread(target=hand_on, args=(child, os.path.join(into, "input.jsonl"), own, into), daemon=True).start()
    sys.exit(child.wait())


def hand_on(child, path, own, into):
    with open(path, "wb") as noted:
        for line in sys.stdin.buffer:
            noted.write(line)
            noted.flush()
            # What was written for the call meanwhile, such as the system prompt, is there by now.
            shutil.copytree(own, os.path.join(into, "own"), symlinks=True, dirs_exist_ok=True, ignore=added(own, into))
            child.stdin.write(line)
            child.stdin.flush()


def added(own, into):
    """Leaves out what the CLI itself made: only what was there at its beginning is copied again."""

    def ignored(folder, names):
        kept = os.path.join(into, "own", os.path.relpath(folder, own))
        return [name for name in names if not os.path.lexists(os.path.join(kept, name))]

    return ignored


if __name__ == "__main__":
    main()
