//! `shepherd dead-letters`: steps that were given up, in the Redis that the environment names.

use budget::Clock;
use runtime::{Settings, SystemClock, rfc3339};
use state::{DeadLetter, Redriven, Store};

use crate::args::DeadLettersCommand;
use crate::error::CliError;
use crate::table::Table;

/// More notes than are ever kept.
const ALL: usize = 100_000;

pub(crate) async fn run(command: DeadLettersCommand) -> Result<(), CliError> {
    let store = Store::open(Settings::load()?.redis)?;
    match command {
        DeadLettersCommand::List { most } => list(&store, most).await,
        DeadLettersCommand::Show { id } => show(&store, &find(&store, &id).await?).await,
        DeadLettersCommand::Redrive { id } => redrive(&store, &find(&store, &id).await?).await,
        DeadLettersCommand::Drop { id } => {
            let letter = find(&store, &id).await?;
            store.drop_dead_letter(letter.query.partition(), &letter.id).await?;
            println!("Dropped {id}.");
            Ok(())
        }
    }
}

async fn list(store: &Store, most: usize) -> Result<(), CliError> {
    let mut table = Table::new(&["id", "given up at", "operation", "query", "deliveries", "reason"]);
    let mut count = 0;
    for partition in store.partitions() {
        for letter in store.dead_letters(partition, most).await? {
            count += 1;
            table.row(vec![
                letter.id.to_string(),
                rfc3339(letter.buried),
                letter.operation,
                letter.query.to_string(),
                letter.deliveries.to_string(),
                letter.reason,
            ]);
        }
    }
    if count > 0 {
        print!("{table}");
    } else {
        println!("Nothing was given up.");
    }
    Ok(())
}

async fn find(store: &Store, id: &str) -> Result<DeadLetter, CliError> {
    for partition in store.partitions() {
        let letters = store.dead_letters(partition, ALL).await?;
        if let Some(letter) = letters.into_iter().find(|letter| letter.id.to_string() == id) {
            return Ok(letter);
        }
    }
    Err(CliError::NoDeadLetter(id.to_owned()))
}

async fn show(store: &Store, letter: &DeadLetter) -> Result<(), CliError> {
    let DeadLetter { id, query, operation, step, deliveries, reason, buried } = letter;
    println!("{id}: {operation} (step {step}) of query {query}");
    println!("Given up at {} after {deliveries} deliveries: {reason}", rfc3339(*buried));
    match store.query(*query).await? {
        None => println!("The query has expired."),
        Some(record) => {
            println!("The query is for {}, {:?}, at {}.", record.ara, record.state, record.stage);
            for log in store.logs(*query).await? {
                println!("  {}", log.0);
            }
        }
    }
    Ok(())
}

async fn redrive(store: &Store, letter: &DeadLetter) -> Result<(), CliError> {
    let query = letter.query;
    let why = match store.redrive(letter, SystemClock.now()).await? {
        Redriven::Queued => {
            println!("{} of query {query} is queued again.", letter.operation);
            return Ok(());
        }
        Redriven::Unknown => return Err(CliError::NoDeadLetter(letter.id.to_string())),
        Redriven::Expired => "it has expired or was cancelled",
        Redriven::Open => "it is at work",
    };
    Err(CliError::NotRedriven { query, why })
}
