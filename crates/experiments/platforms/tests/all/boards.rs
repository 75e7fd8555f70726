//! Boards whose files say all, or little.

use crate::{board, platform, states, written};
use platforms::Board;

/// Idle states of a core and of a cluster.
const STATES: &str = "
    idle-states {
        SLEEP: cpu-sleep {
            arm,psci-suspend-param = <0x10000>;
            entry-latency-us = <40>;
            exit-latency-us = <60>;
            min-residency-us = <500>;
            local-timer-stop;
        };
        DEEP: cluster-sleep {
            arm,psci-suspend-param = <0x1010000>;
            entry-latency-us = <400>;
            exit-latency-us = <600>;
            wakeup-latency-us = <700>;
            min-residency-us = <2500>;
        };
    };";

fn cpu(label: &str, reg: &str, core: &str, more: &str) -> String {
    format!(
        "{label}: cpu@{reg} {{\n compatible = \"arm,{core}\";\n reg = <0 0x{reg}>;\n cpu-idle-states = <&SLEEP &DEEP>;\n{more}\n}};\n"
    )
}

fn table(label: &str, points: &[(u32, u32)]) -> String {
    let point = |(mhz, uv): &(u32, u32)| {
        format!(
            "opp-{mhz} {{\n opp-hz = <0 {}>;\n opp-microvolt = <{uv} {uv} 1200000>;\n}};\n",
            mhz * 1_000_000
        )
    };
    format!(
        "{label}: opp-table-{label} {{\n{}}};\n",
        points.iter().map(point).collect::<String>()
    )
}

/// Three clusters. What is said of clocks is said of each cluster's first CPU alone.
fn three_clusters() -> String {
    let mut cpus = String::new();
    let mut map = String::new();
    for (cluster, (core, dmips)) in [
        ("cortex-a53", 500),
        ("cortex-a72", 1000),
        ("cortex-a72", 1000),
    ]
    .iter()
    .enumerate()
    {
        map += &format!("cluster{cluster} {{\n");
        for number in 0..2 {
            let clocks = format!(
                "operating-points-v2 = <&OPP{}>;\ncapacity-dmips-mhz = <{dmips}>;\ndynamic-power-coefficient = <{}>;",
                cluster.min(1),
                dmips / 5
            );
            let label = format!("CPU{cluster}{number}");
            cpus += &cpu(
                &label,
                &format!("{cluster}0{number}"),
                core,
                if number == 0 { &clocks } else { "" },
            );
            map += &format!("core{number} {{\n cpu = <&{label}>;\n}};\n");
        }
        map += "};\n";
    }
    let tables = table("OPP0", &[(500, 800_000), (1000, 1_000_000)])
        + &table("OPP1", &[(1000, 900_000), (2000, 1_100_000)]);
    format!(
        "/ {{\n model = \"Three \\\"clusters\\\"\";\n cpus {{\n{cpus}cpu-map {{\n{map}}};\n{STATES}\n}};\n{tables}}};"
    )
}

#[test]
fn clusters_states_and_powers_of_a_tree_are_those_of_the_platform() {
    let board = board(&three_clusters()).unwrap();
    let (idle, machine, text) = platform(&board);
    assert_eq!(
        idle.domains
            .iter()
            .map(|domain| domain.cpus.clone())
            .collect::<Vec<_>>(),
        [[0, 1], [2, 3], [4, 5]]
    );
    let expected = [
        ("WFI", 0, 1, 1, false),
        ("cpu-sleep", 40, 60, 500, false),
        ("cluster-sleep", 100, 600, 2500, true),
    ];
    assert_eq!(
        states(&idle, 2),
        expected,
        "a wake-up takes 700 us at most, of which leaving takes 600"
    );
    assert_eq!(
        idle.domains[0]
            .table
            .all()
            .iter()
            .map(|state| state.stops_timer)
            .collect::<Vec<_>>(),
        [false, true, false]
    );
    assert!(idle.power.is_none(), "nobody says what idle states take");
    let points = |domain: usize| {
        let points = &machine.topology.domains[domain].operating_points;
        points
            .iter()
            .map(|point| (point.clock / 1_000_000, point.capacity, point.core_power))
            .collect::<Vec<_>>()
    };
    // 100 uW/MHz/V^2 at 500 MHz and 0.8 V are 32 000 uW, and a unit is 10 uW.
    assert_eq!(points(1), [(500, 128, 3_200), (1000, 256, 10_000)]);
    assert_eq!(points(3), [(1000, 512, 16_200), (2000, 1024, 48_400)]);
    assert_eq!(
        (machine.topology.cpus.len(), machine.borrows.as_deref()),
        (6, Some("tc2"))
    );
    let regs: Vec<_> = board.cpus.iter().map(|cpu| cpu.reg).collect();
    let expected = [0, 1, 0x100, 0x101, 0x200, 0x201];
    assert_eq!(regs, expected.map(Some));
    let states = board.cpus[0].states.iter().map(|state| state.parameter);
    let expected = [None, Some(0x10000), Some(0x101_0000)];
    assert_eq!(states.collect::<Vec<_>>(), expected);
    assert!(
        text.contains("/cpus/idle-states/cpu-sleep, arm,psci-suspend-param 0x10000"),
        "{text}"
    );
    assert!(
        text.contains(
            "operating_points_source = \"/opp-table-OPP1, with dynamic-power-coefficient 200"
        ),
        "{text}"
    );
}

