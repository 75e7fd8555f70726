//! The recording on disk: round trips, identical bytes, and what is said about damaged folders.

use recording::{CauseRow, Error, Header, Platform, Reader, Recording, Writer};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of this test alone, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn header() -> Header {
    let mut header = Header::new("psci-latency", "sim", "ps");
    header.seed = u64::MAX;
    header.iterations = 100;
    header.time.counter_hz = Some(50_000_000);
    header
        .settings
        .insert("scp.channels".to_owned(), "2".to_owned());
    header
        .versions
        .insert("stopwatt".to_owned(), "0.1.0".to_owned());
    header.platform = Some(Platform {
        name: "juno-r1".to_owned(),
        text: "# a comment with its source\n[clock]\nhz = 50_000_000\n".to_owned(),
        figures: "[clock]\nhz = 50_000_000\n[[cluster]]\ncores = 2\n[[cluster]]\ncores = 4\n"
            .parse()
            .unwrap(),
    });
    header.costs.insert(
        "v2.12".to_owned(),
        "scp = { step = 139.6, from = \"suspend\" }"
            .parse()
            .unwrap(),
    );
    header.run.when = Some("2026-11-21T00:00:00Z".to_owned());
    header.run.command = vec!["stopwatt".to_owned(), "run".to_owned()];
    header
        .run
        .more
        .insert("governor".to_owned(), "performance".to_owned());
    header
}

/// Many rows, so that there are several batches and pages; `reversed` interns every name in another
/// order.
fn recording(reversed: bool) -> Recording {
    let mut r = Recording::new(header());
    let points = ["enter-psci", "exit-psci", "enter-cflush", "exit-cflush"];
    if reversed {
        for text in points.iter().rev() {
            r.point(text);
        }
        r.name("us");
        r.series("v2.12", "cpu-off", "serial");
    }
    for iteration in 0..100_u32 {
        for (variant, mode) in [("2017", "parallel"), ("v2.12", "serial"), ("v2.12", "")] {
            let series = r.series(variant, "suspend-deepest", mode);
            for n in 0..300_u32 {
                let point = r.point_with(points[(n % 4) as usize], Some("level"));
                let time = u64::from(iteration) * 1_000_000_000 + u64::from(n) * 12_345;
                r.event(
                    series,
                    iteration,
                    (n % 6) as u16,
                    time,
                    time / 20_000,
                    point,
                    n.wrapping_mul(2_654_435_761),
                );
            }
            let role = r.name("last-man");
            let measure = r.measure(
                series,
                iteration,
                "powerdown",
                "us",
                f64::from(iteration) * 0.1,
            );
            (measure.cpu, measure.cluster, measure.core, measure.role) =
                (Some(3), Some(1), Some(1), Some(role));
            r.measure(series, iteration, "energy", "J", -0.0);
            let (metric, cause) = (
                r.name("powerdown"),
                r.name(if iteration % 3 == 0 {
                    "code"
                } else {
                    "lock-wait"
                }),
            );
            let (on, holder) = if iteration % 3 == 0 {
                (None, None)
            } else {
                (Some(1), Some(2))
            };
            r.push_cause(CauseRow {
                series,
                iteration,
                cpu: 3,
                metric,
                cause,
                on,
                holder,
                ticks: 77,
            });
        }
    }
    r
}

fn message(error: Error) -> String {
    error.to_string()
}

#[test]
fn what_was_written_is_read_back() {
    let scratch = Scratch::new("round-trip");
    let written = recording(false);
    written.write(scratch.join("r")).unwrap();
    let read = Recording::read(scratch.join("r")).unwrap();
    assert_eq!(read.header, written.header);
    assert!(read == written, "rows differ");
}

