"""Counts single test cases over the runs of tools/test.

Reads, for each run, NAME.json (Bazel's build events) and NAME.exit (Bazel's
exit status) from the folder given; prints a line for each failure and ends with
"N passed, N failed, N skipped". Not a reader of bazel-testlogs: that folder
also holds what earlier runs left, and of one configuration only.

A target that failed without a failing case (a crash, a time-out, a build error)
counts as one failure, and so does a run that Bazel calls failed for any other
reason: no failure may hide for want of an XML file.
"""

import glob
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree

PASSED = ("PASSED", "FLAKY")


def case_result(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped") is not None
    if skipped or case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed"):
        return "skipped"
    return "passed"


def read_cases(uri):
    path = urllib.parse.unquote(urllib.parse.urlparse(uri).path)
    root = xml.etree.ElementTree.parse(path).getroot()
    return [("%s.%s" % (case.get("classname"), case.get("name")), case_result(case))
            for case in root.iter("testcase")]


def read_events(path):
    """Returns {target: {shard: xml uri}} and {target: overall status}.

    A target that did not build has no test summary, only a completion without
    success; it is here as "FAILED TO BUILD".
    """
    xml_files, statuses = {}, {}
    with open(path) as lines:
        for line in lines:
            event = json.loads(line)
            identity = event.get("id", {})
            if "testResult" in event:
                key = identity["testResult"]
                for output in event["testResult"].get("testActionOutput", []):
                    if output["name"] == "test.xml":
                        # A later attempt replaces an earlier one.
                        shards = xml_files.setdefault(key["label"], {})
                        shards[key.get("run", 1), key.get("shard", 1)] = output["uri"]
            elif "testSummary" in event:
                statuses[identity["testSummary"]["label"]] = event["testSummary"]["overallStatus"]
            elif "targetCompleted" in identity and not event.get("completed", {}).get("success"):
                statuses.setdefault(identity["targetCompleted"]["label"], "FAILED TO BUILD")
    return xml_files, statuses


def count_target(run, label, status, uris, counts):
    failures = 0
    for uri in uris:
        try:
            cases = read_cases(uri)
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            cases = [("unreadable test.xml: %s" % error, "failed")]
        for name, result in cases:
            counts[result] += 1
            if result == "failed":
                failures += 1
                print("FAILED [%s] %s %s" % (run, label, name))
    if status not in PASSED and failures == 0:
        counts["failed"] += 1
        print("FAILED [%s] %s: %s" % (run, label, status))


def count_run(path, counts):
    run = os.path.basename(path)[:-len(".exit")]
    with open(path) as text:
        exit_status = int(text.read())
    failed_before = counts["failed"]
    try:
        xml_files, statuses = read_events(path[:-len(".exit")] + ".json")
    except (OSError, ValueError) as error:
        xml_files, statuses = {}, {}
        print("FAILED [%s] no readable build events: %s" % (run, error))
    for label in sorted(set(xml_files) | set(statuses)):
        count_target(run, label, statuses.get(label, "NO STATUS"),
                     xml_files.get(label, {}).values(), counts)
    if exit_status != 0 and counts["failed"] == failed_before:
        counts["failed"] += 1
        print("FAILED [%s] bazel ended with %d" % (run, exit_status))


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.exit"))):
        count_run(path, counts)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 0 if counts["failed"] == 0 and counts["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
