//! Dumps of idle states in every form in which they are posted, whole and damaged.

use fastrand::Rng;
use import::ImportError;
use import::cpuidle::{
    Between, Content, Dump, State, between, domains_between, read_bytes, read_live, read_path,
};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A state's files in alphabetical order: above, below, default_status, desc, disable, latency,
/// name, power, rejected, residency, time, usage.
type Files = [(&'static str, String); 12];

const CPUS: u16 = 12;

/// The files of a state of a machine with a polling state and two others, after some rounds of
/// work.
fn files(cpu: u16, state: usize, round: u64) -> Files {
    let name = ["POLL", "C1", "C6"][state];
    let (latency, residency) = [(0, 0), (2, 2), (133, 400)][state];
    let count =
        |factor: u64| (round * factor * (u64::from(cpu) + 1) * (state as u64 + 1)).to_string();
    [
        ("above", count(3)),
        ("below", count(2)),
        ("default_status", "enabled".to_owned()),
        ("desc", format!("MWAIT 0x{state}0")),
        ("disable", "0".to_owned()),
        ("latency", latency.to_string()),
        ("name", name.to_owned()),
        (
            "power",
            if state == 0 { "4294967295" } else { "0" }.to_owned(),
        ),
        ("rejected", count(1)),
        ("residency", residency.to_string()),
        ("time", count(1000)),
        ("usage", count(10)),
    ]
}

/// The CPUs' numbers as the shell sorts their folders.
fn as_the_shell_sorts() -> Vec<u16> {
    let mut cpus: Vec<u16> = (0..CPUS).collect();
    cpus.sort_by_key(|cpu| format!("cpu{cpu}/"));
    cpus
}

fn paths(round: u64) -> Vec<(String, String)> {
    let of_cpu = |cpu: u16| {
        (0..3).flat_map(move |state| {
            let path = move |name: &str| {
                format!("sys/devices/system/cpu/cpu{cpu}/cpuidle/state{state}/{name}")
            };
            files(cpu, state, round)
                .into_iter()
                .map(move |(name, content)| (path(name), content))
        })
    };
    as_the_shell_sorts().into_iter().flat_map(of_cpu).collect()
}

fn grepped(round: u64) -> String {
    paths(round)
        .into_iter()
        .fold(String::new(), |mut text, (path, content)| {
            let _ = writeln!(text, "/{path}:{content}");
            text
        })
}

fn printed(round: u64, without: &[&str]) -> String {
    let kept = paths(round)
        .into_iter()
        .filter(|(path, _)| !without.iter().any(|name| path.ends_with(name)));
    kept.map(|(_, content)| content + "\n").collect()
}

/// A tar archive as of sysfs: each file is padded to a page.
fn packed(round: u64) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, content) in paths(round) {
        let mut page = format!("{content}\n").into_bytes();
        page.resize(4096, 0);
        let mut header = tar::Header::new_ustar();
        header.set_size(page.len() as u64);
        header.set_mode(0o444);
        header.set_cksum();
        archive
            .append_data(&mut header, path, page.as_slice())
            .unwrap();
    }
    archive.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let script = "import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), preset=1))";
    let mut packer = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = packer.stdin.take().unwrap();
    // What is packed may be more than the pipe holds.
    std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes).unwrap());
        packer.wait_with_output().unwrap().stdout
    })
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn read(file: &str, bytes: &[u8]) -> Result<Dump, ImportError> {
    match read_bytes(file, bytes)? {
        Content::Dump(dump) => Ok(dump),
        Content::Table(_) => panic!("{file} is a dump"),
    }
}

fn counted(before: &[u8], after: &[u8]) -> Result<Between, ImportError> {
    between(&read("before", before)?, &read("after", after)?, None)
}

/// The error of two texts.
fn refused(before: &str, after: &str) -> String {
    let error = counted(before.as_bytes(), after.as_bytes()).unwrap_err();
    format!("{error} ({})", error.help)
}

/// The counts of CPU 11's deepest state, without where they stand.
fn of_last(between: &Between) -> State {
    let cpu = between
        .cpus
        .iter()
        .find(|cpu| cpu.cpu == Some(11))
        .expect("CPU 11 is there");
    State {
        file: String::new(),
        line: 0,
        ..cpu.states[2].clone()
    }
}