#[test]
fn rows_that_come_in_parts_give_the_same_files_and_are_read_in_parts() {
    let scratch = Scratch::new("parts");
    // More than a row group.
    let (one, mut whole) = (recording(false), Recording::new(header()));
    (0..4).for_each(|_| whole.append(&one));
    whole.write(scratch.join("whole")).unwrap();
    let mut writer = Writer::create(scratch.join("parts"), &whole.header).unwrap();
    // As simulations side by side do it: parts of their own, appended in a fixed order.
    for events in whole.events().chunks(7_000) {
        let mut part = Recording::new(whole.header.clone());
        for event in events {
            let (variant, case, mode) = whole.series_texts(event.series);
            let series = part.series(variant, case, mode);
            let point = part.point_with(whole.point_text(event.point), Some("level"));
            part.push(recording::Event {
                series,
                point,
                ..*event
            });
        }
        writer.append(&part).unwrap();
    }
    assert!(
        !scratch.join("parts").exists(),
        "a recording is there only when it is whole"
    );
    writer.finish(&whole.header).unwrap();
    let bytes = |name: &str| fs::read(scratch.join(name).join("events.parquet")).unwrap();
    assert!(bytes("whole") == bytes("parts"));

    let mut reader = Reader::open(scratch.join("whole")).unwrap();
    let (mut some, mut parts) = (Recording::new(reader.header().clone()), Vec::new());
    while reader.next_events(&mut some).unwrap() {
        parts.push(some.events().len());
        some.clear();
    }
    assert_eq!(parts, [256 * 1024, 360_000 - 256 * 1024]);
}

#[test]
fn a_writer_that_is_given_up_leaves_nothing() {
    let scratch = Scratch::new("given-up");
    let mut writer = Writer::create(scratch.join("r"), &header()).unwrap();
    writer.append(&recording(false)).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
}

#[test]
fn a_recording_of_an_earlier_program_is_read() {
    let scratch = Scratch::new("earlier");
    let to = scratch.join("r");
    recording(false).write(&to).unwrap();
    edit_header(&to, |table| {
        table["files"]
            .as_table_mut()
            .unwrap()
            .remove("causes.parquet");
    });
    fs::remove_file(to.join("causes.parquet")).unwrap();
    let read = Recording::read(&to).unwrap();
    assert!(read.causes().is_empty() && read.events().len() == 90_000);
}

#[test]
fn an_empty_recording_is_a_recording() {
    let scratch = Scratch::new("empty");
    let written = Recording::new(Header::new("e", "host", "ticks"));
    written.write(scratch.join("r")).unwrap();
    assert!(Recording::read(scratch.join("r")).unwrap() == written);
}

#[test]
fn same_rows_give_the_same_bytes_whatever_the_order_of_names_or_threads() {
    let scratch = Scratch::new("identity");
    recording(false).write(scratch.join("one")).unwrap();
    std::thread::scope(|scope| {
        for name in ["two", "three", "four"] {
            let to = scratch.join(name);
            scope.spawn(move || {
                let mut again = recording(true);
                again.header.run.when = Some("another day".to_owned());
                again.write(to).unwrap();
            });
        }
    });
    let without_run = |name: &str| {
        let mut table: toml::Table = fs::read_to_string(scratch.join(name).join("recording.toml"))
            .unwrap()
            .parse()
            .unwrap();
        table.remove("run").expect("a [run] table");
        toml::to_string(&table).unwrap()
    };
    for name in ["two", "three", "four"] {
        for file in ["events.parquet", "measures.parquet", "causes.parquet"] {
            let bytes = |folder: &str| fs::read(scratch.join(folder).join(file)).unwrap();
            assert!(
                bytes("one") == bytes(name),
                "{file} differs between one and {name}"
            );
        }
        assert_eq!(without_run("one"), without_run(name));
    }
}

/// The bytes of a small recording, pinned: a change of library or setting that alters them shows
/// here, in debug and release alike, and calls for a look (and a new number, if it is wanted).
#[test]
fn the_bytes_are_those_of_last_time() {
    let scratch = Scratch::new("pinned");
    recording(false).write(scratch.join("r")).unwrap();
    let sum = |file: &str| crc32fast::hash(&fs::read(scratch.join("r").join(file)).unwrap());
    assert_eq!(
        (sum("events.parquet"), sum("measures.parquet")),
        (PINNED_EVENTS, PINNED_MEASURES)
    );
}

