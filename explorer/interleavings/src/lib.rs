#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

/// Defines an enum whose variants have some words each, which a function returns.
#[doc(hidden)]
#[macro_export]
macro_rules! worded {
    (
        $(#[$about:meta])* enum $name:ident; $(#[$function_about:meta])* fn $words:ident;
        $($(#[$what:meta])* $variant:ident = $text:literal,)+
    ) => {
        $(#[$about])*
        pub enum $name { $($(#[$what])* $variant,)+ }

        impl $name {
            /// All, in their order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            $(#[$function_about])*
            pub const fn $words(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

pub mod cell;
mod current;
pub mod hint;
mod limits;
mod machine;
mod memory;
mod model;
mod operation;
mod regression;
mod search;
#[doc(hidden)]
pub mod story;
#[doc(hidden)]
pub mod subject;
pub mod sync;
pub mod thread;

pub use limits::{Limits, MOST_CPUS};
pub use machine::{Core, Strategy};
pub use model::{Bodies, Config, explore, model, replay};
pub use search::Tally;
