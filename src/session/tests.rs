use super::*;

#[test]
fn a_command_that_no_write_side_received_was_not_executed_and_others_may_have_been() {
    let id: CommandId = "0192f3a4-7c1e-7b2a-9d3f-5a6b7c8d9e0f".parse().unwrap();
    let outcome = |error: SendError| {
        let reason = error.to_string();
        let told = format!("{:#}", resolved(Err(error.into()), id).unwrap_err());
        told.strip_suffix(&format!(": {reason}")).unwrap().to_owned()
    };
    for error in [SendError::NoWriteSide, SendError::NotConnected, SendError::TooLarge { bytes: 2, limit: 1 }]
    {
        assert_eq!(outcome(error), "the command was not executed");
    }
    let absent = || Box::new(SendError::NoWriteSide);
    for error in [SendError::Unanswered("late".into()), SendError::Interrupted(absent())] {
        assert_eq!(
            outcome(error),
            format!(
                "whether the command was executed is not known; to make sure, run it again with --id {id}"
            )
        );
    }
    let sent = anyhow::Error::from(SendError::NoWriteSide).context("run it again");
    assert!(is_surely_undone(&sent));
    assert!(!is_surely_undone(&anyhow::Error::from(SendError::Interrupted(absent()))));
    assert!(!is_surely_undone(&anyhow::anyhow!("another error")));
}
