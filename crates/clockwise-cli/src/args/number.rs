//! Numbers and sizes on the command line.

pub(crate) fn size(text: &str) -> Result<u64, String> {
    let size: Option<bytesize::ByteSize> = text.parse().ok();
    size.map(|size| size.as_u64())
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "must be a size above 0, such as 64MiB or 10GB".to_owned())
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| *number > 0.0 && *number <= 1e15)
        .ok_or_else(|| "must be a number above 0, and at most 10^15".to_owned())
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "must be 0 to 1: 5 % is 0.05".to_owned())
}

pub(super) fn hit_rate(text: &str) -> Result<f64, String> {
    number(text)
        .filter(|number| (0.0..1.0).contains(number))
        .ok_or_else(|| "must be 0 to below 1: 95 % is 0.95".to_owned())
}

pub(super) fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
