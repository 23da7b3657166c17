use std::cell::Cell;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_temporary_error_is_retried_and_a_permanent_one_returned_at_once() {
    let tries = Cell::new(0);
    let count = || tries.replace(tries.get() + 1);
    let third = retry_temporary(async || if count() < 2 { Err("away") } else { Ok(()) }, |_| true).await;
    assert_eq!((third, tries.get()), (Ok(()), 3));
    tries.set(0);
    let wrong = retry_temporary(
        async || {
            count();
            Err::<(), _>("wrong")
        },
        |error| *error == "away",
    )
    .await;
    assert_eq!((wrong, tries.get()), (Err("wrong"), 1));
    let begun = Instant::now();
    assert_eq!(retry_temporary(async || Err::<(), _>("away"), |_| true).await, Err("away"));
    assert!((TIMEOUT..TIMEOUT * 2).contains(&begun.elapsed()));
}
