#!/usr/bin/env bash
# Checks and tests everything. Needs Rust (rustup's stable toolchain) and git; the crates come from the registry on the
# first run. A container registry of others and skopeo, which some tests are run against, are installed where that can be
# done without starting a service; what is left out is named at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; "$@"; }

# Variables of ours that happen to be exported would change what is built.
unset BASE_URL DEFAULT_CHANNEL BUILD_NAME RELEASE_IMAGE
for name in $(compgen -e COREOS_PINS_ || true); do unset "$name"; done
# The fixtures that the tests build say themselves where they build.
unset CARGO_BUILD_TARGET CARGO_BUILD_TARGET_DIR RUSTFLAGS CARGO_ENCODED_RUSTFLAGS

command -v cargo >/dev/null || { echo "error: cargo is missing; install Rust with rustup" >&2; exit 2; }
if command -v rustup >/dev/null; then
    cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
    cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
fi

skipped=()
peers=(docker-registry skopeo)
missing() { for peer in "${peers[@]}"; do command -v "$peer" >/dev/null || return 0; done; return 1; }
# On a machine with systemd the package would start a registry that everybody can reach.
if missing && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && [ ! -d /run/systemd/system ]; then
    step timeout 300 apt-get install -y -q --no-install-recommends "${peers[@]}" >/dev/null ||
        { timeout 300 apt-get update -q >/dev/null && timeout 300 apt-get install -y -q --no-install-recommends "${peers[@]}" >/dev/null; } || true
fi
missing && skipped+=("tests against a real registry: install ${peers[*]}")

step cargo fetch --locked
step cargo fmt --all --check
step cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
step cargo clippy -p coreos-pins --all-targets --no-default-features --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps --all-features --locked
RUSTDOCFLAGS="-D warnings" step cargo doc -p coreos-pins --no-deps --no-default-features --locked
step cargo clippy -p coreos-pins-build --all-targets --locked -- -D warnings
step cargo test --workspace --locked
step cargo test -p coreos-pins-build --locked
step cargo test -p coreos-pins --no-default-features --locked
for what in "${skipped[@]}"; do printf '\nskipped: %s\n' "$what"; done
printf '\nall checks passed\n'
