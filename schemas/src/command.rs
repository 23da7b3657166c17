//! Commands and their answers, as they travel over `loggia.command.<name>`.

use jiff::Timestamp;
use schemars::JsonSchema;
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

/// A command on its way to the write side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommandMessage {
    /// The same id is carried out once, however often it is sent.
    pub id: CommandId,
    /// Who acts.
    pub actor: Actor,
    /// The undertaking it belongs to; its own id where it stands alone.
    pub correlation: CommandId,
    /// What is to be done.
    pub command: Command,
    /// After this the write side does not begin to carry it out: its sender waits no longer, and what comes of it would be
    /// shown to no one. Commands that show something once heed it, those that issue keys and use links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<Timestamp>,
}

/// What an editor, an import, a key's holder or an operator asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Take a project into the catalog; the members are those of an import record.
    Select {
        /// The import record.
        record: Map<String, Value>,
    },
    /// Change some members of a record; null takes one away (RFC 7396).
    Revise {
        /// Which project.
        slug: Slug,
        /// The members to change.
        changes: Map<String, Value>,
    },
    /// Move a project to another slug.
    Rename {
        /// Where it is now.
        slug: Slug,
        /// Where it shall be.
        to: Slug,
    },
    /// Take a project out of the catalog.
    Withdraw {
        /// Which project.
        slug: Slug,
        /// Why, in words for readers.
        reason: String,
    },
    /// Bring a withdrawn project back.
    Restore {
        /// Which project.
        slug: Slug,
    },
    /// Attach a picture to a project.
    Attach {
        /// Which project.
        slug: Slug,
        /// As the record names it; it does so from now on.
        picture: PictureSource,
        /// What is kept of it already; without it the source is an https URL, and the write side fetches it.
        kept: Option<PictureId>,
        /// Leaves the record as it is: it names the source already, among its pictures or as its thumbnail.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_named: bool,
    },
    /// Take a picture down for good: its bytes are deleted, no revision of any project shows it any more, and it is not
    /// taken again.
    ErasePicture {
        /// Its name.
        picture: PictureId,
    },
    /// Make the catalog say what these lines say, slug by slug.
    Import {
        /// Lines of an import file.
        lines: Vec<ImportLine>,
        /// What to do besides.
        options: ImportOptions,
    },
    /// Hand out a key under an address, which opens the account at the first one. Whoever asks has made the key and
    /// keeps its text; the write side learns the hash only.
    IssueKey {
        /// Whose it shall be.
        email: Email,
        /// The key.
        key: KeyIssued,
    },
    /// Take a key back.
    RevokeKey {
        /// Which key.
        key_id: KeyId,
    },
    /// Record that the holder of the address confirmed these keys.
    ProveEmail {
        /// The address.
        email: Email,
        /// Which keys; all that are not revoked where none is named.
        key_ids: Vec<KeyId>,
    },
    /// Bring keys of an address into another tier.
    ChangeTier {
        /// The address.
        email: Email,
        /// Which keys; all that are not revoked where none is named.
        key_ids: Vec<KeyId>,
        /// What they may call from now on.
        tier: TierName,
    },
    /// Erase an address and end its keys.
    EraseAccount {
        /// The address.
        email: Email,
    },
    /// Record what a provider told of a payment, once.
    RecordPayment {
        /// What it told.
        notice: PaymentNotice,
    },
    /// Keep what a provider told and has no effect.
    KeepNotice {
        /// What it told.
        notice: KeptNotice,
    },
    /// Give a subscription, with everything that is connected with it, to another account.
    MovePayments {
        /// Who told of it.
        provider: Provider,
        /// Any id that its notices name: of the customer, the subscription, an invoice, a payment or a charge.
        id: PaymentId,
        /// The address of the account that gets it.
        to: Email,
    },
    /// Bring an account's keys to where its payments have them now: what was paid for may have run out.
    SettlePayments {
        /// Which account.
        account: AccountId,
    },
    /// Mail a link to an address, by which its holder proves that it is theirs. The answer is the same whether the
    /// address is known or not.
    SendLink {
        /// The address.
        email: Email,
    },
    /// Make a link for an address without mailing it. Whoever asks has made its token and keeps the text.
    MakeLink {
        /// The address.
        email: Email,
        /// The link.
        link: LinkHash,
    },
    /// Tell what a link is for. Nothing comes of it: mail scanners open links too.
    OpenLink {
        /// The link.
        link: LinkHash,
    },
    /// Prove the address that a link was mailed to. A link is used once.
    UseLink {
        /// The link.
        link: LinkHash,
        /// The keys that the holder of the address knows as theirs: they are proven.
        keep: Vec<KeyId>,
        /// The keys that they do not want: they are taken back. What is named nowhere stays as it is.
        revoke: Vec<KeyId>,
        /// A new key, proven from its beginning, whatever its tier says in the first one.
        new_key: Option<KeyIssued>,
    },
}

impl Command {
    /// The last part of the subject it is sent to.
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
        }
    }
}

/// One line of an import file, as JSON text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ImportLine {
    /// Its number in the file, from 1.
    pub number: u64,
    /// The line itself.
    pub text: String,
}

/// How lines are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportOptions {
    /// Say what would happen and write nothing.
    pub dry_run: bool,
    /// Keep unknown members out instead of refusing the line.
    pub ignore_unknown: bool,
    /// How much of a record a line says.
    #[serde(default)]
    pub lines: LineForm,
}

