//! Tables: the content of every figure as text, with sortable columns.

use maud::{Markup, html};

/// A column and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column<'a> {
    /// Text, left-aligned. The first column is its row's header.
    Words(&'a str),
    /// Numbers, right-aligned.
    Numbers(&'a str),
}

/// A field: the text to show, and the number to sort by.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    shown: String,
    number: Option<f64>,
}

impl Field {
    pub(crate) fn words(words: impl Into<String>) -> Self {
        Self {
            shown: words.into(),
            number: None,
        }
    }

    pub(crate) fn number(shown: String, number: f64) -> Self {
        Self {
            shown,
            number: Some(number),
        }
    }

    pub(crate) fn none() -> Self {
        Self::words("–")
    }
}

/// A table that scrolls by itself if it is too wide.
pub(crate) fn table(caption: &str, columns: &[Column<'_>], rows: &[Vec<Field>]) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(caption) {
            table class="sortable" {
                caption { (caption) }
                thead {
                    tr {
                        @for column in columns {
                            @match column {
                                Column::Words(name) => { th scope="col" data-sort="words" { (name) } }
                                Column::Numbers(name) => { th scope="col" data-sort="numbers" class="number" { (name) } }
                            }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, (field, column)) in row.iter().zip(columns).enumerate() {
                                @if at == 0 {
                                    th scope="row" { (field.shown) }
                                } @else {
                                    td class=[matches!(column, Column::Numbers(_)).then_some("number")]
                                        data-value=[field.number] { (field.shown) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A table that a summary line opens.
pub(crate) fn folded(line: &str, table: &Markup) -> Markup {
    html! {
        details {
            summary { (line) }
            (table)
        }
    }
}
