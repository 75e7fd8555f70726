//! The form that the published tables take, whichever way they come in.

use experiment::Folder;
use import::{Figure, Figures, Options, csv_table, record, rst, rt_instr};
use published::{Cell, PsciReference};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Cluster and core of Juno's CPUs, by number: 0 to 3 little, 4 and 5 big, as the 2017 document
/// says.
const JUNO: [(u16, u16); 6] = [(1, 0), (1, 1), (1, 2), (1, 3), (0, 0), (0, 1)];

const CASES: [(&str, &str, &str); 6] = [
    (
        "suspend-deepest",
        "parallel",
        "test_rt_instr_susp_deep_parallel",
    ),
    (
        "suspend-level0",
        "parallel",
        "test_rt_instr_cpu_susp_parallel",
    ),
    (
        "suspend-deepest",
        "serial",
        "test_rt_instr_susp_deep_serial",
    ),
    ("suspend-level0", "serial", "test_rt_instr_cpu_susp_serial"),
    ("cpu-off", "serial", "test_rt_instr_cpu_off_serial"),
    (
        "psci-version",
        "parallel",
        "test_rt_instr_psci_version_parallel",
    ),
];

fn reference_csv() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../data/published/juno-psci.csv")
}

fn reference() -> Vec<Cell> {
    let files = Folder(reference_csv().with_file_name(""));
    PsciReference::read(&files, "juno-psci.toml").unwrap().cells
}

fn options(file: &str) -> Options {
    Options {
        file: file.to_owned(),
        variant: "juno-2017".to_owned(),
        prefix: "juno-".to_owned(),
        cpus: Some(JUNO.to_vec()),
        ..Options::default()
    }
}

fn find<'c>(
    cells: &'c [Cell],
    release: &str,
    (case, mode): (&str, &str),
    place: (u16, u16),
    metric: &str,
) -> &'c Cell {
    cells
        .iter()
        .find(|cell| {
            (
                cell.release.as_str(),
                cell.case.as_str(),
                cell.mode.as_str(),
            ) == (release, case, mode)
                && (cell.cluster, cell.core, cell.metric.as_str()) == (place.0, place.1, metric)
        })
        .unwrap_or_else(|| panic!("{release} {case} {mode} {place:?} {metric} is not published"))
}

/// Every figure is the published cell, unit and printed change included, and no cell is missing.
fn assert_equal_to(figures: &[Figure], cells: &[Cell]) {
    assert_eq!(figures.len(), cells.len());
    for figure in figures {
        let case = (figure.case.as_str(), figure.mode.as_str());
        let cell = find(
            cells,
            &figure.variant,
            case,
            figure.place.unwrap(),
            &figure.metric,
        );
        assert_eq!(
            (
                figure.value,
                figure.unit.as_str(),
                figure.printed_change_percent
            ),
            (
                cell.published,
                cell.unit.as_str(),
                cell.printed_change_percent
            ),
            "{figure:?}"
        );
        assert_eq!(figure.cpu.map(|cpu| JUNO[usize::from(cpu)]), figure.place);
    }
    let mut names: Vec<_> = figures
        .iter()
        .map(|f| {
            format!(
                "{} {} {} {:?} {}",
                f.variant, f.case, f.mode, f.place, f.metric
            )
        })
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), cells.len(), "a cell came twice");
}

/// The log that the framework would have printed, for the published figures of a release.
fn log(cells: &[Cell], release: &str) -> String {
    let mut text = String::from("NOTICE:  Booting Trusted Firmware\nNOTICE:  BL1: v2.12\n");
    for (case, mode, test) in CASES {
        let _ = writeln!(
            text,
            "> Executing 'Runtime Instrumentation'\nSTART\t<{test}>"
        );
        for place in JUNO {
            let metrics: &[&str] = if case == "psci-version" {
                &["latency"]
            } else {
                &["powerdown", "wakeup", "cache_flush"]
            };
            let times: Vec<String> = metrics
                .iter()
                .map(|metric| find(cells, release, (case, mode), place, metric))
                .map(|cell| format!("{:02}", (cell.value_us * 1e3).round() as u64))
                .collect();
            let _ = writeln!(
                text,
                "<RT_INSTR:{test}\t{}\t{}\t{}/>\r",
                place.0,
                place.1,
                times.join("\t")
            );
        }
    }
    text
}

