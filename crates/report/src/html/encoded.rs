//! Bytes embedded in a page: base64, and hashes of the scripts and styles that the page may use.

use sha2::{Digest, Sha256};

/// Base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at > chunk.len() {
                text.push('=');
            } else {
                let six = bits >> (18 - 6 * at) & 63;
                text.push(char::from(LETTERS[six as usize]));
            }
        }
    }
    text
}

/// `sha256-…`, the form in which a content security policy names an inline script or style.
pub(crate) fn policy_hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

/// JSON for a `script` element. Nothing in it can close the element or start a comment.
pub(crate) fn json_in_script(value: &serde_json::Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648.
    #[test]
    fn base64_matches_the_standard() {
        let shown: Vec<String> = ["", "f", "fo", "foo", "foob", "fooba", "foobar"]
            .map(|text| base64(text.as_bytes()))
            .into();
        assert_eq!(
            shown,
            [
                "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"
            ]
        );
    }

    #[test]
    fn text_cannot_end_a_script() {
        let value = serde_json::json!({"id": "</script><script>alert(1)</script><!--"});
        let text = json_in_script(&value);
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
