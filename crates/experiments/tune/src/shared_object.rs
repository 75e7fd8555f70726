//! A loop of a shared object, with what it claims looked at before anything is called.
#![expect(unsafe_code, reason = "a shared object is called by its C interface")]

use crate::protocol::{KnobAbout, KnobKind, LoopAbout};
use itertools::Itertools;
use std::ffi::c_void;
use std::path::Path;
use stopwatt_loop::{
    ABI, AFTER_NONE, CHOICE, DISTANCE, KNOBS_MAX, Knob, LINE, LoopTable, RESULTS, Results, SYMBOL,
};
use worker_process::Wrong;
use worker_process::shared_object::{function, tables, text};

/// Most bytes of a record.
const RECORD_MAX: u64 = 1 << 20;

/// A loop whose table was looked at. The shared object stays loaded as long as the process lives.
pub struct SharedLoop {
    table: LoopTable,
    /// The loop's number in its shared object.
    number: u32,
    results: Option<Results>,
    /// Description of the shared loop.
    pub about: LoopAbout,
}

/// Records, and the state that belongs to them.
pub struct SharedRecords {
    state: *mut c_void,
    tear_down: Option<unsafe extern "C" fn(*mut c_void)>,
    /// The records' pointers.
    pub records: Vec<*mut c_void>,
}

impl Drop for SharedRecords {
    fn drop(&mut self) {
        if let Some(tear_down) = self.tear_down {
            // SAFETY: the state is from this loop's `set_up`, and is not used again.
            unsafe { tear_down(self.state) };
        }
    }
}

/// True for a name that tables and sources can have.
fn is_printable(name: &str) -> bool {
    !name.chars().any(document::unprintable)
}

/// Checks a knob behind those `before` it; what is wrong comes with what would be right.
fn knob_about(
    knob: &Knob,
    own: String,
    define: Option<String>,
    before: &[KnobAbout],
) -> Result<KnobAbout, (String, &'static str)> {
    let kind = match knob.kind {
        DISTANCE => KnobKind::Distance,
        CHOICE => KnobKind::Choice,
        LINE => KnobKind::Line,
        kind => {
            return Err((
                format!("knob `{own}` is of kind {kind}"),
                "STOPWATT_DISTANCE, STOPWATT_CHOICE or STOPWATT_LINE",
            ));
        }
    };
    let range = || format!("knob `{own}` goes from {} to {}", knob.least, knob.most);
    if knob.most != 0 && knob.least > knob.most {
        return Err((range(), "`most` is the larger"));
    }
    if kind == KnobKind::Choice && (knob.least == 0 || knob.most == 0) {
        return Err((range(), "from 1 on"));
    }
    let after = match knob.after {
        AFTER_NONE => None,
        after
            if (after as usize) < before.len()
                && before[after as usize].kind != KnobKind::Choice =>
        {
            Some(after as usize)
        }
        after => {
            return Err((
                format!("knob `{own}` comes after knob {after}"),
                "`after` is the number of a line before it, or STOPWATT_AFTER_NONE",
            ));
        }
    };
    let Knob {
        least, most, today, ..
    } = *knob;
    Ok(KnobAbout {
        name: own,
        define,
        kind,
        least,
        most,
        today,
        after,
    })
}