const PINNED_EVENTS: u32 = 2_525_027_595;
const PINNED_MEASURES: u32 = 333_092_891;

#[test]
fn a_write_replaces_a_recording_and_nothing_else() {
    let scratch = Scratch::new("replace");
    let to = scratch.join("r");
    Recording::new(Header::new("first", "sim", "ps"))
        .write(&to)
        .unwrap();
    Recording::new(Header::new("second", "sim", "ps"))
        .write(&to)
        .unwrap();
    assert_eq!(Recording::read(&to).unwrap().header.experiment, "second");

    fs::write(to.join("notes.txt"), "mine").unwrap();
    let error = message(
        Recording::new(Header::new("third", "sim", "ps"))
            .write(&to)
            .unwrap_err(),
    );
    assert!(
        error.contains("not a recording") && error.contains("notes.txt"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(to.join("notes.txt")).unwrap(), "mine");

    let file = scratch.join("file");
    fs::write(&file, "text").unwrap();
    let error = message(recording(false).write(&file).unwrap_err());
    assert!(error.contains("it is a file"), "{error}");

    let others = scratch.join("others");
    fs::create_dir(&others).unwrap();
    fs::write(others.join("recording.toml"), "a = 1").unwrap();
    assert!(matches!(
        recording(false).write(&others),
        Err(Error::Wrong { .. })
    ));

    let left: Vec<_> = fs::read_dir(&scratch.0)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "something was left behind: {left:?}");
}

#[test]
fn every_missing_file_is_named() {
    let scratch = Scratch::new("missing");
    for file in [
        "recording.toml",
        "events.parquet",
        "measures.parquet",
        "causes.parquet",
    ] {
        let to = scratch.join(file);
        recording(false).write(&to).unwrap();
        fs::remove_file(to.join(file)).unwrap();
        let error = message(Recording::read(&to).unwrap_err());
        assert!(error.contains(&format!("{file}: missing")), "{error}");
    }
}

#[test]
fn truncation_at_any_place_is_noticed() {
    let scratch = Scratch::new("truncated");
    let to = scratch.join("r");
    recording(false).write(&to).unwrap();
    for file in ["events.parquet", "measures.parquet", "causes.parquet"] {
        let whole = fs::read(to.join(file)).unwrap();
        for keep in [0, 1, 8, whole.len() / 2, whole.len() - 1] {
            fs::write(to.join(file), &whole[..keep]).unwrap();
            let error = message(Recording::read(&to).unwrap_err());
            assert!(
                error.contains(file) && error.contains("cut short"),
                "{error}"
            );
        }
        fs::write(to.join(file), &whole).unwrap();
    }
    assert!(Recording::read(&to).is_ok());
}

#[test]
fn a_flipped_bit_is_noticed() {
    let scratch = Scratch::new("flipped");
    let to = scratch.join("r");
    recording(false).write(&to).unwrap();
    let whole = fs::read(to.join("events.parquet")).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 50) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(to.join("events.parquet"), &damaged).unwrap();
        assert!(
            matches!(Recording::read(&to), Err(Error::Damaged { .. })),
            "byte {at}"
        );
    }
}

/// Without the checksums in the header (a recording made by other tools) the Parquet reader itself
/// must cope.
#[test]
fn damage_is_an_error_even_without_checksums() {
    let scratch = Scratch::new("no-sums");
    let to = scratch.join("r");
    recording(false).write(&to).unwrap();
    forget_files(&to);
    assert!(Recording::read(&to).unwrap() == recording(false));
    let whole = fs::read(to.join("events.parquet")).unwrap();
    for keep in [0, 4, whole.len() / 2, whole.len() - 1] {
        fs::write(to.join("events.parquet"), &whole[..keep]).unwrap();
        let error = message(Recording::read(&to).unwrap_err());
        assert!(
            error.contains("events.parquet: not a whole Parquet file"),
            "{error}"
        );
    }
}

