//! Accepted clients: requests with the token, made to this machine under one of its names.
//!
//! A page of another site can make the browser send requests here, under a name that it lets point to this
//! machine. It cannot know the token, and the name in `Host` gives it away.

use anyhow::{Result, anyhow};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;

/// Bytes of the token.
const TOKEN: usize = 16;

/// Requirements of a request.
pub(super) struct Guard {
    token: String,
    address: IpAddr,
}

impl Guard {
    /// A guard with a new token.
    pub(super) fn new(address: IpAddr) -> Result<Self> {
        let mut bytes = [0u8; TOKEN];
        getrandom::fill(&mut bytes).map_err(|error| anyhow!("no random numbers: {error}"))?;
        Ok(Guard { token: bytes.iter().map(|byte| format!("{byte:02x}")).collect(), address })
    }

    /// The token, in hexadecimal digits.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// True if `Host` names this machine: as `localhost`, or by the address listened on.
    fn is_own(&self, host: &str) -> bool {
        let (name, port) = match host.strip_prefix('[') {
            Some(rest) => rest.split_once(']').unwrap_or((rest, "")),
            None => host.split_once(':').map_or((host, ""), |(name, port)| (name, port)),
        };
        if !port.trim_start_matches(':').chars().all(|c| c.is_ascii_digit()) {
            return false;
        }
        match name.parse::<IpAddr>() {
            // Any of its addresses, where it listens on all of them.
            Ok(address) => address.is_loopback() || address == self.address || self.address.is_unspecified(),
            Err(_) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// True if a path begins with the token; the comparison takes constant time.
    fn has_token(&self, path: &str) -> bool {
        let first = path.strip_prefix('/').unwrap_or(path).split('/').next().unwrap_or_default().as_bytes();
        let own = self.token.as_bytes();
        first.len() == own.len() && first.iter().zip(own).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }
}

/// Refuses, or hands on and adds what keeps the answer to this page.
pub(super) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    let mut response = if !host.is_some_and(|host| guard.is_own(host)) {
        (StatusCode::FORBIDDEN, "asked for under a name that is not this machine's\n").into_response()
    } else if !guard.has_token(request.uri().path()) {
        (StatusCode::NOT_FOUND, "the address lacks the token that `rockhound view` printed\n").into_response()
    } else {
        next.run(request).await
    };
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let guard = |address: &str| Guard { token: "a1".into(), address: address.parse().unwrap() };
        for (address, host, own) in [
            ("127.0.0.1", "127.0.0.1:8080", true),
            ("127.0.0.1", "localhost:1", true),
            ("127.0.0.1", "LOCALHOST", true),
            ("127.0.0.1", "[::1]:80", true),
            ("127.0.0.1", "evil.example:8080", false),
            ("127.0.0.1", "127.0.0.1.evil.example", false),
            ("127.0.0.1", "localhost:80@evil.example", false),
            ("127.0.0.1", "192.168.0.7:80", false),
            ("127.0.0.1", "", false),
            ("192.168.0.7", "192.168.0.7:80", true),
            ("192.168.0.7", "192.168.0.8:80", false),
            ("0.0.0.0", "192.168.0.8:80", true),
            ("0.0.0.0", "evil.example", false),
        ] {
            assert_eq!(guard(address).is_own(host), own, "{address} {host}");
        }
    }

    #[test]
    fn tokens() {
        let guard = Guard::new("127.0.0.1".parse().unwrap()).unwrap();
        assert_eq!(guard.token().len(), 2 * TOKEN);
        let token = guard.token().to_owned();
        for (path, has) in [
            (format!("/{token}/"), true),
            (format!("/{token}/version"), true),
            (format!("/{token}"), true),
            ("/".to_owned(), false),
            (format!("/{token}0/"), false),
            (format!("//{token}/"), false),
            (format!("/../{token}/"), false),
        ] {
            assert_eq!(guard.has_token(&path), has, "{path}");
        }
    }
}
