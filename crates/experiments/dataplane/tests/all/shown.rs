//! Exports that can be imported again.

use dataplane_experiments::graphs::{GraphKind, Load, graph};
use import::vpp_runtime;

#[test]
fn what_we_show_we_can_import() {
    let mut graph = graph(Load { buffers: 1024, ..Load::new(GraphKind::Ip4Route) });
    for _ in 0..10 {
        graph.run_once();
    }
    // In the middle of what else a terminal shows.
    let shown = dataplane::show::runtime(&[graph.report()]);
    let text = format!("# show runtime\nTime flies\n{shown}\n\n# dmesg\nThread of events\n62ns\n");
    let runtime = vpp_runtime::parse(&text).unwrap();
    assert!(runtime.rows.iter().all(|row| row.state == "active" || row.state == "polling"), "{:?}", runtime.rows);
    let lookup = runtime.rows.iter().find(|row| row.node == "ip4-lookup").unwrap();
    assert_eq!((lookup.calls, lookup.vectors), (10, 2560));
}
