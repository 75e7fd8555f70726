//! Reads files of rt-app as tasks of the small simulated kernel.
//!
//! rt-app's files are nearly JSON: keys may repeat, there may be comments and a comma after the
//! last element, and an event that needs no value may stand alone. What the kernel cannot simulate
//! is refused with its place in the file.
//!
//! ```
//! use document::Document;
//!
//! let text = r#"{ "tasks": { "music": { "run": 500, "timer": { "ref": "unique", "period": 6000 } } } }"#;
//! let file = workload::read(&Document::new("music.json", text), &workload::Options::default())?;
//! assert_eq!(file.workload.tasks[0].name, "music");
//!
//! let wrong = r#"{ "tasks": { "music": { "runs": 500 } } }"#;
//! let wrong = Document::new("music.json", wrong);
//! let error = workload::read(&wrong, &workload::Options::default()).unwrap_err();
//! assert!(error.to_string().starts_with("music.json:1: `runs` is not an event"));
//! assert!(error.help_text().unwrap().starts_with("did you mean run?"));
//! # Ok::<(), document::Error>(())
//! ```
//!
//! | object | keys |
//! |---|---|
//! | the file | `tasks`, `resources` (old; what is in it needs no declaration any more), `global` |
//! | `global` | `duration` (s, -1 for no end), `default_policy`; `calibration`, `logdir`, `log_basename`, `log_size`, `ftrace`, `gnuplot`, `lock_pages`, `io_device`, `mem_buffer_size`, `cumulative_slack` have no effect here |
//! | a task | `instance`, `delay` (us), `loop` (-1 for ever), `policy` (`SCHED_OTHER`, `SCHED_FIFO`), `priority`, `cpus`, `util_min`, `util_max` (only where they do nothing), `taskgroup`, `phases` or events |
//! | a phase | `loop`, `cpus`, `taskgroup`, events; `policy` and `priority` only as the task's |
//!
//! | event | does |
//! |---|---|
//! | `run` | work that takes the number of us on a core of the calibration's capacity |
//! | `runtime`, `sleep` | computes or sleeps for the number of us |
//! | `timer` | `{ref, period, mode}`: waits for the next period; late periods start anew in mode `relative`, which is the default, and are caught up with in `absolute`. A name that begins with `unique` is a timer for each instance; another one is moved on by every thread that names it |
//! | `lock`, `unlock`, `wait`, `signal`, `broad`, `sync`, `barrier`, `sem_post`, `sem_wait` | as in POSIX threads; a task that locks a mutex twice waits for itself; a barrier waits for as many as name it, each instance counts |
//! | `suspend`, `resume` | sleeps until what it names is resumed, without a name its own task; a resume wakes all who are suspended on that name, and is lost if none is |
//! | `yield`, `fork` | lets others run; starts a copy of a task |
//! | `mem`, `memrun`, `iorun` | bytes that are written: work, if [`Options`] say how many are written in a microsecond |
//!
//! A key may end in a number (`run0`, `timer12`). What rt-app does not have begins with
//! `stopwatt_`:
//!
//! | key | where | does |
//! |---|---|---|
//! | `stopwatt_settings` | `global` | `{name: integer}`: numbers that the command line may change; `"$name"` stands for one where an integer is due |
//! | `stopwatt_capacity` | `global` | the capacity of the core that `run` is calibrated on, if [`Options::capacity`] does not say |
//! | `stopwatt_main` | task | 1: the run is over when all tasks of this kind have ended. Without any, it is over when all tasks have, if all do |
//! | `stopwatt_pin` | task | 1: instance n runs on CPU n only, counted round |
//! | `stopwatt_step` | in `timer` | us that each instance's period is longer than that of the one before |
//! | `stopwatt_run`, `stopwatt_sleep` | event | `{low, high}`: as `run` and `sleep`, any length between the two; `{mean}`: the gap between independent events |
//! | `stopwatt_close` | event | closes the number of files, each a callback |
//! | `stopwatt_process` | event | the number of lives of a small process, in callbacks |
//!
//! | file | what it is about |
//! |---|---|
//! | `options.rs` | what the reader is told beside the file |
//! | `values.rs` | integers, strings and objects of a file, checked |
//! | `names.rs` | the objects that tasks share, by name |
//! | `class.rs` | scheduling policies by name |
//! | `global.rs`, `task.rs`, `event.rs` | the parts of a file |
//! | `file.rs` | the whole file |
#![forbid(unsafe_code)]

mod class;
mod event;
mod file;
mod global;
mod names;
mod options;
mod task;
mod values;

pub use file::{File, read};
pub use options::Options;
