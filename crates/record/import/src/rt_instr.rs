//! UART logs of the Trusted Firmware-A test framework.

use crate::error::{ImportError, printable};
use crate::figures::{self, Figure, Figures};
use crate::text::{Cleaned, contains};
use crate::{Options, names, runs};
use itertools::Itertools;
use memchr::memmem;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};

const BEGIN: &[u8] = b"<RT_INSTR:";
const END: &[u8] = b"/>";
/// The framework's own lines have less than 120 bytes.
const LONGEST: usize = 512;
/// A longer line is read as several.
const LONGEST_LINE: u64 = 1 << 20;
/// What firmware, the test framework and Linux print first when a machine starts.
const BOOTS: [&[u8]; 6] = [
    b"BL1: v",
    b"BL2: v",
    b"BL31: v",
    b"Booting Trusted Firmware",
    b"Booting trusted firmware test framework",
    b"Booting Linux on physical CPU",
];
const RIGHT: &str = "a line is <RT_INSTR:test, cluster, core, powerdown, wakeup, cache flush/>, parted by tabs, times in \
                     nanoseconds; that of the version test has one time";

/// Reads the lines that the runtime-instrumentation tests print, out of whatever else is in the
/// log.
///
/// A test that was run again is the next iteration; where a line of a run was lost, the other lines
/// say which run a line is of. A test that comes again after the machine started anew is of another
/// run. Times are in nanoseconds, as printed.
///
/// # Errors
/// The log cannot be read; it has no such line; without `lenient`, a line that is cut short or
/// garbled.
pub fn rt_instr(log: impl Read, options: &Options) -> Result<Figures, ImportError> {
    // A line of the framework that a mail broke has no end yet.
    let is_rest = |line: &[u8], next: &[u8]| {
        let begun = memmem::rfind(line, BEGIN).is_some_and(|at| !contains(&line[at..], END));
        begun && !contains(next, BEGIN) && contains(next, END)
    };
    let mut log = BufReader::new(Cleaned::new(log, Some(is_rest)));
    let mut found = Figures::default();
    let (mut line, mut boots, mut bytes) = (1_u64, Boots::default(), Vec::new());
    loop {
        if let Err(error) = log
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)
        {
            return Err(ImportError::unreadable(&options.file, &error));
        }
        if bytes.is_empty() {
            break;
        }
        let is_boot = BOOTS.iter().any(|mark| contains(&bytes, mark));
        boots.boot += u32::from(is_boot);
        let begins = memmem::find_iter(&bytes, BEGIN).collect_vec();
        for (at, begin) in begins.iter().enumerate() {
            let text =
                &bytes[begin + BEGIN.len()..begins.get(at + 1).copied().unwrap_or(bytes.len())];
            let end = memmem::find(text, END).filter(|end| *end < LONGEST);
            let text = &text[..end.unwrap_or(text.len().min(LONGEST))];
            take(&mut found, text, end.is_some(), line, &mut boots, options)?;
        }
        line += u64::from(bytes.ends_with(b"\n"));
        bytes.clear();
    }
    let mut found = found.finish(options, true)?;
    found.doubts = runs::number(&mut found.figures, options);
    found
        .doubts
        .extend(figures::implausible(&found.figures, options));
    Ok(found)
}

/// The run of each line, where a log holds several boots. A suite may start the machine for each of
/// its tests, so a run is over where a line comes again that stood before the last start.
#[derive(Default)]
struct Boots {
    boot: u32,
    run: u32,
    /// The boot in which each line of the run came first.
    lines: HashMap<TestLine, u32>,
}

/// The cluster and core, the case and the mode of a line.
type TestLine = (Option<(u16, u16)>, String, String);

impl Boots {
    fn run_of(&mut self, line: &Figure) -> u32 {
        let key = (line.place, line.case.clone(), line.mode.clone());
        if self.lines.get(&key).is_some_and(|boot| *boot < self.boot) {
            self.run += 1;
            self.lines.clear();
        }
        self.lines.entry(key).or_insert(self.boot);
        self.run
    }
}

