#!/usr/bin/env python3
"""Builds and runs the tests of the workspace for bin/test, which describes the modes.

Every test binary runs in the folder of its package, as cargo would run it, and several run at once. What fails is run once
more at the end, alone, with both outputs kept below target/failed: a test that then passes does not fail the run, unless
there are more than two.
"""

import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The packages whose tests start the binary, which no manifest says.
STARTS = {"fault": "loggia", "system": "loggia"}
# A binary that takes longer hangs.
LIMIT_SECONDS = 30 * 60
# Most of the long ones wait for processes, so several run at once, and those first.
AT_ONCE = 3
LONGEST_FIRST = (
    "system::e2e", "fault::fault", "system::clients", "event_log::contract", "system::browser", "write::contract", "api", "lexical",
    "projections::contract", "projections::fault", "demo", "system::deploy", "ledger::contract", "backup::contract",
)
# What goes on for longer in `--long`: the words in the names of these tests, and what they read.
SOAKED = {"fault::fault": ("cluster_l", "killed"), "system::clients": ("schemathesis",)}
SOAK = {"LOGGIA_TEST_MINUTES": "5", "LOGGIA_TEST_ROUNDS": "50", "LOGGIA_TEST_EXAMPLES": "100"}
# Of what failed beside other tests, so many may pass alone.
MAX_FAILED_ONCE = 2
RESULT = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED)(?: <([0-9.]+)s>)?$", re.MULTILINE)


def say(text):
    print(text, flush=True)


def cargo(*words):
    return [os.environ.get("CARGO", "cargo"), *words]


class Package:
    """A package of the workspace with the names of those that it uses, and of those that only its tests use."""

    def __init__(self, metadata):
        self.name = metadata["name"]
        self.folder = Path(metadata["manifest_path"]).parent
        own = [dependency for dependency in metadata["dependencies"] if dependency.get("path")]
        self.uses = {dependency["name"] for dependency in own if dependency["kind"] != "dev"}
        self.is_tested_with = {dependency["name"] for dependency in own if dependency["kind"] == "dev"}
        self.is_tested_with |= {STARTS[self.name]} if self.name in STARTS else set()
        self.has_doctests = any("lib" in target["kind"] and target["doctest"] for target in metadata["targets"])


class TestBinary:
    def __init__(self, artifact):
        self.path = artifact["executable"]
        self.target = artifact["target"]["name"]
        self.is_of_units = "test" not in artifact["target"]["kind"]
        self.folder = Path(artifact["manifest_path"]).parent
        self.package = ""

    def __str__(self):
        return self.package if self.is_of_units else f"{self.package}::{self.target}"


class Run:
    """What one run of a binary printed, with the tests that failed, and how long each took."""

    def __init__(self, binary, arguments, status, output, seconds):
        self.binary, self.output, self.seconds, self.arguments = binary, output, seconds, arguments
        results = RESULT.findall(output)
        self.passed = [name for name, result, _ in results if result == "ok"]
        self.failed = [name for name, result, _ in results if result == "FAILED"]
        self.times = [(float(time), f"{binary}::{name}") for name, _, time in results if time]
        # A process that ended in the middle says of no test that it failed.
        self.is_broken = status != 0 and not self.failed


