//! Readers of bytes from outside. Each takes any bytes and may refuse them, but must not panic, and
//! what it reads must be sound.

use super::damage::Target;
use super::recordings;
use crate::common::capture_file;
use dataplane::pcap;
use document::Document;
use import::cpuidle::Content;
use import::{Figures, ImportError, Options, cpuidle, ftrace};

/// All targets.
pub const TARGETS: [Target; 16] = [
    RT_INSTR,
    RST,
    CSV,
    VPP_RUNTIME,
    CPUIDLE,
    FTRACE,
    TRACE_DAT,
    PERFETTO,
    PCAP,
    PLATFORM,
    POLICY,
    WORKLOAD,
    RECORDING,
    PARQUET,
    OWN_GRAPH,
    PLAN,
];

/// The UART log of the test framework.
pub const RT_INSTR: Target = Target {
    name: "rt_instr",
    seeds: || {
        let log = "NOTICE:  BL31\r\n<RT_INSTR:test_rt_instr_susp_deep_parallel\t0\t1\t244520\t26920\t5540/>\r\nnoise \
                   <RT_INSTR:test_rt_instr_psci_version_parallel\t1\t3\t2960/>\n";
        vec![log.into()]
    },
    run: |bytes| imported(|options| import::rt_instr(bytes, options)),
};

/// Tables of a reStructuredText document.
pub const RST: Target = Target {
    name: "rst",
    seeds: || {
        let table = ".. table:: ``CPU_SUSPEND`` latencies (us) to deepest power level in\n        parallel (v2.12)\n\n\
                     +---------+------+-------------------+--------+-------------+\n\
                     | Cluster | Core |     Powerdown     | Wakeup | Cache Flush |\n\
                     +=========+======+===================+========+=============+\n\
                     |    0    |  0   | 244.52 (-65.43%)  | 26.92  |    5.54     |\n\
                     +---------+------+-------------------+--------+-------------+\n";
        vec![table.into()]
    },
    run: |bytes| imported(|options| import::rst(bytes, options)),
};

/// Figures as CSV.
pub const CSV: Target = Target {
    name: "csv",
    seeds: || {
        let rows = "release,case,mode,cluster,core,metric,value,unit,printed_change_percent\n\
                    juno-v2.12,suspend-deepest,parallel,0,0,powerdown,244.52,us,-65.43\n\
                    juno-v2.12,suspend-deepest,parallel,0,1,wakeup,416.1,us,\n";
        vec![rows.into()]
    },
    run: |bytes| imported(|options| import::csv_table(bytes, options)),
};

/// VPP's `show runtime`.
pub const VPP_RUNTIME: Target = Target {
    name: "vpp_runtime",
    seeds: || {
        let text = "Thread 1 vpp_wk_0 (lcore 1)\nTime 3.0, 10.000000 sec internal node vector rate 256.00 loops/sec 147460.13\n\
                    Name State Calls Vectors Suspends Packet-Clocks Vectors/Call\nip4-lookup active 1000 256000 0 6.03e0 256.00\n\
                    fib-walk \"any wait\" 0 0 2 6.03e3 0.00\n\n$ dmesg\n";
        vec![text.into()]
    },
    run: |bytes| match import::nodes::read(Default::default(), bytes, "damaged") {
        Ok(runtime) => {
            assert!(
                runtime
                    .rows
                    .iter()
                    .all(|row| row.clocks.is_none_or(f64::is_finite) && !row.node.is_empty())
            );
            true
        }
        Err(_) => false,
    },
};

/// Dumps of idle states, with names and without, and a table of them.
pub const CPUIDLE: Target = Target {
    name: "cpuidle",
    seeds: || {
        let named = include_str!("../../../../../xtask/site/files/after.txt");
        let unnamed = "0\n9\nenabled\nCPUIDLE CORE POLL IDLE\n0\n0\nPOLL\n4294967295\n0\n0\n700\n12\n\
                       3\n2\nenabled\nMWAIT 0x00\n0\n2\nC1\n0\n0\n2\n9000\n70\n";
        let table =
            "kernel,when,state,name,usage,above,below\nk,before,0,C1,5,1,0\nk,after,0,C1,9,2,2\n";
        let of_cpu: String = named
            .lines()
            .take(32)
            .map(|line| format!("{line}\n"))
            .collect();
        vec![of_cpu.into(), unnamed.into(), table.into()]
    },
    run: |bytes| match cpuidle::read_bytes("damaged", bytes) {
        Ok(Content::Dump(dump)) => {
            assert!(dump.cpus.values().all(|states| !states.is_empty()));
            // Against itself nothing was counted.
            assert!(cpuidle::between(&dump, &dump, None).is_err());
            true
        }
        Ok(Content::Table(counts)) => {
            assert!(
                counts
                    .iter()
                    .all(|of| of.cpus.iter().all(|cpu| !cpu.states.is_empty()))
            );
            true
        }
        Err(error) => {
            assert!(!error.message.is_empty() && !error.help.is_empty());
            false
        }
    },
};

