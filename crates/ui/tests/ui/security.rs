//! Which requests the page's server accepts, and which it rejects.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use crate::http::Running;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use veilpath_ui::{IdleTimeouts, ServerOptions};

fn with(headers: &[String], name: &str, value: Option<&str>) -> Vec<String> {
    let kept = headers.iter();
    let kept = kept.filter(|header| !header.starts_with(&format!("{name}:")));
    let mut headers: Vec<String> = kept.cloned().collect();
    headers.extend(value.map(|value| format!("{name}: {value}")));
    headers
}

#[test]
fn only_the_token_opens_the_page() {
    let server = Running::start(ServerOptions::default());
    let host = vec![format!("Host: {}", server.host())];
    for path in ["/", "/?token=", "/?token=00", "/api/state", "/app.js"] {
        let answer = server.send(&format!("GET {path}"), &host, b"");
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.head.contains("set-cookie"), "{path}");
    }
    let almost = format!("{}0", &server.token[..server.token.len() - 1]);
    let answer = server.send(&format!("GET /?token={almost}"), &host, b"");
    assert!(answer.status == 401 || almost == server.token);
    // Only the page accepts the token; nothing else does.
    let path = format!("GET /api/state?token={}", server.token);
    assert_eq!(server.send(&path, &host, b"").status, 401);
    for cookie in ["veilpath-1=x", "x=y", ""] {
        let headers = with(&host, "Cookie", Some(cookie));
        assert_eq!(server.send("GET /api/state", &headers, b"").status, 401);
    }
    let own = server.own();
    assert_eq!(server.send("GET /", &own, b"").status, 200);
    server.stop();
}

#[test]
fn the_address_for_the_browser_works_once() {
    let server = Running::start(ServerOptions::default());
    let host = vec![format!("Host: {}", server.host())];
    let open = format!("GET /?token={}", server.launch);
    assert_eq!(server.send(&open, &host, b"").status, 200);
    assert_eq!(server.send(&open, &host, b"").status, 401);
    server.stop();
}

