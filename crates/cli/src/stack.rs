//! From the command line to a stack.

use std::ffi::OsString;
use std::path::Path;
use testkit::Stack;
use testkit::stack::{GATEWAY, RetrieverChoice, StackBuilder, bin_dir_near, find_rules_dir};

use crate::args::{AnswerArgs, StackArgs};
use crate::error::CliError;

/// Describes the stack that `args` ask for; `gateway_port` is the port where they name none.
pub(crate) fn builder(args: &StackArgs, gateway_port: u16) -> Result<StackBuilder, CliError> {
    let exe = std::env::current_exe().map_err(CliError::OwnPath)?;
    let bin_dir = match &args.bin_dir {
        Some(dir) => dir.clone(),
        None => bin_dir_near(&exe, GATEWAY).ok_or(CliError::NoPrograms(GATEWAY))?,
    };
    let mut builder = Stack::builder(bin_dir)
        .inherit_settings()
        .own_group()
        .gateway_port(args.gateway_port.unwrap_or(gateway_port))
        .redis_port(args.redis_port)
        .retriever(retriever(args, &exe));
    if let Some(base) = args.admin_port_base {
        builder = builder.admin_port_base(base);
    }
    builder = match &args.rules_dir {
        // The flag is stronger than the variable, so it must not be a mere default.
        Some(dir) => builder.env("RULES_DIR", &dir.display().to_string()),
        None => find_rules_dir(&exe).into_iter().fold(builder, StackBuilder::rules_dir),
    };
    if let Some(dir) = &args.data_dir {
        builder = builder.data_dir(dir);
    }
    if let Some(dir) = &args.log_dir {
        builder = builder.log_dir(dir);
    }
    if let Some(file) = &args.pid_file {
        builder = builder.pid_file(file);
    }
    Ok(builder)
}

fn retriever(args: &StackArgs, exe: &Path) -> RetrieverChoice {
    if args.no_retriever {
        return RetrieverChoice::FromEnvironment;
    }
    RetrieverChoice::Process {
        program: exe.to_owned(),
        args: retriever_args(&args.answers),
        port: args.retriever_port,
    }
}

fn retriever_args(answers: &AnswerArgs) -> Vec<OsString> {
    let numbers = [
        ("--results", answers.results.to_string()),
        ("--ack-delay-ms", answers.ack_delay_ms.to_string()),
        ("--callback-delay-ms", answers.callback_delay_ms.to_string()),
    ];
    let flags = numbers.into_iter().flat_map(|(name, value)| [name.into(), value.into()]);
    let graph = answers.graph.then(|| "--graph".into());
    std::iter::once("retriever".into()).chain(flags).chain(graph).collect()
}
