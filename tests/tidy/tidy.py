#!/usr/bin/env python3
"""The house rules, as far as a program can see them.

  tidy.py                           checks the tree this file stands in
  tidy.py --update-ratchet          lowers and drops lines of ratchet.txt
  tidy.py --update-ratchet --grow   also raises and adds: say why in the commit
  tidy.py --canaries FOLDER         proves in FOLDER that every rule fires

Exit 1 with a line for each breach. allow.txt holds the exceptions, each with
its reason. Needs nothing but python3-minimal; without clang-format the rule
`format` is skipped, by name.
"""

import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import canaries  # noqa: E402
import floats  # noqa: E402
import includes  # noqa: E402
import sizes  # noqa: E402
import sources  # noqa: E402
import structure  # noqa: E402
import words  # noqa: E402
from tree import Finding, Tree  # noqa: E402

ALLOW = "tests/tidy/allow.txt"
FORMATTER = "clang-format"
FORMATTER_VERSION = "version 14."  # others break lines elsewhere

RULES = {
    "header": sources.header,
    "size": sizes.check,
    "fast_math": floats.fast_math,
    "libm": floats.libm,
    "chance": floats.chance,
    "reduce": floats.reduce,
    "exception": sources.exception,
    "mutable_global": sources.mutable_global,
    "later": words.later,
    "words": words.words,
    "format": sources.formatted,
    "registered": structure.registered,
    "comments": structure.comments,
    "links": structure.links,
    "built": structure.built,
    "leavings": structure.leavings,
    "included": includes.included,
}


def why_unformatted():
    """Why the rule `format` cannot be asked here; empty if it can."""
    try:
        run = subprocess.run([FORMATTER, "--version"], check=False,
                             stdout=subprocess.PIPE)
    except OSError:
        return FORMATTER + " is not installed"
    version = run.stdout.decode("utf-8", "replace").strip()
    if FORMATTER_VERSION not in version:
        return "wanted %s, here is %s" % (FORMATTER_VERSION, version)
    return ""


def read_allowances(tree):
    """{(rule, path): reason}; a line without a reason is a breach itself."""
    allowed, bad = {}, []
    lines = tree.text(ALLOW).splitlines() if tree.exists(ALLOW) else []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        parts = line.split(None, 2)
        if len(parts) < 3 or parts[0] not in RULES:
            bad.append(Finding("allow", ALLOW, number,
                               "wanted: RULE PATH REASON"))
        else:
            allowed[tuple(parts[:2])] = parts[2]
    return allowed, bad


def check(tree, rules):
    """Findings that nothing allows, and notes."""
    allowed, findings = read_allowances(tree)
    used = set()
    for rule in rules:
        for finding in RULES[rule](tree):
            key = (rule, finding.path)
            if key in allowed:
                used.add(key)
            else:
                findings.append(finding)
    notes = list(sizes.notes(tree))
    for rule, path in sorted(set(allowed) - used):
        if rule in rules:
            notes.append("%s: nothing to allow any more: %s %s"
                         % (ALLOW, rule, path))
    return findings, notes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update-ratchet", action="store_true")
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--canaries", metavar="FOLDER")
    options = parser.parse_args()
    rules = dict(RULES)
    skipped = why_unformatted()
    if skipped:
        print("tidy: SKIPPED rule format: " + skipped)
        del rules["format"]
    if options.canaries:
        return canaries.run(options.canaries, rules)
    here = os.path.dirname(os.path.realpath(__file__))
    tree = Tree(os.path.normpath(os.path.join(here, "../..")))
    if options.update_ratchet:
        print("tidy: %d lines" % sizes.update(tree, options.grow))
        return 0
    findings, notes = check(tree, rules)
    for line in notes:
        print("note: " + line)
    for finding in findings:
        print(finding)
    print("tidy: %d rules over %d files, %d breaches"
          % (len(rules), len(tree.paths), len(findings)))
    # A walk that saw no house has proven nothing.
    return 1 if findings or len(tree.cpp()) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