#[test]
fn without_a_map_clusters_are_those_of_the_affinities() {
    let of = |regs: &[&str]| {
        let cpus: String = regs
            .iter()
            .map(|reg| cpu(&format!("C{reg}"), reg, "cortex-a72", ""))
            .collect();
        let board = board(&format!("/ {{\n cpus {{\n{cpus}{STATES}\n}};\n}};")).unwrap();
        assert!(board.assumed.iter().any(|what| what.contains("cpu-map")));
        platform(&board)
            .0
            .domains
            .iter()
            .map(|domain| domain.cpus.len())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&["0", "1", "100", "101"]), [2, 2]);
    // Cores with threads count in the second field.
    assert_eq!(of(&["0", "100", "200", "300"]), [4]);
}

#[test]
fn an_old_32_bit_board_has_its_points_in_pairs_and_no_power() {
    let cpu = |number: u32| {
        format!(
            "cpu@{number} {{\n compatible = \"arm,cortex-a7\";\n reg = <{number}>;\n cpu-idle-states = <&SLEEP>;\n\
             operating-points = <996000 1075000 792000 975000>;\n}};\n"
        )
    };
    let board = board(&format!(
        "/ {{\n cpus {{\n{}{}{STATES}\n}};\n}};",
        cpu(0),
        cpu(1)
    ))
    .unwrap();
    let (idle, machine, text) = platform(&board);
    assert_eq!((idle.cpus(), states(&idle, 0).len()), (2, 2));
    let domain = &machine.topology.domains[1];
    assert!(domain.operating_points.is_empty(), "no power is invented");
    assert!(
        text.contains("#     { clock = \"792000 kHz\", capacity = 814, core_power = ?"),
        "{text}"
    );
    assert_eq!(machine.cores["cortex-a7"].clock, 996_000_000);
}

#[test]
fn states_of_power_domains_are_those_of_domains_that_linux_switches() {
    let cpu = |number: u32, core: &str| {
        format!(
            "cpu@{number} {{\n compatible = \"v,{core}\";\n reg = <0 {number}>;\n power-domains = <&PD{number}>;\n}};\n"
        )
    };
    let domain = |number: u32, state: &str| {
        format!(
            "PD{number}: power-domain-cpu{number} {{\n power-domains = <&CLUSTER>;\n domain-idle-states = <&{state}>;\n}};\n"
        )
    };
    let state = |label: &str, name: &str, times: [u32; 3], more: &str| {
        format!(
            "{label}: {name} {{\n entry-latency-us = <{}>;\n exit-latency-us = <{}>;\n min-residency-us = <{}>;\n{more}\n}};\n",
            times[0], times[1], times[2]
        )
    };
    let text = format!(
        "/ {{\n cpus {{\n{}{}}};\n psci {{\n{}{}CLUSTER: power-domain-cluster {{\n domain-idle-states = <&LLCC &OFF &GONE>;\n}};\n}};\n{}{}{}{}{}}};",
        cpu(0, "little"),
        cpu(1, "big"),
        domain(0, "SMALL"),
        domain(1, "LARGE"),
        state("SMALL", "silver-rail-off", [10, 20, 300], ""),
        state("LARGE", "gold-rail-off", [30, 40, 500], ""),
        state(
            "LLCC",
            "llcc-off",
            [300, 400, 5000],
            "arm,psci-suspend-param = <0x41000044>;"
        ),
        state("OFF", "cx-ret", [500, 600, 9000], ""),
        state(
            "GONE",
            "cx-off",
            [900, 900, 99000],
            "status = \"disabled\";"
        )
    );
    let (idle, _, text) = platform(&board(&text).unwrap());
    assert_eq!(
        states(&idle, 0)[1..],
        [("silver-rail-off", 10, 20, 300, false)]
    );
    assert_eq!(
        states(&idle, 1)
            .iter()
            .map(|state| state.0)
            .collect::<Vec<_>>(),
        ["WFI", "gold-rail-off"]
    );
    let [cluster] = &idle.power_domains[..] else {
        panic!("{text}")
    };
    assert_eq!(
        (cluster.name.as_str(), &cluster.cpus[..]),
        ("power-domain-cluster", &[0, 1][..])
    );
    assert_eq!(cluster.state_names, ["llcc-off", "cx-ret"]);
    assert_eq!(
        cluster.states[1],
        idle::DomainState {
            off_ns: 500_000,
            on_ns: 600_000,
            residency_ns: 9_000_000
        }
    );
}

