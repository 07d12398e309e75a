//! The benchmarks that are timed.

fn main() -> anyhow::Result<()> {
    clockwise_benches::run()
}
