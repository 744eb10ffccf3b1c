//! What clients write into `parameters.timeout`.

use serde_json::{Value, json};
use testkit::queries;
use testkit::retriever::Plan;

use crate::answer::Answer;
use crate::scene::{self, ARAGORN, LIMIT};

/// `timeout` as it is written, the warning it gives, and the most that Retriever may be told.
const CASES: [(&str, Option<&str>, f64); 13] = [
    ("null", None, 30.0),
    ("20", None, 20.0),
    ("\"20\"", None, 20.0),
    ("20.5", None, 20.5),
    ("-1", None, 60.0),
    ("0", Some("timeout is 0"), 30.0),
    ("-0.0", Some("timeout is 0"), 30.0),
    ("\"abc\"", Some("timeout is a string without a number"), 30.0),
    ("true", Some("timeout is neither a number nor a string"), 30.0),
    ("[]", Some("timeout is neither a number nor a string"), 30.0),
    ("{}", Some("timeout is neither a number nor a string"), 30.0),
    ("1e400", Some("timeout is not a finite number"), 30.0),
    ("\"NaN\"", Some("timeout is not a finite number"), 30.0),
];

#[tokio::test]
async fn any_timeout_is_accepted_and_an_unusable_one_gives_the_default_and_a_warning() {
    let scene = scene::start(Plan::default(), |stack| {
        let budgets = [("LOOKUP_TIMEOUT", "30"), ("QUERY_TIMEOUT_SEC", "60"), ("FINISH_RESERVE_SEC", "1")];
        scene::with_env(stack.workers(ARAGORN), &budgets)
    })
    .await;
    let template = scene::lookup();
    for (order, (timeout, warning, most)) in CASES.into_iter().enumerate() {
        let key = format!("k{order}");
        let query = queries::with_timeout(template.clone(), "PUT HERE");
        let query = queries::with_callback(query, &scene.ars.callback_url(&key));
        let text = query.to_string().replace("\"PUT HERE\"", timeout);
        let reply = scene.post("/aragorn/asyncquery", &[], text).await;
        assert_eq!(reply.status, 200, "{timeout}");
        let delivery = scene.ars.wait_for(&key, LIMIT).await.unwrap();
        // the response repeats the client's parameters letter for letter, also where a double cannot hold the number
        let body = String::from_utf8(delivery.body.to_vec()).unwrap().replace("1e400", "1");
        let answer = Answer::check(body.as_bytes());
        assert_eq!(answer.status(), "Success", "{timeout}");
        assert_eq!(answer.logs("WARNING", "").len(), usize::from(warning.is_some()), "{timeout}");
        if let Some(warning) = warning {
            answer.assert_logged("WARNING", warning);
        }
        let told = scene.retriever.submissions()[order].timeout().unwrap();
        assert!(told >= 1.0 && told < most, "{timeout}: Retriever was told {told}");
        if most > 30.0 {
            assert!(told > 30.0, "{timeout}: only the whole-query budget binds");
        }
    }
}

#[tokio::test]
async fn sync_queries_read_the_timeout_the_same_way() {
    let scene = scene::aragorn(Plan::default()).await;
    let template = scene::lookup();
    for (timeout, warns) in
        [(Value::Null, false), (json!("60"), false), (json!(0), true), (json!(true), true)]
    {
        let (status, answer) =
            scene.ask_sync("aragorn", &queries::with_timeout(template.clone(), timeout)).await;
        assert_eq!((status, answer.status()), (200, "Success"));
        assert_eq!(answer.logs("WARNING", "").len(), usize::from(warns));
    }
}
