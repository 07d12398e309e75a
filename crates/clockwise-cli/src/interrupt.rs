//! Ctrl-C: the first one asks the command to stop and print what it has, the second ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Exit code of a command that was stopped: 128 and the number of SIGINT.
pub(crate) const EXIT_CODE: u8 = 130;

/// A flag that Ctrl-C sets.
pub(crate) fn watch() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            end_now();
        }
    })
    .map_err(|error| Failure::usage(format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(stop)
}

#[expect(
    clippy::exit,
    reason = "a second Ctrl-C must end the process whatever it is doing"
)]
fn end_now() {
    std::process::exit(i32::from(EXIT_CODE));
}