/// The text of a kernel's trace.
pub const FTRACE: Target = Target {
    name: "ftrace",
    seeds: || {
        let text = include_str!("../../../../record/import/data/guest.trace");
        let lines = |from: usize, to: usize| {
            text.lines()
                .take(to)
                .skip(from)
                .map(|line| format!("{line}\n"))
                .collect::<String>()
        };
        let page = format!(
            "<!DOCTYPE html>\n<script class=\"trace-data\">\n{}</script>\n",
            lines(20, 30)
        );
        vec![lines(0, 40).into(), lines(300, 330).into(), page.into()]
    },
    run: traced,
};

/// `trace.dat`.
pub const TRACE_DAT: Target = Target {
    name: "trace_dat",
    seeds: || vec![include_bytes!("../../../../record/import/tests/data/guest-v7.dat").to_vec()],
    run: traced,
};

/// A trace of Perfetto.
pub const PERFETTO: Target = Target {
    name: "perfetto",
    seeds: || vec![include_bytes!("../../../../record/import/tests/data/guest.perfetto").to_vec()],
    run: traced,
};

/// A capture file.
pub const PCAP: Target = Target {
    name: "pcap",
    seeds: || vec![capture_file([&[7; 60][..], &[], &[7; 1514]])],
    run: |bytes| match pcap::read(bytes) {
        Ok(packets) => {
            assert!(packets.iter().map(Vec::len).sum::<usize>() <= bytes.len());
            true
        }
        Err(_) => false,
    },
};

/// The file of a graph of one's own.
pub const OWN_GRAPH: Target = Target {
    name: "own_graph",
    seeds: || {
        vec![
            b"[packets]\nfrom = \"flows\"\nstart = \"l2-input\"\nmode = \"cross-connect\"\n[[flow]]\nsource = \"10.0.0.1\"\n\
              destination = \"20.0.0.1\"\nttl = 3\n"
                .to_vec(),
            b"[packets]\nfrom = \"generator\"\n[[node]]\nname = \"ip4-input\"\nnext = { ip4-lookup = \"l2-input\" }\n"
                .to_vec(),
        ]
    },
    run: |bytes| {
        let document = Document::new("graph.toml", String::from_utf8_lossy(bytes));
        match dataplane_experiments::check_graph(&document) {
            Ok(()) => true,
            Err(error) => {
                assert!(error.to_string().starts_with("graph.toml"), "{error}");
                false
            }
        }
    },
};

/// A plan of many runs.
pub const PLAN: Target = Target {
    name: "plan",
    seeds: || {
        let plan = "experiment = \"psci-latency\"\nchunk = 4\n[settings]\niterations = 1\n[grid]\nscp.channels = [1, 2]\n\
                    topology.clusters = \"1..3\"\n[seeds]\ncount = 3\n";
        let draws = "experiment = \"psci-latency\"\n[random]\npoints = 8\n[random.ranges]\n\
                     scp.channels = { from = 1, to = 4 }\n";
        vec![plan.into(), draws.into()]
    },
    run: |bytes| match sweep::Plan::read(&document("p.toml", bytes)) {
        Ok(plan) => {
            if let Some(last) = plan.points().and_then(|points| points.checked_sub(1)) {
                plan.point(last);
            }
            true
        }
        Err(error) => {
            assert!(error.to_string().contains("p.toml"), "{error}");
            false
        }
    },
};

/// A platform file.
pub const PLATFORM: Target = Target {
    name: "platform",
    seeds: || vec![include_bytes!("../../../../../data/platforms/juno-r1.toml").to_vec()],
    run: |bytes| match soc::config::Platform::read(&document("p.toml", bytes)) {
        Ok(platform) => {
            assert!(!platform.topology.cpus.is_empty());
            true
        }
        Err(error) => {
            assert!(error.to_string().starts_with("p.toml:"), "{error}");
            false
        }
    },
};

