//! An HTML page of tables and plots: measurements next to published numbers. One file, without scripts or external resources.

mod plot;

pub(crate) use plot::{Axis, Plot, Series};

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The contents of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// The headline.
    pub(crate) title: String,
    /// Where and how the numbers were measured, one paragraph each.
    pub(crate) notes: Vec<String>,
    /// The sections, in order.
    pub(crate) sections: Vec<Section>,
}

/// A table and its plots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// The title.
    pub(crate) title: String,
    /// Plots of the rows.
    pub(crate) plots: Vec<Plot>,
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// The fields, as they are shown.
    pub(crate) fields: Vec<String>,
    /// Whether the numbers are extrapolated: such rows look different.
    pub(crate) extrapolated: bool,
}

const STYLE: &str = include_str!("style.css");

/// The page as HTML.
pub(crate) fn render(page: &Page) -> String {
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
                    @for section in &page.sections { (render_section(section)) }
                }
            }
        }
    };
    markup.into_string()
}

fn render_section(section: &Section) -> Markup {
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
                                tr .extrapolated[row.extrapolated] { @for field in &row.fields { td { (field) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
