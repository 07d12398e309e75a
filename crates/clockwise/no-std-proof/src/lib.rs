//! Proof that `clockwise` and all that it depends on need no standard library.
//!
//! What it is: a static library with its own panic handler and allocator, which builds a placement and looks a key up.
//! What it promises: it does not build if std is linked from anywhere, since std brings a panic handler too and there
//! can be one only. What it does not: run. Cost: one build, `cargo build` in this folder. Source: the lang item
//! `panic_impl`, which the linker takes once.
#![no_std]

use core::panic::PanicInfo;

use clockwise::{BuildError, Membership, Placement, Scheme, SchemeError};

/// Why [`owner`] has no answer.
#[derive(Debug)]
pub enum Error {
    /// The text is no scheme.
    Scheme(SchemeError),
    /// The scheme cannot work with the members.
    Build(BuildError),
}

/// The index of a key's owner among the members, by whichever scheme the text names; all of the crate is reached from
/// here.
///
/// # Errors
/// [`Error`] says what was refused.
pub fn owner(scheme: &str, membership: &Membership, key: &[u8]) -> Result<Option<usize>, Error> {
    let scheme: Scheme = scheme.parse().map_err(Error::Scheme)?;
    let placement = Placement::build(&scheme, membership).map_err(Error::Build)?;
    let first = placement.replicas(key, 1).next_index();
    Ok(first.or_else(|| placement.owner_index(&placement.hash(key))))
}

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[panic_handler]
fn halt(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
