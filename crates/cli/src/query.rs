//! `shepherd query`: one query to any running Shepherd.

use serde_json::Value;
use std::path::Path;
use std::time::SystemTime;
use testkit::ArsDouble;
use testkit::ars::Policy;
use testkit::queries;

use crate::answer::Answer;
use crate::args::{QueryArgs, ShowArgs};
use crate::ask::{self, Received, Way};
use crate::error::CliError;
use crate::shutdown::Shutdown;

pub(crate) async fn run(args: QueryArgs) -> Result<(), CliError> {
    let mut shutdown = Shutdown::on_signals()?;
    let mut query = read(&args.file)?;
    if let Some(seconds) = args.timeout {
        query = queries::with_timeout(query, seconds);
    }
    let base = args.url.as_str().trim_end_matches('/');
    let ars = ArsDouble::listen(args.callback_bind, args.callback_host.as_deref(), Policy::default()).await;
    let ars = ars.map_err(CliError::Listen)?;
    let asking = async {
        if args.sync {
            ask::sync(&ars, base, &args.ara, &query).await
        } else {
            let limit = ask::limit(&query);
            ask::asynchronous(&ars, base, &args.ara, query, limit).await
        }
    };
    let received = tokio::select! {
        received = asking => received?,
        () = shutdown.wanted() => return Err(CliError::Interrupted),
    };
    show(&received, &args.show, None)
}

/// Reads a TRAPI query from a file.
pub(crate) fn read(path: &Path) -> Result<Value, CliError> {
    let bytes = std::fs::read(path).map_err(|source| CliError::Read { path: path.to_owned(), source })?;
    let query: Value = serde_json::from_slice(&bytes)
        .map_err(|source| CliError::NotJson { path: path.to_owned(), source })?;
    if query.get("message").is_none_or(|message| !message.is_object()) {
        return Err(CliError::NotAQuery { path: path.to_owned() });
    }
    Ok(query)
}

/// Prints table, sizes and timings; an answer that is no success is an error after that.
pub(crate) fn show(
    received: &Received,
    args: &ShowArgs,
    last_callback: Option<SystemTime>,
) -> Result<(), CliError> {
    if let Some(path) = &args.output {
        let write_error = |source| CliError::Write { path: path.clone(), source };
        std::fs::write(path, &received.body).map_err(write_error)?;
    }
    let answer = Answer::parse(&received.body)?;
    println!("{}", answer.table(args.top));
    println!("{}", answer.sizes());
    println!("{}", timing(received, last_callback));
    let refused = received.http_status.is_some_and(|status| status >= 400);
    if refused || matches!(answer.status(), "KPsNotAvailable" | "Failed" | "Error") {
        let status = match received.http_status {
            Some(code) if refused => format!("{} (HTTP {code})", answer.status()),
            _ => answer.status().to_owned(),
        };
        return Err(CliError::Failed { status, description: answer.description().to_owned() });
    }
    println!("{}: {}", answer.status(), answer.description());
    Ok(())
}

fn timing(received: &Received, last_callback: Option<SystemTime>) -> String {
    let way = match received.way {
        Way::Callback => "by callback",
        Way::Fetched => "fetched by its id, since no callback came",
        Way::Connection => "on the connection",
    };
    let since = last_callback.and_then(|last| received.at.duration_since(last).ok());
    let since =
        since.map(|since| format!("; {:.0} ms after the last sub-query's answer", since.as_secs_f64() * 1e3));
    format!("Answered after {:.3} s, {way}{}", received.took.as_secs_f64(), since.unwrap_or_default())
}