def packages():
    words = cargo("metadata", "--format-version", "1", "--no-deps", "--locked")
    listed = json.loads(subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return {package["name"]: Package(package) for package in listed["packages"]}


def build(known, wanted):
    """Builds the binary and the tests in one go, so that their dependencies are built once; returns both."""
    words = cargo("build", "--workspace", "--bins", "--tests")
    if wanted.quick:
        words = cargo("test", "--no-run", "--workspace", "--lib", "--bins", "--test", "architecture")
    words += ["--features", wanted.features, "--locked", "--message-format", "json-render-diagnostics"]
    built = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE)
    if built.returncode != 0:
        sys.exit("tests/suite.py: the build failed; the compiler's words are above")
    messages = [json.loads(line) for line in built.stdout.decode().splitlines() if line.startswith("{")]
    artifacts = [message for message in messages if message.get("executable")]
    names = {package.folder: package.name for package in known.values()}
    binaries = [TestBinary(artifact) for artifact in artifacts if artifact["profile"]["test"]]
    for binary in binaries:
        binary.package = names[binary.folder]
    gone = set(LONGEST_FIRST) - {str(binary) for binary in binaries}
    if gone and not wanted.quick:
        sys.exit(f"tests/suite.py: LONGEST_FIRST names what is not there: {' '.join(sorted(gone))}")
    programs = [artifact["executable"] for artifact in artifacts if not artifact["profile"]["test"]]
    return programs[:1], sorted(binaries, key=order)


def order(binary):
    name = str(binary)
    return LONGEST_FIRST.index(name) if name in LONGEST_FIRST else len(LONGEST_FIRST), name


def environment(program):
    # libtest prints times only where unstable options are allowed; nothing is compiled with this.
    return {**os.environ, **({"LOGGIA_BINARY": program[0]} if program else {}), "RUSTC_BOOTSTRAP": "1"}


