//! Help to choose: candidates are built and measured, and the answer comes with the numbers that decide it.
//!
//! What it is: one module a question, each a pure function from what is needed to an [`Advice`]. What it promises: the
//! same needs give the same answer; each reason says by which number it decides, and whether that number is exact,
//! sampled or predicted. What it does not: know what nobody told; a number that decides and is missing is asked for.
//! Cost: told by each module.

pub mod pages;
pub mod scheme;
pub mod shard;
pub mod shard_key;
pub mod tokens;
pub mod weights;

mod print;
mod skew_law;

use serde::Serialize;

/// An answer with its reasons. `T` is a row of the table of candidates, `M` what else belongs to the question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice<T, M> {
    /// What this JSON is: `clockwise.advice/1`.
    pub kind: &'static str,
    /// The question, as the command names it.
    pub question: &'static str,
    /// The answer in a word or a number; `none` or `not yet` where there is no good one.
    pub answer: String,
    /// Whether there is an answer that meets what was asked; the exit code follows.
    pub ok: bool,
    /// The answer as a sentence.
    pub verdict: String,
    /// What decides, most important first.
    pub reasons: Vec<Reason>,
    /// What would change the answer.
    pub changes: Vec<Reason>,
    /// What was compared.
    pub table: Vec<T>,
    /// What belongs to this question alone.
    #[serde(flatten)]
    pub more: M,
}

/// One reason, with the number that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// A stable name for programs.
    pub code: &'static str,
    /// The reason for people.
    pub text: String,
    /// The number it rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
}

impl Reason {
    fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            number: None,
        }
    }

    fn with(self, number: f64) -> Self {
        self.maybe(Some(number))
    }

    fn maybe(self, number: Option<f64>) -> Self {
        Self { number, ..self }
    }
}

/// The kind of every advice.
const KIND: &str = "clockwise.advice/1";
