/// The fault of this name.
pub fn find(name: &str) -> Option<&'static seeded::Fault> {
    seeded::find(FAULTS, name)
}

