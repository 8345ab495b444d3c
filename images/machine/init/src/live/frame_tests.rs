use super::*;

fn input(session: u32, kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut payload = session.to_le_bytes().to_vec();
    payload.push(kind);
    payload.extend(bytes);
    payload
}

fn opened(json: &str) -> Result<Open> {
    match parse(&input(1, OPEN, json.as_bytes())) {
        (1, Ok(Request::Open(open))) => Ok(*open),
        (1, Err(failure)) => Err(failure),
        other => panic!("{other:?}"),
    }
}

fn refusal(payload: &[u8]) -> (u32, String) {
    let (session, request) = parse(payload);
    (session, request.expect_err("must be refused").message)
}

#[test]
fn what_is_composed_is_a_number_a_kind_and_bytes() {
    let payload = compose(0x0102_0304, Answer::Stderr, b"no");
    assert_eq!(payload, [4, 3, 2, 1, 3, b'n', b'o']);
    assert_eq!(
        compose(1, Answer::Stdout, &[7; BYTES_MAX]).len(),
        PAYLOAD_MAX
    );
}

#[test]
fn an_input_is_taken_apart() {
    let data = input(9, DATA, b"hello");
    assert!(matches!(parse(&data), (9, Ok(Request::Data(b"hello")))));
    assert!(matches!(
        parse(&input(9, DATA, b"")),
        (9, Ok(Request::Data(b"")))
    ));
    assert!(matches!(parse(&input(9, EOF, b"")), (9, Ok(Request::Eof))));
    let size = Size {
        rows: 24,
        columns: 259,
    };
    let resize = input(9, RESIZE, &[24, 0, 3, 1]);
    assert!(matches!(parse(&resize), (9, Ok(Request::Resize(asked))) if asked == size));
    let signal = input(u32::MAX, SIGNAL, &[2]);
    assert!(matches!(
        parse(&signal),
        (u32::MAX, Ok(Request::Signal(Signal::SIGINT)))
    ));
    assert!(matches!(
        parse(&input(9, CREDIT, &[0, 0, 0, 1])),
        (9, Ok(Request::Credit(0x0100_0000)))
    ));
}

#[test]
fn what_is_malformed_is_refused_with_what_was_expected() {
    assert_eq!(
        refusal(&[]),
        (
            0,
            "an input has 0 bytes; at least 5 were expected".to_owned()
        )
    );
    assert_eq!(refusal(&[1, 0, 0, 0]).0, 0);
    for (kind, bytes, message) in [
        (
            RESIZE,
            &[1, 2, 3][..],
            "resize has 3 bytes; 4 were expected",
        ),
        (SIGNAL, &[], "signal has 0 bytes; 1 were expected"),
        (SIGNAL, &[0], "there is no signal 0; 1 to 31 were expected"),
        (
            SIGNAL,
            &[255],
            "there is no signal 255; 1 to 31 were expected",
        ),
        (CREDIT, &[1], "credit has 1 bytes; 4 were expected"),
        (0, &[], "an input has the kind 0; 1 to 6 were expected"),
        (
            200,
            b"{}",
            "an input has the kind 200; 1 to 6 were expected",
        ),
        (
            OPEN,
            &[0xff],
            "the JSON of open: expected value at line 1 column 1",
        ),
    ] {
        assert_eq!(refusal(&input(5, kind, bytes)), (5, message.to_owned()));
    }
}

#[test]
fn each_way_to_open_a_session_is_read() {
    let exec = opened(
        r#"{"exec": {"node": "h1", "argv": ["ls", "-l"], "terminal": {"rows": 24, "columns": 80}}}"#,
    );
    let Ok(Open::Exec(exec)) = exec else {
        panic!("{exec:?}")
    };
    assert_eq!(
        (exec.node.as_deref(), exec.argv.len(), exec.watches),
        (Some("h1"), 2, false)
    );
    assert_eq!(
        exec.terminal,
        Some(Size {
            rows: 24,
            columns: 80
        })
    );
    let watcher = opened(
        r#"{"exec": {"node": null, "argv": ["ss"], "environment": {"A": "b"}, "watches": true, "terminal": null}}"#,
    );
    assert!(matches!(
        watcher,
        Ok(Open::Exec(Exec {
            node: None,
            watches: true,
            terminal: None,
            ..
        }))
    ));
    assert!(matches!(
        opened(r#"{"connect": {"node": "h1", "port": 80}}"#),
        Ok(Open::Connect(Connect { port: 80, .. }))
    ));
    let change = r#"{"change": {"name": "cut", "steps": [{"node": "s1", "tool": "ip", "lines": ["link show"]}]}}"#;
    assert!(
        matches!(opened(change), Ok(Open::Change(change)) if change.steps.len() == 1 && change.down.is_empty())
    );
    assert!(
        matches!(opened(r#"{"files": {"live/a": "b"}}"#), Ok(Open::Files(files)) if files["live/a"] == "b")
    );
    let start = r#"{"start": {"programs": [{"name": "p", "node": "h1", "argv": ["true"]}], "role": "traffic"}}"#;
    assert!(matches!(
        opened(start),
        Ok(Open::Start(Start {
            role: Part::Traffic,
            ..
        }))
    ));
    assert!(
        matches!(opened(r#"{"stop": {"names": ["p"]}}"#), Ok(Open::Stop(stop)) if stop.names == ["p"])
    );
    assert!(matches!(opened(r#"{"down": {}}"#), Ok(Open::Down {})));
}

#[test]
fn an_unknown_way_key_or_role_is_named() {
    for (json, expected) in [
        (r#"{"close": {}}"#, "unknown variant `close`"),
        (
            r#"{"exec": {"argv": ["ls"], "nodes": "h1"}}"#,
            "unknown field `nodes`",
        ),
        (r#"{"exec": {"node": "h1"}}"#, "missing field `argv`"),
        (
            r#"{"connect": {"node": "h1", "port": 70000}}"#,
            "invalid value: integer `70000`",
        ),
        (
            r#"{"start": {"programs": [], "role": "daemon"}}"#,
            "unknown variant `daemon`",
        ),
    ] {
        let message = opened(json).expect_err("must be refused").message;
        assert!(message.contains(expected), "{json}: {message}");
    }
}
