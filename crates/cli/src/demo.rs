//! `shepherd demo`: everything once, from nothing to the answers and back.

use serde_json::Value;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use testkit::stack::Death;
use testkit::{ArsDouble, Stack, queries};

use crate::args::DemoArgs;
use crate::ask::{self, Received};
use crate::error::CliError;
use crate::query::{read, show};
use crate::serve::finish;
use crate::shutdown::Shutdown;
use crate::stack;

/// Type 2 diabetes mellitus.
const DISEASE: &str = "MONDO:0005148";
/// How much later than its own limit the answer may come in before the demonstration gives up.
const SLACK: Duration = Duration::from_secs(5);

/// How the wait for the answer ended.
enum Outcome {
    Answered(Received),
    Failed(CliError),
    Died(Death),
}

pub(crate) async fn run(args: DemoArgs) -> Result<(), CliError> {
    let mut shutdown = Shutdown::on_signals()?;
    let query = queries::with_timeout(question(&args)?, args.timeout);
    // Port 0: a demonstration must not collide with a stack that is up already.
    let builder = stack::builder(&args.stack, 0)?;
    let begun = Instant::now();
    let stack = tokio::select! {
        started = builder.start() => started.map_err(CliError::Stack)?,
        () = shutdown.wanted() => return Err(CliError::Interrupted),
    };
    let labels: Vec<String> = stack.processes().into_iter().map(|process| process.label).collect();
    println!("Started in {:.1} s: {}", begun.elapsed().as_secs_f64(), labels.join(", "));
    let outcome = tokio::select! {
        received = ask_it(&stack, &args, query) => received.map_or_else(Outcome::Failed, Outcome::Answered),
        death = stack.death() => Outcome::Died(death),
        () = shutdown.wanted() => Outcome::Failed(CliError::Interrupted),
    };
    match outcome {
        Outcome::Answered(received) => {
            let last_callback = last_callback(&stack).await;
            let shown = show(&received, &args.show, last_callback);
            finish(stack, None).await.and(shown)
        }
        Outcome::Failed(error) => finish(stack, None).await.and(Err(error)),
        Outcome::Died(death) => finish(stack, Some(death)).await,
    }
}

fn question(args: &DemoArgs) -> Result<Value, CliError> {
    args.query.as_deref().map_or_else(|| Ok(queries::treats(DISEASE)), read)
}

async fn ask_it(stack: &Stack, args: &DemoArgs, query: Value) -> Result<Received, CliError> {
    let ars = ArsDouble::start().await.map_err(CliError::Listen)?;
    if args.query.is_none() {
        println!("Asking {}: which chemicals treat type 2 diabetes mellitus ({DISEASE})?", args.ara);
    }
    let limit = Duration::try_from_secs_f64(args.timeout).unwrap_or_default() + SLACK;
    ask::asynchronous(&ars, &stack.gateway_url(), &args.ara, query, limit).await
}

/// When the double of Retriever had delivered its last answer, if it is one of ours.
async fn last_callback(stack: &Stack) -> Option<SystemTime> {
    let http = ArsDouble::start().await.ok()?;
    let stats = http.get(&format!("{}/stats", stack.retriever_url()?), Duration::from_secs(2)).await.ok()?;
    let ended = stats.json().ok()?["last_callback_ended_ms"].as_f64()?;
    Some(UNIX_EPOCH + Duration::try_from_secs_f64(ended / 1e3).ok()?)
}
