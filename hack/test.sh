#!/usr/bin/env bash
# Checks and tests everything. Needs Rust (rustup's stable toolchain) and git; the crates come from the registry on the
# first run. Parts that this machine cannot run are named at the end.
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
printf '\nall checks passed\n'
