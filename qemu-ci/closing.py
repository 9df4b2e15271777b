#!/usr/bin/env python3
"""closing.py XUNIT...: the end of a test run, from lit's XML: seconds and
results per suite, why tests were skipped, the failed ones, and one last line
`N passed, M failed, K skipped`. Exit 1 when something failed or nothing passed."""
import collections
import re
import sys
import xml.etree.ElementTree as ET


LEFT = "left to tier "  # how the reason begins when nothing is missing
MOST_NAMES = 8


def reason(message):
    """Why lit skipped a test. A feature tier-T that is missing, or !tier-matrix, is no lack of
    the machine: another tier runs the test."""
    tier = re.search(r"(!?)tier-(\w+)", message)
    if not tier:
        return message or "no reason given"
    return LEFT + ("full" if tier[1] else tier[2])


def cases(files):
    """Each test as (suite, name, verdict, seconds, text)."""
    for path in files:
        for c in ET.parse(path).getroot().iter("testcase"):
            where = c.get("classname").split(".", 1)[1]
            suite, _, rest = where.partition("/")
            name = "/".join(p for p in (suite, rest, c.get("name")) if p)
            skipped, failure = c.find("skipped"), c.find("failure")
            if failure is not None:
                yield suite, name, "failed", float(c.get("time")), failure.text or ""
            elif skipped is not None:
                yield suite, name, "skipped", 0.0, reason(skipped.get("message"))
            else:
                yield suite, name, "passed", float(c.get("time")), ""


def skipped_lines(reasons):
    """A line for each reason, from {reason: names}. What other tiers run is only counted."""
    for why, names in sorted(reasons.items()):
        shown = [] if why.startswith(LEFT) else names[:MOST_NAMES]
        if shown and len(names) > MOST_NAMES:
            shown.append("and %d more" % (len(names) - MOST_NAMES))
        yield "skipped %d: %s%s" % (len(names), why, ": " + " ".join(shown) if shown else "")


def main(files):
    table = collections.defaultdict(collections.Counter)
    reasons, failed = collections.defaultdict(list), []
    for suite, name, verdict, seconds, text in cases(files):
        table[suite][verdict] += 1
        table[suite]["seconds"] += seconds
        if verdict == "skipped":
            reasons[text].append(name)
        elif verdict == "failed":
            failed.append(name)
    print("%-16s %7s %7s %7s %8s" % ("suite", "passed", "failed", "skipped", "seconds"))
    for suite, n in sorted(table.items()):
        print("%-16s %7d %7d %7d %8.1f"
              % (suite, n["passed"], n["failed"], n["skipped"], n["seconds"]))
    for line in skipped_lines(reasons):
        print(line)
    for name in failed:
        print("failed: " + name)
    total = sum(table.values(), collections.Counter())
    print("%d passed, %d failed, %d skipped" % (total["passed"], total["failed"], total["skipped"]))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
