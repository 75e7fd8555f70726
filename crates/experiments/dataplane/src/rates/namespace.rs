//! Network namespaces without a name: each is a thread that does in it what it is asked to. They
//! are gone when the program is, however it ends.

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// A network namespace, with what is in it.
pub struct Namespace {
    jobs: Sender<Job>,
    path: PathBuf,
}

impl Namespace {
    /// A new one, in which IPv6 is off: nothing is sent there that nobody asked for.
    ///
    /// # Errors
    /// This needs root.
    pub fn new(name: &str) -> io::Result<Self> {
        let (jobs, asked): (Sender<Job>, Receiver<Job>) = channel();
        let (tells, told) = channel();
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let made = enter_new().and_then(|()| path_of_thread());
                let is_made = made.is_ok();
                let _ = tells.send(made);
                if is_made {
                    asked.into_iter().for_each(|job| job());
                }
            })?;
        let path = told
            .recv()
            .map_err(|_| io::Error::other("the thread of a network namespace is gone"))??;
        let made = Self { jobs, path };
        for which in ["all", "default"] {
            made.sysctl(&format!("net/ipv6/conf/{which}/disable_ipv6"), "1")?;
            made.sysctl(&format!("net/ipv4/conf/{which}/rp_filter"), "0")?;
        }
        made.sysctl("net/ipv4/ip_forward", "0")?;
        Ok(made)
    }

    /// Does something in it. Threads that are started there stay there.
    ///
    /// # Errors
    /// `what` panicked.
    pub fn within<R: Send + 'static>(
        &self,
        what: impl FnOnce() -> R + Send + 'static,
    ) -> io::Result<R> {
        let (answers, answer) = channel();
        let gone = |_| io::Error::other("the thread of a network namespace is gone");
        let job: Job = Box::new(move || {
            let _ = answers.send(what());
        });
        self.jobs.send(job).map_err(|_| gone(()))?;
        answer.recv().map_err(|_| gone(()))
    }

    /// Sets a value of the system, such as `net/ipv4/ip_forward`. One that this system does not
    /// have is left.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn sysctl(&self, key: &str, value: &str) -> io::Result<()> {
        let path = Path::new("/proc/sys").join(key);
        let value = value.to_owned();
        self.within(move || {
            if path.exists() {
                std::fs::write(path, value)
            } else {
                Ok(())
            }
        })?
    }

    /// Runs `ip`.
    ///
    /// # Errors
    /// It is not installed, or says what is wrong.
    pub fn ip(&self, arguments: &str) -> io::Result<()> {
        let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        let output = self.within(move || Command::new("ip").args(words).output())?;
        let output = output.map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("cannot start `ip`: {error}; Debian: apt-get install iproute2"),
            )
        })?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(io::Error::other(format!(
                    "`ip {arguments}`: {}",
                    said.trim()
                )))
            }
        }
    }

    /// The path at which `ip` finds it.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Packets of an interface, by the kernel's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Came in.
    pub received: u64,
    /// Came in and were dropped.
    pub receive_drops: u64,
    /// Were to go out and were dropped.
    pub send_drops: u64,
}

impl Counts {
    /// Reads the counters of an interface of the calling thread's namespace; zeros if it is not
    /// there.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn read(interface: &str) -> io::Result<Self> {
        Ok(Self::parse(
            &std::fs::read_to_string("/proc/thread-self/net/dev")?,
            interface,
        )
        .unwrap_or_default())
    }

    /// From the text of `/proc/net/dev`.
    fn parse(text: &str, interface: &str) -> Option<Self> {
        let of = |line: &str| {
            Some(
                line.trim()
                    .strip_prefix(interface)?
                    .strip_prefix(':')?
                    .to_owned(),
            )
        };
        let counts = text.lines().find_map(of)?;
        let counts: Vec<u64> = counts
            .split_whitespace()
            .map_while(|word| word.parse().ok())
            .collect();
        Some(Self {
            received: *counts.get(1)?,
            receive_drops: *counts.get(3)?,
            send_drops: *counts.get(11)?,
        })
    }
}

/// Packets that the queues between interfaces and protocols dropped because they were full, on all
/// processors of the machine.
///
/// # Errors
/// `/proc` cannot be read.
pub fn backlog_drops() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/net/softnet_stat")?;
    let dropped = text
        .lines()
        .filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok());
    Ok(dropped.sum())
}

/// Says what failed.
fn wrong(what: &str) -> impl FnOnce(Errno) -> io::Error {
    move |error| match error {
        Errno::EPERM | Errno::EACCES => io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("{what}: this needs root, or the capability CAP_SYS_ADMIN"),
        ),
        _ => io::Error::new(
            io::Error::from(error).kind(),
            format!("{what}: {}", io::Error::from(error)),
        ),
    }
}

/// Moves the calling thread into a new network namespace, with a view of `/sys` that shows it.
/// Threads and programs that it starts from then on are there, too. The namespace has no name: the
/// kernel removes it, with its interfaces, when nobody is left in it, however its last thread
/// ended.
///
/// # Errors
/// The thread may not (it needs root), or the system has no namespaces.
fn enter_new() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)
        .map_err(wrong("cannot make a network namespace"))?;
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
fn path_of_thread() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc")
        .join(std::fs::read_link("/proc/thread-self")?)
        .join("ns/net"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_found_among_others() {
        let text = "Inter-|   Receive |  Transmit\n face |bytes    packets errs drop\n    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n\
                    b0:1000 20 0 3 0 0 0 0 5000 60 0 7 0 0 0 0\n";
        let found = Counts::parse(text, "b0").unwrap();
        assert_eq!(
            found,
            Counts {
                received: 20,
                receive_drops: 3,
                send_drops: 7
            }
        );
        assert_eq!(Counts::parse(text, "b"), None);
    }
}
