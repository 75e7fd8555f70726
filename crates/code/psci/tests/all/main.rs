//! The integration tests of this crate: one program, which is linked once.

#[cfg(not(feature = "off"))] // most of this looks at stamps
mod calls;
mod defaults;
mod fake;
mod locks;
mod on_off;
#[cfg(not(feature = "off"))] // most of this looks at stamps
mod suspend;
mod topology;
