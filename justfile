# Shortcuts for plain commands. `just` without arguments lists them.

set windows-shell := ["powershell.exe", "-NoLogo", "-Command"]

# List the recipes
[private]
default:
    @just --list

# Compare two bundled cohorts privately and show the scores
demo:
    cargo run --release --locked -p veilpath-cli -- demo

# Run all tests
test:
    cargo test --workspace --locked

# Clippy on everything, warnings as errors
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Format all code
fmt:
    cargo fmt --all

# Run the benches, or the named one: `just bench -p veilpath-metrics`
bench *args:
    cargo bench --locked {{ if args == "" { "--workspace" } else { args } }}

# Run every fuzz target for a number of seconds (needs nightly Rust and cargo-fuzz; without them, skips with a message)
[unix]
fuzz seconds="60":
    fuzz/run {{ seconds }}

# Check secrets, memory and dependencies, or one of them: `just assurance secrets`
[unix]
assurance *parts:
    assurance/run {{ parts }}

# Run the tests that take minutes
long:
    cargo test --release --workspace --locked -- --ignored

# Run all checks that a change must pass
[unix]
ci:
    .ci/run

# Run all checks and all long suites: one to three hours
[unix]
full:
    .ci/full

# Build the book in docs/ and open it (needs mdBook: `cargo install mdbook --locked`)
book:
    mdbook build docs --open

# Build the documentation of all crates and open it
doc:
    cargo doc --workspace --no-deps --locked --open

# Run the long fault tests, in ten to thirty minutes; a seed repeats a run
[unix]
faults seed="":
    .ci/faults {{ seed }}
