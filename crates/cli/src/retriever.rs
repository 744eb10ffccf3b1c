//! `shepherd retriever`: only the double.

use std::sync::Arc;
use std::time::Duration;
use testkit::answers::AnswerSpec;
use testkit::retriever::{Behaviour, Plan};
use testkit::{Knowledge, RetrieverDouble};

use crate::args::{AnswerArgs, RetrieverArgs};
use crate::error::CliError;
use crate::shutdown::Shutdown;

pub(crate) async fn run(args: RetrieverArgs) -> Result<(), CliError> {
    let mut shutdown = Shutdown::on_signals()?;
    let knowledge = args.answers.graph.then(|| Arc::new(Knowledge::small()));
    let answers = AnswerSpec { results: args.answers.results, knowledge, ..AnswerSpec::default() };
    let plan = Plan::always(behaviour(&args.answers));
    let mut double = RetrieverDouble::builder().bind(args.bind).port(args.port).answers(answers).plan(plan);
    if let Some(host) = args.callback_host {
        double = double.callback_host(host);
    }
    let double = double.start().await.map_err(CliError::Listen)?;
    println!("Retriever double on {}: /asyncquery /query /rehydrate /stats", double.url());
    shutdown.wanted().await;
    let refused = double.refusals();
    println!(
        "{} sub-queries, {} callbacks, {} refused",
        double.submissions().len(),
        double.callbacks().len(),
        refused.len()
    );
    Ok(())
}

fn behaviour(args: &AnswerArgs) -> Behaviour {
    Behaviour::answer()
        .ack_after(Duration::from_millis(args.ack_delay_ms))
        .callback_after(Duration::from_millis(args.callback_delay_ms))
}
