//! Copies the library's sources and applies the changes of `faults.toml` to the copy.

fn main() {
    seeded::build::compile("../../crates/code/rcu/src");
}
