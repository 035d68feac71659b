//! A server, and raw HTTP over sockets, so that no client library hides or adds a header.
#![allow(clippy::unwrap_used, clippy::expect_used)] // a test's helpers may fail the test

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;
use veilpath_ui::{Server, ServerError, ServerOptions};

/// A server on a thread of its own.
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) token: String,
    pub(crate) launch: String,
    pub(crate) thread: JoinHandle<Result<(), ServerError>>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Running {
    pub(crate) fn start(options: ServerOptions) -> Self {
        let server = Server::bind(options).unwrap();
        let url = server.url();
        let rest = url.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once("/?token=").unwrap();
        let launch = server.launch_url();
        Self {
            port: port.parse().unwrap(),
            token: token.to_string(),
            launch: launch.split_once("token=").unwrap().1.to_string(),
            thread: std::thread::spawn(|| server.run()),
        }
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn send(&self, request: &str, headers: &[String], body: &[u8]) -> Answer {
        let address = SocketAddr::from(([127, 0, 0, 1], self.port));
        let mut socket = TcpStream::connect(address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut head = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        let has_length =
            |it: &String| it.starts_with("Content-Length") || it.starts_with("Transfer-Encoding");
        if !headers.iter().any(has_length) {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        // A server that refuses a large body may close before all of it is sent.
        let _ = socket.write_all(body);
        let mut bytes = Vec::new();
        let _ = socket.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        Answer {
            status,
            head: head.to_lowercase(),
            body: body.to_string(),
        }
    }

    pub(crate) fn cookie(&self) -> String {
        let host = format!("Host: {}", self.host());
        let answer = self.send(&format!("GET /?token={}", self.token), &[host], b"");
        assert_eq!(answer.status, 200, "{}", answer.body);
        let cookie = answer
            .head
            .lines()
            .find(|line| line.starts_with("set-cookie: "));
        let cookie = cookie.unwrap().strip_prefix("set-cookie: ").unwrap();
        // A browser that was closed in the meantime can open the page again.
        let lasting = "; path=/; max-age=172800; httponly; samesite=strict";
        assert!(cookie.ends_with(lasting), "{cookie}");
        cookie.split(';').next().unwrap().to_string()
    }

    /// The headers of the page itself.
    pub(crate) fn own(&self) -> Vec<String> {
        vec![
            format!("Host: {}", self.host()),
            format!("Origin: http://{}", self.host()),
            format!("Cookie: {}", self.cookie()),
            "Sec-Fetch-Site: same-origin".into(),
        ]
    }

    pub(crate) fn json(&self, request: &str, body: &str) -> Answer {
        let mut headers = self.own();
        headers.push("Content-Type: application/json".into());
        self.send(request, &headers, body.as_bytes())
    }

    pub(crate) fn state(&self) -> String {
        let answer = self.send("GET /api/state", &self.own(), b"");
        assert_eq!(answer.status, 200);
        answer.body
    }

    pub(crate) fn stop(self) {
        assert_eq!(self.send("POST /api/quit", &self.own(), b"").status, 200);
        self.thread.join().unwrap().unwrap();
    }
}