/// What a table says of its loop, if it can be so.
fn checked(table: &LoopTable, name: String, shown: &str) -> Result<LoopAbout, Wrong> {
    let told = document::printable(&name);
    let refused =
        |what: &str, help: &str| Err(Wrong::new(format!("{shown}, loop `{told}`: {what}"), help));
    if name.is_empty() || !is_printable(&name) {
        return refused(
            "it has no name of printable letters",
            "`name` is what tables call it",
        );
    }
    let count = table.knobs as usize;
    if !(1..=KNOBS_MAX).contains(&count) || table.knob.is_null() {
        return refused(
            &format!("it has {count} knobs"),
            &format!("1 to {KNOBS_MAX}, and `knob` points to them"),
        );
    }
    if table.set_up.is_none() || table.run.is_none() {
        return refused(
            "`set_up` or `run` is missing",
            "both are needed; `tear_down` may be NULL",
        );
    }
    if !(1..=RECORD_MAX).contains(&table.record_bytes) {
        return refused(
            &format!("`record_bytes` is {}", table.record_bytes),
            "64 for each cache line that run() touches of a record",
        );
    }
    // SAFETY: the interface says that `knob` points to that number of knobs.
    let raw = unsafe { std::slice::from_raw_parts(table.knob, count) };
    let mut knobs: Vec<KnobAbout> = Vec::new();
    for knob in raw {
        // SAFETY: names end, by the interface.
        let (own, define) = unsafe { (text(knob.name), text(knob.define)) };
        let own = own.unwrap_or_default();
        if own.is_empty() || knobs.iter().any(|other| other.name == own) {
            return refused(
                &format!("a knob is called `{own}`"),
                "each knob has a name of its own",
            );
        }
        if let Some(name) = [Some(&own), define.as_ref()]
            .into_iter()
            .flatten()
            .find(|name| !is_printable(name))
        {
            return refused(
                &format!("a knob is called `{}`", document::printable(name)),
                "names are of printable letters, in one line",
            );
        }
        let about = knob_about(knob, own, define, &knobs)
            .map_err(|(what, help)| Wrong::new(format!("{shown}, loop `{name}`: {what}"), help))?;
        knobs.push(about);
    }
    if knobs.iter().all(|knob| knob.kind == KnobKind::Line) {
        return refused(
            "no knob is a distance or a choice",
            "one STOPWATT_DISTANCE or STOPWATT_CHOICE at least: there is nothing to tune otherwise",
        );
    }
    let most_records = (table.most_records > 0).then_some(table.most_records);
    Ok(LoopAbout {
        name,
        knobs,
        record_bytes: table.record_bytes,
        most_records,
    })
}

impl SharedLoop {
    /// Loads a shared object, and takes the loop of a name, or its first.
    ///
    /// # Errors
    /// It cannot be loaded, is not of this interface, or describes what cannot be.
    pub fn open(path: &Path, name: Option<&str>) -> Result<Self, Wrong> {
        let shown = path.display();
        // SAFETY: the process is there for this loop, and stopwatt_loop.h says that of its
        // function.
        let tables = unsafe { tables::<LoopTable>(path, SYMBOL, ABI, "stopwatt_loop.h") }?;
        let mut names = Vec::new();
        for (number, table) in (0..).zip(tables) {
            let table = table?;
            // SAFETY: names end, by the interface.
            let own = unsafe { text(table.name) }.unwrap_or_default();
            if name.is_none_or(|name| name == own) {
                // SAFETY: as above.
                let results = unsafe { function(path, RESULTS) };
                return Ok(Self {
                    about: checked(&table, own, &shown.to_string())?,
                    table,
                    number,
                    results,
                });
            }
            names.push(own);
        }
        match name {
            Some(name) => {
                let names = names.iter().map(|name| format!("`{name}`")).join(", ");
                Err(Wrong::new(
                    format!("{shown} has no loop `{name}`"),
                    format!("it has {names}"),
                ))
            }
            None => Err(Wrong::new(
                format!("{shown} has no loop"),
                "stopwatt_loop(0) returned NULL",
            )),
        }
    }

    /// Makes records; `None` if the loop says that there is no memory.
    pub fn set_up(&self, count: u64, seed: u64) -> Option<SharedRecords> {
        let mut records = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: there is room for `count` pointers.
        let state = unsafe { self.table.set_up?(count, seed, records.as_mut_ptr()) };
        (!state.is_null()).then(|| SharedRecords {
            state,
            tear_down: self.table.tear_down,
            records,
        })
    }

    /// Works on some records of `of`, with a value for each knob.
    #[inline(always)]
    pub fn run(&self, of: &SharedRecords, records: &[*mut c_void], values: &[u32]) {
        if let Some(run) = self.table.run {
            // SAFETY: the state is from this loop, the records are among its own, and there are as
            // many values as knobs: `Worker::measure` sees to that.
            unsafe {
                run(
                    of.state,
                    records.as_ptr(),
                    records.len() as u64,
                    values.as_ptr(),
                )
            };
        }
    }

    /// True if the loop says itself what came of a record.
    pub fn has_results(&self) -> bool {
        self.results.is_some()
    }

    /// What came of a record of `of`, as a number; 0 where the loop does not say it.
    pub fn results(&self, of: &SharedRecords, record: *mut c_void) -> u64 {
        // SAFETY: the state is from this loop, and the record is among its own.
        let said = |results: Results| unsafe { results(self.number, of.state, record) };
        self.results.map_or(0, said)
    }
}
