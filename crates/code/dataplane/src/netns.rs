//! A network namespace for the calling thread: a network stack of its own, which needs no name and goes with those who are in it.
#![expect(unsafe_code, reason = "the system calls that make a namespace")]

use std::ffi::CStr;
use std::io;
use std::path::PathBuf;

fn checked(result: libc::c_int, what: &str) -> io::Result<()> {
    if result == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    Err(match error.kind() {
        io::ErrorKind::PermissionDenied => {
            io::Error::new(error.kind(), format!("{what}: this needs root, or the capability CAP_SYS_ADMIN"))
        }
        _ => io::Error::new(error.kind(), format!("{what}: {error}")),
    })
}

/// Moves the calling thread into a new network namespace, with a view of `/sys` that shows it. Threads and programs that it starts from
/// then on are there, too. The namespace has no name: the kernel removes it, with its interfaces, when nobody is left in it, however its
/// last thread ended.
///
/// # Errors
/// The thread may not (it needs root), or the system has no namespaces.
pub fn enter_new() -> io::Result<()> {
    // SAFETY: a call without pointers. It changes what this thread sees, and leaves the others alone.
    checked(unsafe { libc::unshare(libc::CLONE_NEWNET | libc::CLONE_NEWNS) }, "cannot make a network namespace")?;
    // What is mounted from here on stays with this thread.
    mount(c"none", c"/", None, libc::MS_REC | libc::MS_SLAVE, "cannot keep mounts apart")?;
    mount(c"sysfs", c"/sys", Some(c"sysfs"), 0, "cannot mount /sys for a network namespace")
}

fn mount(source: &CStr, at: &CStr, kind: Option<&CStr>, flags: libc::c_ulong, what: &str) -> io::Result<()> {
    let kind = kind.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: strings that end with a zero, or null where the call takes nothing.
    checked(unsafe { libc::mount(source.as_ptr(), at.as_ptr(), kind, flags, std::ptr::null()) }, what)
}

/// Where programs such as `ip` find the calling thread's network namespace, as long as the thread lives.
///
/// # Errors
/// `/proc` is not mounted.
pub fn path() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc").join(std::fs::read_link("/proc/thread-self")?).join("ns/net"))
}