/// A policy for comparisons.
pub const POLICY: Target = Target {
    name: "policy",
    seeds: || {
        let text = "threshold = 1.0\nalpha = 0.05\n[[rule]]\ncase = \"suspend-deepest\"\nmetric = \"wakeup\"\nthreshold = 5.0\nleast = 0.1\n\
                    better = \"lower\"\n[[rule]]\nignore = true\n";
        vec![text.into()]
    },
    run: |bytes| match comparison::Policy::read(&document("p.toml", bytes)) {
        Ok(policy) => {
            assert!(policy.threshold >= 0.0 && policy.alpha > 0.0 && policy.alpha < 1.0);
            true
        }
        Err(error) => {
            assert!(error.to_string().starts_with("p.toml"), "{error}");
            false
        }
    },
};

/// A workload in a file of rt-app.
pub const WORKLOAD: Target = Target {
    name: "workload",
    seeds: || {
        let own: [&[u8]; 3] = [
            include_bytes!("../../../../../data/workloads/audio-bbench.json"),
            include_bytes!("../../../../../data/workloads/cyclictest.json"),
            include_bytes!("../../../../../data/workloads/ui-render.json"),
        ];
        own.map(<[u8]>::to_vec).to_vec()
    },
    run: |bytes| match workload::read(&document("w.json", bytes), &workload::Options::default()) {
        Ok(file) => {
            assert!(!file.workload.tasks.is_empty() && file.capacity > 0);
            true
        }
        Err(error) => {
            assert!(
                error.help_text().is_some() && !error.to_string().chars().any(char::is_control),
                "{error}"
            );
            false
        }
    },
};

/// A whole recording: the header's text, and rows that are written as Parquet files.
pub const RECORDING: Target = Target {
    name: "recording",
    seeds: || vec![recordings::SEED.into()],
    run: |bytes| recordings::written(bytes),
};

/// The Parquet file of a recording's events, with nothing that would tell that it was damaged.
pub const PARQUET: Target = Target {
    name: "parquet",
    seeds: recordings::parquet_seeds,
    run: recordings::parquet,
};

/// The bytes as a document of this name.
fn document(name: &str, bytes: &[u8]) -> Document {
    Document::new(name, String::from_utf8_lossy(bytes))
}

/// Reads a trace strictly and leniently; whatever the file's form, its events come in the order of
/// time.
fn traced(bytes: &[u8]) -> bool {
    let mut taken = false;
    for lenient in [false, true] {
        let (mut events, mut last_ns) = (0, 0);
        let mut take = |some: &[ftrace::Event]| {
            events += some.len() as u64;
            for event in some {
                assert!(event.time_ns >= last_ns, "{event:?} after {last_ns}");
                last_ns = event.time_ns;
            }
            Ok(())
        };
        let options = ftrace::Options {
            file: "in".to_owned(),
            lenient,
            ..ftrace::Options::default()
        };
        match ftrace::read(std::io::Cursor::new(bytes), &options, Some(&mut take)) {
            Ok(trace) => {
                assert_eq!(trace.events, events);
                taken |= !lenient;
            }
            Err(ftrace::Error::Import(error)) => {
                assert!(
                    !error.help.is_empty() && !error.to_string().chars().any(char::is_control),
                    "{error}"
                );
            }
            Err(error) => panic!("{error}"),
        }
    }
    taken
}

/// Reads strictly and leniently; what is read makes a recording.
fn imported(read: impl Fn(&Options) -> Result<Figures, ImportError>) -> bool {
    let juno = vec![(1, 0), (1, 1), (1, 2), (1, 3), (0, 0), (0, 1)];
    let strict = Options {
        file: "in".to_owned(),
        variant: "v".to_owned(),
        cpus: Some(juno),
        ..Options::default()
    };
    let lenient = Options {
        lenient: true,
        cpus: None,
        unit: Some("us".to_owned()),
        ..strict.clone()
    };
    let mut taken = false;
    for options in [&strict, &lenient] {
        match read(options) {
            Ok(figures) => {
                assert!(
                    figures
                        .figures
                        .iter()
                        .all(|figure| figure.value.is_finite() && figure.line > 0)
                );
                import::record(&figures, options, "damaged");
                taken = true;
            }
            Err(error) => {
                assert!(
                    !error.help.is_empty() && !error.to_string().chars().any(char::is_control),
                    "{error}"
                );
            }
        }
    }
    taken
}
