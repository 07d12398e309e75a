//! Prints the memory that each build of the benchmark `placement` or `scale` takes.
//!
//! A program of its own, since its allocator counts every call, which would slow what is timed.

fn main() -> anyhow::Result<()> {
    clockwise_benches::memory(|build| {
        let counted = allocation_counter::measure(build);
        (counted.bytes_current.unsigned_abs(), counted.bytes_max)
    })
}
