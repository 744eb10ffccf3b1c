//! The command line.

use clap::{Args, Parser, Subcommand};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use url::Url;

/// Runs Shepherd on this machine, and asks it questions.
#[derive(Debug, Parser)]
#[command(name = "shepherd", version, about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Starts everything, asks which chemicals treat type 2 diabetes, shows the answers, stops everything.
    Demo(DemoArgs),
    /// Starts everything and keeps it up until Ctrl-C or SIGTERM.
    Serve(StackArgs),
    /// Posts a query to a running Shepherd and shows the answers.
    Query(QueryArgs),
    /// Runs only the double of Retriever: made-up answers to any query graph.
    Retriever(RetrieverArgs),
    /// Shows the steps that were given up, in the Redis that the environment names, and queues them again.
    #[command(subcommand)]
    DeadLetters(DeadLettersCommand),
    /// Rule packs.
    #[command(subcommand)]
    Rules(RulesCommand),
}

/// What to do with steps that were given up.
#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// Lists them, the newest first.
    List {
        /// At most so many per partition.
        #[arg(long, value_name = "N", default_value_t = 50)]
        most: usize,
    },
    /// Shows one, with its query and the query's log.
    Show {
        /// Its id, as the list shows it.
        id: String,
    },
    /// Queues one again, with the time its query had at its intake.
    Redrive {
        /// Its id, as the list shows it.
        id: String,
    },
    /// Takes one off the list.
    Drop {
        /// Its id, as the list shows it.
        id: String,
    },
}

/// What to do with a rule pack.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Reads a directory as the workers would, and tells what it covers or what is wrong with it.
    Check {
        /// A directory as `RULES_DIR` names one, with `aragorn` and `bte` in it.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) stack: StackArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// Ask this persona.
    #[arg(long, default_value = "aragorn")]
    pub(crate) ara: String,
    /// Ask this TRAPI query instead of the sample.
    #[arg(long, value_name = "FILE")]
    pub(crate) query: Option<PathBuf>,
    /// Seconds the query may take (`parameters.timeout`).
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    pub(crate) timeout: f64,
}

/// What the stack is made of. Settings of Shepherd itself are taken from the environment.
#[derive(Debug, Args)]
pub(crate) struct StackArgs {
    /// Port of the gateway [default: 5439 for `serve`, a free one for `demo`].
    #[arg(long, value_name = "PORT")]
    pub(crate) gateway_port: Option<u16>,
    /// Port of the private redis-server; 0 for a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) redis_port: u16,
    /// Port of the double of Retriever; 0 for a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) retriever_port: u16,
    /// First of the consecutive ports for health checks, one per process; free ones otherwise.
    #[arg(long, value_name = "PORT")]
    pub(crate) admin_port_base: Option<u16>,
    /// Start no double: ask the Retriever that `KG_RETRIEVAL_URL` and its siblings name.
    #[arg(long)]
    pub(crate) no_retriever: bool,
    #[command(flatten)]
    pub(crate) answers: AnswerArgs,
    /// The programs to start [default: those beside this one].
    #[arg(long, value_name = "DIR")]
    pub(crate) bin_dir: Option<PathBuf>,
    /// The rule packs [default: `RULES_DIR`, else `rules` here or above this program].
    #[arg(long, value_name = "DIR")]
    pub(crate) rules_dir: Option<PathBuf>,
    /// Where redis-server keeps its data [default: a directory that is removed at the end].
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where the log files go, one per process [default: a directory that is removed at the end].
    #[arg(long, value_name = "DIR")]
    pub(crate) log_dir: Option<PathBuf>,
    /// List `LABEL PID` of every process in this file while they run.
    #[arg(long, value_name = "FILE")]
    pub(crate) pid_file: Option<PathBuf>,
}

/// What the double of Retriever answers, and when.
#[derive(Clone, Debug, Args)]
pub(crate) struct AnswerArgs {
    /// Results per answer.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) results: usize,
    /// Answer from a small graph that hangs together, in place of inventions: searches find something in it.
    #[arg(long)]
    pub(crate) graph: bool,
    /// How long an acknowledgement takes.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) ack_delay_ms: u64,
    /// How long the answer takes after the acknowledgement.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub(crate) callback_delay_ms: u64,
}

/// Arguments of `retriever`.
#[derive(Debug, Args)]
pub(crate) struct RetrieverArgs {
    /// Port to listen on; 0 for a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Interface to listen on.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// Host that may be called back, beside those on the loopback interface.
    #[arg(long, value_name = "HOST")]
    pub(crate) callback_host: Option<String>,
    #[command(flatten)]
    pub(crate) answers: AnswerArgs,
}

/// Arguments of `query`.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The TRAPI query, as JSON.
    pub(crate) file: PathBuf,
    /// Ask this persona.
    #[arg(long, default_value = "aragorn")]
    pub(crate) ara: String,
    /// The Shepherd to ask.
    #[arg(long, default_value = "http://127.0.0.1:5439")]
    pub(crate) url: Url,
    /// Wait on the connection (`/query`) instead of for a callback (`/asyncquery`).
    #[arg(long)]
    pub(crate) sync: bool,
    /// Seconds the query may take; sets `parameters.timeout`.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// Host (or host:port) by which that Shepherd reaches this machine.
    #[arg(long, value_name = "HOST")]
    pub(crate) callback_host: Option<String>,
    /// Where to listen for the callback.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) callback_bind: SocketAddr,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// What to show of an answer.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShowArgs {
    /// How many answers to show.
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) top: usize,
    /// Write the whole response to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
