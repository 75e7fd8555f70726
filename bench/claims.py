#!/usr/bin/env python3
"""Does what five documents state hold here as it is written? Builds the programs and asks `stopwatt claims --check --long`.

    python3 bench/claims.py
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "stopwatt", "-p", "stopwatt-explore"], cwd=ROOT, check=True)
    command = [ROOT / "target" / "release" / "stopwatt", "--quiet", "claims", "--check", "--long"]
    sys.exit(subprocess.run(command, cwd=ROOT).returncode)


if __name__ == "__main__":
    main()
