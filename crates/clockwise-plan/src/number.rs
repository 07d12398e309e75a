//! Numbers and sentences as people read them.

/// A whole number with a comma between groups of three digits.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share of 0 to 1 in percent, with one decimal, or as many as a small one needs to be seen.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = if percent == 0.0 || percent.abs() >= 0.1 {
        1
    } else {
        3
    };
    format!("{percent:.decimals$} %")
}

/// A number with this many decimals and grouped thousands.
#[must_use]
pub fn decimal(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.split_once('.').unwrap_or((&text, "")) {
        (whole, rest) if whole.bytes().all(|b| b.is_ascii_digit()) => {
            let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
            if rest.is_empty() {
                whole
            } else {
                format!("{whole}.{rest}")
            }
        }
        _ => text,
    }
}

/// Seconds in the unit that a person would take.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", decimal(s, 1)),
        s if s < 7200.0 => format!("{} min", decimal(s / 60.0, 1)),
        s => format!("{} h", decimal(s / 3600.0, 1)),
    }
}

/// A sentence from words that may stand inside one.
pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (211_372, "211,372"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(decimal(1234.5, 1), "1,234.5");
        assert_eq!(decimal(-1234.5, 1), "-1234.5");
        assert_eq!(decimal(f64::INFINITY, 1), "inf");
    }

    #[test]
    fn small_shares_stay_visible() {
        assert_eq!(
            [0.0, 0.211_372, 0.000_5, 1.0].map(percent),
            ["0.0 %", "21.1 %", "0.050 %", "100.0 %"]
        );
    }
}
