//! A fingerprint as a QR code.

use maud::{Markup, html};
use qrcodegen::{QrCode, QrCodeEcc};

/// White modules around the code, as its standard requires.
const BORDER: i32 = 4;

/// The code as SVG; empty if the text is too long for one.
pub(crate) fn svg(text: &str) -> Markup {
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else {
        return Markup::default();
    };
    let size = code.size();
    let mut path = String::new();
    for y in 0..size {
        for x in 0..size {
            if code.get_module(x, y) {
                path.push_str(&format!("M{},{}h1v1h-1z", x + BORDER, y + BORDER));
            }
        }
    }
    let whole = size + 2 * BORDER;
    html! {
        svg viewBox=(format!("0 0 {whole} {whole}")) xmlns="http://www.w3.org/2000/svg" role="img" aria-label="QR code of the fingerprint" shape-rendering="crispEdges" {
            rect width="100%" height="100%" fill="#fff" {}
            path d=(path) fill="#000" {}
        }
    }
}
