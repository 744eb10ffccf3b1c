//! `shepherd serve`: the stack, until it is told to stop.

use testkit::Stack;
use testkit::stack::Death;

use crate::args::StackArgs;
use crate::error::CliError;
use crate::shutdown::Shutdown;
use crate::stack;
use crate::table::Table;

const GATEWAY_PORT: u16 = 5439;

pub(crate) async fn run(args: StackArgs) -> Result<(), CliError> {
    let mut shutdown = Shutdown::on_signals()?;
    let builder = stack::builder(&args, GATEWAY_PORT)?;
    let stack = tokio::select! {
        started = builder.start() => started.map_err(CliError::Stack)?,
        // Dropping the half-started stack ends what runs already.
        () = shutdown.wanted() => return Err(CliError::Interrupted),
    };
    print(&stack);
    let death = tokio::select! {
        death = stack.death() => Some(death),
        () = shutdown.wanted() => None,
    };
    println!("Stopping.");
    finish(stack, death).await
}

/// Ends the stack in order; a death that led here is the error to report.
pub(crate) async fn finish(stack: Stack, death: Option<Death>) -> Result<(), CliError> {
    let ended = stack.shutdown().await.map_err(CliError::Stack);
    death.map_or(ended, |death| Err(CliError::Died(death)))
}

fn print(stack: &Stack) {
    let mut table = Table::new(&["process", "pid", "log"]);
    for process in stack.processes() {
        table.row(vec![process.label, process.pid.to_string(), process.log.display().to_string()]);
    }
    println!("{table}");
    println!("Shepherd   {}", stack.gateway_url());
    println!("Redis      {}", stack.redis_url());
    println!("Retriever  {}", stack.retriever_url().unwrap_or("as the environment says"));
    println!("Ctrl-C stops everything.");
}
