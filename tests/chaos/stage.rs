//! Everything that takes part in a run, and every connection that a trouble can befall.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use testkit::ars::Policy;
use testkit::retriever::Plan as RetrieverPlan;
use testkit::stack::{GATEWAY, RetrieverChoice};
use testkit::{ArsDouble, RetrieverDouble, Stack, TcpProxy, ports};
use tokio::sync::Mutex;

use crate::arrivals::Arrivals;
use crate::cast::{CAST, GATEWAYS};
use crate::plan::{Link, Plan};
use crate::question;
use crate::settings;

/// Longest wait for a process to become ready: Redis may be in trouble meanwhile.
const READY: Duration = Duration::from_secs(60);
/// Operations of the one process where they are divided; the other one runs all.
const SOME_OPERATIONS: &str = "merge,aragorn.omnicorp,aragorn.score";

/// A running stack with a proxy on every connection.
pub(crate) struct Stage {
    pub(crate) stack: Stack,
    pub(crate) retriever: RetrieverDouble,
    pub(crate) ars: Mutex<ArsDouble>,
    pub(crate) arrivals: Arc<Arrivals>,
    pub(crate) links: HashMap<Link, TcpProxy>,
    logs: PathBuf,
}

impl Stage {
    pub(crate) async fn start(plan: &Plan) -> Self {
        let seed = plan.seed;
        let behaviours = RetrieverPlan::choose(move |submission| question::behaviour(seed, submission));
        let retriever = RetrieverDouble::builder().plan(behaviours).start().await.unwrap();
        let arrivals = Arc::new(Arrivals::default());
        let policy = {
            let arrivals = Arc::clone(&arrivals);
            Policy::choose(move |delivery| arrivals.reply(delivery))
        };
        let ars = ArsDouble::start_with(ports::unused().unwrap(), policy).await.unwrap();
        let (redis, gateway) = (ports::unused().unwrap(), ports::unused().unwrap());
        let mut links = HashMap::new();
        for (label, _) in CAST {
            let proxy = TcpProxy::start(ports::loopback(redis)).await.unwrap();
            links.insert(Link::Redis(label), proxy);
        }
        links.insert(Link::Retriever, TcpProxy::start(retriever.addr()).await.unwrap());
        // a second gateway's port is the stack's to choose
        let other = ports::unused().unwrap();
        for (label, port) in GATEWAYS.into_iter().zip([gateway, other]) {
            links.insert(Link::Callbacks(label), TcpProxy::start(ports::loopback(port)).await.unwrap());
        }
        let logs =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chaos-{}-{seed}", std::process::id()));
        let stack = Stack::builder_beside_this_program().unwrap();
        let stack = stack
            .workers([])
            .redis_port(redis)
            .redis_setting("appendfsync", "always")
            .gateway_port(gateway)
            .retriever(RetrieverChoice::At(format!("http://{}", links[&Link::Retriever].addr())))
            .ready_limit(READY)
            .log_dir(&logs)
            .env("PARTITIONS", &plan.partitions.to_string());
        let stack = settings::environment().iter().fold(stack, |stack, (name, value)| stack.env(name, value));
        let mut stack = CAST
            .into_iter()
            .filter(|(label, _)| *label != GATEWAY)
            .fold(stack, |stack, (label, program)| stack.another_worker(label, program));
        for (nth, (label, _)) in CAST.into_iter().enumerate() {
            let callbacks = links[&Link::Callbacks(GATEWAYS[nth % GATEWAYS.len()])].addr();
            stack = stack
                .env_for(label, "REDIS_PORT", &links[&Link::Redis(label)].addr().port().to_string())
                .env_for(label, "CALLBACK_HOST", &format!("http://{callbacks}"));
        }
        if plan.divided {
            stack = stack.env_for("operations", "OPERATIONS", SOME_OPERATIONS);
        }
        stack = stack.port(GATEWAYS[1], other);
        let stack = stack.start().await.unwrap_or_else(|error| panic!("{error}"));
        Self { stack, retriever, ars: Mutex::new(ars), arrivals, links, logs }
    }

    /// Where queries are posted.
    pub(crate) fn gateway(&self, label: &str) -> String {
        format!("http://{}", self.stack.addr(label).unwrap())
    }

    /// Where the processes' logs are; they stay when the run fails.
    pub(crate) fn logs(&self) -> &Path {
        &self.logs
    }

    /// Ends everything and removes the logs.
    pub(crate) async fn close(self) {
        self.stack.shutdown().await.unwrap();
        std::fs::remove_dir_all(&self.logs).unwrap();
    }
}
