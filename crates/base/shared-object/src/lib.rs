//! Shared objects of users, and the tables that they hand out.

use libloading::{Library, Symbol};
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, c_char};
use std::path::Path;

/// Why a request cannot be met: the error, and what would be right.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Wrong {
    /// The error.
    pub message: String,
    /// The advice: what would be right.
    pub help: String,
}

impl Wrong {
    /// An error, and what would be right.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

/// Most tables of a shared object that are looked at.
const TABLES_MAX: u32 = 256;

/// A text of a table; what is no UTF-8 is replaced.
///
/// # Safety
/// The pointer is null, or to a text that ends.
pub unsafe fn text(of: *const c_char) -> Option<String> {
    if of.is_null() {
        return None;
    }
    // SAFETY: by this function's own contract.
    let text = unsafe { CStr::from_ptr(of) };
    Some(text.to_string_lossy().into_owned())
}

/// Loads a shared object, and takes the tables of its one function, which is called with 0, 1 and
/// so on until it returns null. The shared object stays loaded as long as the process lives.
///
/// A table starts with the version of the interface that it is of, which has to be `abi`; `header`
/// names the file that describes the interface.
///
/// # Errors
/// It cannot be loaded, or has no such function; of a table, that it is of another version.
///
/// # Safety
/// The process is there for this shared object alone. A function of the name `symbol` is `extern
/// "C" fn(u32) -> *const T`, and what it returns is null or a `T` that stays, of which the first
/// field is a `u32`.
pub unsafe fn tables<T: Copy + 'static>(
    path: &Path,
    symbol: &CStr,
    abi: u32,
    header: &str,
) -> Result<impl Iterator<Item = Result<T, Wrong>>, Wrong> {
    let shown = path.display();
    // Without a slash the loader would look among the system's libraries.
    let found = path.canonicalize().map_err(|error| {
        Wrong::new(
            format!("{shown}: {error}"),
            "a shared object: cc -O2 -shared -fPIC my.c -o my.so",
        )
    })?;
    // SAFETY: what a shared object does when it is loaded is up to its author, and it has this
    // process for itself.
    let library = unsafe { Library::new(&found) }.map_err(|error| {
        Wrong::new(
            format!(
                "{shown} cannot be loaded: {}",
                std::error::Error::source(&error).unwrap_or(&error)
            ),
            "a shared object for this machine: cc -O2 -shared -fPIC my.c -o my.so",
        )
    })?;
    let library = Box::leak(Box::new(library));
    let function = symbol.to_string_lossy();
    // SAFETY: by this function's own contract.
    let entry: Symbol<'static, unsafe extern "C" fn(u32) -> *const T> =
        unsafe { library.get(symbol.to_bytes_with_nul()) }.map_err(|_| {
            Wrong::new(
                format!("{shown} has no function `{function}`"),
                format!("include {header} and write that function; crates/code/stopwatt-loop/examples shows how"),
            )
        })?;
    let shown = shown.to_string();
    Ok((0..TABLES_MAX).map_while(move |n| {
        // SAFETY: the interface allows any number.
        let table = unsafe { entry(n) };
        if table.is_null() {
            return None;
        }
        // SAFETY: by this function's own contract the first field is there whatever the version.
        let version = unsafe { table.cast::<u32>().read() };
        if version != abi {
            return Some(Err(Wrong::new(
                format!(
                    "{shown} is of version {version} of the interface, and this program knows {abi}"
                ),
                format!("build it with the {header} of this program"),
            )));
        }
        // SAFETY: the version is right, so it is a whole table.
        Some(Ok(unsafe { *table }))
    }))
}

/// A function of a shared object that is loaded already; `None` if it has none of that name.
///
/// # Safety
/// The process is there for this shared object alone, and a function of that name is an `F`, which
/// is a pointer to a function.
pub unsafe fn function<F: Copy>(path: &Path, symbol: &CStr) -> Option<F> {
    // SAFETY: it is loaded, and not loaded a second time.
    let library = unsafe { Library::new(path.canonicalize().ok()?) }.ok()?;
    // SAFETY: by this function's own contract. The first `Library` never unloads it.
    let found: Symbol<'_, F> = unsafe { library.get(symbol.to_bytes_with_nul()) }.ok()?;
    Some(*found)
}
