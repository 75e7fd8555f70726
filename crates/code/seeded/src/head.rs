/// A place that a fault changes asks whether it is on.
macro_rules! fault {
    ($name:literal) => {
        seeded::is_on(const { seeded::id(crate::FAULTS, $name) })
    };
}

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static seeded::Fault> {
    seeded::find(FAULTS, name)
}

