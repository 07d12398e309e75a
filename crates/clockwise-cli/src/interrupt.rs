//! Ctrl-C: the first one asks the command to stop and print what it has, the second ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::failure::Failure;

/// Exit code of a command that was stopped: 128 and the number of SIGINT.
pub(crate) const EXIT_CODE: u8 = 130;

/// A flag that Ctrl-C sets, for a command that then prints what it has learnt.
pub(crate) fn watch() -> Result<Arc<AtomicBool>, Failure> {
    watch_for(None)
}

/// The same for a command that has nothing left to say: where it hangs on a full pipe, it is ended after a moment.
pub(crate) fn watch_briefly() -> Result<Arc<AtomicBool>, Failure> {
    watch_for(Some(Duration::from_millis(150)))
}

fn watch_for(patience: Option<Duration>) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            end_now();
        }
        if let Some(patience) = patience {
            // On a thread of its own, so that a second Ctrl-C is still heard.
            std::thread::spawn(move || {
                std::thread::sleep(patience);
                end_now();
            });
        }
    })
    .map_err(|error| Failure::usage(format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(stop)
}

#[expect(
    clippy::exit,
    reason = "Ctrl-C must end the process whatever it is doing"
)]
fn end_now() {
    std::process::exit(i32::from(EXIT_CODE));
}
