//! Prints the memory that each build of the benchmark `placement` takes: case, candidate, nodes, bytes it holds, most
//! bytes on the way.
//!
//! A program of its own, since its allocator counts every call, which would slow what is timed.

fn main() -> anyhow::Result<()> {
    clockwise_benches::memory(|build| {
        let counted = allocation_counter::measure(build);
        (counted.bytes_current.unsigned_abs(), counted.bytes_max)
    })
}
