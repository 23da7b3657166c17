//! Commands and their replies, sent over the NATS subjects `loggia.command.<name>`.

mod lines;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::account::KeyIssued;
use crate::email::Email;
use crate::ids::{AccountId, Actor, CommandId, Position, Revision};
use crate::import::Fault;
use crate::key::KeyId;
use crate::link::LinkHash;
use crate::payment::{KeptNotice, PaymentId, PaymentNotice, Provider};
use crate::picture::PictureId;
use crate::record::PictureSource;
use crate::slug::Slug;
use crate::tier::TierName;

pub use lines::{ImportLine, ImportOptions, LineForm, LineOutcome, LineResult, MAX_IMPORT_LINES};

/// A command as it is sent to the write side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommandMessage {
    /// The command's id. A command is executed once, even if it is sent several times.
    pub id: CommandId,
    /// The actor: an editor, an API key's holder or an operator.
    pub actor: Actor,
    /// Groups related commands, for example of one import; equal to `id` for a single command.
    pub correlation: CommandId,
    /// The command itself.
    pub command: Command,
    /// The deadline: the write side does not start executing the command after it, because the sender no longer waits
    /// for the reply. It is set for commands whose reply cannot be repeated: those that issue keys or use links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Timestamp>,
}

impl CommandMessage {
    /// Returns the message of a single command without a deadline.
    pub fn new(id: CommandId, actor: Actor, command: Command) -> CommandMessage {
        CommandMessage { id, actor, correlation: id, command, not_after: None }
    }
}

/// A command of an editor, an import, the holder of a key, or an operator.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Add a project to the catalog. The fields are those of an import record.
    Select {
        /// The import record.
        record: Map<String, Value>,
    },
    /// Change some fields of a record by a JSON merge patch (RFC 7396); null removes a field.
    Revise {
        /// The project.
        slug: Slug,
        /// The fields to change.
        changes: Map<String, Value>,
    },
    /// Move a project to another slug.
    Rename {
        /// The current slug.
        slug: Slug,
        /// The new slug.
        to: Slug,
    },
    /// Withdraw a project from the catalog.
    Withdraw {
        /// The project.
        slug: Slug,
        /// The reason that readers see.
        reason: String,
    },
    /// Restore a withdrawn project.
    Restore {
        /// The project.
        slug: Slug,
    },
    /// Attach a picture to a project.
    Attach {
        /// The project.
        slug: Slug,
        /// The source of the picture, which is added to the record.
        picture: PictureSource,
        /// The stored picture. If absent, the source must be an https URL that the write side fetches.
        kept: Option<PictureId>,
        /// Do not change the record: it already names the source, among its pictures or as its thumbnail.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_named: bool,
    },
    /// Erase a picture permanently: its bytes are deleted, no revision of any project shows it, and it is rejected if
    /// it is uploaded again.
    ErasePicture {
        /// The picture's id.
        picture: PictureId,
    },
    /// Import records, creating or updating projects by slug.
    Import {
        /// Lines of an import file.
        lines: Vec<ImportLine>,
        /// Options of the import.
        options: ImportOptions,
    },
    /// Issue a key for an email address. The first key opens the account. The requester generates the key and sends
    /// only its hash.
    IssueKey {
        /// The email address.
        email: Email,
        /// The key.
        key: KeyIssued,
    },
    /// Revoke a key.
    RevokeKey {
        /// The key.
        key_id: KeyId,
    },
    /// Record that the holder of the address confirmed these keys.
    ProveEmail {
        /// The address.
        email: Email,
        /// The keys; if empty, all keys that are not revoked.
        key_ids: Vec<KeyId>,
    },
    /// Assign keys of an address to another tier.
    ChangeTier {
        /// The address.
        email: Email,
        /// The keys; if empty, all keys that are not revoked.
        key_ids: Vec<KeyId>,
        /// The new tier.
        tier: TierName,
    },
    /// Erase an address and revoke its keys.
    EraseAccount {
        /// The address.
        email: Email,
    },
    /// Record a notice of a payment provider, once.
    RecordPayment {
        /// The notice.
        notice: PaymentNotice,
    },
    /// Keep a notice of a payment provider that has no effect.
    KeepNotice {
        /// The notice.
        notice: KeptNotice,
    },
    /// Move a subscription with all its payments to another account.
    MovePayments {
        /// The provider of the subscription.
        provider: Provider,
        /// Any id in its notices: customer, subscription, invoice, payment or charge.
        id: PaymentId,
        /// The email address of the new account.
        to: Email,
    },
    /// Set the tier of an account's keys from its payments, for example after a paid period ended.
    SettlePayments {
        /// The account.
        account: AccountId,
    },
    /// Mail a link that proves the ownership of an address. The reply is the same for known and unknown addresses.
    SendLink {
        /// The address.
        email: Email,
    },
    /// Create a link for an address without mailing it. The requester generates the token and sends only its hash.
    MakeLink {
        /// The address.
        email: Email,
        /// The hash of the link's token.
        link: LinkHash,
    },
    /// Describe what a link can be used for. It changes nothing, because mail scanners open links too.
    OpenLink {
        /// The hash of the link's token.
        link: LinkHash,
    },
    /// Prove the address that a link was mailed to. A link can be used once.
    UseLink {
        /// The hash of the link's token.
        link: LinkHash,
        /// The keys to confirm.
        keep: Vec<KeyId>,
        /// The keys to revoke. Keys in neither list stay as they are.
        revoke: Vec<KeyId>,
        /// A new key, confirmed from the start; its `tier` is ignored in favour of the first configured tier.
        new_key: Option<KeyIssued>,
    },
    /// Erase the account that a link was mailed to: its address is deleted and its keys are revoked.
    EraseByLink {
        /// The hash of the link's token.
        link: LinkHash,
    },
}

