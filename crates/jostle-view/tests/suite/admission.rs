//! Who may watch.

use std::net::SocketAddr;

use jostle_view::Viewer;

use crate::client::{Client, get};

fn loopback() -> Viewer {
    Viewer::start(([127, 0, 0, 1], 0).into()).unwrap()
}

#[test]
fn the_page_is_served_and_fetches_nothing_from_elsewhere() {
    let viewer = loopback();
    let (address, host) = (viewer.address(), viewer.address().to_string());
    assert_eq!(viewer.url(), format!("http://{host}/"));
    let page = get(address, "/", &host);
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let head = page.to_ascii_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self';"), "{page}");
    assert!(!page.contains("http://") && !page.contains("https://"));
    for file in
        ["style.css", "main.js", "link.js", "discs.js", "dots.js", "camera.js", "tools.js", "meters.js", "lanes.js"]
    {
        let answer = get(address, &format!("/{file}"), &host);
        assert!(answer.starts_with("HTTP/1.1 200"), "{file}: {answer}");
        let kind = if file.ends_with("css") { "content-type: text/css" } else { "content-type: text/javascript" };
        assert!(answer.contains(kind), "{file}: {answer}");
    }
    assert!(get(address, "/other.js", &host).starts_with("HTTP/1.1 404"));
    assert!(get(address, "/../Cargo.toml", &host).starts_with("HTTP/1.1 404"));
}

#[test]
fn another_pages_scripts_are_refused() {
    let viewer = loopback();
    let address = viewer.address();
    let (host, port) = (address.to_string(), address.port());
    let attach = |host: &str, origin: Option<&str>| Client::try_attach(address, "/socket", host, origin).err();
    assert_eq!(attach(&host, Some(&format!("http://{host}"))), None);
    assert_eq!(attach(&format!("localhost:{port}"), Some(&format!("http://localhost:{port}"))), None);
    for origin in ["http://example.org", "null", "http://127.0.0.1:1", &format!("http://{host}.example.org"), &host, ""]
    {
        assert_eq!(attach(&host, Some(origin)), Some(403), "{origin}");
    }
    assert_eq!(attach(&host, None), Some(403));
    // The name is another's, but leads to this machine.
    let other = format!("example.org:{port}");
    assert_eq!(attach(&other, Some(&format!("http://{other}"))), Some(403));
    assert!(get(address, "/", &other).starts_with("HTTP/1.1 403"));
    assert!(get(address, "/", "127.0.0.1.example.org").starts_with("HTTP/1.1 403"));
}

#[test]
fn where_other_machines_can_ask_they_must_know_the_token() {
    let viewer = Viewer::start(([0, 0, 0, 0], 0).into()).unwrap();
    let port = viewer.address().port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let url = viewer.url();
    let path = url.strip_prefix(&format!("http://localhost:{port}")).unwrap();
    let token = path.trim_matches('/');
    assert_eq!((token.len(), path.len()), (32, 34), "{url}");
    // With the token, any name is served.
    assert!(get(address, path, "example.org").starts_with("HTTP/1.1 200"));
    assert!(get(address, path.trim_end_matches('/'), "example.org").starts_with("HTTP/1.1 308"));
    let wrong = format!("/{}/", "0".repeat(32));
    for path in ["/", "/main.js", "/socket", &wrong, &format!("/{}/", &token[1..]), &format!("//{token}/"), "//"] {
        assert!(get(address, path, "example.org").starts_with("HTTP/1.1 403"), "{path}");
    }
    let attach = |path: &str, origin| Client::try_attach(address, path, "example.org", Some(origin)).err();
    assert_eq!(attach("/socket", "http://example.org"), Some(403));
    assert_eq!(attach(&format!("{wrong}socket"), "http://example.org"), Some(403));
    assert_eq!(attach(&format!("{path}socket"), "http://example.com"), Some(403));
    assert_eq!(attach(&format!("{path}socket"), "http://example.org"), None);
}

#[test]
fn an_address_that_cannot_be_had_is_an_error() {
    let viewer = loopback();
    assert!(Viewer::start(viewer.address()).is_err());
    drop(viewer);
    // The viewer's thread has ended with the viewer. Another program may have been given the port since, but not always.
    assert!((0..10).any(|_| {
        let address = loopback().address();
        Viewer::start(address).is_ok()
    }));
}
