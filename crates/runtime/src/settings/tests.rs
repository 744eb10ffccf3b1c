use super::*;
use crate::telemetry::LogFormat;

fn read(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::from_variables(variables.iter().copied())
}

#[track_caller]
fn problem(variables: &[(&str, &str)]) -> String {
    read(variables).unwrap_err().to_string()
}

#[test]
fn defaults_need_no_variable() {
    let settings = read(&[]).unwrap();
    assert_eq!(settings.budgets, Budgets::default());
    assert_eq!(settings.bind_addr.port(), 5439);
    assert_eq!(settings.max_waiting, 10_000);
    assert_eq!(settings.callback_max_request_bytes, 512 << 20);
    assert!(settings.traces.is_none());
    assert_eq!(settings.logs.format, LogFormat::Json);
}

#[test]
fn variables_go_before_the_file_and_the_file_before_defaults() {
    let mut file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::io::Write::write_all(&mut file, b"lookup_timeout: 60.5\nredis_port: 7000\n").unwrap();
    let path = file.path().to_str().unwrap();
    let settings = read(&[("CONFIG_FILE", path), ("REDIS_PORT", "7001")]).unwrap();
    assert_eq!(settings.budgets.lookup, Duration::from_millis(60_500));
    let node = RedisNode { host: "localhost".to_owned(), port: 7001 };
    assert_eq!(settings.redis.address, RedisAddress::Single(node));
}

#[test]
fn file_with_an_unknown_name_is_refused() {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::io::Write::write_all(&mut file, b"lookup_timeuot = 60\n").unwrap();
    let path = file.path().to_str().unwrap();
    assert!(problem(&[("CONFIG_FILE", path)]).contains("lookup_timeuot"));
}

#[test]
fn bad_value_names_its_variable_and_what_was_expected() {
    for (name, value, expected) in [
        ("LOOKUP_TIMEOUT", "abc", "seconds"),
        ("LOOKUP_TIMEOUT", "-1", "seconds"),
        ("LOOKUP_TIMEOUT", "NaN", "seconds"),
        ("TASK_LIMIT", "0", "1 or more"),
        ("CALLBACK_MAX_REQUEST_SIZE", "512Xi", "a size such as 512Mi"),
        ("KG_RETRIEVAL_URL", "ftp://there", "an http or https URL"),
        ("BIND_ADDR", "5439", "an address such as"),
        ("LOG_LEVEL", "LOUD", "DEBUG, INFO"),
        ("OTEL_ENABLED", "maybe", "true or false"),
        ("TRAPI_VERSION", "3", "such as 1.6 or 2.0"),
        ("PARTITIONS", "0", "at least 1"),
        ("LEASE_SEC", "0.1", "at least 1 second"),
        ("REDIS_PORT", "tcp://10.0.0.1:6379", "service link"),
    ] {
        let text = problem(&[(name, value)]);
        assert!(text.contains(name) && text.contains(expected) && text.contains(value), "{text}");
    }
}

#[test]
fn all_bad_values_are_told_at_once() {
    let text = problem(&[("LOOKUP_TIMEOUT", "abc"), ("REDIS_PORT", "x")]);
    assert!(text.contains("LOOKUP_TIMEOUT") && text.contains("REDIS_PORT"), "{text}");
}

#[test]
fn reserve_must_leave_time_for_the_lookup() {
    let text = problem(&[("QUERY_TIMEOUT_SEC", "10")]);
    assert!(text.contains("FINISH_RESERVE_SEC") && text.contains("less than QUERY_TIMEOUT_SEC"), "{text}");
    assert!(read(&[("QUERY_TIMEOUT_SEC", "0")]).is_ok(), "0 disables the limit");
}

#[test]
fn sync_timeout_follows_the_query_timeout() {
    let settings = read(&[("QUERY_TIMEOUT_SEC", "120")]).unwrap();
    assert_eq!(settings.budgets.sync_query, Duration::from_secs(120));
}