#[test]
fn requests_for_other_host_names_are_refused() {
    let server = Running::start(ServerOptions::default());
    let own = server.own();
    let port = server.port;
    for host in [
        format!("rebound.example:{port}"),
        "rebound.example".into(),
        "127.0.0.1".into(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1:{port}.rebound.example"),
        format!("[::1]:{port}"),
        format!("0.0.0.0:{port}"),
    ] {
        let headers = with(&own, "Host", Some(&host));
        for request in ["GET /", "GET /api/state", "POST /api/quit"] {
            assert_eq!(server.send(request, &headers, b"").status, 421, "{host}");
        }
        let open = format!("GET /?token={}", server.token);
        assert_eq!(server.send(&open, &headers, b"").status, 421, "{host}");
    }
    let mut twice = own.clone();
    twice.push(format!("Host: 127.0.0.1:{port}"));
    assert!([400, 421].contains(&server.send("GET /", &twice, b"").status));
    server.stop();
}

#[test]
fn cross_origin_requests_are_refused() {
    let server = Running::start(ServerOptions::default());
    let own = server.own();
    let port = server.port;
    for origin in [
        "http://evil.example".to_string(),
        "null".into(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://127.0.0.1:{port}.evil.example"),
    ] {
        let headers = with(&own, "Origin", Some(&origin));
        for request in [
            "GET /api/state",
            "POST /api/compare",
            "POST /api/files?name=a",
        ] {
            let answer = server.send(request, &headers, b"");
            assert_eq!(answer.status, 403, "{origin} {request}");
            assert!(!answer.head.contains("access-control"), "{origin}");
        }
    }
    // A request that changes something must state its origin.
    let headers = with(&own, "Origin", None);
    assert_eq!(server.send("POST /api/compare", &headers, b"").status, 403);
    for site in ["cross-site", "same-site"] {
        let headers = with(&headers, "Sec-Fetch-Site", Some(site));
        assert_eq!(server.send("GET /api/state", &headers, b"").status, 403);
    }
    let headers = with(&headers, "Sec-Fetch-Site", Some("none"));
    assert_eq!(server.send("GET /", &headers, b"").status, 200);
    server.stop();
}

#[test]
fn every_response_has_security_headers() {
    let server = Running::start(ServerOptions::default());
    for path in [
        "/",
        "/style.css",
        "/app.js",
        "/data.js",
        "/partner.js",
        "/picture.js",
        "/api/state",
        "/none",
    ] {
        let answer = server.send(&format!("GET {path}"), &server.own(), b"");
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(answer.head.contains(header), "{path}: {header}");
        }
    }
    let page = server.send("GET /", &server.own(), b"").body;
    assert!(
        !page.contains("http://") && !page.contains("https://"),
        "{page}"
    );
    assert!(
        !page.contains("<script>") && !page.contains("style="),
        "{page}"
    );
    server.stop();
}

/// The first load: everything that the page asks for before a file is dropped.
#[test]
fn the_page_is_small() {
    let server = Running::start(ServerOptions::default());
    let own = server.own();
    let start = Instant::now();
    let paths = [
        "/",
        "/style.css",
        "/app.js",
        "/compare.js",
        "/data.js",
        "/encode.js",
        "/page.js",
        "/partner.js",
        "/picture.js",
        "/plan.js",
        "/api/state",
    ];
    let sizes = paths.map(|path| {
        let answer = server.send(&format!("GET {path}"), &own, b"");
        assert_eq!(answer.status, 200, "{path}");
        answer.head.len() + answer.body.len()
    });
    let all: usize = sizes.iter().sum();
    println!("first load: {all} bytes in {:?}", start.elapsed());
    assert!(all < 300_000, "{all} bytes");
    server.stop();
}

#[test]
fn uploads_are_bounded() {
    let server = Running::start(ServerOptions::default());
    let mut headers = server.own();
    headers.push(format!("Content-Length: {}", (512_usize << 20) + 1));
    let answer = server.send("POST /api/files?name=large.csv", &headers, &[b'x'; 1 << 16]);
    assert!(answer.status == 413, "{}", answer.status);
    // The limit for forms is lower.
    let form = format!("{{\"name\": \"{}\"}}", "x".repeat(5 << 20));
    assert_eq!(server.json("POST /api/folder", &form).status, 413);
    // A body of unknown length is cut off.
    let mut headers = server.own();
    headers.push("Content-Type: application/json".into());
    headers.push("Transfer-Encoding: chunked".into());
    let chunk = format!("{:x}\r\n{form}\r\n0\r\n\r\n", form.len());
    let answer = server.send("POST /api/folder", &headers, chunk.as_bytes());
    assert_eq!(answer.status, 413);
    assert!(server.state().contains("\"files\":[]"));
    server.stop();
}

#[test]
fn paths_do_not_leave_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(
        outside.path().join("secret.csv"),
        "participant,scanpath\np,AB\n",
    )
    .unwrap();
    let folder = outside.path().join("inside");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.csv"), "participant,scanpath\np,AB\nq,BA\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("secret.csv"), folder.join("link.csv")).unwrap();
    let server = Running::start(ServerOptions {
        folder: Some(folder),
        ..ServerOptions::default()
    });
    let absolute = outside.path().join("secret.csv").display().to_string();
    for name in [
        "../secret.csv",
        "..\\\\secret.csv",
        "link.csv",
        "/etc/passwd",
        &absolute,
        "",
    ] {
        let answer = server.json("POST /api/folder", &format!("{{\"name\": \"{name}\"}}"));
        assert_eq!(answer.status, 422, "{name}: {}", answer.body);
        assert!(
            answer.body.contains("no such file"),
            "{name}: {}",
            answer.body
        );
    }
    for path in [
        "/../secret.csv",
        "/api/images/../../secret.csv",
        "/%2e%2e/secret.csv",
        "/report/..%2f/x",
    ] {
        let answer = server.send(&format!("GET {path}"), &server.own(), b"");
        assert!([400, 404, 422].contains(&answer.status), "{path}");
    }
    assert!(!server.state().contains("secret"));
    assert_eq!(
        server
            .json("POST /api/folder", "{\"name\": \"a.csv\"}")
            .status,
        200
    );
    assert!(server.state().contains("\"scanpaths\":2"));
    server.stop();
}

