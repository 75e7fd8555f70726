//! Gives the linker the image's layout.

fn main() {
    println!("cargo:rerun-if-changed=image.ld");
    println!(
        "cargo:rustc-link-arg-bins=-T{}/image.ld",
        env!("CARGO_MANIFEST_DIR")
    );
}