impl Command {
    /// Returns the last token of the subject that the command is sent to.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Select { .. } => "select",
            Command::Revise { .. } => "revise",
            Command::Rename { .. } => "rename",
            Command::Withdraw { .. } => "withdraw",
            Command::Restore { .. } => "restore",
            Command::Attach { .. } => "attach",
            Command::ErasePicture { .. } => "erase_picture",
            Command::Import { .. } => "import",
            Command::IssueKey { .. } => "issue_key",
            Command::RevokeKey { .. } => "revoke_key",
            Command::ProveEmail { .. } => "prove_email",
            Command::ChangeTier { .. } => "change_tier",
            Command::EraseAccount { .. } => "erase_account",
            Command::RecordPayment { .. } => "record_payment",
            Command::KeepNotice { .. } => "keep_notice",
            Command::MovePayments { .. } => "move_payments",
            Command::SettlePayments { .. } => "settle_payments",
            Command::SendLink { .. } => "send_link",
            Command::MakeLink { .. } => "make_link",
            Command::OpenLink { .. } => "open_link",
            Command::UseLink { .. } => "use_link",
            Command::EraseByLink { .. } => "erase_by_link",
        }
    }
}

/// The reply to a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandReply {
    /// The command was executed; the log has reached `position`.
    #[serde(rename = "done")]
    Project(ProjectOutcome),
    /// Each line was accepted or rejected on its own.
    Imported {
        /// The last position of the log afterwards.
        position: Position,
        /// The outcome of each line, in the order of the lines.
        lines: Vec<LineOutcome>,
    },
    /// The command on an account was executed.
    Account(AccountOutcome),
    /// The picture is erased.
    PictureErased(PictureErasure),
    /// The payment notice is stored.
    Payment(PaymentDone),
    /// The command was accepted; its outcome is not disclosed.
    Accepted,
    /// A link was created.
    Link {
        /// When the link expires.
        expires_at: Timestamp,
    },
    /// What the link can be used for.
    #[serde(rename = "claim")]
    LinkDetails(LinkDetails),
    /// The command was not executed.
    #[serde(rename = "refused")]
    Failed(CommandFailure),
}

/// A project after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectOutcome {
    /// The current slug.
    pub slug: Slug,
    /// The current revision.
    pub revision: Revision,
    /// The position of the command's last event; 0 if nothing changed.
    pub position: Position,
    /// Whether an event was appended.
    pub changed: bool,
}

/// An erased picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureErasure {
    /// The picture's id.
    pub picture: PictureId,
    /// When it was first erased.
    pub erased_at: Timestamp,
    /// The number of projects that showed it, in any revision.
    pub projects: u64,
    /// The position of the last event of the erasure; 0 if no project ever showed the picture.
    pub position: Position,
    /// Whether the command changed anything; false if the picture was already erased in every project.
    pub changed: bool,
}

/// An account after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountOutcome {
    /// The keys that the command concerned, in their current state.
    pub keys: Vec<CurrentKey>,
    /// The position of the command's last event; 0 if nothing changed.
    pub position: Position,
    /// Whether an event was appended.
    pub changed: bool,
}

/// The outcome of a payment notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentDone {
    /// What was done with the notice.
    pub outcome: PaymentOutcome,
    /// The position of the last event it caused; 0 if none.
    pub position: Position,
}

/// What was done with a payment notice. It is durable in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentOutcome {
    /// It is recorded in the events of its account.
    Applied,
    /// It was recorded before.
    AlreadyApplied,
    /// Its account is not known yet; it is recorded as soon as another notice names the account.
    Waiting,
    /// It is kept without effect.
    Kept,
    /// Its account was erased; nothing of the notice is kept.
    Erased,
}

/// A key after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentKey {
    /// The key's public id.
    pub key_id: KeyId,
    /// Its tier.
    pub tier: TierName,
    /// Whether it was revoked.
    pub revoked: bool,
    /// Whether the holder of the address confirmed it.
    pub proven: bool,
}

/// What a link can be used for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkDetails {
    /// The keys of the address that are not revoked, in the order in which they were issued.
    pub keys: Vec<LinkKey>,
    /// The number of further keys that the address can have.
    pub places: usize,
    /// Whether a new key may replace one that this link revokes, even if the limit is reached.
    pub replaces: bool,
    /// When the link expires.
    pub expires_at: Timestamp,
}

/// A key as it is shown to the holder of its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkKey {
    /// The key's public id.
    pub key_id: KeyId,
    /// The last four characters of the key.
    pub hint: String,
    /// The holder's name for the key.
    pub name: Option<String>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// Its tier.
    pub tier: TierName,
    /// Whether the holder of the address has confirmed it.
    pub proven: bool,
}

/// Why a command was not executed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFailure {
    /// What the sender can do about it.
    pub kind: FailureKind,
    /// A sentence that says what is wrong and what to do.
    pub detail: String,
    /// The invalid fields, if the command has a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

/// What the sender can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The command is invalid in the current state; sending it again does not help.
    Rejected,
    /// The project was changed concurrently; read it and send the command again.
    Conflict,
    /// The write side cannot write now; send the same command again later.
    Unavailable,
}

impl FailureKind {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Rejected => "rejected",
            FailureKind::Conflict => "conflict",
            FailureKind::Unavailable => "unavailable",
        }
    }
}
