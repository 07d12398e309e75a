//! `clockwise selftest`: whether this build places keys as it must, on this machine.

use std::process::ExitCode;

use clockwise_plan::selftest::{Check, checks};
use serde::Serialize;

use crate::args::SelftestArgs;
use crate::clock::Moment;
use crate::failure::Failure;
use crate::output::Output;

/// The form of `--json`.
#[derive(Serialize)]
struct Tested {
    checks: Vec<Check>,
    seconds: f64,
}

pub(crate) fn run(args: &SelftestArgs) -> Result<ExitCode, Failure> {
    let started = Moment::now();
    let checks = checks();
    let tested = Tested {
        checks,
        seconds: started.elapsed().as_millis() as f64 / 1000.0,
    };
    let failed = tested.checks.iter().any(|check| !check.ok);
    let mut output = Output::new();
    if args.json {
        output.json(&tested)?;
    } else {
        output.write(&render(&tested))?;
    }
    output.finish()?;
    Ok(if failed {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// One line a check, then the sum.
fn render(tested: &Tested) -> String {
    let mut text = String::new();
    for check in &tested.checks {
        let verdict = if check.ok { "ok    " } else { "FAILED" };
        text.push_str(&format!("{verdict}  {}\n", check.name));
    }
    let failed = tested.checks.iter().filter(|check| !check.ok).count();
    text.push_str(&format!(
        "\n{} checks, {failed} failed, in {:.1} s\n",
        tested.checks.len(),
        tested.seconds
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_named_and_counted() {
        let check = |name: &str, ok| Check {
            name: name.to_owned(),
            ok,
        };
        let tested = Tested {
            checks: vec![check("good", true), check("bad", false)],
            seconds: 0.0,
        };
        assert_eq!(
            render(&tested),
            "ok      good\nFAILED  bad\n\n2 checks, 1 failed, in 0.0 s\n"
        );
    }
}