#[test]
fn every_form_gives_the_same_counts() {
    let expected = State {
        name: "C6".to_owned(),
        latency_us: Some(133),
        residency_us: Some(400),
        entered: 2 * 10 * 12 * 3,
        time_us: Some(2 * 1000 * 12 * 3),
        above: Some(2 * 3 * 12 * 3),
        below: Some(2 * 2 * 12 * 3),
        rejected: Some(2 * 12 * 3),
        ..State::default()
    };
    type Form = fn(u64) -> Vec<u8>;
    let forms: [(&str, Form); 8] = [
        ("grep", |round| grepped(round).into_bytes()),
        ("quoted", |round| {
            grepped(round).replace("/sys", "> /sys").into_bytes()
        }),
        ("cat", |round| printed(round, &[]).into_bytes()),
        ("tar", packed),
        ("tar.gz", |round| gzip(&packed(round))),
        ("tar.xz", |round| xz(&packed(round))),
        ("tar.zst", |round| zstd(&packed(round))),
        ("txt.gz", |round| gzip(grepped(round).as_bytes())),
    ];
    for (name, form) in forms {
        let between = counted(&form(5), &form(7)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            (between.cpus.len(), between.doubts.len()),
            (12, 0),
            "{name}"
        );
        assert_eq!(of_last(&between), expected, "{name}");
        assert_eq!(
            between.clusters, "",
            "{name}: CPUs of one kind are no clusters"
        );
    }
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folders = [(&one, 5), (&other, 7)].map(|(folder, round)| {
        for (path, content) in paths(round) {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content + "\n").unwrap();
        }
        // The kernel has links in circles.
        std::os::unix::fs::symlink(folder.path(), folder.path().join("sys/circle")).unwrap();
        match read_path(folder.path()).unwrap() {
            Content::Dump(dump) => dump,
            Content::Table(_) => panic!("a folder is a dump"),
        }
    });
    assert_eq!(
        of_last(&between(&folders[0], &folders[1], None).unwrap()),
        expected
    );
    assert_eq!(read_live(one.path()).unwrap().unwrap(), folders[0]);
    assert_eq!(
        read_live(tempfile::tempdir().unwrap().path()).unwrap(),
        None,
        "a machine without cpuidle"
    );
}

#[test]
fn older_kernels_print_fewer_lines() {
    for (without, above, rejected) in [
        (&["/rejected"][..], true, false),
        (&["/rejected", "/default_status"], true, false),
        (
            &["/rejected", "/default_status", "/above", "/below"],
            false,
            false,
        ),
    ] {
        let between = counted(
            printed(1, without).as_bytes(),
            printed(3, without).as_bytes(),
        )
        .unwrap();
        let state = of_last(&between);
        assert_eq!(
            (state.entered, state.time_us),
            (2 * 10 * 12 * 3, Some(2 * 1000 * 12 * 3)),
            "{without:?}"
        );
        assert_eq!(
            (state.above.is_some(), state.rejected.is_some()),
            (above, rejected),
            "{without:?}"
        );
    }
    let noted =
        printed(1, &[]).replace("enabled\n", "cat: state0/s2idle: Is a directory\nenabled\n");
    assert!(counted(noted.as_bytes(), printed(2, &[]).as_bytes()).is_ok());
}

#[test]
fn cpus_with_other_states_are_another_cluster_unless_the_dump_says_the_clusters() {
    let little = |round| {
        grepped(round).replace(
            "cpu11/cpuidle/state2/name:C6",
            "cpu11/cpuidle/state2/name:off-l",
        )
    };
    let found = counted(little(1).as_bytes(), little(2).as_bytes()).unwrap();
    let places: Vec<_> = found.cpus.iter().map(|cpu| cpu.place.unwrap()).collect();
    assert_eq!(
        (places[0], places[10], places[11]),
        ((0, 0), (0, 10), (1, 0))
    );
    assert!(found.clusters.contains("same states"), "{}", found.clusters);
    let told = |cluster: fn(u16) -> u16| {
        let lines: String = (0..CPUS)
            .map(|cpu| format!("/sys/cpu{cpu}/topology/cluster_id:{}\n", cluster(cpu)))
            .collect();
        counted(
            (grepped(1) + &lines).as_bytes(),
            (grepped(2) + &lines).as_bytes(),
        )
        .unwrap()
    };
    let found = told(|cpu| cpu / 6);
    assert_eq!(found.cpus[7].place, Some((1, 1)));
    assert!(
        found.clusters.contains("topology/cluster_id"),
        "{}",
        found.clusters
    );
    assert_eq!(
        told(|cpu| cpu).clusters,
        "",
        "a cluster for each CPU is none"
    );
    assert_eq!(told(|_| u16::MAX).clusters, "", "the kernel knows none");
}