def take_signals():
    """A process that was started in the background ignores signals, and what it starts would too."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def run(binary, variables, *arguments):
    words = [binary.path, *arguments, "-Zunstable-options", "--report-time"]
    began = time.monotonic()
    try:
        ended = subprocess.run(
            words, cwd=binary.folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, preexec_fn=take_signals,
        )
        status, output = ended.returncode, ended.stdout
    except subprocess.TimeoutExpired as hung:
        status, output = 1, (hung.stdout or b"") + b"\nsuite: it was ended after %d seconds\n" % LIMIT_SECONDS
    return Run(binary, arguments, status, output.decode(errors="replace"), time.monotonic() - began)


def keep(name, run):
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "failed"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (re.sub(r"[^A-Za-z0-9_.-]+", "-", name) + ".txt")
    file.write_text(run.output)
    return file


def again(runs, variables):
    """Runs each test that failed alone; returns whether all is well, and says what failed."""
    broken = [run for run in runs if run.is_broken]
    failed = [(run, name) for run in runs for name in run.failed]
    fail, once = [f"{run.binary} ended without a result" for run in broken], []
    for first, name in failed:
        full = f"{first.binary}::{name}"
        alone = run(first.binary, variables, *(word for word in first.arguments if word == "--ignored"), "--exact", name)
        files = [keep(f"{full}.first", first), keep(f"{full}.alone", alone)]
        passed = alone.passed == [name]
        (once if passed else fail).append(f"{full} (see {files[0]} and {files[1]})")
    if once:
        say("\nfailed once, passed alone (each is a fault to be found):")
        say("".join(f"    {line}\n" for line in once))
    if fail:
        say("\nfailed:")
        say("".join(f"    {line}\n" for line in fail))
    if len(once) > MAX_FAILED_ONCE:
        say(f"{len(once)} tests failed once, and at most {MAX_FAILED_ONCE} may")
    return not fail and len(once) <= MAX_FAILED_ONCE


def run_all(binaries, variables, *arguments):
    runs, began = [], time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        started = [threads.submit(run, binary, variables, *arguments) for binary in binaries]
        for ended in map(concurrent.futures.Future.result, concurrent.futures.as_completed(started)):
            runs.append(ended)
            say(f"--- {ended.binary}: {ended.seconds:.1f} s\n{ended.output.strip()}\n")
    slowest = sorted((time for run in runs for time in run.times), reverse=True)[:10]
    say("the ten slowest tests:" if len(slowest) == 10 else "the slowest tests:")
    say("".join(f"    {seconds:7.1f} s  {name}\n" for seconds, name in slowest))
    well = again(runs, variables)
    passed, failed = sum(len(run.passed) for run in runs), sum(len(run.failed) for run in runs)
    say(f"{len(runs)} test binaries in {time.monotonic() - began:.0f} s: {passed} passed, {failed} failed\n")
    return well


def doctests(features):
    """Of all packages: a choice of some would build their dependencies again, with other features."""
    words = cargo("test", "--doc", "--workspace", "--features", features, "--locked")
    return subprocess.run(words, cwd=ROOT).returncode == 0


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout.decode()


def changed_files(since):
    tracked = git("diff", "--name-only", "-z", since)
    return [file for file in (tracked + git("ls-files", "-z", "--others", "--exclude-standard")).split("\0") if file]


def changed_packages(known, files):
    """Returns the names of the packages that hold these files, of all that use them, and of those that are tested with one of all
    these; everything where it is of all."""
    changed = set()
    for file in files:
        path = (ROOT / file).parent
        if path == ROOT and (file.endswith((".toml", ".lock")) or file == "build.rs") or file.startswith(".cargo/"):
            return set(known)
        if file.startswith(("bin/", "deploy/", "docs/")) or path == ROOT:
            # Only these read them.
            changed |= {"architecture", "system"}
        within = [package for package in known.values() if package.folder == path or package.folder in path.parents]
        changed.add(max(within, key=lambda package: len(str(package.folder))).name)
    while more := {package.name for package in known.values() if package.uses & changed} - changed:
        changed |= more
    # Once: what is only tested with a change behaves as before, so what uses it is not tested again.
    changed |= {package.name for package in known.values() if package.is_tested_with & changed}
    # Its checks read every file.
    return changed | {"architecture"} if changed else changed


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--features", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--upgrade", action="store_true")
    parser.add_argument("--changed", metavar="COMMIT")
    parser.add_argument("--repeat", nargs=2, metavar=("N", "FILTER"))
    parser.add_argument("--test", metavar="NAME")
    return parser.parse_args()


def main():
    wanted = arguments()
    known = packages()
    names = set(known)
    if wanted.changed is not None:
        if wanted.changed:
            names = changed_packages(known, changed_files(wanted.changed))
        say(f"changed since {wanted.changed or 'ever'}, or using it: {' '.join(sorted(names)) or 'nothing'}\n")
    program, binaries = build(known, wanted)
    variables = environment(program)
    binaries = [binary for binary in binaries if binary.package in names]
    if wanted.repeat:
        well = repeat(int(wanted.repeat[0]), wanted.repeat[1], [b for b in binaries if wanted.test in (None, b.target, str(b))], variables)
    elif wanted.long:
        # The others make the fixture of a release, or measure two builds.
        skipped = ["--skip", "upgrade::", "--skip", "read_nodes_measured"]
        well = run_all(binaries, variables, "--ignored", *skipped)
        for name, words in SOAKED.items():
            well &= run_all([binary for binary in binaries if str(binary) == name], {**variables, **SOAK}, *words)
    else:
        well = run_all(binaries, variables)
        if wanted.upgrade:
            well &= run_all(binaries, variables, "--ignored", "upgrade::", "--skip", "upgrade::make")
        if not wanted.quick and any(known[name].has_doctests for name in names):
            well &= doctests(wanted.features)
    sys.exit(not well)


def repeat(count, wanted, binaries, variables):
    """Runs the tests that match the filter again and again, eight processes at once, and shows each failure."""
    binaries = [binary for binary in binaries if run(binary, variables, "--list", wanted).output.count(": test\n")]
    if not binaries:
        say(f'bin/test: no test has "{wanted}" in its name')
        return False
    began, failures = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        runs = [threads.submit(run, binary, variables, wanted) for binary in binaries for _ in range(count)]
        for number, ended in enumerate(concurrent.futures.as_completed(runs), 1):
            if ended.result().failed or ended.result().is_broken:
                failures += 1
                say(f"\n=== run {number} failed\n{ended.result().output}")
    say(f'bin/test: {len(runs)} runs of "{wanted}", {failures} failed, in {time.monotonic() - began:.0f} s')
    return failures == 0


main()