#[test]
fn sizes_are_spelled_as_kubernetes_does() {
    for (text, bytes) in [
        ("512Mi", 512 << 20),
        ("100MB", 100_000_000),
        ("1.5GiB", 3 << 29),
        ("107374", 107_374),
        ("2 Ki", 2048),
        ("0", 4 << 30),
    ] {
        assert_eq!(parse::size(text), Some(bytes), "{text}");
    }
    for text in ["", "Mi", "-1", "1e3Q", "é"] {
        assert_eq!(parse::size(text), None, "{text}");
    }
}

#[test]
fn secrets_are_masked_everywhere() {
    let settings = read(&[("REDIS_PASSWORD", "hunter2")]).unwrap();
    assert_eq!(settings.redis.password.as_deref(), Some("hunter2"));
    let printed: String = settings.shown().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(printed.contains("REDIS_PASSWORD=********"));
    assert!(!printed.contains("hunter2") && !format!("{settings:?}").contains("hunter2"));
}

#[test]
fn no_password_is_the_default_and_one_may_come_from_a_file() {
    assert_eq!(read(&[]).unwrap().redis.password, None);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, b" hunter2 \n").unwrap();
    let path = file.path().to_str().unwrap();
    let settings = read(&[("REDIS_PASSWORD_FILE", path)]).unwrap();
    assert_eq!(settings.redis.password.as_deref(), Some(" hunter2 "));
    assert!(settings.shown().iter().all(|shown| !shown.value.contains("hunter2")));
    let both = problem(&[("REDIS_PASSWORD_FILE", path), ("REDIS_PASSWORD", "hunter3")]);
    assert!(both.contains("nothing beside REDIS_PASSWORD") && !both.contains("hunter"), "{both}");
    let absent = problem(&[("REDIS_PASSWORD_FILE", "/nowhere/password")]);
    assert!(absent.contains("a file that can be read"), "{absent}");
    let empty = tempfile::NamedTempFile::new().unwrap();
    assert!(problem(&[("REDIS_PASSWORD_FILE", empty.path().to_str().unwrap())]).contains("not empty"));
}

#[test]
fn no_error_tells_a_secret() {
    for (name, value) in [
        ("REDIS_URL", "redis://:hunter2@a,b"),
        ("KG_RETRIEVAL_URL", "https://me:hunter2@retriever.test/asyncquery"),
        ("KG_RETRIEVAL_URL", "https://hunter2@retriever.test/asyncquery"),
        ("REDIS_HOST", "redis://:hunter2@r.test"),
        ("REDIS_PORT", "tcp://:hunter2@r.test:6379"),
    ] {
        match read(&[(name, value)]) {
            Ok(settings) => assert!(settings.shown().iter().all(|shown| !shown.value.contains("hunter2"))),
            Err(error) => {
                let told = crate::text::Causes(&error).to_string();
                assert!(told.contains(name) && !told.contains("hunter2"), "{told}");
            }
        }
    }
    for (suffix, text) in [
        (".toml", "redis_password = hunter2"),
        (".yaml", "redis_password: 'hunter2"),
        (".json", "{\"redis_password\": hunter2}"),
    ] {
        let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        let error = read(&[("CONFIG_FILE", file.path().to_str().unwrap())]).unwrap_err();
        let told = format!("{} {error:?}", crate::text::Causes(&error));
        assert!(told.contains("cannot be read") && !told.contains("hunter2"), "{told}");
    }
}

#[test]
fn readme_lists_every_variable_with_its_default() {
    let readme = include_str!("../../../../README.md");
    for Shown { name, default, .. } in read(&[]).unwrap().shown() {
        let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
        let row = format!("| `{name}` | {default} |");
        assert!(readme.contains(&row), "the README lacks {row}");
    }
}

#[test]
fn redis_url_goes_before_host_and_port() {
    let url = ("REDIS_URL", "redis-cluster://:s3cret@a:1,b:2");
    let settings = read(&[url, ("REDIS_HOST", "elsewhere")]).unwrap();
    assert!(matches!(&settings.redis.address, RedisAddress::Cluster(nodes) if nodes.len() == 2));
    assert_eq!(settings.redis.password.as_deref(), Some("s3cret"));
    assert!(settings.shown().iter().all(|shown| !shown.value.contains("s3cret")));
    let text = problem(&[("REDIS_URL", "redis://user:s3cret@a")]);
    assert!(text.contains("REDIS_URL") && !text.contains("s3cret"), "{text}");
}
