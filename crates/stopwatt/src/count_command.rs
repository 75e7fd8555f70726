//! `stopwatt count`: passages of any bare-metal image, by function.

use crate::answer::Answer;
use crate::recordings::{self, Request};
use crate::report_command::{self, TellingOptions};
use clap::Args;
use console::Console;
use document::nearest;
use itertools::Itertools;
use miette::{IntoDiagnostic, Result, bail, miette};
use psci_experiments::passages::{self, CountedPassages};
use published::Published;
use qemu::Symbols;
use qemu::count::{self, Passage};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of `count`.
#[derive(Args)]
#[command(max_term_width = 100)]
#[command(after_help = "Examples:
  stopwatt count app.elf --from handle_packet                           until it returns, each time
  stopwatt count app.elf --from irq_entry --to irq_exit --passages 100
  stopwatt count bl31.elf --from bl31_main --report boot.html -- -M virt,secure=on -cpu cortex-a72 -bios flash.bin

The image runs on QEMU until it has made the passages, is off, or its time is over. What follows -- is for QEMU. What it leaves
open is `-M virt -cpu cortex-a57 -icount shift=0,sleep=off`, with the console on standard output and no network; and without an
option that starts something else, such as -bios, the image is started by -kernel. A passage lies on one CPU, and counts all that
runs there from its first instruction to its last, interrupts too.")]
pub struct CountOptions {
    /// ELF file of the image, with its symbols; that of a release build will do.
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
    /// The begin of a passage: a symbol, or an address such as 0x40080000.
    #[arg(long, value_name = "SYMBOL")]
    from: String,
    /// The end, before this is executed; may be given again. By default it ends with the
    /// return from FROM. A passage that is not at its end when FROM, which has returned, begins
    /// again is left out.
    #[arg(long, value_name = "SYMBOL")]
    to: Vec<String>,
    /// Passages to count.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    passages: u64,
    /// Seconds after which the machine is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: u64,
    /// Folder of the recording [default: recordings/count and what was asked for].
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    told: TellingOptions,
    /// Options of QEMU.
    #[arg(last = true, value_name = "QEMU OPTIONS", allow_hyphen_values = true)]
    qemu: Vec<String>,
}

/// Counts, leaves a recording, and prints what is read from it.
pub fn run(console: &Console, options: &CountOptions) -> Result<Answer> {
    let symbols = Symbols::read(&options.image).into_diagnostic()?;
    let from = address(&symbols, "--from", &options.from)?;
    let to = options
        .to
        .iter()
        .map(|to| address(&symbols, "--to", to))
        .collect::<Result<Vec<u64>>>()?;
    let how = options.told.telling()?;
    let asked = asked(options);
    let folder = options
        .output
        .clone()
        .unwrap_or_else(|| recordings::default_folder(passages::EXPERIMENT, &asked));
    recordings::check_target(
        &folder,
        passages::EXPERIMENT,
        "qemu",
        &asked,
        options.told.replace,
    )?;

    let arguments = count::arguments(&options.image, &options.qemu);
    let passage = Passage {
        from,
        to,
        most: options.passages,
        limit: Duration::from_secs(options.limit),
    };
    let progress: Arc<console::Progress> = Arc::default();
    let counted = {
        let _shown = console.show(progress.clone());
        progress.say(&format!("running {}", options.image.display()));
        console.tell(&format!("qemu-system-aarch64 {}", arguments.join(" ")));
        count::run(&arguments, &passage, || progress.check().is_err()).into_diagnostic()?
    };
    if progress.check().is_err() {
        bail!("stopped; nothing was kept");
    }
    let counts = &counted.counts;
    if counts.passages.is_empty() {
        return Err(nothing(options, &counted));
    }
    let image = options
        .image
        .file_stem()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = match options.to.as_slice() {
        [] => options.from.clone(),
        to => format!("{} to {}", options.from, to.join(" or ")),
    };
    let of = CountedPassages {
        image: &image,
        name: &name,
        arguments: &arguments,
        counts,
    };
    let mut recording = passages::recording(&of, &symbols);
    let more = std::mem::take(&mut recording.header.run.more);
    recording.header.run = provenance::this_run();
    recording.header.run.more.extend(more);
    recording.header.request = asked;
    let written = recordings::write(&mut recording, &folder);
    report_command::tell(
        console,
        &Published::default(),
        &recording,
        Some((&folder, written)),
        &how,
    )?;
    Ok(Answer::Yes)
}

/// The address of a symbol, or the one that is given.
fn address(symbols: &Symbols, option: &str, given: &str) -> Result<u64> {
    if let Some(address) = symbols.address(given) {
        return Ok(address);
    }
    if let Some(address) = given
        .strip_prefix("0x")
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
    {
        return match address % 4 {
            0 => Ok(address),
            _ => Err(miette!(
                help = "name a multiple of 4",
                "{option} {given}: no instruction begins at this address"
            )),
        };
    }
    // A part of the name, such as a method without its type, is what people remember.
    let mut holding = symbols
        .names()
        .filter(|name| name.contains(given))
        .collect_vec();
    holding.sort_by_key(|name| name.len());
    holding.truncate(5);
    let help = match (nearest(given, symbols.names()), holding.as_slice()) {
        (Some(near), []) => format!("did you mean {near}?"),
        (_, []) => "name a function as `nm` prints it, or an address such as 0x40080000".to_owned(),
        (_, holding) => format!("did you mean one of these? {}", holding.join(", ")),
    };
    Err(miette!(
        help = help,
        "{option} {given}: the image has no such function"
    ))
}

/// The error of a machine that made no passage.
fn nothing(options: &CountOptions, counted: &count::CountResult) -> miette::Report {
    let end = if counted.is_off {
        "before the machine was off".to_owned()
    } else {
        format!("in {} s", options.limit)
    };
    let last: String = counted
        .last
        .iter()
        .map(|line| format!("\n  | {line}"))
        .collect();
    let last = if last.is_empty() {
        "; it printed nothing".to_owned()
    } else {
        format!("; its last output:{last}")
    };
    if counted.counts.has_begun {
        let help = if options.to.is_empty() {
            "say with --to where the passage ends, or give it more time with --limit"
        } else {
            "leave --to out to count until the function returns, or give it more time with --limit"
        };
        return miette!(
            help = help,
            "a passage began at {}, but none ended {end}{last}",
            options.from
        );
    }
    miette!(
        help = "see if the machine is the one that the image is for: its options stand behind --, such as -- -M virt,secure=on",
        "{} was not executed {end}{last}",
        options.from
    )
}

/// The request, as the recording keeps it.
fn asked(options: &CountOptions) -> Request {
    let mut asked = Request::new();
    asked.insert("image".to_owned(), options.image.display().to_string());
    asked.insert("from".to_owned(), options.from.clone());
    let more = [
        ("to", options.to.join(",")),
        ("qemu", options.qemu.join(" ")),
    ];
    asked.extend(
        more.into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| (key.to_owned(), value)),
    );
    if options.passages != 1000 {
        asked.insert("passages".to_owned(), options.passages.to_string());
    }
    asked
}
