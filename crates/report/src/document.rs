//! A short document of headings, paragraphs, lists and tables, as Markdown or as an HTML page.

use crate::html::encoded::policy_hash;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io::{self, Write};
use veilpath_metrics::text::is_unprintable;

const STYLE: &str = include_str!("document.css");

/// A document. Its text is plain: anything with a meaning in Markdown or HTML is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The heading.
    pub title: String,
    /// Its sections.
    pub sections: Vec<Section>,
}

/// A section of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The heading; `None` for text before the first one.
    pub heading: Option<String>,
    /// Its contents.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(String),
    /// A paragraph meant to be copied.
    Quote(String),
    /// A list.
    List(Vec<String>),
    /// A two-column table without a header.
    Table(Vec<(String, String)>),
}

impl Document {
    /// Writes the document as Markdown.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# {}", markdown(&self.title))?;
        for section in &self.sections {
            if let Some(heading) = &section.heading {
                writeln!(out, "\n## {}", markdown(heading))?;
            }
            for block in &section.blocks {
                writeln!(out)?;
                match block {
                    Block::Paragraph(text) => writeln!(out, "{}", markdown(text))?,
                    Block::Quote(text) => writeln!(out, "> {}", markdown(text))?,
                    Block::List(items) => {
                        for item in items {
                            writeln!(out, "- {}", markdown(item))?;
                        }
                    }
                    Block::Table(rows) => {
                        writeln!(out, "| | |\n|---|---|")?;
                        for (name, value) in rows {
                            writeln!(out, "| {} | {} |", markdown(name), markdown(value))?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the document as an HTML page without scripts.
    pub fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.page().into_string().as_bytes())
    }

    fn page(&self) -> Markup {
        let policy = format!(
            "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'",
            policy_hash(STYLE)
        );
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    title { (printable(&self.title)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    main {
                        h1 { (printable(&self.title)) }
                        @for section in &self.sections {
                            section {
                                @if let Some(heading) = &section.heading {
                                    h2 { (printable(heading)) }
                                }
                                @for block in &section.blocks { (block.markup()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Block {
    fn markup(&self) -> Markup {
        html! {
            @match self {
                Block::Paragraph(text) => p { (printable(text)) },
                Block::Quote(text) => blockquote { p { (printable(text)) } },
                Block::List(items) => ul { @for item in items { li { (printable(item)) } } },
                Block::Table(rows) => table {
                    @for (name, value) in rows {
                        tr { th scope="row" { (printable(name)) } td { (printable(value)) } }
                    }
                },
            }
        }
    }
}

/// Puts text on one line and replaces control characters.
fn printable(text: &str) -> String {
    let shown = text.chars();
    shown
        .map(|c| if is_unprintable(c) { '\u{fffd}' } else { c })
        .collect()
}

/// Escapes Markdown syntax.
fn markdown(text: &str) -> String {
    let mut escaped = String::new();
    for c in printable(text).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&'
        ) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(document: &Document) -> [String; 2] {
        let (mut markdown, mut html) = (Vec::new(), Vec::new());
        document.write_markdown(&mut markdown).unwrap();
        document.write_html(&mut html).unwrap();
        [markdown, html].map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn texts_are_escaped() {
        let document = Document {
            title: "<script>".into(),
            sections: vec![Section {
                heading: Some("a | b".into()),
                blocks: vec![
                    Block::Paragraph("*x* [y](z)\n# no heading".into()),
                    Block::List(vec!["<img>".into()]),
                    Block::Table(vec![("a|b".into(), "`c`".into())]),
                ],
            }],
        };
        let [markdown, html] = written(&document);
        assert!(markdown.starts_with("# \\<script\\>\n"), "{markdown}");
        assert!(markdown.contains("\\*x\\* \\[y\\](z)\u{fffd}\\# no heading"));
        assert!(markdown.contains("| a\\|b | \\`c\\` |"));
        assert!(
            !html.contains("<script>") && !html.contains("<img>"),
            "{html}"
        );
        assert!(html.starts_with("<!DOCTYPE html>"));
    }
}
