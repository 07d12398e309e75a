//! A document as one page of HTML.

use super::Document;

pub(super) fn render(document: &Document) -> String {
    let _ = document;
    String::new()
}
