//! A wrong platform file of a modelled core is refused, with file and line.

use dataplane_experiments::platform::CorePlatform;
use experiment::Folder;
use std::path::Path;

#[test]
fn a_wrong_platform_is_refused_with_file_and_line() {
    let scratch = tempfile::tempdir().unwrap();
    let real =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/platforms/macchiatobin.toml");
    let text = std::fs::read_to_string(real).unwrap();
    let files = Folder(scratch.path().to_owned());
    let said = |text: &str| {
        std::fs::write(scratch.path().join("p.toml"), text).unwrap();
        CorePlatform::read(&files, "p").unwrap_err().to_string()
    };
    let line = text
        .lines()
        .position(|line| line.starts_with("count = 6"))
        .unwrap()
        + 1;
    let unknown = said(&text.replace("count = 6", "number = 6"));
    assert!(
        unknown.contains(&format!("p.toml:{line}: unknown field `number`")),
        "{unknown}"
    );
    let none = said(&text.replace("count = 6", "count = 0"));
    assert!(none.contains("must be 1 or more"), "{none}");
    assert!(
        CorePlatform::read(&files, "nowhere")
            .unwrap_err()
            .to_string()
            .contains("nowhere.toml")
    );
}
