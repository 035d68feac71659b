//! A page of tables and plots: measurements beside published ones. One file, without scripts or anything from a network.

mod plot;

pub use plot::{Axis, Plot, Series};

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// What the page shows.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The headline.
    pub title: String,
    /// Where and how the numbers were made, one paragraph each.
    pub notes: Vec<String>,
    /// What follows, in order.
    pub sections: Vec<Section>,
}

/// A table and the plots of it.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// What is shown.
    pub title: String,
    /// Plots of the rows.
    pub plots: Vec<Plot>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The fields, as they are shown.
    pub fields: Vec<String>,
    /// Whether the numbers are not measured: such rows look different.
    pub derived: bool,
}

const STYLE: &str = include_str!("style.css");

/// The page as HTML.
pub fn render(page: &Page) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (page.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { (page.title) }
                    @for note in &page.notes { p { (note) } }
                    @for section in &page.sections { (rendered(section)) }
                }
            }
        }
    };
    markup.into_string()
}

fn rendered(section: &Section) -> Markup {
    html! {
        section {
            h2 { (section.title) }
            @for plot in &section.plots { figure { (plot.render()) } }
            details open[section.plots.is_empty()] {
                summary { "The numbers" }
                div .wide tabindex="0" {
                    table {
                        thead { tr { @for column in &section.columns { th scope="col" { (column) } } } }
                        tbody {
                            @for row in &section.rows {
                                tr .derived[row.derived] { @for field in &row.fields { td { (field) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