#[test]
fn each_domain_of_a_file_has_as_many_states_as_the_others() {
    let cpu = |number: u32, states: &str| {
        format!(
            "cpu@{number} {{\n compatible = \"arm,core{number}\";\n reg = <0 {number}>;\n cpu-idle-states = <{states}>;\n}};\n"
        )
    };
    let (idle, _, text) = platform(
        &board(&format!(
            "/ {{\n cpus {{\n{}{}{STATES}\n}};\n}};",
            cpu(0, "&SLEEP &DEEP"),
            cpu(1, "&SLEEP")
        ))
        .unwrap(),
    );
    assert_eq!(
        states(&idle, 1)
            .iter()
            .map(|state| state.0)
            .collect::<Vec<_>>(),
        ["WFI", "cpu-sleep", "cpu-sleep"]
    );
    assert!(text.contains("assumed: repeated"), "{text}");
}

#[test]
fn caches_are_each_cores_own_or_shared() {
    let of = |number: u32, below: &str| {
        let more = format!("d-cache-size = <65536>;\nnext-level-cache = <&{below}>;");
        cpu(
            &format!("C{number}"),
            &number.to_string(),
            "cortex-a76",
            &more,
        )
    };
    let l2 = |label: &str| {
        format!("{label}: {label} {{\n cache-size = <524288>;\n next-level-cache = <&L3>;\n}};\n")
    };
    let tree = |cpus: String| {
        let caches = l2("L2A") + &l2("L2B") + "L3: l3 {\n cache-size = <2097152>;\n};\n";
        platform(&board(&format!("/ {{\n cpus {{\n{cpus}{caches}{STATES}\n}};\n}};")).unwrap()).1
    };
    let own = tree(of(0, "L2A") + &of(1, "L2B"));
    assert_eq!(
        (own.cores["cortex-a76"].l1_data, own.cores["cortex-a76"].l2),
        (64 << 10, 512 << 10)
    );
    assert_eq!(
        (own.topology.domains[1].l2, own.topology.domains[1].l3),
        (0, 2 << 20)
    );
    let shared = tree(of(0, "L2A") + &of(1, "L2A"));
    assert_eq!(
        (shared.cores["cortex-a76"].l2, shared.topology.domains[1].l2),
        (0, 512 << 10)
    );
}

/// The kernel's files of two CPUs of different capacity.
const SYSFS: [(&str, &str); 20] = [
    ("cpu0/cpuidle/state0/name", "WFI"),
    ("cpu0/cpuidle/state0/latency", "1"),
    ("cpu0/cpuidle/state0/residency", "1"),
    ("cpu0/cpuidle/state1/name", "cluster-sleep"),
    ("cpu0/cpuidle/state1/latency", "900"),
    ("cpu0/cpuidle/state1/residency", "3000"),
    ("cpu0/cpu_capacity", "400"),
    ("cpu0/cpufreq/related_cpus", "0"),
    (
        "cpu0/cpufreq/scaling_available_frequencies",
        "600000 1200000 ",
    ),
    ("cpu0/cpufreq/cpuinfo_max_freq", "1200000"),
    ("cpu1/cpuidle/state0/name", "WFI"),
    ("cpu1/cpuidle/state0/latency", "1"),
    ("cpu1/cpuidle/state0/residency", "1"),
    ("cpu1/cpuidle/state1/name", "cluster-sleep"),
    ("cpu1/cpuidle/state1/latency", "1100"),
    ("cpu1/cpuidle/state1/residency", "4000"),
    ("cpu1/cpu_capacity", "1024"),
    ("cpu1/cpufreq/related_cpus", "1"),
    ("cpu1/cpufreq/cpuinfo_max_freq", "2400000"),
    ("cpufreq/boost", "1"),
];

