//! An HTTP server that says exactly what a test tells it to, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The head of a request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// `GET /x HTTP/1.1`
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// How many came before it.
    pub(crate) number: usize,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }
}

/// Lives as long as the test process.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Gives every connection to `serve`, after the head of its one request was read.
    pub(crate) fn start(serve: impl Fn(&Request, &mut dyn Write) + Send + Sync + 'static) -> Self {
        let serve = Arc::new(serve);
        Self::start_raw(move |stream, log| {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            if let Some(request) = read_head(&mut reader, log) {
                serve(&request, &mut &*stream);
                let _ = stream.shutdown(Shutdown::Both);
            }
        })
    }

    /// Gives every connection to `serve` as it is.
    pub(crate) fn start_raw(
        serve: impl Fn(&TcpStream, &Mutex<Vec<Request>>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { address: listener.local_addr().unwrap(), log: Arc::default() };
        let (log, serve) = (server.log.clone(), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, serve) = (log.clone(), serve.clone());
                thread::spawn(move || serve(&stream.unwrap(), &log));
            }
        });
        server
    }

    /// Answers every request with `response`.
    pub(crate) fn saying(response: impl Into<Vec<u8>>) -> Self {
        let response = response.into();
        Self::start(move |_, out| out.write_all(&response).unwrap_or_default())
    }

    /// Answers the requests with `responses` in turn, and all further ones with the last.
    pub(crate) fn saying_in_turn(responses: &[&str]) -> Self {
        let responses: Vec<String> = responses.iter().map(|response| (*response).to_owned()).collect();
        Self::start(move |request, out| {
            let response = responses.get(request.number).or(responses.last()).unwrap();
            out.write_all(response.as_bytes()).unwrap_or_default();
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.log.lock().unwrap().len()
    }

    #[track_caller]
    pub(crate) fn only_request(&self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }
}

/// Reads the head of a request, and logs it.
pub(crate) fn read_head(reader: &mut impl BufRead, log: &Mutex<Vec<Request>>) -> Option<Request> {
    let mut lines = reader.take(64 * 1024).lines().map_while(Result::ok);
    let line = lines.next()?;
    let headers = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())))
        .collect();
    let mut log = log.lock().unwrap();
    let request = Request { line, headers, number: log.len() };
    log.push(request.clone());
    Some(request)
}

/// Returns a whole answer.
pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}")
}

pub(crate) fn ok(body: &str) -> String {
    response("200 OK", "Content-Type: application/json\r\n", body)
}
