//! The password of Redis: taken from a file, and told to nobody.

use std::io::Write;

use testkit::PrivateRedis;
use testkit::poll::eventually;
use testkit::queries;
use testkit::retriever::Plan;
use testkit::stack::GATEWAY;

use crate::scene::{self, ARAGORN, DIABETES, LIMIT};

const PASSWORD: &str = "correct horse battery staple";

async fn command(redis: &PrivateRedis, password: Option<&str>, words: &[&str]) {
    let client = redis::Client::open(redis.url()).unwrap();
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(LIMIT));
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await.unwrap();
    if let Some(password) = password {
        redis::cmd("AUTH").arg(password).query_async::<()>(&mut connection).await.unwrap();
    }
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]).query_async::<()>(&mut connection).await.unwrap();
}

#[tokio::test]
async fn password_comes_from_a_file_and_no_log_tells_it() {
    let redis = PrivateRedis::start().await.unwrap();
    command(&redis, None, &["CONFIG", "SET", "requirepass", PASSWORD]).await;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{PASSWORD}").unwrap();
    let url = redis.url();
    let variables = [
        ("REDIS_URL", url.trim_end_matches('/')),
        ("REDIS_PASSWORD_FILE", file.path().to_str().unwrap()),
        ("LOG_LEVEL", "DEBUG"),
    ];
    let scene =
        scene::start(Plan::default(), |stack| scene::with_env(stack.workers(ARAGORN), &variables)).await;
    scene.ask("aragorn", queries::treats(DIABETES)).await.assert_success();

    // and when it is the wrong one
    command(&redis, Some(PASSWORD), &["CONFIG", "SET", "requirepass", "another"]).await;
    command(&redis, Some("another"), &["CLIENT", "KILL", "TYPE", "normal"]).await;
    let refused = || async {
        let query = queries::with_callback(scene::lookup(), &scene.ars.callback_url("k"));
        (scene.post("/aragorn/asyncquery", &[], query.to_string()).await.status == 503).then_some(())
    };
    eventually("a refusal", LIMIT, refused).await.unwrap();
    for label in ARAGORN {
        scene.logged(label, "trying again in").await;
    }
    for label in [GATEWAY].into_iter().chain(ARAGORN) {
        let log = scene.stack.logs(label).unwrap();
        assert!(!log.contains("battery"), "{label}:\n{log}");
    }
}