/// Takes what stands behind the mark, up to its end or to where it breaks off.
fn take(
    found: &mut Figures,
    text: &[u8],
    whole: bool,
    line: u64,
    boots: &mut Boots,
    options: &Options,
) -> Result<(), ImportError> {
    let text = String::from_utf8_lossy(text);
    let mut read = if whole {
        parse(&text, line, options)
    } else {
        Err("the line is cut short: `/>` is missing".to_owned())
    };
    if let Ok(figures) = &mut read {
        let run = figures.first().map_or(0, |first| boots.run_of(first));
        figures.iter_mut().for_each(|figure| figure.run = run);
    }
    let wrong = |message| {
        let shown = format!("<RT_INSTR:{}", text.trim_end());
        ImportError::new(&options.file, line, &shown, message, RIGHT)
    };
    found.take(read.map_err(wrong), options)
}

/// The case of a line of `board/rt-instr`: an idle state of Linux, by its number.
fn of_linux(test: &str) -> Option<(String, &'static str)> {
    let state: u8 = test.strip_prefix("linux_idle_state")?.parse().ok()?;
    Some((format!("idle-state{state}"), names::LINUX))
}

fn parse(text: &str, line: u64, options: &Options) -> Result<Vec<Figure>, String> {
    // Terminal programs turn tabs into blanks; LAVA writes a line as a text in quotes, with marks
    // for them.
    let text = text.replace("\\t", "\t");
    let fields = text.split_whitespace().collect_vec();
    let [test, cluster, core, times @ ..] = fields.as_slice() else {
        return Err(format!(
            "{} fields where there must be 4 or 6",
            fields.len()
        ));
    };
    let (case, mode) = names::of_test(test)
        .map(|(case, mode)| (case.to_owned(), mode))
        .or_else(|| of_linux(test))
        .ok_or_else(|| {
            format!(
                "`{}` is no known test; there are: {}, and linux_idle_stateN",
                printable(test),
                figures::known_tests()
            )
        })?;
    let metrics: &[&str] = if case == "psci-version" {
        &[recording::metrics::LATENCY.name]
    } else {
        &names::LATENCIES
    };
    if times.len() != metrics.len() {
        return Err(format!(
            "{} times where {test} has {}",
            times.len(),
            metrics.len()
        ));
    }
    let number = |text: &str, what: &str| {
        text.parse::<u16>()
            .map_err(|_| format!("`{}` is no number of a {what}", printable(text)))
    };
    let place = (number(cluster, "cluster")?, number(core, "core")?);
    figures::known_place(place, options)?;
    let mut read = Vec::with_capacity(metrics.len());
    for (metric, time) in metrics.iter().zip(times) {
        let time: u64 = time
            .parse()
            .map_err(|_| format!("`{}` is not a whole number of nanoseconds", printable(time)))?;
        figures::plausible(time as f64, "ns")?;
        read.push(Figure {
            variant: options.variant.clone(),
            case: case.clone(),
            mode: mode.to_owned(),
            place: Some(place),
            metric: (*metric).to_owned(),
            value: time as f64,
            unit: "ns".to_owned(),
            line,
            ..Figure::default()
        });
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::MOST_FIGURES;

    /// Runs of a parallel suspend on CPUs 0.0 to 0.2; `lost` are the run and the core of lines that
    /// are not there. The time is the run.
    fn log(runs: u32, lost: &[(u32, u16)]) -> String {
        let line = |test: &str, core: u16, run: u32| {
            format!("<RT_INSTR:{test}\t0\t{core}\t{}\t20\t5/>\n", 1000 + run)
        };
        let mut log = String::new();
        for run in 0..runs {
            for test in [
                "test_rt_instr_susp_deep_parallel",
                "test_rt_instr_cpu_susp_serial",
            ] {
                let cores =
                    (0..3).filter(|&core| test.ends_with("serial") || !lost.contains(&(run, core)));
                cores.for_each(|core| log += &line(test, core, run));
            }
        }
        log
    }

    /// Lines of the module in `board/rt-instr`, from Debian's kernel on QEMU.
    #[test]
    fn power_downs_of_linux_are_a_case_for_each_state() {
        let log = "<RT_INSTR:linux_idle_state4\t0\t3\t18016\t14016\t5264/>\n<RT_INSTR:linux_idle_state2\t1\t0\t9000\t8000\t0/>\n";
        let figures = rt_instr(log.as_bytes(), &Options::default())
            .unwrap()
            .figures;
        let cases: Vec<(&str, &str)> = figures
            .iter()
            .map(|of| (of.case.as_str(), of.mode.as_str()))
            .collect();
        assert_eq!(
            [cases[0], cases[3]],
            [("idle-state4", "linux"), ("idle-state2", "linux")]
        );
        // A CPU that slept more often than another is no doubt.
        let more = log.replace("0\t3", "0\t1") + &log.repeat(3);
        let doubts = rt_instr(more.as_bytes(), &Options::default())
            .unwrap()
            .doubts;
        assert!(
            !doubts
                .iter()
                .any(|doubt| doubt.to_string().contains("has no line")),
            "{doubts:?}"
        );
        for wrong in [
            "linux_idle_state",
            "linux_idle_statex",
            "linux_idle_state400",
        ] {
            let error = rt_instr(
                log.replace("linux_idle_state4", wrong).as_bytes(),
                &Options::default(),
            )
            .unwrap_err();
            assert!(error.to_string().contains("is no known test"), "{error}");
        }
    }

    #[test]
    fn a_lost_line_shifts_no_other_and_is_named() {
        for lost in [
            &[][..],
            &[(3, 0)],
            &[(3, 1)],
            &[(3, 2)],
            &[(0, 0)],
            &[(9, 2)],
            &[(2, 0), (3, 1), (3, 2)],
        ] {
            // With another test between and without it: there only the order tells.
            for log in [
                log(10, lost),
                log(10, lost)
                    .lines()
                    .filter(|l| l.contains("deep"))
                    .map(|l| format!("{l}\n"))
                    .collect(),
            ] {
                // The order of CPUs is not known before they all came once.
                if lost == [(0, 0)] && !log.contains("serial") {
                    continue;
                }
                let found = rt_instr(log.as_bytes(), &Options::default()).unwrap();
                let powerdown = found
                    .figures
                    .iter()
                    .filter(|figure| figure.metric == "powerdown");
                powerdown.for_each(|figure| {
                    assert_eq!(
                        f64::from(figure.iteration),
                        figure.value - 1000.0,
                        "{lost:?}: {figure:?}"
                    )
                });
                let runs: std::collections::BTreeSet<u32> =
                    lost.iter().map(|&(run, _)| run).collect();
                assert_eq!(found.doubts.len(), runs.len(), "{:?}", found.doubts);
            }
        }
        let found = rt_instr(
            log(10, &[(3, 1)]).as_bytes(),
            &Options {
                file: "u".to_owned(),
                ..Options::default()
            },
        )
        .unwrap();
        assert_eq!(
            found.doubts[0].to_string(),
            "u:19: suspend-deepest parallel: run 4 of 10 has no line of CPU 0.1"
        );
    }

    #[test]
    fn a_test_that_comes_again_behind_a_start_is_of_another_run() {
        let boot = "NOTICE:  BL31: v2.12.0(release)\nNOTICE:  BL31: Built\n";
        let runs = |log: &str| {
            let found = rt_instr(log.as_bytes(), &Options::default()).unwrap();
            let recording = crate::record(&found, &Options::default(), "rt-instr");
            let runs = recording.runs();
            let of_run = |run: &recording::Recording| {
                let last = run.measures().iter().map(|measure| measure.iteration).max();
                (run.header.iterations, last)
            };
            runs.iter().map(of_run).collect::<Vec<_>>()
        };
        let four = format!("{boot}{}", log(3, &[])).repeat(4);
        assert_eq!(runs(&four), vec![(3, Some(2)); 4]);
        assert_eq!(runs(&log(12, &[])), [(12, Some(11))]);
        // A boot for each test is one run of the suite.
        let (deep, flat): (Vec<_>, Vec<_>) = {
            let lines = log(2, &[]);
            let lines: Vec<String> = lines.lines().map(|line| format!("{line}\n")).collect();
            lines.into_iter().partition(|line| line.contains("deep"))
        };
        let suite = format!("{boot}{}{boot}{}", deep.concat(), flat.concat());
        assert_eq!(runs(&suite), [(2, Some(1))]);
        assert_eq!(runs(&suite.repeat(2)), [(2, Some(1)); 2]);
    }

    #[test]
    fn a_log_that_is_sorted_by_cpu_counts_each_cpus_lines() {
        let whole = log(10, &[]);
        let mut lines: Vec<&str> = whole.lines().collect();
        lines.sort_by_key(|line| line.split('\t').nth(2).unwrap_or_default().to_owned());
        let found = rt_instr(lines.join("\n").as_bytes(), &Options::default()).unwrap();
        let powerdown = found
            .figures
            .iter()
            .filter(|figure| figure.metric == "powerdown");
        powerdown.for_each(|figure| {
            assert_eq!(
                f64::from(figure.iteration),
                figure.value - 1000.0,
                "{figure:?}"
            )
        });
        assert!(found.doubts.is_empty(), "{:?}", found.doubts);
    }

    #[test]
    fn what_a_measurement_can_hardly_have_given_is_doubted() {
        let doubts = |text: &str| {
            let found = rt_instr(text.as_bytes(), &Options::default()).unwrap();
            found
                .doubts
                .iter()
                .map(|doubt| doubt.to_string())
                .collect::<Vec<_>>()
                .join("\n")
        };
        let line = |test: &str, core: u16, times: &str| {
            format!("<RT_INSTR:test_rt_instr_{test}\t0\t{core}\t{times}/>\n")
        };
        let good = line("cpu_off_serial", 0, "9\t8\t7") + &line("cpu_off_serial", 1, "9\t8\t7");
        assert_eq!(doubts(&good), "");
        assert!(
            doubts(&(good.clone() + &line("cpu_off_serial", 0, "0\t0\t0")))
                .contains(":3: cpu-off serial: all times are 0")
        );
        assert!(
            doubts(&(good.clone() + &line("cpu_off_serial", 0, "7\t8\t9")))
                .contains(":3: cpu-off serial: the cache flush is longer")
        );
        assert!(
            doubts(&(good + &line("cpu_susp_serial", 1, "9\t8\t7")))
                .contains(":3: suspend-level0 serial: only CPU 0.1 of 2")
        );
    }

    #[test]
    fn logs_of_lava_and_of_terminals_with_times_are_read() {
        let line = |text: &str| {
            rt_instr(text.as_bytes(), &Options::default())
                .unwrap()
                .figures
        };
        let plain = line("<RT_INSTR:test_rt_instr_susp_deep_serial\t0\t1\t104500\t23400\t5840/>\n");
        for log in [
            r#"- {"dt": "2026-11-01T10:00:00.1", "lvl": "target", "msg": "<RT_INSTR:test_rt_instr_susp_deep_serial\t0\t1\t104500\t23400\t5840/>"}"#,
            "[2026-11-01 10:00:00.123] <RT_INSTR:test_rt_instr_susp_deep_serial\t0\t1\t104500\t23400\t5840/>\r\n[    1.5] scp: up\n",
            "2026-11-01T10:00:00 bl31: <RT_INSTR:test_rt_instr_susp_deep_serial  0 1 104500 23400 5840/> [   3.1] tty",
        ] {
            assert_eq!(line(log), plain, "{log}");
        }
    }

    #[test]
    fn a_log_of_more_figures_than_a_recording_should_hold_is_refused_and_not_read_to_its_end() {
        let line = "<RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t900/>\n";
        let options = Options {
            lenient: true,
            ..Options::default()
        };
        let full = line.repeat(MOST_FIGURES);
        assert_eq!(
            rt_instr(full.as_bytes(), &options).unwrap().figures.len(),
            MOST_FIGURES
        );
        let endless = std::io::BufReader::new(std::io::Read::chain(full.as_bytes(), Endless(line)));
        assert!(
            rt_instr(endless, &options)
                .unwrap_err()
                .message
                .contains("more than 1000 figures")
        );
    }

    /// A log that never ends.
    struct Endless(&'static str);

    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.0.as_bytes()[..length]);
            Ok(length)
        }
    }
}
