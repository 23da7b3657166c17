use tempfile::TempDir;
use ulid::Ulid;

use super::*;
use crate::tests::{minute, new_vault};

const ADA: AccountId = AccountId(Ulid(1));

fn command(number: u128) -> CommandId {
    CommandId(Uuid::from_u128(number))
}

async fn vault() -> (TempDir, Vault) {
    let (folder, vault) = new_vault().await;
    vault.add_address(&"ada@example.org".parse().unwrap(), ADA).await.unwrap();
    (folder, vault)
}

#[tokio::test]
async fn a_link_is_found_by_its_hash_with_the_command_that_used_it() {
    let (_folder, vault) = vault().await;
    let (one, other) = (LinkHash::of("one"), LinkHash::of("other"));
    assert_eq!(vault.create_link(ADA, one, minute(0)).await.unwrap(), Some(minute(30)));
    assert_eq!(
        vault.create_link(ADA, one, minute(5)).await.unwrap(),
        Some(minute(30)),
        "it is the same link"
    );
    assert_eq!(vault.link(other).await.unwrap(), None);
    let link = Link { account: ADA, expires_at: minute(30), used_by: None };
    assert_eq!(vault.link(one).await.unwrap(), Some(link.clone()));
    vault.mark_link_used(one, command(7)).await.unwrap();
    assert_eq!(vault.link(one).await.unwrap(), Some(Link { used_by: Some(command(7)), ..link.clone() }));
    for (end, expires_at) in [(minute(40), minute(30)), (minute(10), minute(10))] {
        vault.invalidate_link(one, end).await.unwrap();
        let ended = Link { expires_at, used_by: Some(command(7)), ..link.clone() };
        assert_eq!(vault.link(one).await.unwrap(), Some(ended));
    }
}

#[tokio::test]
async fn an_account_without_an_address_gets_no_link() {
    let (_folder, vault) = vault().await;
    let nobody = AccountId(Ulid(9));
    assert_eq!(vault.create_link(nobody, LinkHash::of("one"), minute(0)).await.unwrap(), None);
    vault.erase(ADA).await.unwrap();
    assert_eq!(vault.create_link(ADA, LinkHash::of("one"), minute(0)).await.unwrap(), None);
}

#[tokio::test]
async fn old_links_are_deleted() {
    let (_folder, vault) = vault().await;
    let (one, other) = (LinkHash::of("one"), LinkHash::of("other"));
    vault.create_link(ADA, one, minute(0)).await.unwrap();
    vault.create_link(ADA, other, minute(80)).await.unwrap();
    vault.delete_old_links(minute(89)).await.unwrap();
    assert!(vault.link(one).await.unwrap().is_some(), "a command may still be sent again");
    vault.delete_old_links(minute(90)).await.unwrap();
    assert_eq!(vault.link(one).await.unwrap(), None);
    assert!(vault.link(other).await.unwrap().is_some());
}
