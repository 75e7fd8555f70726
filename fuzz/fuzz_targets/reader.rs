//! `READER=csv cargo fuzz run --features libfuzzer reader`: the reader of that name.
#![no_main]

use std::sync::LazyLock;

static READER: LazyLock<fuzz::Target> = LazyLock::new(|| {
    let name = std::env::var("READER").unwrap_or_default();
    let names = fuzz::TARGETS.map(|target| target.name).join(", ");
    fuzz::TARGETS.into_iter().find(|target| target.name == name).unwrap_or_else(|| panic!("READER is one of {names}"))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (READER.run)(bytes);
});