/// A table in the layout of the 2017 document or of the later ones.
fn table(
    cells: &[Cell],
    release: &str,
    (case, mode): (&str, &str),
    by_cpu: bool,
    damaged: bool,
) -> String {
    let version = case == "psci-version";
    let ns = find(
        cells,
        release,
        (case, mode),
        (0, 0),
        if version { "latency" } else { "powerdown" },
    )
    .unit
        == "ns";
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut header: Vec<String> = if by_cpu {
        vec!["CPU".to_owned()]
    } else {
        vec!["Cluster".to_owned(), "Core".to_owned()]
    };
    header.extend(match (version, by_cpu) {
        (true, true) => vec![format!("TOTAL TIME ({})", if ns { "ns" } else { "us" })],
        (true, false) => vec!["Latency".to_owned()],
        (false, true) => ["PSCI_ENTRY", "PSCI_EXIT", "CFLUSH_OVERHEAD"]
            .map(|name| format!("``{name}`` (us)"))
            .to_vec(),
        (false, false) => ["Powerdown", "Wakeup", "Cache Flush"]
            .map(str::to_owned)
            .to_vec(),
    });
    rows.push(header);
    for (cpu, place) in JUNO.into_iter().enumerate() {
        let mut row = if by_cpu {
            vec![cpu.to_string()]
        } else {
            vec![place.0.to_string(), place.1.to_string()]
        };
        let metrics: &[&str] = if version {
            &["latency"]
        } else {
            &["powerdown", "wakeup", "cache_flush"]
        };
        for metric in metrics {
            let cell = find(cells, release, (case, mode), place, metric);
            let change = cell
                .printed_change_percent
                .map_or_else(String::new, |percent| format!(" ({percent:+.2}%)"));
            row.push(format!("{}{change}", cell.published));
        }
        rows.push(row);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap())
        .collect();
    let rule = |mark: &str| {
        let parts: Vec<String> = widths.iter().map(|width| mark.repeat(width + 2)).collect();
        format!(
            "{}+{}+\n",
            if damaged { "" } else { "    " },
            parts.join("+")
        )
    };
    let mut text = rule("-");
    for (index, row) in rows.iter().enumerate() {
        let parts: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| {
                if damaged {
                    format!(" {cell} ")
                } else {
                    format!(" {cell:<width$} ")
                }
            })
            .collect();
        let _ = write!(
            text,
            "{}|{}|\n{}",
            if damaged { "" } else { "    " },
            parts.join("|"),
            rule(if index == 0 { "=" } else { "-" })
        );
    }
    text
}

fn title(case: &str, mode: &str) -> String {
    let where_to = if case == "suspend-deepest" {
        "deepest power level"
    } else {
        "power level 0"
    };
    match case {
        "cpu-off" => {
            "``CPU_OFF`` on all non-lead CPUs in sequence then ``CPU_SUSPEND`` on lead CPU to deepest power level"
                .to_owned()
        }
        "psci-version" => "``PSCI_VERSION`` on all CPUs in parallel".to_owned(),
        _ => {
            format!("``CPU_SUSPEND`` to {where_to} on all CPUs in {}", if mode == "serial" { "sequence" } else { mode })
        }
    }
}

/// A document like that of 2017: a table a section, CPUs by number, the release named by none.
fn document_of_2017(cells: &[Cell], damaged: bool) -> String {
    let blank = if damaged { "" } else { "\n" };
    let mut text = "Measurements\n============\n+--------+-----+\n| Domain | MHz |\n+========+=====+\n| A57    | 900 |\n+--------+-----+\n".to_owned();
    for (case, mode, _) in CASES {
        let title = title(case, mode);
        let table = table(cells, "juno-2017", (case, mode), true, damaged);
        let _ = write!(
            text,
            "{title}\n{}\n{blank}{table}{blank}Words on it.\n{blank}",
            "~".repeat(title.len())
        );
    }
    text
}

