//! `Retry-After`: seconds, or a date.

use std::time::{Duration, SystemTime};

/// Returns how long to wait from `now`. A date that is over is no wait; what is neither form is ignored.
pub(super) fn parse(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // Digits that are too many for a number ask for longer than anybody waits.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let then = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(http_date(value)?))?;
    Some(then.duration_since(now).unwrap_or_default())
}

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers may send, as seconds since 1970.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.strip_suffix(" GMT")?.split_once(", ")?.1.split(' ');
    let mut number = |limit: u64| words.next()?.parse().ok().filter(|&value: &u64| value <= limit);
    let day = number(31)?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year = words.next()?.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut time = words.next()?.split(':');
    let mut part = |limit: u64| time.next()?.parse().ok().filter(|&value: &u64| value <= limit);
    let seconds = part(23)? * 3600 + part(59)? * 60 + part(60)?;
    Some(days_since_1970(year, month, day)? * 86400 + seconds)
}

/// Counts from 1 March, so that the leap day is the last of its year.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day;
    days.checked_sub(719_469)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_as_the_second_it_names() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Tue, 01 Dec 2026 12:00:00 GMT", 1_796_126_400),
        ] {
            assert_eq!(http_date(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn seconds_and_dates_are_waited_for_and_garbage_is_ignored() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let parse = |value| parse(value, now);
        assert_eq!(parse(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(parse("99999999999999999999999"), Some(Duration::from_secs(u64::MAX)));
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(7)));
        assert_eq!(parse("Sun, 06 Nov 1993 08:49:37 GMT"), Some(Duration::ZERO));
        for garbage in [
            "",
            "-1",
            "1.5",
            "soon",
            "Sun, 06 Foo 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 99:00:00 GMT",
            ", GMT",
            " GMT",
        ] {
            assert_eq!(parse(garbage), None, "{garbage}");
        }
    }
}
