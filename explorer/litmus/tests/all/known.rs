//! Tests whose answers are known, and texts that are wrong.

use litmus::{ErrorKind, answer, parse};

/// A test of two threads, with x and y in X1 and X3 of each, z in X9, and 1 in W5.
fn of_two(first: &[&str], second: &[&str], condition: &str) -> String {
    let mut text =
        "AArch64 T\n{\n0:X1=x; 0:X3=y; 0:X9=z; 0:X5=1;\n1:X1=x; 1:X3=y; 1:X5=1;\n}\n P0 | P1 ;\n"
            .to_owned();
    for row in 0..first.len().max(second.len()) {
        let cell = |cells: &[&str]| cells.get(row).copied().unwrap_or_default().to_owned();
        text.push_str(&format!(" {} | {} ;\n", cell(first), cell(second)));
    }
    text + condition
}

fn verdict(text: &str) -> String {
    let test = parse(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    answer(&test)
        .unwrap_or_else(|error| panic!("{error}:\n{text}"))
        .verdict(test.quantifier)
        .to_owned()
}

#[test]
fn instructions_order_what_the_manual_says() {
    let message = ["STR W5,[X1]", "DMB SY", "STR W5,[X3]"];
    let stale = "exists (1:X2=1 /\\ 1:X4=0)";
    for (reader, expected) in [
        (&["LDR W2,[X3]", "LDR W4,[X1]"][..], "Allowed"),
        (&["LDAR W2,[X3]", "LDR W4,[X1]"], "Forbidden"),
        (&["LDAPR W2,[X3]", "LDR W4,[X1]"], "Forbidden"),
        (&["LDR W2,[X3]", "DMB ST", "LDR W4,[X1]"], "Allowed"),
        (&["LDR W2,[X3]", "DSB LD", "LDR W4,[X1]"], "Forbidden"),
        (&["LDR W2,[X3]", "ISB", "LDR W4,[X1]"], "Allowed"),
        (
            &["LDR W2,[X3]", "EOR W6,W2,W2", "LDR W4,[X1,W6,SXTW]"],
            "Forbidden",
        ),
        (
            &[
                "LDR W2,[X3]",
                "CMP W2,#1",
                "B.NE L",
                "LDR W4,[X1]",
                "L: NOP",
            ],
            "Allowed",
        ),
        (
            &["LDR W2,[X3]", "CBNZ W2,L", "L: ISB", "LDR W4,[X1]"],
            "Forbidden",
        ),
        (&["SWPA W5,W2,[X3]", "LDR W4,[X1]"], "Forbidden"),
        (&["SWP W5,W2,[X3]", "DMB LD", "LDR W4,[X1]"], "Forbidden"),
    ] {
        assert_eq!(
            verdict(&of_two(&message, reader, stale)),
            expected,
            "{reader:?}"
        );
    }
    // A load of an atomic that gives its value to no register is nothing to a DMB of loads.
    for (add, expected) in [
        ("LDADD W5,W2,[X3]", "Forbidden"),
        ("LDADD W5,WZR,[X3]", "Allowed"),
        ("STADD W5,[X3]", "Allowed"),
    ] {
        let text = of_two(
            &message,
            &[add, "DMB LD", "LDR W4,[X1]"],
            "exists (y=2 /\\ 1:X4=0)",
        );
        assert_eq!(verdict(&text), expected, "{add}");
    }
    let loads = ["LDR W2,[X1]", "DMB SY", "STR W5,[X3]"];
    let buffered = "exists (0:X2=1 /\\ 1:X2=1)";
    for (writer, expected) in [
        (&["LDR W2,[X3]", "STR W5,[X1]"][..], "Allowed"),
        (&["LDR W2,[X3]", "STLR W5,[X1]"], "Forbidden"),
        (
            &["LDR W2,[X3]", "EOR W6,W2,W2", "ADD W6,W6,#1", "STR W6,[X1]"],
            "Forbidden",
        ),
        // Whether it swaps depends on what it compares with.
        (
            &["LDR W2,[X3]", "EOR W6,W2,W2", "CAS W6,W5,[X1]"],
            "Forbidden",
        ),
        // The status of a store exclusive depends on no load.
        (
            &[
                "LDXR W2,[X3]",
                "STXR W4,W2,[X3]",
                "CBNZ W4,E",
                "STR W5,[X1]",
                "E: NOP",
            ],
            "Allowed",
        ),
    ] {
        assert_eq!(
            verdict(&of_two(writer, &loads, buffered)),
            expected,
            "{writer:?}"
        );
    }
    let store = ["STR W5,[X3]", "DMB SY", "LDR W2,[X1]"];
    let both = "exists (0:X2=0 /\\ 1:X2=0)";
    for (other, expected) in [
        (&["STR W5,[X1]", "LDR W2,[X3]"][..], "Allowed"),
        (&["STR W5,[X1]", "DMB ST", "LDR W2,[X3]"], "Allowed"),
        (&["STR W5,[X1]", "DSB ST", "LDR W2,[X3]"], "Forbidden"),
        // Acquired is what it loads; what it stores may come later.
        (&["SWPA W5,W6,[X1]", "LDR W2,[X3]"], "Allowed"),
        (&["SWPL W5,W6,[X1]", "LDR W2,[X3]"], "Allowed"),
        (&["SWPAL W5,WZR,[X1]", "LDR W2,[X3]"], "Allowed"),
        (&["SWPAL W5,W6,[X1]", "LDR W2,[X3]"], "Forbidden"),
    ] {
        assert_eq!(verdict(&of_two(other, &store, both)), expected, "{other:?}");
    }
}

#[test]
fn exclusives_add_up_and_may_fail() {
    let add = |label: &'static str| [label, "ADD W3,W2,#1", "STXR W4,W3,[X1]"];
    let (first, second) = (add("L0: LDXR W2,[X1]"), add("L1: LDXR W2,[X1]"));
    let looped = |add: &[&'static str], back: &'static str| [add, &[back]].concat();
    let text = of_two(
        &looped(&first, "CBNZ W4,L0"),
        &looped(&second, "CBNZ W4,L1"),
        "forall (x=2)",
    );
    assert_eq!(verdict(&text), "Required");
    let once = of_two(
        &first,
        &second,
        "locations [x; 0:X4; 1:X4]\nexists (0:X4=0 /\\ 1:X4=0 /\\ x=1)",
    );
    assert_eq!(verdict(&once), "Forbidden");
    let test = parse(&once).unwrap();
    // Both succeed, one of them fails, both fail.
    assert_eq!(answer(&test).unwrap().states.len(), 4);
    // Another location than was loaded from: the monitor is lost.
    assert_eq!(
        verdict(&of_two(
            &["LDXR W2,[X1]", "STXR W4,W5,[X3]"],
            &["NOP"],
            "exists (y=1)"
        )),
        "Forbidden"
    );
}

#[test]
fn the_answer_is_herd7s() {
    let text = of_two(
        &["STR W5,[X1]"],
        &["LDR W2,[X1]"],
        "(* seen *) exists (1:X2=1)",
    );
    let test = parse(&text).unwrap();
    let said = answer(&test).unwrap().text(&test);
    assert_eq!(
        said,
        "Test T Allowed\nStates 2\n1:X2=0;\n1:X2=1;\nOk\nWitnesses\nPositive: 1 Negative: 1\nObservation T Sometimes 1 1\n"
    );
    let expected = litmus::expected::read(&said).unwrap();
    assert_eq!(
        expected["T"].difference(&test, &answer(&test).unwrap()),
        None
    );
    let other =
        litmus::expected::read(&said.replace("States 2\n1:X2=0;", "States 2\n1:X2=7;")).unwrap();
    let difference = other["T"]
        .difference(&test, &answer(&test).unwrap())
        .unwrap();
    assert_eq!(
        difference,
        "1 states that are not expected, and 1 that are missing"
    );
    let kinds = litmus::expected::read("T Forbidden\n").unwrap();
    assert_eq!(
        kinds["T"]
            .difference(&test, &answer(&test).unwrap())
            .unwrap(),
        "Allowed, expected Forbidden"
    );
    assert!(
        litmus::expected::read("test,kind\nT,Maybe\n")
            .unwrap_err()
            .to_string()
            .starts_with("line 2: `Maybe` is no kind")
    );
}

#[test]
fn what_is_wrong_or_not_modelled_is_named() {
    let of =
        |first: &str, condition: &str| parse(&of_two(&[first], &["NOP"], condition)).unwrap_err();
    for (first, condition, line, what) in [
        (
            "MRS X2,CNTVCT_EL0",
            "exists (x=1)",
            7,
            "the instruction `MRS X2,CNTVCT_EL0`: system registers",
        ),
        (
            "DC CVAU,X1",
            "exists (x=1)",
            7,
            "the instruction `DC CVAU,X1`: maintenance of caches and of translations",
        ),
        (
            "LD1 {V0.4S},[X1]",
            "exists (x=1)",
            7,
            "the instruction `LD1 {V0.4S},[X1]`",
        ),
        (
            "LDRB X2,[X1]",
            "exists (x=1)",
            7,
            "the operands of `LDRB X2,[X1]` are not those of LDRB",
        ),
        (
            "CASP X1,X2,X4,X5,[X3]",
            "exists (x=1)",
            7,
            "the operands of `CASP X1,X2,X4,X5,[X3]` are not those of CASP",
        ),
        (
            "LDR W2,[X1",
            "exists (x=1)",
            7,
            "the operands of `LDR W2,[X1` are not those of LDR",
        ),
        ("B L9", "exists (x=1)", 7, "there is no label `L9`"),
        ("NOP", "exists (x=1", 8, "`)` is missing"),
        ("NOP", "exists (4:X1=1)", 8, "there is no thread `4`"),
        (
            "NOP",
            "perhaps (x=1)",
            8,
            "a row of the program ends with `;`",
        ),
    ] {
        let error = of(first, condition);
        assert_eq!(
            (error.line, &error.what[..]),
            (line, what),
            "{first} {condition}"
        );
    }
    let x86 = parse("X86 MP\n{}\n").unwrap_err();
    assert_eq!((x86.kind, x86.line), (ErrorKind::Unsupported, 1));
    let no = parse("MP\n").unwrap_err();
    assert_eq!((no.kind, no.line), (ErrorKind::Malformed, 1));
    let deep = of(
        "NOP",
        &format!("exists {}x=1{}", "(".repeat(500), ")".repeat(500)),
    );
    assert!(deep.what.contains("within one another"));
    let nowhere = parse(&of_two(&["LDR W2,[X7]"], &["NOP"], "exists (x=1)")).unwrap();
    assert!(
        answer(&nowhere)
            .unwrap_err()
            .what
            .contains("0x0, which is no location")
    );
}

#[test]
fn what_herd7_does_not_read_is_read_as_well() {
    let one = |lines: &[&str], condition: &str| verdict(&of_two(lines, &["NOP"], condition));
    for (lines, forall) in [
        (
            &["MOV X0,#240", "UBFX X2,X0,#4,#4", "SBFX X4,X0,#4,#4"][..],
            "0:X2=15 /\\ 0:X4=-1",
        ),
        (
            &["MOV W0,#511", "UXTB W2,W0", "SXTB X4,W0", "UXTH W6,W0"],
            "0:X2=255 /\\ 0:X4=-1 /\\ 0:X6=511",
        ),
        (
            &["MOV X0,#1", "MOVK X0,#2,LSL #48", "LSR X0,X0,#48"],
            "0:X0=2",
        ),
        (
            &["MOV W0,#-16", "ASR W2,W0,#1", "EON X4,X5,X5"],
            "0:X2=-8 /\\ 0:X4=-1",
        ),
        (&["MOV W0,#-1", "CMN W0,#1", "CSET W2,EQ"], "0:X2=1"),
        (&["YIELD", "PRFM PLDL1KEEP,[X1]", "MOV W2,#1"], "0:X2=1"),
        (
            &["LDXR W2,[X1]", "CLREX", "STXR W4,W5,[X1]"],
            "0:X4=1 /\\ x=0",
        ),
        (&["STLUR W5,[X1,#0]", "LDAPUR W2,[X1,#0]"], "0:X2=1"),
    ] {
        assert_eq!(
            one(lines, &format!("forall ({forall})")),
            "Required",
            "{lines:?}"
        );
    }
    let bytes = |reader: [&str; 2]| {
        let text = of_two(
            &["STURB W5,[X1]", "STLURB W5,[X3]"],
            &reader,
            "exists (1:X2=1 /\\ 1:X4=0)",
        );
        verdict(&text.replace("{\n", "{\nuint8_t x; uint8_t y;\n"))
    };
    assert_eq!(bytes(["LDAPURB W2,[X3]", "LDURB W4,[X1]"]), "Forbidden");
    assert_eq!(bytes(["LDURB W2,[X3]", "LDAPURB W4,[X1]"]), "Allowed");
}

#[test]
fn a_pair_is_swapped_whole_or_not_at_all() {
    let pair = |first: &[&str], second: &[&str], condition: &str| {
        let text = of_two(first, second, condition)
            .replace("{\n", "{\nuint32_t a[2]={1,2}; 0:X11=a; 1:X11=a;\n");
        let set = "0:X6=1; 0:X7=2; 0:X8=7; 0:X9=8;";
        verdict(&text.replace("0:X9=z;", set))
    };
    let swap = ["CASP W6,W7,W8,W9,[X11]"];
    assert_eq!(
        pair(&swap, &["NOP"], "forall (a={7,8} /\\ 0:X6=1 /\\ 0:X7=2)"),
        "Required"
    );
    let other = ["MOV W2,#3", "STR W2,[X11,#4]"];
    assert_eq!(
        pair(&swap, &other, "exists (a={1,3} /\\ 0:X7=3)"),
        "Allowed"
    );
    assert_eq!(
        pair(&swap, &other, "exists (a={7,3} /\\ 0:X7=2)"),
        "Allowed"
    );
    assert_eq!(
        pair(&swap, &other, "exists (a[0]=7 /\\ 0:X7=3)"),
        "Forbidden"
    );
}

#[test]
fn accesses_of_several_sizes_and_wrong_arrays_are_named() {
    let text = |kind: &str| {
        format!(
            "AArch64 T\n{{ {kind} 0:X1=a; }}\n P0 ;\n LDRB W2,[X1] ;\n LDR W3,[X1] ;\nexists (0:X2=1)\n"
        )
    };
    for (kind, what) in [
        (
            "uint32_t a;",
            "accesses of several sizes to `a`: 4 and 1 bytes",
        ),
        ("a=1;", "accesses of several sizes to `a`: 1 and 4 bytes"),
        (
            "uint8_t a[4];",
            "accesses of several sizes to `a[0]`: 1 and 4 bytes",
        ),
    ] {
        assert_eq!(answer(&parse(&text(kind)).unwrap()).unwrap_err().what, what);
    }
    for (kind, what) in [
        ("a[2]={1,2};", "`a` needs a type, once: `int a[2]`"),
        ("int a[0];", "an array of 0 elements: 1 to 256 are"),
        ("int a[1]={1,2};", "2 values for 1 elements of `a`"),
        (
            "int a[2]={1,2}; a[1]=1;",
            "`a` needs a type, once: `int a[1]`",
        ),
        ("int a[2]={1,+};", "`+` is neither a number nor a name"),
    ] {
        assert_eq!(parse(&text(kind)).unwrap_err().what, what);
    }
}

/// A loop that counts to six, and a reader of what is stored behind it.
const COUNTS: &str = "AArch64 count\n{ 0:X5=x; 1:X5=x; }\n P0           | P1          ;\n MOV W1,#0    | LDR W2,[X5] ;\n\
    again:        |             ;\n ADD W1,W1,#1 |             ;\n CMP W1,#6    |             ;\n B.NE again   |             ;\n\
    STR W1,[X5]   |             ;\nexists (1:X2=6)\n";

#[test]
fn a_verdict_that_rests_on_the_bound_on_loops_says_so() {
    let test = |unroll| {
        let mut test = parse(COUNTS).unwrap();
        test.unroll = unroll;
        test
    };
    let said = |unroll: u32| {
        let (test, answer) = (test(unroll), answer(&test(unroll)).unwrap());
        (
            answer.doubt(&test).is_some(),
            answer.verdict(test.quantifier),
        )
    };
    assert_eq!(
        [said(2), said(4), said(5)],
        [(true, "Forbidden"), (true, "Forbidden"), (false, "Allowed")]
    );
    let cut = answer(&test(2)).unwrap().text(&test(2));
    assert!(cut.starts_with("Test count: no answer, since loops were followed for 2 jumps"));
    assert!(!cut.contains("Observation"), "{cut}");
    // To wait once more for a value leads nowhere else.
    let waits = "AArch64 wait\n{ 0:X5=x; 1:X5=x; }\n P0          | P1           ;\n MOV W1,#1   | again:       ;\n\
        STR W1,[X5] | LDR W2,[X5]  ;\n             | CBZ W2,again ;\nexists (1:X2=0)\n";
    let test = parse(waits).unwrap();
    let answer = answer(&test).unwrap();
    assert!(answer.doubt(&test).is_none() && answer.verdict(test.quantifier) == "Forbidden");
}

#[test]
fn atomics_of_four_threads_add_up_in_every_order_and_a_short_limit_is_said() {
    let add = "MOV W9,#1 | MOV W9,#1 | MOV W9,#1 | MOV W9,#1 ;\nLDADD W9,W1,[X0] | LDADD W9,W1,[X0] | LDADD W9,W1,[X0] | LDADD W9,W1,[X0] ;\n";
    let text = format!(
        "AArch64 A\n{{ 0:X0=x; 1:X0=x; 2:X0=x; 3:X0=x; }}\nP0 | P1 | P2 | P3 ;\n{add}{add}forall x=8;\n"
    );
    let mut test = parse(&text).unwrap();
    let found = answer(&test).unwrap();
    // Eight steps, of which the two of a thread keep their order.
    assert_eq!(
        (found.verdict(test.quantifier), found.positive),
        ("Required", 2520)
    );
    // As many steps as it takes are enough, and one less is not.
    test.limit = found.steps;
    assert_eq!(answer(&test).unwrap().positive, 2520);
    test.limit -= 1;
    let error = answer(&test).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooLong, "{error}");
    assert!(error.what.contains(&test.limit.to_string()), "{error}");
}

/// Types with what a cast to them leaves of a value, as herd7 7.58 compares: a location and a
/// register without a type are `int`.
type Cast = fn(i128) -> String;
const CASTS: [(&str, Cast); 12] = [
    ("", |value| (value as i32).to_string()),
    ("char", |value| (value as i8).to_string()),
    ("int8_t", |value| (value as i8).to_string()),
    ("uint8_t", |value| (value as u8).to_string()),
    ("int16_t", |value| (value as i16).to_string()),
    ("uint16_t", |value| (value as u16).to_string()),
    ("int", |value| (value as i32).to_string()),
    ("int32_t", |value| (value as i32).to_string()),
    ("uint32_t", |value| (value as u32).to_string()),
    ("int64_t", |value| (value as i64).to_string()),
    ("uint64_t", |value| (value as u64).to_string()),
    ("int *", |value| (value as u64).to_string()),
];

#[test]
fn values_and_constants_are_cut_to_the_type_of_their_variable() {
    let edges = [7, 8, 15, 16, 31, 32, 63].map(|bit| 1_i128 << bit);
    let values: Vec<i128> = edges
        .iter()
        .flat_map(|edge| [edge - 1, *edge, -edge, 1 - edge])
        .chain([u64::MAX.into(), 0x1ff, -129])
        .collect();
    let hex = |value: i128| match value {
        0.. => format!("{value:#x}"),
        _ => format!("-{:#x}", -value),
    };
    for (kind, cast) in CASTS {
        for (at, &value) in values.iter().enumerate() {
            let (decimal, wanted) = (value.to_string(), values[(at * 7 + 3) % values.len()]);
            // The first in the initial state, the second in the condition, and each in both forms.
            for (initial, constant) in [(&decimal, hex(wanted)), (&hex(value), wanted.to_string())]
            {
                let star = kind.contains('*');
                let register = if star { "uint64_t" } else { kind };
                let array = if star { "int64_t" } else { kind.trim() };
                let array = if array.is_empty() { "int" } else { array };
                let text = format!(
                    "AArch64 T\n{{ {kind} v={initial}; {register} 0:X0={initial}; {array} a[2]={{{initial},0}}; }}\n P0 ;\n NOP ;\n"
                );
                let of = |condition: &str| {
                    let test = parse(&format!("{text}{condition}")).unwrap();
                    let answer = answer(&test).unwrap();
                    (answer.positive == 1, answer.text(&test))
                };
                let equal = cast(value) == cast(wanted);
                for variable in ["v", "0:X0", "a[0]"] {
                    let (is, said) = of(&format!("exists ({variable}={constant})"));
                    assert_eq!(is, equal, "{kind} {variable}: {value} {wanted}");
                    let shown = if star && variable == "a[0]" {
                        (value as i64).to_string()
                    } else {
                        cast(value)
                    };
                    assert!(said.contains(&format!("={shown};")), "{kind}: {said}");
                    assert_eq!(of(&format!("exists ({variable}!={constant})")).0, !equal);
                    assert!(of(&format!("exists ({variable}={initial})")).0);
                    let filtered = format!("filter ({variable}={constant}) exists (true)");
                    assert_eq!(of(&filtered).0, equal, "{text}{filtered}");
                }
                assert_eq!(of(&format!("exists (a={{{constant},0}})")).0, equal);
            }
        }
    }
}

#[test]
fn addresses_are_not_cut_and_what_is_stored_is() {
    let holds = |initial: &str, cells: &str, condition: &str| {
        let text = format!("AArch64 T\n{{ {initial} }}\n P0 ;\n {cells} ;\n{condition}\n");
        verdict(&text) != "Forbidden"
    };
    assert!(holds(
        "int *p=x; 0:X1=p;",
        "LDR X0,[X1]",
        "exists (p=x /\\ 0:X0=x)"
    ));
    assert!(holds("uint8_t 0:X0=x;", "NOP", "exists (0:X0=x)"));
    assert!(holds(
        "uint8_t v=-1; 0:X1=v;",
        "LDRB W0,[X1]",
        "exists (v=-1 /\\ 0:X0=255)"
    ));
    assert!(holds(
        "int8_t v=-1; 0:X1=v;",
        "LDRSB W0,[X1]",
        "forall (v=255 /\\ 0:X0=-1)"
    ));
    let shifted = "LSL X2,X2,#40 ;\n STR X2,[X1]";
    assert!(holds("0:X1=v; 0:X2=1;", shifted, "exists (v=0 /\\ 0:X2=0)"));
    let typed = "uint64_t v; uint64_t 0:X2=1; 0:X1=v;";
    assert!(holds(
        typed,
        shifted,
        "exists (v=0x10000000000 /\\ 0:X2=0x10000000000)"
    ));
    // Offsets of addresses, also such that no location has.
    assert!(holds("0:X0=x+4;", "NOP", "exists (0:X0=x+4)"));
    assert!(holds("0:X0=x+-8;", "NOP", "exists (0:X0=x+-8)"));
    // A register begins with all of its value: only what is compared is cut.
    assert!(holds(
        "uint8_t 0:X1=-1; int64_t 0:X0;",
        "ADD X0,X1,#0",
        "exists (0:X0=-1)"
    ));
    let unknown = parse("AArch64 T\n{ x=1;\n size_t v=1; }\n P0 ;\n NOP ;\nexists (v=1)\n");
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "line 3: the type `size_t`: int, long, uint8_t and the like are read"
    );
}

