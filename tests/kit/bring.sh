# What tests/clients/setup and tests/browser/setup share: a folder of things from registries, brought once for the lists
# that name them and the machine, kept, and linked into the checkout. Read by both from the root of the checkout, after
# they said what they are: `name`, `what` they bring, and which `tests` need it.
# shellcheck shell=bash
readonly kept=${LOGGIA_CLIENTS_KEPT:-.tools/kept}

say() { printf 'bin/setup: %s\n' "$*" >&2; }

# Without these things tests are skipped: outside CI that is for whoever runs them to decide.
give_up() {
    rm -f ".tools/$name"
    if [ -n "${CI:-}" ]; then say "$what could not be brought: $*."; exit 1; fi
    say "*** $what could not be brought: $*. The tests in $tests will be SKIPPED. ***"
    exit 0
}

# Sets `place`: a folder for the content of the files, this platform and this Python.
find_place() {
    local key
    key=$(python3 - tests/kit/bring.sh "$@" <<'PYTHON'
import hashlib, platform, sys
about = (sys.version + sys.executable).encode() + b"".join(open(path, "rb").read() for path in sys.argv[1:])
print(f"{sys.platform}-{platform.machine()}-{hashlib.sha256(about).hexdigest()[:16]}")
PYTHON
    )
    mkdir -p .tools "$kept"
    place=$(cd "$kept" && pwd)/$name-$key
}

# Installs the packages of a lock file into the folder `work`, with the Node.js that is on PATH and npm at $1.
npm_packages() {
    cp "$tests/package.json" "$tests/package-lock.json" "$tests/.npmrc" "$work/" &&
        (cd "$work" && node "$1" ci --loglevel error)
}

# Moves what was brought to its place. Another checkout may have been quicker: then its folder stays.
settle() { [ -d "$place" ] || mv "$work" "$place"; }

# Links the place into the checkout, and removes folders of older lists: those of other checkouts may still be asked for.
link_place() {
    local days=0
    [ -z "${LOGGIA_CLIENTS_KEPT:-}" ] || days=30
    touch "$place"
    ln -sfn "$place" ".tools/$name"
    ln -sfn "../../.tools/$name/node_modules" "$tests/node_modules"
    find "$(dirname "$place")" -mindepth 1 -maxdepth 1 -name "$name-*" ! -path "$place" -mtime "+$days" -exec rm -rf {} +
}

work=""
trap 'if [ -n "$work" ]; then rm -rf "$work"; fi' EXIT