/// A document like the later ones: captions that name the release, CPUs by cluster and core.
fn later_document(cells: &[Cell], damaged: bool) -> String {
    let (blank, unit) = if damaged { ("", "s)") } else { ("\n", "(µs)") };
    let mut text = "Results\n-------\n".to_owned();
    for (case, mode, test) in CASES {
        for release in ["v2.12", "v2.11"] {
            let caption = match case {
                "cpu-off" => {
                    format!("``CPU_OFF`` latencies {unit} on all non-lead CPUs ({release})")
                }
                "psci-version" => {
                    format!(
                        "``CPU_VERSION`` latency {unit} in parallel on all cores ({})",
                        &release[1..]
                    )
                }
                "suspend-deepest" => {
                    format!(
                        "``CPU_SUSPEND`` latencies {unit} to deepest power level in\n        {mode} ({release})"
                    )
                }
                _ => format!(
                    "``CPU_SUSPEND`` latencies {unit} to power level 0 in {mode} ({release})"
                ),
            };
            let caption = if damaged {
                caption.replace("        ", "")
            } else {
                caption
            };
            let _ = write!(text, ".. table:: {caption}\n{blank}");
            // One published table has the test's name above its header.
            if damaged && (case, mode, release) == ("suspend-level0", "parallel", "v2.12") {
                let _ = write!(text, "+-------------+\n| {test} |\n");
            }
            let _ = write!(
                text,
                "{}{blank}",
                table(
                    cells,
                    &format!("juno-{release}"),
                    (case, mode),
                    false,
                    damaged
                )
            );
        }
    }
    text + &document_of_2017(cells, damaged)
}

#[test]
fn documents_become_the_published_cells_with_and_without_their_spacing() {
    let cells = reference();
    let of_2017: Vec<Cell> = cells
        .iter()
        .filter(|cell| cell.release == "juno-2017")
        .cloned()
        .collect();
    for damaged in [false, true] {
        let document = document_of_2017(&cells, damaged);
        assert_equal_to(
            &rst(document.as_bytes(), &options("2017.rst"))
                .unwrap()
                .figures,
            &of_2017,
        );
        let document = later_document(&cells, damaged);
        assert_equal_to(
            &rst(document.as_bytes(), &options("v2.12.rst"))
                .unwrap()
                .figures,
            &cells,
        );
    }
}

#[test]
fn our_reference_is_imported_cell_for_cell() {
    let file = std::fs::File::open(reference_csv()).unwrap();
    let figures = csv_table(
        file,
        &Options {
            prefix: String::new(),
            ..options("juno-psci.csv")
        },
    )
    .unwrap();
    assert_equal_to(&figures.figures, &reference());
}

