//! The page itself: markup, style and scripts, all embedded in the program.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use veilpath::report::STYLE;

const OWN_STYLE: &str = include_str!("../web/ui.css");

/// The scripts by their addresses; the first one imports the others.
pub(crate) const SCRIPTS: [(&str, &str); 8] = [
    ("/app.js", include_str!("../web/app.js")),
    ("/compare.js", include_str!("../web/compare.js")),
    ("/data.js", include_str!("../web/data.js")),
    ("/encode.js", include_str!("../web/encode.js")),
    ("/page.js", include_str!("../web/page.js")),
    ("/partner.js", include_str!("../web/partner.js")),
    ("/picture.js", include_str!("../web/picture.js")),
    ("/plan.js", include_str!("../web/plan.js")),
];

/// The steps, with their names in addresses.
const STEPS: [(&str, &str); 4] = [
    ("data", "Data"),
    ("encode", "Encode"),
    ("compare", "Compare here"),
    ("partner", "With a partner"),
];

/// The page; the script fills in everything that changes.
pub(crate) async fn page() -> Response {
    typed("text/html; charset=utf-8", markup().into_string())
}

fn markup() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "Veilpath" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="/style.css";
                // Preloading spares the browser from finding each module by reading another.
                @for (address, _) in SCRIPTS { link rel="modulepreload" href=(address); }
                script src="/app.js" type="module" {}
            }
            body {
                a class="skip" href="#step" { "Skip to the content" }
                header class="top" {
                    h1 { "Veilpath" }
                    p class="under" { "Compare eye movements. Everything on this page stays on this machine, except what you agree on with a partner." }
                    nav aria-label="Steps" {
                        ol class="steps" {
                            @for (name, title) in STEPS {
                                li { a href=(format!("#{name}")) id=(format!("to-{name}")) { (title) } }
                            }
                        }
                    }
                    div class="actions" {
                        button id="theme" type="button" aria-pressed="false" { "Dark" }
                        button id="quit" type="button" { "Quit" }
                    }
                }
                div id="status" role="status" aria-live="polite" {}
                div id="announced" class="visually-hidden" role="status" aria-live="polite" {}
                div id="alert" role="alert" {}
                main id="step" tabindex="-1" aria-busy="true" {
                    noscript { p { "This page needs JavaScript." } }
                }
                footer { p { "Veilpath " (env!("CARGO_PKG_VERSION")) ". Nothing is loaded from elsewhere, and nothing is sent anywhere without a partner." } }
            }
        }
    }
}

/// The report's style sheet, and what this page adds.
pub(crate) async fn style() -> Response {
    typed("text/css; charset=utf-8", format!("{STYLE}\n{OWN_STYLE}"))
}

/// A script of the page.
pub(crate) fn script(text: &'static str) -> Response {
    typed("text/javascript; charset=utf-8", text)
}

/// A response of this media type.
pub(crate) fn typed(media_type: &'static str, body: impl IntoResponse) -> Response {
    ([(CONTENT_TYPE, media_type)], body).into_response()
}