#[test]
fn a_program_without_an_end_has_no_answer() {
    let wait = "L: LDR W2,[X1]";
    let lock = [
        "L: LDAXR W2,[X1]",
        "CBNZ W2,L",
        "STXR W4,W5,[X1]",
        "CBNZ W4,L",
    ];
    let both = |first: &[&str], second: &[&str]| of_two(first, second, "exists (x=9)");
    for text in [
        both(&["L: B L"], &["NOP"]),
        both(&["NOP", "L: NOP", "DMB SY", "B L"], &["STR W5,[X1]"]),
        both(&["L: CBZ WZR,L"], &["NOP"]),
        // Nobody stores, somebody stores something else, or it may be stored over.
        both(&[wait, "CBZ W2,L"], &["NOP"]),
        both(&[wait, "CMP W2,#2", "B.NE L"], &["STR W5,[X1]"]),
        both(&[wait, "CBZ W2,L"], &["STR W5,[X1]", "STR WZR,[X1]"]),
        both(&[wait, "TBZ W2,#1,L"], &["STR W5,[X1]"]),
        // Each waits for the other.
        both(
            &[wait, "CBZ W2,L", "STR W5,[X3]"],
            &["L: LDR W2,[X3]", "CBZ W2,L", "STR W5,[X1]"],
        ),
        // In some executions only.
        both(
            &["LDR W2,[X3]", "CBZ W2,E", "L: B L", "E: NOP"],
            &["STR W5,[X3]"],
        ),
        both(
            &[wait, "CBZ W2,L"],
            &["LDR W4,[X3]", "CBZ W4,E", "STR W5,[X1]", "E: NOP"],
        ),
        // A lock that nobody leaves; a monitor that is never set, whose store cannot succeed.
        both(&lock, &lock),
        both(
            &["L: LDXR W2,[X1]", "CLREX", "STXR W4,W5,[X1]", "CBNZ W4,L"],
            &["NOP"],
        ),
        both(
            &["L: MOV W2,#7", "CAS W2,W5,[X1]", "CMP W2,#7", "B.NE L"],
            &["NOP"],
        ),
    ] {
        for text in [
            &text,
            &text.replace("exists", "~exists"),
            &text.replace("exists", "forall"),
        ] {
            let test = parse(text).unwrap();
            let answer = answer(&test).unwrap();
            assert!(answer.is_endless && !answer.is_observed(), "{text}");
            let said = answer.text(&test);
            assert!(
                said.starts_with("Test T: no answer, since an execution never ends"),
                "{said}"
            );
            let certain = ["Observation", "Ok\n", "No\n"];
            assert!(!certain.iter().any(|word| said.contains(word)), "{said}");
        }
    }
    // These are cut, since each round of the loop changes something.
    for cells in [
        &["L: ADD X2,X2,#1", "B L"][..],
        &["L: STR W5,[X1]", "B L"],
        &["L: SWP W5,W2,[X1]", "CBZ WZR,L"],
    ] {
        let test = parse(&both(cells, &["NOP"])).unwrap();
        let said = answer(&test).unwrap().text(&test);
        assert!(
            said.starts_with("Test T: no answer, since loops were followed for 2"),
            "{said}"
        );
    }
    // These end, if the processor lets every store and every exclusive through at last.
    let release = [&lock[..], &["STLR WZR,[X1]"]].concat();
    for text in [
        both(&[wait, "CBZ W2,L"], &["STR W5,[X1]"]),
        both(&[wait, "CBNZ W2,L"], &["STR W5,[X1]", "STR WZR,[X1]"]),
        both(&release, &release),
        both(
            &["L: LDXR W2,[X1]", "STXR W4,W5,[X1]", "CBNZ W4,L"],
            &["STR W5,[X1]"],
        ),
    ] {
        let answer = answer(&parse(&text).unwrap()).unwrap();
        assert!(!answer.is_endless && answer.negative > 0, "{text}");
    }
}