fn forget_files(folder: &Path) {
    edit_header(folder, |table| {
        table.remove("files");
    });
}

fn edit_header(folder: &Path, edit: impl FnOnce(&mut toml::Table)) {
    let path = folder.join("recording.toml");
    let mut table: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
    edit(&mut table);
    fs::write(path, toml::to_string(&table).unwrap()).unwrap();
}

/// An empty file with the columns of events, the time being a double.
fn with_a_double_for_time() -> Vec<u8> {
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    let schema = "message m { required binary variant (UTF8); required binary case (UTF8); required binary mode (UTF8);
        required int32 iteration (UINT_32); required int32 cpu (UINT_16); required double time;
        required int64 ticks (UINT_64); required binary point (UTF8); required int32 argument (UINT_32); }";
    let schema = parse_message_type(schema).unwrap();
    let writer = SerializedFileWriter::new(Vec::new(), schema.into(), Default::default()).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn wrong_columns_are_named_with_what_would_be_right() {
    let scratch = Scratch::new("columns");
    let to = scratch.join("r");
    recording(false).write(&to).unwrap();
    forget_files(&to);
    // The other file has no such column.
    fs::copy(to.join("measures.parquet"), to.join("events.parquet")).unwrap();
    let error = message(Recording::read(&to).unwrap_err());
    assert!(
        error.contains("events.parquet: no column `time`") && error.contains("time (u64)"),
        "{error}"
    );

    // A column of another type: doubles under the name of a number of 64 bits.
    fs::write(to.join("events.parquet"), with_a_double_for_time()).unwrap();
    let error = message(Recording::read(&to).unwrap_err());
    assert!(
        error.contains("column `time` is DOUBLE; it must be u64"),
        "{error}"
    );
}

