//! The example experiment runs, is checked, and can be stopped.

#[path = "../examples/clock_read.rs"]
mod clock_read;

use clock_read::ClockRead;
use experiment::{
    Conditions, Disk, Error, Experiment, Folder, Memory, Progress, Request, Settings, World,
};
use recording::Recording;
use std::sync::Arc;

fn request() -> Request<'static> {
    Request {
        world: World::Host,
        settings: Settings::new(
            ClockRead.about(),
            World::Host,
            [("rounds".to_owned(), "3".to_owned())],
        )
        .unwrap(),
        platforms: Box::leak(Box::new(Folder("platforms".into()))),
        conditions: Conditions::default(),
        source_tree: None,
        kept: None,
    }
}

#[test]
fn it_measures_and_refuses_what_it_does_not_know() {
    assert!(clock_read::median(&[("rounds", "2"), ("reads", "100")]).unwrap() > 0.0);
    let said = clock_read::median(&[("round", "2")])
        .unwrap_err()
        .to_string();
    assert!(said.contains("no setting `round`"), "{said}");
}

#[test]
fn rows_go_to_disk_as_they_go_to_memory() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("disk-sink-{}", std::process::id()));
    let mut sink = Disk::new(&folder, Arc::default());
    ClockRead.run(&request(), &mut sink).unwrap();
    assert!(
        !folder.exists(),
        "a recording is there only when it is whole"
    );
    sink.finish().unwrap();
    let read = Recording::read(&folder).unwrap();
    assert_eq!(
        (read.header.experiment.as_str(), read.measures().len()),
        ("clock-read", 3)
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn it_stops_when_it_is_told_to() {
    let progress: Arc<Progress> = Arc::default();
    progress.cancel();
    let result = ClockRead.run(&request(), &mut Memory::new(progress));
    assert!(matches!(result, Err(Error::Cancelled)));
}
