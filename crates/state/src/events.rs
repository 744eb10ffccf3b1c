//! Events that end a wait: callbacks are all in, or a query has ended.

use std::time::Duration;

use futures_util::StreamExt;
use rand::Rng;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::connect::Store;
use crate::error::StateError;
use crate::ids::QueryId;
use crate::keys;

/// How long is waited after the connection was lost; doubled with every failure.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Waits end late by this much after Redis has come back, at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Something a waiter wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Nothing of this query is outstanding any more, or it was cancelled.
    Returned(QueryId),
    /// This query has ended.
    Finished(QueryId),
    /// Events may have been missed: look at everything again.
    Resumed,
}

/// What to listen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Events {
    /// [`Event::Returned`].
    Returned,
    /// [`Event::Finished`].
    Finished,
}

impl Events {
    fn channel(self, partition: u16) -> String {
        match self {
            Self::Returned => keys::returned_channel(partition),
            Self::Finished => keys::finished_channel(partition),
        }
    }

    fn event(self, id: QueryId) -> Event {
        match self {
            Self::Returned => Event::Returned(id),
            Self::Finished => Event::Finished(id),
        }
    }
}

impl Store {
    /// Listens until the receiver is dropped, connecting anew whenever the connection is lost, and sends
    /// what it hears. [`Event::Resumed`] comes after every (re)connection.
    pub async fn listen(self, events: Events, heard: mpsc::Sender<Event>) {
        let mut pause = FIRST_PAUSE;
        while !heard.is_closed() {
            let began = Instant::now();
            let Err(error) = self.listen_once(events, &heard).await else { return };
            pause = if began.elapsed() > LONGEST_PAUSE { FIRST_PAUSE } else { LONGEST_PAUSE.min(pause * 2) };
            // not all processes at the same moment
            let jittered = rand::rng().random_range(pause / 2..=pause);
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "lost the event connection, listening again in {} ms",
                jittered.as_millis()
            );
            tokio::select! {
                () = heard.closed() => return,
                () = tokio::time::sleep(jittered) => {}
            }
        }
    }

    /// Ends without an error only when nobody hears any more.
    async fn listen_once(&self, events: Events, heard: &mpsc::Sender<Event>) -> Result<(), StateError> {
        let lost = |source| StateError::Redis { action: "deliver events", source };
        let mut connection = self.listening_connection().await?;
        for partition in self.partitions() {
            connection.subscribe(events.channel(partition)).await.map_err(lost)?;
        }
        if heard.send(Event::Resumed).await.is_err() {
            return Ok(());
        }
        let mut messages = connection.on_message();
        loop {
            let message = tokio::select! {
                () = heard.closed() => return Ok(()),
                message = messages.next() => message,
            };
            let Some(message) = message else {
                return Err(lost(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()));
            };
            let id = message.get_payload::<String>().ok().and_then(|text| text.parse().ok());
            if let Some(id) = id
                && heard.send(events.event(id)).await.is_err()
            {
                return Ok(());
            }
        }
    }
}
