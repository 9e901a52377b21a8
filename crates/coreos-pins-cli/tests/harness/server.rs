//! A server of documents on this machine, which remembers what it was asked for.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

/// Status and body, by path.
type Files = BTreeMap<String, (u16, Vec<u8>)>;

/// Lives as long as the test process.
pub struct Server {
    /// Without a slash at its end.
    pub base: String,
    files: Arc<Mutex<Files>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers 404 to everything.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let server = Self { base, files: Arc::default(), log: Arc::default() };
        let (files, log) = (server.files.clone(), server.log.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (files, log) = (files.clone(), log.clone());
                thread::spawn(move || {
                    let mut stream = stream.expect("a connection");
                    let mut lines = BufReader::new(stream.try_clone().expect("a reader")).lines();
                    let Some(Ok(request)) = lines.next() else { return };
                    lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).for_each(drop);
                    let mut words = request.split(' ');
                    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                    log.lock().expect("the log").push(format!("{method} {path}"));
                    let found = files.lock().expect("the files").get(path).cloned();
                    let (status, body) = found.unwrap_or((404, b"{}".to_vec()));
                    let length = body.len();
                    let head = format!(
                        "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                    );
                    let body = if method == "HEAD" { &[][..] } else { &body };
                    // Whoever asked may have gone.
                    let _ = stream.write_all(&[head.as_bytes(), body].concat());
                });
            }
        });
        server
    }

    /// Answers 200 and `text` from now on.
    pub fn put(&self, path: &str, text: impl Into<Vec<u8>>) {
        self.answer(path, 200, text);
    }

    /// Answers `status` and `text` from now on.
    pub fn answer(&self, path: &str, status: u16, text: impl Into<Vec<u8>>) {
        self.files.lock().expect("the files").insert(path.to_owned(), (status, text.into()));
    }

    /// Answers 404 from now on.
    pub fn remove(&self, path: &str) {
        self.files.lock().expect("the files").remove(path);
    }

    /// What was asked for since the last call, sorted.
    pub fn requests(&self) -> Vec<String> {
        let mut requests = std::mem::take(&mut *self.log.lock().expect("the log"));
        requests.sort();
        requests
    }
}
