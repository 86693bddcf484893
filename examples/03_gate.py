"""Use an audit as a gate: leave with code 1 if a group's score is above a limit.

Run it with: python examples/03_gate.py 0.2
"""

import sys

import testsgd

limit = float(sys.argv[1]) if len(sys.argv) > 1 else 0.2
result = testsgd.audit(None, None, "demo", fail_above=limit)

print(f"{result.verdict.status}: {result.verdict.headline}")
for sentence in result.verdict.sentences:
    print(sentence)

# 0: passed, 1: failed, 3: not enough evidence to judge any group. The last is no pass either.
sys.exit(result.verdict.exit_code)