#[test]
fn the_published_documents_themselves_are_the_published_cells() {
    // They are not ours to give. `cargo xtask test` looks for them, and says if this was skipped.
    let Some(folder) = std::env::var_os("STOPWATT_SOURCES").map(PathBuf::from) else {
        eprintln!("skipped: STOPWATT_SOURCES does not name the folder of the published documents");
        return;
    };
    let open = |name: &str| {
        std::fs::File::open(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let cells = reference();
    let of_2017: Vec<Cell> = cells
        .iter()
        .filter(|cell| cell.release == "juno-2017")
        .cloned()
        .collect();
    let figures = rst(open("tf-a-psci-juno-2017.rst.txt"), &options("2017")).unwrap();
    assert_equal_to(&figures.figures, &of_2017);
    let figures = rst(open("tf-a-psci-juno-v2.12.rst.txt"), &options("v2.12")).unwrap();
    assert_equal_to(&figures.figures, &cells);
}

#[test]
fn a_log_becomes_the_published_cells_in_nanoseconds() {
    let cells = reference();
    for release in ["juno-2017", "juno-v2.11", "juno-v2.12"] {
        let options = Options {
            variant: release.to_owned(),
            ..options("uart.log")
        };
        let figures = rt_instr(log(&cells, release).as_bytes(), &options).unwrap();
        assert_eq!(figures.figures.len(), 96);
        for figure in &figures.figures {
            let case = (figure.case.as_str(), figure.mode.as_str());
            let cell = find(&cells, release, case, figure.place.unwrap(), &figure.metric);
            assert_eq!(
                (figure.value, figure.unit.as_str()),
                ((cell.value_us * 1e3).round(), "ns"),
                "{figure:?}"
            );
        }
    }
}

#[test]
fn noise_between_before_and_behind_the_lines_is_passed_over() {
    let cells = reference();
    let clean = log(&cells, "juno-v2.12");
    let mut noisy: Vec<u8> =
        b"\xff\xfe\x00 power on \x1b[31mred\x1b[0m < <RT_ <RT_INSTR \n".to_vec();
    for line in clean.lines() {
        noisy.extend(b"[    1.234567] psci: \xf0\x9f <<");
        noisy.extend(line.replace('\t', "  ").as_bytes());
        noisy.extend(b" trailing >/> words\r\n\n");
    }
    let figures = |log: &[u8]| -> Vec<_> {
        rt_instr(log, &options("uart.log"))
            .unwrap()
            .figures
            .into_iter()
            .map(|f| (f.case, f.mode, f.cpu, f.metric, f.value.to_bits()))
            .collect()
    };
    assert_eq!(figures(&noisy), figures(clean.as_bytes()));
}

#[test]
fn a_test_that_ran_again_is_the_next_iteration() {
    let cells = reference();
    let twice = log(&cells, "juno-v2.12").repeat(3);
    let figures = rt_instr(twice.as_bytes(), &options("uart.log")).unwrap();
    let recording = record(&figures, &options("uart.log"), "rt-instr");
    assert_eq!(recording.header.iterations, 3);
    assert_eq!(recording.measures().len(), 288);
    let of_one: Vec<u32> = recording
        .measures()
        .iter()
        .filter(|measure| measure.cpu == Some(4) && recording.text(measure.metric) == "latency")
        .map(|measure| measure.iteration)
        .collect();
    assert_eq!(of_one, [0, 1, 2]);
}

#[test]
fn without_a_platform_cpus_are_numbered_by_cluster_and_core() {
    let log = "<RT_INSTR:test_rt_instr_psci_version_parallel\t1\t0\t900/><RT_INSTR:test_rt_instr_psci_version_parallel\t0\t1\t800/>";
    let figures = rt_instr(
        log.as_bytes(),
        &Options {
            cpus: None,
            ..options("uart.log")
        },
    )
    .unwrap()
    .figures;
    assert_eq!(
        figures.iter().map(|f| (f.place, f.cpu)).collect::<Vec<_>>(),
        [(Some((1, 0)), Some(1)), (Some((0, 1)), Some(0))]
    );
}

/// An input of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Log,
    Rst,
    Csv,
}

fn read(kind: Kind, text: &[u8], options: &Options) -> Result<Figures, import::ImportError> {
    match kind {
        Kind::Log => rt_instr(text, options),
        Kind::Rst => rst(text, options),
        Kind::Csv => csv_table(text, options),
    }
}

#[test]
fn what_is_malformed_is_named_with_its_line_and_what_would_be_right() {
    let good = "<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t236300\t30880\t137760/>\n";
    let head = "release,case,mode,cluster,core,metric,value,unit\nr,c,m,0,0,powerdown,1,us\n";
    let grid = "``CPU_OFF`` (v1.0)\n~~~~~~~~~\n+-----+\n| CPU | Powerdown (us) |\n+===+===+\n| 0 | 1.5 |\n+---+---+\n";
    let wrong: [(Kind, &str, String, &str); 19] = [
        (
            Kind::Log,
            "cut",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t2363"),
            "cut short",
        ),
        (
            Kind::Log,
            "cut",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t23\n"),
            "cut short",
        ),
        (
            Kind::Log,
            "into one another",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_o{good}"),
            "cut short",
        ),
        (
            Kind::Log,
            "fields",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t236300\t30880/>"),
            "2 times where",
        ),
        (
            Kind::Log,
            "test",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_0ff_serial\t0\t0\t236300\t30880\t1/>"),
            "no known test",
        ),
        (
            Kind::Log,
            "number",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\tO\t236300\t30880\t1/>"),
            "no number of a core",
        ),
        (
            Kind::Log,
            "time",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t-5\t30880\t1/>"),
            "whole number of nanoseconds",
        ),
        (
            Kind::Log,
            "a stamp of another call",
            format!(
                "{good}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t0\t18446744073709551610\t1\t1/>"
            ),
            "belongs to another call",
        ),
        (
            Kind::Log,
            "CPU",
            format!("{good}<RT_INSTR:test_rt_instr_cpu_off_serial\t0\t7\t1\t1\t1/>"),
            "no core 7 in cluster 0",
        ),
        (
            Kind::Rst,
            "cell",
            grid.replace("1.5", "fast"),
            "`fast` is no figure",
        ),
        (
            Kind::Rst,
            "change",
            grid.replace("1.5", "1.5 (3)"),
            "is no figure",
        ),
        (Kind::Rst, "row", grid.replace("1.5 |", "1.5 "), "cut short"),
        (
            Kind::Rst,
            "end",
            grid.replace("\n+---+---+\n", "\n"),
            "cut short",
        ),
        (
            Kind::Rst,
            "cells",
            grid.replace("1.5", "1.5 | 2"),
            "3 cells where the header has 2",
        ),
        (Kind::Rst, "unit", grid.replace(" (us)", ""), "names a unit"),
        (
            Kind::Rst,
            "case",
            grid.replace("CPU_OFF", "CPU_OUT"),
            "cannot tell the case",
        ),
        (
            Kind::Csv,
            "value",
            format!("{head}r,c,m,0,0,wakeup,fast,us\n"),
            "`fast` is no figure",
        ),
        (
            Kind::Csv,
            "fields",
            format!("{head}r,c,m,0,0,wakeup,1\n"),
            "7 cells where the header has 8",
        ),
        (
            Kind::Csv,
            "time",
            format!("{head}r,c,m,0,0,wakeup,-1,us\n"),
            "not a time",
        ),
    ];
    for (kind, what, text, message) in wrong {
        let strict = options("input.txt");
        let error = read(kind, text.as_bytes(), &strict).expect_err(what);
        let line = if kind == Kind::Rst {
            6
        } else if kind == Kind::Csv {
            3
        } else {
            2
        };
        assert_eq!(
            (error.file.as_str(), error.line),
            ("input.txt", line),
            "{what}: {error}"
        );
        assert!(error.message.contains(message), "{what}: {error}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("input.txt:{line}: "))
                && error.help.len() > 20,
            "{what}: {error}"
        );

        // With --lenient the line is left out with a warning; a table of one row has then nothing
        // left.
        let lenient = read(
            kind,
            text.as_bytes(),
            &Options {
                lenient: true,
                ..strict
            },
        );
        match lenient {
            Ok(figures) => {
                assert_eq!((figures.left_out, figures.warnings.len()), (1, 1), "{what}");
                assert!(!figures.figures.is_empty());
            }
            Err(error) => {
                assert!(
                    kind == Kind::Rst && error.message.contains("no line could be read"),
                    "{what}: {error}"
                )
            }
        }
    }
    for (kind, text) in [
        (Kind::Log, "hello"),
        (Kind::Rst, "hello\n=====\n"),
        (Kind::Csv, "a,b\n1,2\n"),
        (Kind::Csv, ""),
    ] {
        let error = read(kind, text.as_bytes(), &options("x")).expect_err("nothing to import");
        assert!(
            error.message.contains("nothing to import") || error.message.contains("no column"),
            "{error}"
        );
    }
}

#[test]
fn a_cell_that_stands_twice_in_a_document_is_refused() {
    let cells = reference();
    let twice = document_of_2017(&cells, false).repeat(2);
    let error = rst(twice.as_bytes(), &options("2017.rst")).unwrap_err();
    assert!(
        error.message.contains("a second powerdown of CPU 1.0"),
        "{error}"
    );
    let figures = rst(
        twice.as_bytes(),
        &Options {
            lenient: true,
            ..options("2017.rst")
        },
    )
    .unwrap();
    assert_eq!((figures.figures.len(), figures.left_out), (96, 96));
}

/// Damages a text in one of several ways.
fn damage(text: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..random.usize(1..20) {
        let at = random.usize(0..bytes.len().max(1)).min(bytes.len());
        match random.u8(0..7) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = random.u8(..),
            2 => bytes.insert(
                at,
                *random
                    .choice(b"|+-=\n\t<>/\"',%()0\x00\xff".iter())
                    .unwrap(),
            ),
            3 => {
                let end = (at + random.usize(0..200)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + random.usize(0..400)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = random.usize(0..=bytes.len());
                bytes.splice(to..to, copy);
            }
            5 => {
                let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(64).collect();
                bytes.splice(at..at, noise);
            }
            _ => bytes
                .splice(at..at, *b"99999999999999999999999")
                .for_each(drop),
        }
    }
    bytes
}

#[test]
fn damaged_and_hostile_texts_are_errors_or_figures_and_never_a_panic() {
    let cells = reference();
    let good = [
        (Kind::Log, log(&cells, "juno-v2.11").into_bytes()),
        (Kind::Rst, later_document(&cells, true).into_bytes()),
        (Kind::Csv, std::fs::read(reference_csv()).unwrap()),
    ];
    let mut random = fastrand::Rng::with_seed(20_170_131);
    let (mut refused, mut read_anyway) = (0, 0);
    for round in 0..600 {
        let (kind, text) = &good[round % good.len()];
        let text = damage(text, &mut random);
        for lenient in [false, true] {
            let options = Options {
                lenient,
                cpus: random.bool().then(|| JUNO.to_vec()),
                ..options("damaged")
            };
            match read(*kind, &text, &options) {
                Ok(figures) => {
                    read_anyway += 1;
                    for figure in &figures.figures {
                        assert!(figure.value.is_finite() && figure.line > 0);
                        assert!(!figure.variant.chars().any(char::is_control), "{figure:?}");
                    }
                    record(&figures, &options, "rst");
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.help.is_empty());
                    assert!(
                        !error.to_string().chars().any(char::is_control),
                        "{error:?}"
                    );
                }
            }
        }
    }
    assert!(
        refused > 100 && read_anyway > 100,
        "{refused} refused, {read_anyway} read: the damage is too great or too small"
    );
}

