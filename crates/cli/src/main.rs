//! The developer binary: the whole of Shepherd with one command, and questions to any Shepherd.

mod answer;
mod args;
mod ask;
mod dead_letters;
mod demo;
mod error;
mod progress;
mod query;
mod retriever;
mod rules;
mod serve;
mod shutdown;
mod stack;
mod status;
mod table;

use clap::Parser;
use std::io::IsTerminal;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

use args::{Cli, Command, RulesCommand};
use error::{Chain, CliError};

#[tokio::main]
async fn main() -> ExitCode {
    let command = Cli::parse().command;
    // The double of Retriever on its own has nothing else to show; the other commands have their own display.
    let level = if matches!(command, Command::Retriever(_)) { "info" } else { "warn" };
    let filter = EnvFilter::try_from_env("RUST_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let colours = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr).init();
    match run(command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shepherd: {}", Chain(&error));
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Demo(args) => demo::run(args).await,
        Command::Serve(args) => serve::run(args).await,
        Command::Query(args) => query::run(args).await,
        Command::Retriever(args) => retriever::run(args).await,
        Command::DeadLetters(command) => dead_letters::run(command).await,
        Command::Rules(RulesCommand::Check { directory }) => rules::check(&directory),
    }
}
