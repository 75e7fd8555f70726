//! A network namespace for the calling thread: a network stack of its own, which needs no name and
//! goes with those who are in it.

use std::io;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

/// Says what failed.
fn wrong(what: &str) -> impl FnOnce(Errno) -> io::Error {
    move |error| match error {
        Errno::EPERM | Errno::EACCES => io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{what}: this needs root, or the capability CAP_SYS_ADMIN"),
        ),
        _ => io::Error::new(io::Error::from(error).kind(), format!("{what}: {}", io::Error::from(error))),
    }
}

/// Moves the calling thread into a new network namespace, with a view of `/sys` that shows it.
/// Threads and programs that it starts from then on are there, too. The namespace has no name: the
/// kernel removes it, with its interfaces, when nobody is left in it, however its last thread
/// ended.
///
/// # Errors
/// The thread may not (it needs root), or the system has no namespaces.
pub fn enter_new() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS).map_err(wrong("cannot make a network namespace"))?;
    // Mounts from here on are seen by this thread alone.
    let (none, stays) = (None::<&str>, MsFlags::MS_REC | MsFlags::MS_SLAVE);
    mount(Some("none"), "/", none, stays, none).map_err(wrong("cannot keep mounts apart"))?;
    let mounted = mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), none);
    mounted.map_err(wrong("cannot mount /sys for a network namespace"))
}

/// The path at which programs such as `ip` find the calling thread's network namespace, as long as
/// the thread lives.
///
/// # Errors
/// `/proc` is not mounted.
pub fn path() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc").join(std::fs::read_link("/proc/thread-self")?).join("ns/net"))
}