#[test]
fn noise_alone_and_endless_lines_are_refused_in_every_reader() {
    let mut random = fastrand::Rng::with_seed(7);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
        .take(1 << 20)
        .collect();
    let marks = b"<RT_INSTR:".repeat(100_000);
    let grid = b"+---+\n|".repeat(100_000);
    let quote = [
        b"release,case,mode,cluster,core,metric,value,unit\n\"".as_slice(),
        &b"a".repeat(1 << 20),
    ]
    .concat();
    for text in [&noise, &marks, &grid, &quote] {
        for kind in [Kind::Log, Kind::Rst, Kind::Csv] {
            assert!(read(kind, text, &options("hostile")).is_err());
            assert!(
                read(
                    kind,
                    text,
                    &Options {
                        lenient: true,
                        ..options("hostile")
                    }
                )
                .is_err()
            );
        }
    }
}

#[test]
fn more_releases_than_a_recording_holds_are_refused() {
    let mut text = "release,case,mode,cluster,core,metric,value,unit\n".to_owned();
    for release in 0..70_000 {
        let _ = writeln!(text, "r{release},c,m,0,0,powerdown,1,us");
    }
    let error = csv_table(text.as_bytes(), &options("many.csv")).unwrap_err();
    assert!(
        error.message.contains("70000 different combinations"),
        "{error}"
    );
}