#[test]
fn swapped_dumps_and_a_restart_are_told_apart() {
    let (early, late) = (grepped(5), grepped(7));
    let swapped = refused(&late, &early);
    assert!(swapped.contains("after:"), "{swapped}");
    assert!(
        swapped.contains("the dumps are swapped")
            && swapped.contains("stopwatt import cpuidle after before"),
        "{swapped}"
    );
    let anew = refused(&grepped(100), &grepped(2));
    assert!(
        anew.contains("the machine was started anew: 2.0 % of the entries are left"),
        "{anew}"
    );
    // The names of the files tell what the counters cannot: the measurement was longer than all
    // before.
    let [Ok(first), Ok(last)] = [("x/After.txt", 100), ("x/before.txt", 2)]
        .map(|(file, round)| read(file, grepped(round).as_bytes()))
    else {
        panic!("both are whole");
    };
    let named = between(&first, &last, None).unwrap_err().to_string();
    assert!(
        named.starts_with(
            "x/before.txt:12: the dumps are swapped: all counters go back, as the files' names say"
        ),
        "{named}"
    );
    let one = late.replace(
        "cpu3/cpuidle/state2/usage:840",
        "cpu3/cpuidle/state2/usage:8",
    );
    assert_ne!(one, late);
    let one = refused(&early, &one);
    assert!(
        one.contains("state2/usage of CPU 3 is 600 before and 8 after"),
        "{one}"
    );
    assert!(
        one.contains("counters of CPU 3 alone go back") && one.starts_with("after:"),
        "{one}"
    );
    let mixed = late.replace("/usage:", "/usage:0");
    let mixed = refused(&early.replace("/usage:", "/usage:9"), &mixed);
    assert!(
        mixed.contains("some counters go back: the machine was started anew, or there are two"),
        "{mixed}"
    );
    assert!(refused(&early, &early).contains("nothing was counted since before"));
}

#[test]
fn dumps_that_do_not_belong_together_are_refused() {
    let (early, late) = (grepped(5), grepped(7));
    let lines = |text: &str, keep: &dyn Fn(&str) -> bool| -> String {
        text.lines()
            .filter(|line| keep(line))
            .map(|line| format!("{line}\n"))
            .collect()
    };
    let fewer = lines(&late, &|line| !line.contains("cpu7/"));
    assert_eq!(
        refused(&early, &fewer).split(" (").next(),
        Some("after: it lacks CPU 7, which before has")
    );
    assert!(refused(&fewer, &late).starts_with("before: it lacks CPU 7"));
    let shallow = lines(&late, &|line| !line.contains("state2/"));
    assert!(refused(&early, &shallow).contains("CPU 0 has 3 states before and 2 after"));
    let other = late.replace("name:C1\n", "name:C1E\n");
    assert!(
        refused(&early, &other)
            .contains("state 1 of CPU 0 is C1 (2 and 2 us) before and C1E (2 and 2 us) after")
    );
    let unnamed = printed(7, &[]);
    assert!(
        refused(&early, &unnamed)
            .contains("one of the dumps names its CPUs and the other does not")
    );
    let both = format!("{early}{late}");
    let twice = refused(&both, &late);
    assert!(
        twice.contains("before:433: state0/above of CPU 0 comes a second time, first in line 1"),
        "{twice}"
    );
    let two = early.replace("/sys/", "/good/sys/") + &late.replace("/sys/", "/bad/sys/");
    assert!(
        refused(&two, &late)
            .contains("several dumps: below `/good/sys/devices/system/cpu` and below `/bad")
    );
    let disabled = late.replace(
        "cpu2/cpuidle/state2/disable:0",
        "cpu2/cpuidle/state2/disable:1",
    );
    let found = counted(early.as_bytes(), disabled.as_bytes()).unwrap();
    assert!(
        found.doubts[0].contains("C6 of CPU 2 was enabled before and disabled after"),
        "{:?}",
        found.doubts
    );
    let long = between(
        &read("a", early.as_bytes()).unwrap(),
        &read("b", late.as_bytes()).unwrap(),
        Some(1e-9),
    )
    .unwrap();
    assert!(
        long.doubts.is_empty(),
        "a stay may have begun before: {:?}",
        long.doubts
    );
}