/// Events of which each has a name of a mebibyte: small where it is packed, and one page of `rows`
/// mebibytes unpacked.
fn with_a_page_of_mebibytes(rows: usize) -> Vec<u8> {
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    let schema = "message m { required binary variant (UTF8); required binary case (UTF8); required binary mode (UTF8);
        required int32 iteration (INTEGER(32,false)); required int32 cpu (INTEGER(16,false));
        required int64 time (INTEGER(64,false)); required int64 ticks (INTEGER(64,false)); required binary point (UTF8);
        required int32 argument (INTEGER(32,false)); }";
    let schema = parquet::schema::parser::parse_message_type(schema).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false);
    let properties = properties
        .set_data_page_size_limit(1 << 30)
        .set_write_batch_size(1 << 20)
        .build();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema.into(), properties.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let long = ByteArray::from("n".repeat(1 << 20).as_str());
    for column in 0..9 {
        let mut column_writer = group.next_column().unwrap().unwrap();
        match column {
            0 => {
                _ = column_writer
                    .typed::<ByteArrayType>()
                    .write_batch(&vec![long.clone(); rows], None, None)
                    .unwrap()
            }
            1 | 2 | 7 => {
                let names = vec![ByteArray::from("x"); rows];
                column_writer
                    .typed::<ByteArrayType>()
                    .write_batch(&names, None, None)
                    .unwrap();
            }
            5 | 6 => {
                _ = column_writer
                    .typed::<Int64Type>()
                    .write_batch(&vec![0; rows], None, None)
                    .unwrap()
            }
            _ => {
                _ = column_writer
                    .typed::<Int32Type>()
                    .write_batch(&vec![0; rows], None, None)
                    .unwrap()
            }
        }
        column_writer.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_page_that_claims_too_much_is_refused_before_it_is_unpacked() {
    let scratch = Scratch::new("page");
    let to = scratch.join("r");
    recording(false).write(&to).unwrap();
    forget_files(&to);
    let read = |rows: usize| {
        let bytes = with_a_page_of_mebibytes(rows);
        assert!(bytes.len() < 8 << 20, "{} bytes are packed", bytes.len());
        fs::write(to.join("events.parquet"), bytes).unwrap();
        Recording::read(&to)
    };
    let error = message(read(65).unwrap_err());
    assert!(
        error.contains("events.parquet") && error.contains("a page that claims 68157700 bytes"),
        "{error}"
    );
    assert!(error.contains("one may have up to 67108864"), "{error}");
    // What is within the bound is no matter of the page's, but of the names in it.
    let error = message(read(3).unwrap_err());
    assert!(
        error.contains("a name of 1048576 bytes, \"nnn") && error.contains("up to 4096"),
        "{error}"
    );
}

#[test]
fn a_header_that_is_not_ours_is_refused() {
    let scratch = Scratch::new("header");
    let to = scratch.join("r");
    recording(false).write(&to).unwrap();
    edit_header(&to, |table| {
        table.insert("version".to_owned(), 2.into());
    });
    let error = message(Recording::read(&to).unwrap_err());
    assert!(
        error.contains("format version 2; this program reads version 1"),
        "{error}"
    );
    edit_header(&to, |table| {
        table.insert("version".to_owned(), 1.into());
        table.remove("world");
    });
    let error = message(Recording::read(&to).unwrap_err());
    assert!(
        error.contains("recording.toml") && error.contains("world"),
        "{error}"
    );
    fs::write(
        to.join("recording.toml"),
        "format = \"stopwatt-recording\"\nversion = \n",
    )
    .unwrap();
    let error = message(Recording::read(&to).unwrap_err());
    assert!(error.contains("recording.toml:2: "), "{error}");
    fs::write(to.join("recording.toml"), "").unwrap();
    let error = message(Recording::read(&to).unwrap_err());
    assert!(error.contains("must be format ="), "{error}");
}

/// A small recording, with its header's text changed after it was written.
fn with_header(scratch: &Scratch, change: impl Fn(&str) -> String) -> Result<Recording, Error> {
    let folder = scratch.join("r");
    let mut small = Recording::new(header());
    let (series, point) = (small.series("v", "c", ""), small.point("p"));
    small.event(series, 0, 0, 1, 1, point, 0);
    small.write(&folder).unwrap();
    let path = folder.join("recording.toml");
    let text = fs::read_to_string(&path).unwrap();
    let changed = change(&text);
    assert_ne!(changed, text);
    fs::write(path, changed).unwrap();
    Recording::read(&folder)
}

#[test]
fn what_the_header_says_of_the_files_is_held_against_them() {
    let scratch = Scratch::new("facts");
    let rows = with_header(&scratch, |text| {
        text.replacen("rows = 1\n", "rows = 2\n", 1)
    });
    let said = message(rows.unwrap_err());
    assert!(
        said.contains("events.parquet: has 1 rows where 2 were written"),
        "{said}"
    );
    let renamed = with_header(&scratch, |text| {
        text.replacen("files.\"events.parquet\"", "files.\"event.parquet\"", 1)
    });
    let said = message(renamed.unwrap_err());
    assert!(
        said.contains("recording.toml: [files] has an entry `event.parquet`")
            && said.contains("events.parquet,"),
        "{said}"
    );
    let one_less = with_header(&scratch, |text| {
        let (before, behind) = text.split_once("[files.\"measures.parquet\"]").unwrap();
        let (_, behind) = behind.split_once("\n[").unwrap();
        format!("{before}[{behind}")
    });
    let said = message(one_less.unwrap_err());
    assert!(said.contains("no entry for measures.parquet"), "{said}");
}

#[test]
fn a_counter_without_a_frequency_is_refused() {
    let scratch = Scratch::new("counter");
    for hz in ["0", "1000000000001"] {
        let read = with_header(&scratch, |text| {
            text.replacen("counter_hz = 50000000", &format!("counter_hz = {hz}"), 1)
        });
        let said = message(read.unwrap_err());
        assert!(
            said.contains("recording.toml: counter_hz is") && said.contains("1 to 1000000000000"),
            "{said}"
        );
    }
}

#[test]
fn a_time_without_a_known_unit_is_refused() {
    let scratch = Scratch::new("unit");
    let said = message(
        with_header(&scratch, |text| {
            text.replacen("unit = \"ps\"", "unit = \"fortnight\"", 1)
        })
        .unwrap_err(),
    );
    assert!(
        said.contains("there is no unit of time `fortnight`"),
        "{said}"
    );
}

#[test]
fn a_measure_that_is_no_number_is_refused() {
    let scratch = Scratch::new("finite");
    let to = scratch.join("r");
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut recording = Recording::new(header());
        let series = recording.series("v", "c", "");
        recording.measure(series, 0, "powerdown", "us", 1.0);
        recording.measure(series, 1, "powerdown", "us", value);
        recording.write(&to).unwrap();
        let said = message(Recording::read(&to).unwrap_err());
        let expected = format!("measures.parquet: column `value` is {value} in row 1");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn what_would_steer_a_terminal_is_shown_when_written_and_refused_when_read() {
    let scratch = Scratch::new("steer");
    let mut hostile = Recording::new(header());
    hostile.header.notes = vec!["a line\nand a bell \u{7}".to_owned()];
    let (series, point) = (hostile.series("v\u{1b}[2J", "c", ""), hostile.point("p\0"));
    hostile.event(series, 0, 0, 1, 1, point, 0);
    hostile.write(scratch.join("h")).unwrap();
    let read = Recording::read(scratch.join("h")).unwrap();
    assert_eq!(read.series_texts(read.events()[0].series).0, "v\\u{1b}[2J");
    assert_eq!(read.point_text(read.events()[0].point), "p\\u{0}");
    assert_eq!(read.header.notes, ["a line\nand a bell \\u{7}"]);

    let said = message(
        with_header(&scratch, |text| text.replace("juno-r1", "juno\\u001br1")).unwrap_err(),
    );
    assert!(
        said.contains("recording.toml: `name` holds a control character: \"juno\\u{1b}r1\""),
        "{said}"
    );
    // A name of the same length with an escape, in the file itself; nothing tells that it was
    // altered.
    let mut small = Recording::new(header());
    let (series, point) = (small.series("v", "c", ""), small.point("quiescent"));
    small.event(series, 0, 0, 1, 1, point, 0);
    small.write(scratch.join("b")).unwrap();
    let path = scratch.join("b").join("events.parquet");
    let mut bytes = fs::read(&path).unwrap();
    while let Some(at) = bytes.windows(9).position(|part| part == b"quiescent") {
        bytes[at] = 0x1b;
    }
    fs::write(&path, bytes).unwrap();
    let header = scratch.join("b").join("recording.toml");
    let text = fs::read_to_string(&header).unwrap();
    let (before, behind) = text.split_once("[files.").unwrap();
    let (_, behind) = behind.split_once("[settings]").unwrap();
    fs::write(&header, format!("{before}[settings]{behind}")).unwrap();
    let said = message(Recording::read(scratch.join("b")).unwrap_err());
    assert!(
        said.contains("events.parquet") && said.contains("control character, \"\\u{1b}uiescent\""),
        "{said}"
    );
}

#[test]
fn files_that_are_no_files_are_refused() {
    let scratch = Scratch::new("devices");
    recording(false).write(scratch.join("r")).unwrap();
    for name in ["events.parquet", "recording.toml"] {
        let path = scratch.join("r").join(name);
        let kept = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let said = message(Recording::read(scratch.join("r")).unwrap_err());
        assert!(said.contains(name) && said.contains("a device"), "{said}");
        fs::remove_file(&path).unwrap();
        fs::write(&path, kept).unwrap();
    }
}
