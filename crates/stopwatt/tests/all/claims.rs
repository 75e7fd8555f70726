//! What published documents state holds as it is written.

use crate::common::root;
use std::process::Command;

/// Every statement whose command takes at most 3 CPU seconds; `cargo xtask judge claims` has the
/// others.
#[test]
fn what_documents_state_holds_as_it_is_written() {
    let output = Command::new(env!("CARGO_BIN_EXE_stopwatt"))
        .args(["--quiet", "claims", "--check"])
        .current_dir(root())
        .output()
        .unwrap();
    let [told, wrong] = [output.stdout, output.stderr].map(|of| String::from_utf8(of).unwrap());
    assert!(output.status.success(), "{wrong}");
    assert_eq!(told.matches("agrees ").count(), 5, "{told}");
}
