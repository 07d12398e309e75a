//! "Did you mean": the known name that a misspelt one comes nearest to.

/// The nearest of `known`, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(name, candidate);
    let best = known
        .into_iter()
        .min_by_key(|candidate| distance(candidate))?;
    // A third of the letters wrong is still a slip; more is another word.
    (distance(best) <= name.chars().count().max(best.chars().count()).div_ceil(3)).then_some(best)
}

/// The same as a hint.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(name, known).map(|best| format!("did you mean {best}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["slots", "ring", "rendezvous"];
        assert_eq!(nearest("slot", known), Some("slots"));
        assert_eq!(nearest("rendevous", known), Some("rendezvous"));
        assert_eq!(nearest("maglev", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
