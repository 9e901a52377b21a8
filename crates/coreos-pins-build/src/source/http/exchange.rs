//! Requests of any kind, whose answer the caller reads.

use std::sync::atomic::AtomicU64;

use super::failure::Failure;
use super::tries::Tries;
use super::{Ask, Client, Takes};
use crate::Error;
use crate::source::exchange::{Method, Reply, Request};

impl Client {
    pub(in crate::source) fn exchange(&self, request: &Request<'_>) -> Result<Reply, Error> {
        let mut tries = Tries::new(&self.limits);
        loop {
            let ask = Ask {
                method: request.method,
                headers: &request.headers,
                authorization: request.authorization,
                body: request.body,
                encoding: "gzip",
                takes: Takes::All,
                total: Some(tries.left()),
                ..Ask::default()
            };
            match self.exchange_once(request, &ask) {
                Ok(reply) => return Ok(reply),
                Err(failure) => {
                    if tries.again(failure)?.is_some() {
                        let at = request.url.clone();
                        return Ok(Reply { status: 504, headers: Vec::new(), body: Vec::new(), at });
                    }
                }
            }
        }
    }

    fn exchange_once(&self, request: &Request<'_>, ask: &Ask<'_>) -> Result<Reply, Failure> {
        let (response, at) = match self.follow(request.url, ask)? {
            super::Reply::Found(response, at) => (response, at),
            super::Reply::NotThere { .. } => unreachable!("every status is taken"),
        };
        let status = response.status().as_u16();
        let headers = response.headers().iter();
        let headers = headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
            .collect();
        let body = match request.method {
            Method::Head => Vec::new(),
            _ => self.body(*response, request.limit, &AtomicU64::new(request.limit), request.url, &at)?,
        };
        Ok(Reply { status, headers, body, at })
    }
}
