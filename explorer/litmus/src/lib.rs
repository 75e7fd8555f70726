//! Stock litmus tests for AArch64, and what Arm's memory model says of them.
//!
//! ```text
//! text ──parse──▶ Test ──threads──▶ what each thread may do, for every value that its loads may see
//!                                        │ one of each, whose loads found a store
//!                                        ▼
//!                     executions: reads-from and coherence order, every one
//!                                        │ that arm::allows
//!                                        ▼
//!                                  Answer: the final states
//! ```
//!
//! A machine that performs accesses one by one reads them off [`runs`].
//!
//! Not modelled: accesses of several sizes to one location, page tables, instruction fetch, tags,
//! caches that are maintained by hand (a test of them is read, and has no answer). A test that
//! needs one of them is refused by name ([`ErrorKind::Unsupported`]).
#![forbid(unsafe_code)]

mod answer;
pub mod arm;
mod enumerate;
pub mod expected;
mod lexer;
mod mnemonic;
mod operands;
mod parse;
mod relation;
mod supply;
mod test;
mod thread;

pub use answer::{Answer, State};
pub use enumerate::answer;
pub use parse::parse;
pub use test::{Condition, Instruction, Kind, LIMIT, Quantifier, Register, Test, UNROLL, Variable};
pub use thread::{Effect, Run, Value, Values, runs};

/// The kind of reason why a test has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is no litmus test for AArch64.
    Malformed,
    /// The test needs what is not modelled.
    Unsupported,
    /// Not all executions were tried in the steps that the test may take.
    TooLong,
}

/// The reason why a test has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Its kind.
    pub kind: ErrorKind,
    /// The line, from 1; 0 where it is about the whole test.
    pub line: usize,
    /// The mistake and what would be right, what is not modelled, or how many steps it took.
    pub what: String,
}

/// What a test gives, or why not.
type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn malformed(line: usize, what: impl Into<String>) -> Self {
        let (kind, what) = (ErrorKind::Malformed, what.into());
        Self { kind, line, what }
    }

    pub(crate) fn unsupported(line: usize, what: impl Into<String>) -> Self {
        let (kind, what) = (ErrorKind::Unsupported, what.into());
        Self { kind, line, what }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for Error {}