#[test]
fn what_is_cut_off_or_no_dump_is_refused_with_its_place() {
    let whole = grepped(7);
    let line = whole
        .lines()
        .position(|line| line.contains("cpu9/cpuidle/state2/usage"))
        .unwrap();
    let cut: String = whole
        .lines()
        .take(line)
        .map(|line| format!("{line}\n"))
        .collect();
    let error = read("dump", cut.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("dump:{line}: state2 of CPU 9 has no file `usage`")
    );
    let wrong = whole.replacen("usage:70\n", "usage:seventy\n", 1);
    let error = read("dump", wrong.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dump:12: state0/usage of CPU 0 is `seventy`"
    );

    let lines = printed(7, &[]);
    let cut: String = lines
        .lines()
        .take(20)
        .map(|line| format!("{line}\n"))
        .collect();
    let error = read("dump", cut.as_bytes()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("dump:20: the text ends behind a state's `power`, before its `rejected`"),
        "{error}"
    );
    let cut: String = lines
        .lines()
        .take(12 * 5)
        .map(|line| format!("{line}\n"))
        .collect();
    let error = read("dump", cut.as_bytes()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("CPU 1 ends after 2 of the 3 states that CPU 0 has"),
        "{error}"
    );
    let wrong = lines.replacen("\n133\n", "\nslow\n", 1);
    let error = read("dump", wrong.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dump:30: `slow` cannot be a state's `latency`"
    );

    for (bytes, what) in [
        (packed(7), "archive is cut off"),
        (gzip(&packed(7)), "gzip packed is cut off"),
        (xz(&packed(7)), "xz packed is cut off"),
        (zstd(&packed(7)), "zstd packed is cut off"),
    ] {
        let error = read("dump", &bytes[..bytes.len() * 2 / 3])
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(what) || error.contains("has no file"),
            "{error}"
        );
    }
    for bytes in [&b""[..], b"hello\n", b"1\n2\n3\n", b"\xff\xfe\x00"] {
        let error = read("dump", bytes).unwrap_err();
        assert!(
            error.help.contains("grep . /sys/devices/system/cpu"),
            "{error}: {}",
            error.help
        );
    }
}

const TABLE: &str = "test,kernel,state,name,latency_us,residency_us,usage,above,below\n\
                     t,good,0,POLL,0,0,220,0,218\nt,good,1,C1,2,2,70212,5213,34602\nt,bad,0,POLL,0,0,262,0,260\n";

#[test]
fn a_table_has_what_was_counted_or_both_dumps() {
    let read = |text: &str| match read_bytes("table", text.as_bytes()) {
        Ok(Content::Table(counts)) => Ok(counts),
        Ok(Content::Dump(_)) => panic!("it is a table"),
        Err(error) => Err(error.to_string()),
    };
    let counts = read(TABLE).unwrap();
    let names: Vec<_> = counts
        .iter()
        .map(|of| (of.variant.as_str(), of.case.as_str(), of.cpus.len()))
        .collect();
    assert_eq!(names, [("good", "t", 1), ("bad", "t", 1)]);
    let c1 = &counts[0].cpus[0].states[1];
    assert_eq!(
        (c1.entered, c1.above, c1.time_us, c1.rejected),
        (70212, Some(5213), None, None)
    );
    let dumps = "kernel,when,cpu,state,name,usage,above,below,time_us\nk,after,3,0,WFI,70,9,8,900\nk,before,3,0,WFI,50,2,3,400\n";
    let counts = read(dumps).unwrap();
    let cpu = &counts[0].cpus[0];
    assert_eq!(
        (cpu.cpu, cpu.states[0].entered, cpu.states[0].time_us),
        (Some(3), 20, Some(500))
    );
    for (from, to, error) in [
        (
            "t,good,1,C1",
            "t,good,2,C1",
            "table:3: state 2 stands where state 1 should",
        ),
        (
            "usage,above",
            "usage,over",
            "table:1: there is no column `above`",
        ),
        (",5213,", ",-5213,", "table:3:"),
        ("70212,5213,34602", "70212", "table:3:"),
        (
            "262,0,260",
            "0,0,0",
            "table: no idle state of bad t was entered",
        ),
    ] {
        let found = read(&TABLE.replacen(from, to, 1)).unwrap_err();
        assert!(found.starts_with(error), "{found}");
    }
    assert!(
        read(&dumps.replace(",after,", ",later,"))
            .unwrap_err()
            .contains("neither before nor after")
    );
    assert!(
        read(&dumps.replace("k,before,3,0,WFI,50,2,3,400\n", ""))
            .unwrap_err()
            .contains("no rows of the dump before")
    );
    assert!(
        read(&dumps.replace(",50,", ",80,"))
            .unwrap_err()
            .contains("go back")
    );
}

