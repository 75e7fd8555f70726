//! Files that are no files, files that are too long, and what is left behind.

use disk::Partial;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn only_regular_files_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, what) in [
        (fifo.as_path(), "a FIFO"),
        (socket.as_path(), "a socket"),
        (folder.path(), "a folder"),
        (Path::new("/dev/zero"), "a device"),
    ] {
        let error = disk::text(path).unwrap_err().to_string();
        assert!(
            error.contains(what) && error.contains("regular file"),
            "{error}"
        );
    }
    let linked = folder.path().join("linked");
    let real = folder.path().join("real");
    fs::write(&real, "text").unwrap();
    std::os::unix::fs::symlink(&real, &linked).unwrap();
    assert_eq!(disk::text(&linked).unwrap(), "text");
    // Files of /proc are regular and have no length.
    assert!(
        !disk::text(Path::new("/proc/self/status"))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_file_is_read_up_to_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    fs::write(&path, [0xff; 100]).unwrap();
    assert_eq!(disk::read(&path, 100).unwrap().len(), 100);
    assert_eq!(
        disk::read(&path, 99).unwrap_err().kind(),
        std::io::ErrorKind::FileTooLarge
    );
    assert!(
        disk::text(&path)
            .unwrap_err()
            .to_string()
            .contains("not text (UTF-8) from byte 0")
    );
    // A sparse file of a terabyte takes no room, and must not take memory either.
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(
        disk::text(&path)
            .unwrap_err()
            .to_string()
            .contains("more than 64 MiB")
    );
}

#[test]
fn what_is_not_whole_goes_and_what_others_write_stays() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("r");
    // No process has such a number; this one is there.
    let (stale, alive) = (
        folder.path().join(".r.partial-4194999"),
        folder.path().join(".r.partial-1"),
    );
    let other = folder.path().join(".rr.partial-4194999");
    for path in [&stale, &alive, &other] {
        fs::create_dir(path).unwrap();
        fs::write(path.join("f"), "x").unwrap();
    }
    let partial = Partial::beside(&target, "partial").unwrap();
    assert!(!stale.exists() && alive.exists() && other.exists());
    fs::write(partial.path(), "half").unwrap();
    let path = partial.path().to_owned();
    drop(partial);
    assert!(!path.exists());
    assert!(Partial::beside(Path::new("/"), "partial").is_err());
}

#[test]
fn a_folder_goes_while_somebody_still_writes_into_it() {
    let folder = tempfile::tempdir().unwrap();
    let partial = Partial::beside(&folder.path().join("r"), "partial").unwrap();
    let path = partial.path().to_path_buf();
    fs::create_dir(&path).unwrap();
    let (begins, begun) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        for file in 0..100_000 {
            if fs::write(path.join(file.to_string()), "").is_err() {
                return;
            }
            // Nobody hears of those behind the first ones.
            let _ = (file == 1000).then(|| begins.send(()));
        }
    });
    begun.recv().unwrap();
    drop(partial);
    writer.join().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