#[test]
fn hostile_names_and_contents_are_data() {
    let server = Running::start(ServerOptions::default());
    let drop = |name: &str, body: &[u8]| {
        server.send(&format!("POST /api/files?name={name}"), &server.own(), body)
    };
    // A private key is refused wherever it is dropped, and never echoed.
    let key = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIPRIVATE\n";
    let answer = drop("key.pem", key.as_bytes());
    assert_eq!(answer.status, 422);
    assert!(!answer.body.contains("PRIVATE"), "{}", answer.body);
    let table = "participant,stimulus,scanpath\n<script>alert(1)</script>,\"<img src=x onerror=alert(1)>\",ABC\n\u{202e}evil,s,ABD\n";
    let name = "..%2F..%2F%3Cscript%3E%22%27%00%0A.csv";
    assert_eq!(drop(name, table.as_bytes()).status, 200);
    let state = server.state();
    assert!(!state.contains("../"), "{state}");
    let answer = server.send("GET /api/state", &server.own(), b"");
    assert!(
        answer.head.contains("content-type: application/json"),
        "{}",
        answer.head
    );
    // Every kind of broken file gives a readable error.
    for body in [
        &b"\x89PNG\r\n\x1a\n broken"[..],
        b"\xff\xd8\xff broken",
        b"PK\x03\x04 zip",
        b"%PDF-1.7",
        b"\0\0\0\0",
        b"{\"kind\": \"veilpath invitation\", \"version\": 9}",
        b"{\"kind\": \"veilpath invitation\", \"plan\": {}}",
        &[0xff; 4096],
    ] {
        let answer = drop("x", body);
        assert!([200, 422].contains(&answer.status), "{}", answer.body);
    }
    for body in [
        "",
        "{",
        "[]",
        "{\"read\": 5}",
        "{\"letters\": {\"grid\": \"0x0\"}}",
        "{\"other\": {}}",
    ] {
        let answer = server.json("POST /api/options", body);
        assert!(
            (200..500).contains(&answer.status),
            "{body}: {}",
            answer.status
        );
    }
    assert_eq!(server.send("GET /", &server.own(), b"").status, 200);
    server.stop();
}

#[test]
fn a_server_without_an_open_page_stops() {
    let idle_timeouts = IdleTimeouts {
        first: Duration::from_millis(300),
        after: Duration::from_millis(100),
        with_files: Duration::from_secs(3),
    };
    let server = Running::start(ServerOptions {
        idle_timeouts,
        ..ServerOptions::default()
    });
    server.thread.join().unwrap().unwrap();

    // With a page it keeps running; when the page is closed, it stops.
    let server = Running::start(ServerOptions {
        idle_timeouts,
        ..ServerOptions::default()
    });
    let mut page = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let headers = server.own().join("\r\n");
    write!(page, "GET /api/events HTTP/1.1\r\n{headers}\r\n\r\n").unwrap();
    let mut start = [0; 12];
    page.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(!server.thread.is_finished());
    page.shutdown(std::net::Shutdown::Both).unwrap();
    drop(page);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !server.thread.is_finished() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(server.thread.is_finished());

    // Files are kept for longer: the tab may have been closed by mistake.
    let server = Running::start(ServerOptions {
        idle_timeouts,
        ..ServerOptions::default()
    });
    let table = "participant,scanpath\np,AB\nq,BA\n";
    let own = server.own();
    let path = "POST /api/files?name=a.csv";
    assert_eq!(server.send(path, &own, table.as_bytes()).status, 200);
    let mut page = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let headers = server.own().join("\r\n");
    write!(page, "GET /api/events HTTP/1.1\r\n{headers}\r\n\r\n").unwrap();
    page.read_exact(&mut start).unwrap();
    drop(page);
    let closed = Instant::now();
    while !server.thread.is_finished() && closed.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let kept = closed.elapsed();
    let expected = Duration::from_secs(2)..Duration::from_secs(20);
    assert!(expected.contains(&kept), "{kept:?}");
}

/// Events and reports are protected like the rest.
#[test]
fn events_and_reports_are_for_the_page_alone() {
    let server = Running::start(ServerOptions::default());
    let own = server.own();
    for (name, value) in [
        ("Origin", Some("http://evil.example")),
        ("Sec-Fetch-Site", Some("cross-site")),
    ] {
        let answer = server.send("GET /api/events", &with(&own, name, value), b"");
        assert_eq!(answer.status, 403, "{name}");
    }
    let answer = server.send("GET /api/events", &with(&own, "Cookie", None), b"");
    assert_eq!(answer.status, 401);
    let answer = server.send("GET /report/1/plain", &own, b"");
    assert_eq!(answer.status, 422, "there is no result yet");
    for header in [
        "content-security-policy: sandbox allow-scripts; default-src 'none'",
        "frame-ancestors 'self'",
        "cache-control: no-store",
    ] {
        assert!(answer.head.contains(header), "{}", answer.head);
    }
    server.stop();
}
