//! try
use dataplane::walk::*;
use dataplane_experiments::graphs::*;
fn main() {
    for kind in GraphKind::ALL {
        for (shape, stride) in [
            (Shape::Single, 0),
            (Shape::Dual, 0),
            (Shape::Quad, 0),
            (Shape::Single, 4),
            (Shape::Dual, 4),
            (Shape::Quad, 2),
        ] {
            let mut load = Load::new(kind);
            load.settings.shape = shape;
            load.settings.strides = Strides::both(stride);
            let mut g = graph(load);
            let l = run(&mut g, 5, std::time::Duration::from_millis(200));
            let w = l.windows.iter().min_by(|a, b| a.ticks_per_packet().total_cmp(&b.ticks_per_packet())).unwrap();
            print!("{} {shape:?} {stride} {:.1} Mpps {:.1} clk:", kind.name(), w.mpps(), w.ticks_per_packet());
            for n in &w.nodes {
                if n.counters.calls > 0 {
                    print!(" {} {:.2}", n.name, n.counters.ticks_per_packet());
                }
            }
            println!(" {}", l.balance.holds());
        }
    }
    let mut g = graph(Load::new(GraphKind::Ip4Route));
    for c in
        ["trace add pg-input 1", "run 10000", "show runtime", "show errors", "show interface", "show trace", "bogus"]
    {
        println!("{}", dataplane::show::command(&mut g, c).unwrap_or_else(|e| e));
    }
}
