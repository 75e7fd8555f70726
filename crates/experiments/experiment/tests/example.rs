//! The example experiment runs, is checked, and can be stopped.

#[path = "../examples/clock_read.rs"]
mod clock_read;

use clock_read::ClockRead;
use experiment::{
    Conditions, Error, Experiment, Folder, Observer, Progress, Request, Settings, World,
};
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
fn it_stops_when_it_is_told_to() {
    let progress: Arc<Progress> = Arc::default();
    progress.cancel();
    let result = ClockRead.run(&request(), &Observer::new(progress));
    assert!(matches!(result, Err(Error::Cancelled)));
}