/// Damage is answered or refused, never by a panic, and never by counts that are more than all
/// entries.
#[test]
fn damaged_dumps_are_answered_or_refused() {
    let mut random = Rng::with_seed(27);
    let goods: [Vec<u8>; 6] = [
        grepped(7).into_bytes(),
        printed(7, &[]).into_bytes(),
        printed(7, &["/rejected"]).into_bytes(),
        gzip(grepped(7).as_bytes()),
        xz(printed(7, &[]).as_bytes()),
        TABLE.as_bytes().to_vec(),
    ];
    let befores = [grepped(5), printed(5, &[]), printed(5, &["/rejected"])];
    let (mut answered, mut refused) = (0, 0);
    for round in 0..600 {
        let kind = round % goods.len();
        let mut bytes = goods[kind].clone();
        for _ in 0..random.usize(1..5) {
            let at = random.usize(0..bytes.len());
            let end = (at + random.usize(0..40)).min(bytes.len());
            match random.u8(0..5) {
                0 => bytes[at] = random.u8(..),
                1 => bytes[at] = b'0' + random.u8(0..10),
                2 => drop(bytes.drain(at..end)),
                3 => bytes.extend_from_within(at..end),
                _ if random.u8(0..6) == 0 => bytes.truncate(at.max(1)),
                _ => {}
            }
        }
        let read = read_bytes("dump", &bytes);
        let taken = match (read, befores.get(kind)) {
            (Ok(Content::Dump(dump)), Some(before)) => {
                let Ok(Content::Dump(before)) = read_bytes("before", before.as_bytes()) else {
                    panic!("it is whole")
                };
                between(&before, &dump, None).is_ok()
            }
            (Ok(_), _) => true,
            (Err(error), _) => {
                assert!(!error.message.is_empty() && !error.help.is_empty());
                false
            }
        };
        *(if taken { &mut answered } else { &mut refused }) += 1;
    }
    assert!(
        answered > 50 && refused > 50,
        "{answered} answered, {refused} refused: too one-sided to tell"
    );
}

/// The states of a CPU of a dump: name, latency, residency, disabled, entries, microseconds.
type Shown = (String, Option<u64>, Option<u64>, bool, u64, Option<u64>);

fn shown(states: &[State]) -> Vec<Shown> {
    let of = |state: &State| {
        (
            state.name.clone(),
            state.latency_us,
            state.residency_us,
            state.disabled,
            state.entered,
            state.time_us,
        )
    };
    states.iter().map(of).collect()
}

#[test]
fn lists_of_cpupower_and_tables_are_dumps() {
    let right = [
        (
            "POLL".to_owned(),
            Some(0),
            Some(0),
            false,
            541,
            Some(165_188),
        ),
        (
            "C1 BYT".to_owned(),
            Some(1),
            Some(1),
            true,
            167_920,
            Some(66_937_082),
        ),
    ];
    let list = |cpu: u16| {
        format!(
            "analyzing CPU {cpu}:\n\nNumber of idle states: 2\nAvailable idle states: POLL C1\nPOLL:\nFlags/Description: CPUIDLE CORE\n\
             Latency: 0\nResidency: 0\nUsage: 541\nDuration: 165188\nC1 BYT (DISABLED) :\nFlags/Description: MWAIT 0x00\nLatency: 1\n\
             Residency: 1\nUsage: 167920\nDuration: 66937082\n\n"
        )
    };
    let rows = "0 POLL 0 0 0 165188 541\n1 C1 BYT 1 1 1 66937082 167920\n";
    let header = "State Name Disabled Latency Residency Time Usage\n";
    for (text, cpus) in [
        (format!("CPUidle driver: psci_idle\nCPUidle governor: teo\n{}", list(0)), vec![0]),
        (list(0) + &list(3), vec![0, 3]),
        (format!("cpu0 {header}{rows}"), vec![0]),
        (format!("Hi,\n\n{header}{rows}\nThat is strange.\ncpu2: {header}{rows}$ date\n"), vec![0, 2]),
        (
            "| CPU | State | Name | Disabled | Latency | Residency | Time (us) | Usage |\n|--|--|\n| cpu1 | 0 | POLL | 0 | 0 | 0 | 165188 | 541 |\n\
             | cpu1 | 1 | C1 BYT | 1 | 1 | 1 | 66937082 | 167920 |\n"
                .to_owned(),
            vec![1],
        ),
    ] {
        let quoted: String = text.lines().map(|line| format!("> {line}\r\n")).collect();
        for text in [text, quoted] {
            let dump = read("dump", text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text}"));
            assert_eq!(dump.cpus.keys().copied().collect::<Vec<_>>(), cpus, "{text}");
            dump.cpus.values().for_each(|states| assert_eq!(shown(states), right, "{text}"));
        }
    }
    let of = |text: &str| read("dump", text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        of(&list(0).replace("Usage: 541", "Usage: many")),
        "dump:9: state0/usage of CPU 0 is `many`"
    );
    assert!(
        of(&list(0).replace("Usage: 541\n", "")).contains("state0 of CPU 0 has no file `usage`")
    );
    assert_eq!(
        of(&format!(
            "{header}{}",
            rows.replace("C1 BYT", "C1").replace(" 66937082", "")
        )),
        "dump:3: 6 cells, fewer than the header has"
    );
    assert!(of(&list(0).repeat(2)).contains("comes a second time"));
}

