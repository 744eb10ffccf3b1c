use super::*;

async fn command(port: u16, line: &str) -> String {
    let mut stream = TcpStream::connect(ports::loopback(port)).await.unwrap();
    stream.write_all(format!("{line}\r\nQUIT\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn data_survives_a_kill_and_a_restart() {
    let mut redis = PrivateRedis::start().await.unwrap();
    let first = redis.pid();
    command(redis.port(), "SET kept yes").await;
    redis.kill().await.unwrap();
    assert!(!answers_ping(redis.port(), redis.pid()).await);
    redis.restart().await.unwrap();
    assert_ne!(redis.pid(), first);
    assert!(command(redis.port(), "GET kept").await.contains("yes"));
}

#[tokio::test]
async fn nothing_is_evicted_and_settings_are_passed_on() {
    let redis = PrivateRedis::builder().setting("maxmemory", "64mb").start().await.unwrap();
    assert!(command(redis.port(), "CONFIG GET maxmemory-policy").await.contains("noeviction"));
    assert!(command(redis.port(), "CONFIG GET maxmemory").await.contains("67108864"));
    assert!(command(redis.port(), "CONFIG GET appendonly").await.contains("yes"));
}

#[tokio::test]
async fn a_paused_server_answers_again_after_resume() {
    let redis = PrivateRedis::start().await.unwrap();
    redis.pause().unwrap();
    let asked = tokio::spawn(answers_ping(redis.port(), redis.pid()));
    redis.resume().unwrap();
    assert!(asked.await.unwrap() || answers_ping(redis.port(), redis.pid()).await);
}

#[tokio::test]
async fn a_taken_port_is_reported_with_the_log() {
    let redis = PrivateRedis::start().await.unwrap();
    let second = PrivateRedis::builder().port(redis.port()).start().await;
    assert!(matches!(second, Err(RedisError::Died { log }) if log.contains("in use")));
}

#[tokio::test]
async fn a_temporary_data_directory_goes_with_the_server() {
    let redis = PrivateRedis::start().await.unwrap();
    let dir = redis.data_dir().to_owned();
    assert!(dir.exists());
    drop(redis);
    assert!(!dir.exists());
}
