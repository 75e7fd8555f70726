//! Decisions of the exception vectors, as plain functions of registers, so that the host can test
//! them for cores that no emulator has:
//!
//! * [`controls`]: which features the normal world may use, from the ID registers;
//! * [`undefined`]: how an exception that EL3 took is handed back as an undefined instruction;
//! * [`cores`]: which core needs which mitigation against speculation.
//!
//! Register and field names are those of the Arm ARM (DDI 0487).
#![no_std]
#![forbid(unsafe_code)]

pub mod controls;
pub mod cores;
pub mod undefined;