/// How much of a record a line of an import says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineForm {
    /// The whole record: what is absent is not recorded.
    #[default]
    Record,
    /// A merge patch: what is absent stays.
    Patch,
    /// The whole record in the form of a patch, as the cells of a row say it.
    Cells,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done; the log is at `position` or beyond.
    Done(Done),
    /// The lines were taken or refused one by one.
    Imported {
        /// Where the log is afterwards.
        position: Position,
        /// What became of each line, in the order of the lines.
        lines: Vec<LineOutcome>,
    },
    /// It is done to an account.
    Account(AccountDone),
    /// A picture is erased.
    PictureErased(PictureErasure),
    /// What a provider told of a payment has arrived.
    Payment(PaymentDone),
    /// It will be seen to; nothing more is told.
    Accepted,
    /// A link was made.
    Link {
        /// Until when it can be used.
        expires_at: Timestamp,
    },
    /// What a link is for.
    Claim(Claim),
    /// It was not done, and nothing was written.
    Refused(Refusal),
}

/// One project after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Where the project is found now.
    pub slug: Slug,
    /// Its revision now.
    pub revision: Revision,
    /// The log's position of the last event of the command; 0 where there was nothing to change.
    pub position: Position,
    /// Whether anything was written.
    pub changed: bool,
}

/// A picture that is erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PictureErasure {
    /// Its name.
    pub picture: PictureId,
    /// When it was first erased.
    pub erased_at: Timestamp,
    /// The number of projects that showed it, in any revision.
    pub projects: u64,
    /// The log's position of the last event that says so; 0 where no project ever showed it.
    pub position: Position,
    /// Whether the command changed anything: the picture was not erased before, or not in every project.
    pub changed: bool,
}

/// An account after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountDone {
    /// The keys that the command was about, as they are now.
    pub keys: Vec<KeyNow>,
    /// The log's position of the last event of the command; 0 where there was nothing to change.
    pub position: Position,
    /// Whether anything was written.
    pub changed: bool,
}

/// What became of something that a provider told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentDone {
    /// What became of it.
    pub outcome: PaymentOutcome,
    /// The log's position of the last event that came of it; 0 where none did.
    pub position: Position,
}

/// The fate of something that a provider told. In each case it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentOutcome {
    /// It is recorded with its account.
    Applied,
    /// It was recorded before.
    AlreadyApplied,
    /// Nothing tells yet whose it is; it is recorded as soon as something does.
    Waiting,
    /// It is kept and has no effect.
    Kept,
    /// The account that it belongs to was erased; nothing of it is kept.
    Erased,
}

/// A key after a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyNow {
    /// Its name in public.
    pub key_id: KeyId,
    /// Its tier.
    pub tier: TierName,
    /// Whether it was revoked.
    pub revoked: bool,
    /// Whether the holder of the address confirmed it.
    pub proven: bool,
}

/// What the holder of a link may decide about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The keys under the address that are not revoked, in the order in which they were issued.
    pub keys: Vec<ClaimedKey>,
    /// How many more keys there is room for.
    pub places: usize,
    /// Whether a new key may come in the place of one that this link revokes, though there is no room.
    pub replaces: bool,
    /// Until when the link can be used.
    pub expires_at: Timestamp,
}

/// A key as the holder of its address recognises it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimedKey {
    /// Its name in public.
    pub key_id: KeyId,
    /// Its last four characters.
    pub hint: String,
    /// What its holder calls it, if anything.
    pub name: Option<String>,
    /// When it was handed out.
    pub created_at: Timestamp,
    /// Its tier.
    pub tier: TierName,
    /// Whether the holder of the address confirmed it before.
    pub proven: bool,
}

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What kind of refusal it is.
    pub kind: RefusalKind,
    /// A sentence that says what is wrong and what to do.
    pub detail: String,
    /// The members that are wrong, where it is about a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

/// What the sender can do about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The command cannot be done as it is; sending it again will not help.
    Rejected,
    /// Somebody else changed the project meanwhile; look and send it again.
    Conflict,
    /// The write side cannot write at present; send the same command again later.
    Unavailable,
}

impl RefusalKind {
    /// Returns its name, as it is in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RefusalKind::Rejected => "rejected",
            RefusalKind::Conflict => "conflict",
            RefusalKind::Unavailable => "unavailable",
        }
    }
}

/// What became of one line of an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineOutcome {
    /// The line's number in the file.
    pub number: u64,
    /// What happened to it.
    #[serde(flatten)]
    pub result: LineResult,
}

/// The fate of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum LineResult {
    /// The project was not there before.
    New {
        /// Where it is found.
        slug: Slug,
    },
    /// The project said something else before.
    Changed {
        /// Where it is found.
        slug: Slug,
        /// The members that differ.
        members: Vec<String>,
        /// Those of them that are taken away: something was recorded, and nothing is now.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
        /// The sources of the pictures that are taken away.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed_pictures: Vec<String>,
        /// Whether every picture is kept that the record names as a file.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pictures_kept: bool,
    },
    /// The project said this already.
    Same {
        /// Where it is found.
        slug: Slug,
        /// Whether every picture is kept that the record names as a file.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pictures_kept: bool,
    },
    /// The line was not taken.
    Rejected {
        /// Everything that is wrong with it.
        faults: Vec<Fault>,
    },
}
