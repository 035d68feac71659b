//! Which requests are allowed, and the security headers of every response.
//!
//! Any page in the same browser and any program on this machine can send requests to the loopback network. The server
//! therefore requires a token, which is in the address that the terminal shows. It exchanges the token for a cookie that
//! scripts cannot read and that requests from other sites do not carry.

use crate::routes::limit;
use crate::{App, ServerError};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, ORIGIN,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rand::TryRng;
use rand::rngs::SysRng;
use std::fmt;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};
use subtle::ConstantTimeEq;

/// Nothing is loaded from elsewhere, nothing may embed the page, and no form can be submitted.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A report has its own origin, so its script cannot reach the page around it. The report's own policy allows its script and
/// style by hash; this policy applies even to a report without one.
const REPORT_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// How long the browser keeps the cookie, even after it is closed: the time that a host waits for its partner, plus the time
/// that a result waits for the user. The cookie is useless once the program has ended.
const COOKIE_SECONDS: u32 = 2 * 24 * 3600;

/// The port, the token and the cookie.
pub(crate) struct Guard {
    port: u16,
    token: String,
    /// A single-use token for the program that starts the browser, because other users of this machine can see its arguments.
    launch: Mutex<Option<String>>,
    cookie: String,
}

/// Omits the secrets.
impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guard({})", self.port)
    }
}

impl Guard {
    pub(crate) fn new(port: u16) -> Result<Self, ServerError> {
        Ok(Self {
            port,
            token: secret()?,
            launch: Mutex::new(Some(secret()?)),
            cookie: secret()?,
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    pub(crate) fn launch_url(&self) -> String {
        let launch = self.launch.lock().unwrap_or_else(PoisonError::into_inner);
        let token = launch.as_deref().unwrap_or_default();
        format!("http://127.0.0.1:{}/?token={token}", self.port)
    }

    /// The page's own address, under the two names of this machine.
    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port))
    }

    /// Rejects other host names that resolve to this machine (DNS rebinding).
    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let host = single(headers, &HOST);
        host.is_some_and(|host| self.hosts().iter().any(|own| own == host))
    }

    /// Requests that change something must come from this page; others must not come from another site.
    fn is_own_origin(&self, method: &Method, headers: &HeaderMap) -> bool {
        let site = headers.get(HeaderName::from_static("sec-fetch-site"));
        let is_reading = matches!(*method, Method::GET | Method::HEAD);
        let is_own_site = match site.map(HeaderValue::as_bytes) {
            None | Some(b"same-origin") => true,
            // The address bar, or a bookmark.
            Some(b"none") => is_reading,
            Some(_) => false,
        };
        let is_own = match (headers.get(ORIGIN), single(headers, &ORIGIN)) {
            (None, _) => is_reading,
            (_, Some(origin)) => {
                let hosts = self.hosts();
                hosts.iter().any(|host| origin == format!("http://{host}"))
            }
            _ => false,
        };
        is_own_site && is_own
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let prefix = format!("{}=", self.cookie_name());
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut values = cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().strip_prefix(&prefix));
        values.any(|value| is_equal(value, &self.cookie))
    }

    /// Cookies ignore ports: two servers on one machine need two names.
    fn cookie_name(&self) -> String {
        format!("veilpath-{}", self.port)
    }

    fn has_token(&self, uri: &Uri) -> bool {
        let query = uri.query().unwrap_or_default();
        let mut fields = query.split('&');
        let token = fields.find_map(|field| field.strip_prefix("token="));
        let Some(token) = token else {
            return false;
        };
        let mut launch = self.launch.lock().unwrap_or_else(PoisonError::into_inner);
        let is_launch = launch.as_deref().is_some_and(|it| is_equal(token, it));
        if is_launch {
            launch.take();
        }
        is_launch || is_equal(token, &self.token)
    }

    /// Exchanges the token for the cookie, and removes the token from the address. A redirect would not work: a browser that
    /// comes from another site does not send the cookie with the redirected request.
    fn exchange_token(&self) -> Response {
        let cookie = format!(
            "{}={}; Path=/; Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict",
            self.cookie_name(),
            self.cookie
        );
        let page = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=/\">\
                    <title>Veilpath</title><link rel=\"icon\" href=\"data:,\"><a href=\"/\">Veilpath</a>";
        let headers = [
            (SET_COOKIE, cookie),
            (CONTENT_TYPE, "text/html; charset=utf-8".to_string()),
        ];
        (headers, page).into_response()
    }
}

/// Lets a request through, or refuses it before anything is read from its body.
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let guard = &app.guard;
    let (method, headers) = (request.method(), request.headers());
    let answer = if !guard.is_own_host(headers) {
        refused(
            StatusCode::MISDIRECTED_REQUEST,
            "this host name is not the page's own",
        )
    } else if request.uri().path() == "/" && guard.has_token(request.uri()) {
        guard.exchange_token()
    } else if !guard.is_own_origin(method, headers) {
        refused(
            StatusCode::FORBIDDEN,
            "this request comes from another site",
        )
    } else if !guard.has_cookie(headers) {
        refused(
            StatusCode::UNAUTHORIZED,
            "this address does not contain the token. Start Veilpath again, or open the address that the terminal shows",
        )
    } else if announced_bytes(headers) > limit(request.uri().path()) as u64 {
        // Checked before anything is read, because the browser would send the whole body.
        refused(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large")
    } else {
        let is_report = request.uri().path().starts_with("/report/");
        let answer = next.run(request).await;
        return protected(answer, is_report);
    };
    protected(answer, false)
}

/// The same response with the security headers.
fn protected(mut answer: Response, is_report: bool) -> Response {
    let policy = if is_report { REPORT_POLICY } else { POLICY };
    let headers = answer.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, policy),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Participants' data must not stay in the browser's cache.
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    answer
}

fn refused(status: StatusCode, reason: &'static str) -> Response {
    (
        status,
        format!("Veilpath refused this request: {reason}.\n"),
    )
        .into_response()
}

/// The length that a request declares; one that declares none is cut off at the limit.
fn announced_bytes(headers: &HeaderMap) -> u64 {
    let length = single(headers, &CONTENT_LENGTH);
    length.and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// The value of a header that occurs once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

fn is_equal(given: &str, expected: &str) -> bool {
    given.as_bytes().ct_eq(expected.as_bytes()).into()
}

/// 256 random bits as hexadecimal digits.
fn secret() -> Result<String, ServerError> {
    let mut bytes = [0; 32];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|_| ServerError::NoRandomness)?;
    let mut digits = String::new();
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}