/// An access of a drawn program: a store of a value, or a loop that waits for one.
#[derive(Clone, Copy)]
enum Access {
    Store(usize, u64),
    Wait(usize, u64),
}

/// True if interleavings of the threads can get stuck, and the values that memory has where all
/// have ended.
fn interleaved(threads: &[Vec<Access>]) -> (bool, std::collections::BTreeSet<[u64; 2]>) {
    let (mut gets_stuck, mut ends) = (false, std::collections::BTreeSet::new());
    let mut open = vec![(vec![0; threads.len()], [0, 0])];
    while let Some((at, memory)) = open.pop() {
        let is_over = threads
            .iter()
            .zip(&at)
            .all(|(thread, at)| *at == thread.len());
        let before = open.len();
        for (number, thread) in threads.iter().enumerate() {
            let mut next = (at.clone(), memory);
            next.0[number] += 1;
            match thread.get(at[number]) {
                Some(Access::Store(location, value)) => next.1[*location] = *value,
                Some(Access::Wait(location, value)) if memory[*location] == *value => {}
                _ => continue,
            }
            open.push(next);
        }
        if is_over {
            ends.insert(memory);
        } else if open.len() == before {
            gets_stuck = true;
        }
    }
    (gets_stuck, ends)
}

#[test]
fn drawn_programs_never_end_where_their_interleavings_get_stuck() {
    let mut drawn = 7_u64;
    let mut draw = |below: u64| {
        drawn = drawn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (drawn >> 33) % below
    };
    let mut stuck = 0;
    for _ in 0..300 {
        let mut threads = vec![Vec::new(); 2 + draw(2) as usize];
        for thread in &mut threads {
            for _ in 0..1 + draw(3) {
                let (location, value) = (draw(2) as usize, draw(3));
                let waits = draw(2) == 0;
                let kind = if waits { Access::Wait } else { Access::Store };
                thread.push(kind(location, value));
            }
        }
        let (mut initial, mut columns) = (String::new(), Vec::new());
        for (number, thread) in threads.iter().enumerate() {
            initial += &format!("{number}:X1=x; {number}:X3=y; ");
            let mut cells = Vec::new();
            // Barriers leave only what interleavings do.
            for (place, access) in thread.iter().enumerate() {
                match access {
                    Access::Store(location, value) => {
                        cells.push(format!("MOV W5,#{value}"));
                        cells.push(format!("STR W5,[X{}]", 1 + 2 * location));
                    }
                    Access::Wait(location, value) => {
                        cells.push(format!("L{place}: LDR W2,[X{}]", 1 + 2 * location));
                        cells.push(format!("CMP W2,#{value}"));
                        cells.push(format!("B.NE L{place}"));
                    }
                }
                cells.push("DMB SY".to_owned());
            }
            columns.push(cells);
        }
        let names: Vec<String> = (0..threads.len())
            .map(|number| format!("P{number}"))
            .collect();
        let mut text = format!("AArch64 T\n{{ {initial} }}\n {} ;\n", names.join(" | "));
        for row in 0..columns.iter().map(Vec::len).max().unwrap() {
            let cells: Vec<&str> = columns
                .iter()
                .map(|cells| cells.get(row).map_or("", String::as_str))
                .collect();
            text += &format!(" {} ;\n", cells.join(" | "));
        }
        text += "locations [x; y] exists (true)\n";
        let (gets_stuck, ends) = interleaved(&threads);
        let found = answer(&parse(&text).unwrap()).unwrap();
        assert_eq!(found.is_endless, gets_stuck, "{text}");
        let own = found.states.iter().map(|state| {
            let values: Vec<u64> = state.values().copied().collect();
            [values[0], values[1]]
        });
        assert_eq!(
            own.collect::<std::collections::BTreeSet<_>>(),
            ends,
            "{text}"
        );
        stuck += u32::from(gets_stuck);
    }
    assert!((50..250).contains(&stuck), "{stuck}");
}