#[test]
fn one_dump_alone_counts_from_the_start_of_the_machine() {
    let dump = read("dump", grepped(7).as_bytes()).unwrap();
    let between = between(&dump.at_start(), &dump, None).unwrap();
    assert_eq!(shown(&between.cpus[0].states), shown(&dump.cpus[&0]));
    assert!(dump.counts_as(&dump) && !dump.counts_as(&dump.at_start()));
}

#[test]
fn power_domains_are_counted_beside_cpus() {
    let old = |ms: u64, usage: u64| {
        format!(
            "State          Time Spent(ms) Usage          Rejected\nS0             {ms}          {usage}            8\n"
        )
    };
    let new = |ms: u64, usage: u64| {
        format!(
            "State          Time Spent(ms) Usage      Rejected   Above      Below      S2idle\ncluster-ret    {ms}          {usage}        8          270        0          {usage}\n"
        )
    };
    let path = |text: String| {
        text.lines()
            .map(|line| format!("/sys/kernel/debug/pm_genpd/pd-cluster/idle_states:{line}\n"))
            .collect::<String>()
    };
    for (form, s2idle) in [(&old as &dyn Fn(u64, u64) -> String, None), (&new, Some(5))] {
        for (is_named, name) in [(false, "1"), (true, "pd-cluster")] {
            let text = |ms, usage| {
                if is_named {
                    path(form(ms, usage))
                } else {
                    form(ms, usage)
                }
            };
            let [before, after] = [text(29_817, 537), text(30_348, 542)]
                .map(|text| read("dump", text.as_bytes()).unwrap());
            let counts = domains_between(&before, &after).unwrap();
            assert_eq!(
                (counts.len(), counts[0].0.as_str(), counts[0].1.cpu),
                (1, name, None)
            );
            let state = &counts[0].1.states[0];
            assert_eq!(
                (state.entered, state.time_us, state.rejected),
                (5, Some(531_000), Some(0))
            );
            assert_eq!(state.s2idle, s2idle);
            // Beside the counters of CPUs, whatever they are.
            let both =
                |round, text: String| read("dump", (grepped(round) + &text).as_bytes()).unwrap();
            let [before, after] = [both(5, text(29_817, 537)), both(7, text(30_348, 542))];
            assert_eq!(
                (
                    after.cpus.len(),
                    domains_between(&before, &after).unwrap().len()
                ),
                (12, 1)
            );
            assert!(domains_between(&before, &before).unwrap().is_empty());
        }
    }
    let listed = format!(
        "==> /sys/kernel/debug/pm_genpd/a/idle_states <==\n{}\n==> /sys/kernel/debug/pm_genpd/b/idle_states <==\n{}",
        old(1, 1),
        new(2, 2)
    );
    assert_eq!(
        read("dump", listed.as_bytes())
            .unwrap()
            .domains
            .into_keys()
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(
        read("dump", (old(1, 1) + &old(2, 2)).as_bytes())
            .unwrap()
            .domains
            .len(),
        2
    );
}