/// An energy model as mails quote it.
const MODEL: &str = "Here it is:\n
> /sys/kernel/debug/energy_model/cpu0/ps:600000/power:40000\r
> /sys/kernel/debug/energy_model/cpu0/ps:600000/performance:200\r
> /sys/kernel/debug/energy_model/cpu0/ps:1200000/power:120000\r
> /sys/kernel/debug/energy_model/cpu0/ps:1200000/performance:400\r
> /sys/kernel/debug/energy_model/cpu0/cpus:0\r
./cpu1/ps:2400000/frequency:2400000\n./cpu1/ps:2400000/power:20000000\n./cpu1/cpus:1\n";

#[test]
fn a_copy_of_the_kernels_files_and_its_energy_model_make_a_platform() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &SYSFS);
    let mut board = Board::open(folder.path()).unwrap();
    let (idle, machine, _) = platform(&board);
    assert_eq!(
        states(&idle, 1),
        [
            ("WFI", 0, 1, 1, false),
            ("cluster-sleep", 0, 1100, 4000, true)
        ]
    );
    assert!(
        machine
            .topology
            .domains
            .iter()
            .all(|domain| domain.operating_points.is_empty())
    );
    assert_eq!(
        board.cpus[0].points,
        [(600_000, None, None), (1_200_000, None, None)]
    );

    let dump = folder.path().join("model.txt");
    std::fs::write(&dump, MODEL).unwrap();
    board.take_energy_model(&dump, None).unwrap();
    let (_, machine, text) = platform(&board);
    let points = |domain: usize| {
        machine.topology.domains[domain]
            .operating_points
            .iter()
            .map(|point| (point.capacity, point.core_power))
            .collect::<Vec<_>>()
    };
    // 20 W in units of 10 uW would be more than a file may have.
    assert_eq!(
        (points(1), points(2)),
        (vec![(200, 400), (400, 1_200)], vec![(1024, 200_000)])
    );
    assert!(
        text.contains("A unit of power is 100 uW")
            && text.contains("Assumed: powers of the energy model are microwatts")
    );
}

#[test]
fn the_kernels_files_lie_anywhere_below_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    written(&folder.path().join("sys/devices/system/cpu"), &SYSFS);
    let board = Board::open(folder.path()).unwrap();
    assert_eq!((board.cpus.len(), board.cpus[1].capacity), (2, Some(1024)));
}

/// A dump of two domains; `more` are lines of each state.
fn dump(state: &str, power: [u64; 2], more: impl Fn(u64) -> String) -> String {
    let domain = |(at, power): (usize, u64)| {
        let of = |khz: u64, power: u64| {
            let path = format!("cpu{at}/{state}:{khz}");
            format!(
                "{path}/power:{power}\n{}",
                more(khz).replace("STATE", &path)
            )
        };
        let states = of(600_000, power / 3) + &of(1_200_000, power);
        format!("{states}cpu{at}/cpus:{at}\n")
    };
    power.into_iter().enumerate().map(domain).collect()
}

#[test]
fn the_unit_of_a_dump_follows_from_the_file_or_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &SYSFS);
    let path = folder.path().join("model.txt");
    let top = |text: String, unit| {
        let mut board = Board::open(folder.path()).unwrap();
        std::fs::write(&path, text).unwrap();
        let taken = board.take_energy_model(&path, unit);
        taken
            .map(|()| board.cpus[0].points.last().unwrap().2.unwrap())
            .map_err(|error| error.to_string())
    };
    let none = |_| String::new();
    let (milli, micro) = ([120, 500], [120_000, 500_000]);
    assert_eq!(top(dump("cs", milli, none), None), Ok(120_000));
    assert_eq!(top(dump("ps", milli, none), None), Ok(120_000));
    assert_eq!(top(dump("ps", micro, none), None), Ok(120_000));
    let performance = |khz| format!("STATE/performance:{}\n", khz / 3000);
    assert_eq!(
        top(dump("ps", [9_000, 30_000], performance), None),
        Ok(9_000)
    );
    // Linux 5.15 to 5.19: cost x frequency = 1000 x power x the highest frequency.
    let costs = |khz| {
        format!(
            "STATE/cost:{}\n",
            if khz == 600_000 { 6_000_000 } else { 9_000_000 }
        )
    };
    assert_eq!(top(dump("ps", [9_000, 9_000], costs), None), Ok(9_000_000));
    let asked = dump("ps", [9_000, 9_000], none);
    assert!(
        top(asked.clone(), None)
            .unwrap_err()
            .contains("microwatts or milliwatts")
    );
    assert_eq!(top(asked.clone(), Some(1000)), Ok(9_000_000));
    assert!(
        top(asked + "cpu0/flags:0x5\n", None)
            .unwrap_err()
            .contains("of no unit")
    );
    let said = dump("ps", micro, none) + "cpu0/units:milliWatts\ncpu1/units:milliWatts\n";
    assert_eq!(top(said, None), Ok(120_000_000));
}
