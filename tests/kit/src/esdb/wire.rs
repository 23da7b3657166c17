//! The protobuf messages that the event log uses, from streams.proto, shared.proto, gossip.proto and
//! serverfeatures.proto of the vendor's client.

use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(super) struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StreamIdentifier {
    #[prost(bytes = "vec", tag = "3")]
    pub(super) stream_name: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Uuid {
    #[prost(oneof = "UuidValue", tags = "1, 2")]
    pub(super) value: Option<UuidValue>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum UuidValue {
    #[prost(message, tag = "1")]
    Structured(Structured),
    #[prost(string, tag = "2")]
    Text(String),
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct Structured {
    #[prost(int64, tag = "1")]
    pub(super) most: i64,
    #[prost(int64, tag = "2")]
    pub(super) least: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadReq {
    #[prost(message, optional, tag = "1")]
    pub(super) options: Option<ReadOptions>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadOptions {
    #[prost(message, optional, tag = "1")]
    pub(super) stream: Option<StreamOptions>,
    /// 0 is forwards.
    #[prost(int32, tag = "3")]
    pub(super) read_direction: i32,
    #[prost(oneof = "CountOption", tags = "5, 6")]
    pub(super) count: Option<CountOption>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum CountOption {
    #[prost(uint64, tag = "5")]
    Count(u64),
    #[prost(message, tag = "6")]
    Subscription(Empty),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StreamOptions {
    #[prost(message, optional, tag = "1")]
    pub(super) stream_identifier: Option<StreamIdentifier>,
    #[prost(oneof = "RevisionOption", tags = "2, 3, 4")]
    pub(super) revision: Option<RevisionOption>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum RevisionOption {
    #[prost(uint64, tag = "2")]
    Revision(u64),
    #[prost(message, tag = "3")]
    Start(Empty),
    #[prost(message, tag = "4")]
    End(Empty),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadResp {
    #[prost(oneof = "ReadContent", tags = "1, 4, 5, 6")]
    pub(super) content: Option<ReadContent>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum ReadContent {
    #[prost(message, tag = "1")]
    Event(ReadEvent),
    #[prost(message, tag = "4")]
    StreamNotFound(StreamNotFound),
    #[prost(uint64, tag = "5")]
    FirstStreamPosition(u64),
    #[prost(uint64, tag = "6")]
    LastStreamPosition(u64),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StreamNotFound {
    #[prost(message, optional, tag = "1")]
    pub(super) stream_identifier: Option<StreamIdentifier>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ReadEvent {
    #[prost(message, optional, tag = "1")]
    pub(super) event: Option<RecordedEvent>,
    #[prost(message, optional, tag = "4")]
    pub(super) no_position: Option<Empty>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RecordedEvent {
    #[prost(message, optional, tag = "1")]
    pub(super) id: Option<Uuid>,
    #[prost(message, optional, tag = "2")]
    pub(super) stream_identifier: Option<StreamIdentifier>,
    #[prost(uint64, tag = "3")]
    pub(super) stream_revision: u64,
    #[prost(uint64, tag = "4")]
    pub(super) prepare_position: u64,
    #[prost(uint64, tag = "5")]
    pub(super) commit_position: u64,
    #[prost(map = "string, string", tag = "6")]
    pub(super) metadata: std::collections::HashMap<String, String>,
    #[prost(bytes = "vec", tag = "7")]
    pub(super) custom_metadata: Vec<u8>,
    #[prost(bytes = "vec", tag = "8")]
    pub(super) data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AppendReq {
    #[prost(oneof = "AppendContent", tags = "1, 2")]
    pub(super) content: Option<AppendContent>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum AppendContent {
    #[prost(message, tag = "1")]
    Options(AppendOptions),
    #[prost(message, tag = "2")]
    ProposedMessage(ProposedMessage),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AppendOptions {
    #[prost(message, optional, tag = "1")]
    pub(super) stream_identifier: Option<StreamIdentifier>,
    #[prost(oneof = "ExpectedRevision", tags = "2, 3, 4, 5")]
    pub(super) expected: Option<ExpectedRevision>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum ExpectedRevision {
    #[prost(uint64, tag = "2")]
    Revision(u64),
    #[prost(message, tag = "3")]
    NoStream(Empty),
    #[prost(message, tag = "4")]
    Any(Empty),
    #[prost(message, tag = "5")]
    StreamExists(Empty),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ProposedMessage {
    #[prost(message, optional, tag = "1")]
    pub(super) id: Option<Uuid>,
    #[prost(map = "string, string", tag = "2")]
    pub(super) metadata: std::collections::HashMap<String, String>,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) custom_metadata: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AppendResp {
    #[prost(oneof = "AppendResult", tags = "1, 2")]
    pub(super) result: Option<AppendResult>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum AppendResult {
    #[prost(message, tag = "1")]
    Success(Success),
    #[prost(message, tag = "2")]
    WrongExpectedVersion(WrongExpectedVersion),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Success {
    #[prost(uint64, optional, tag = "1")]
    pub(super) current_revision: Option<u64>,
    #[prost(message, optional, tag = "4")]
    pub(super) no_position: Option<Empty>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct WrongExpectedVersion {
    #[prost(oneof = "CurrentRevision", tags = "6, 7")]
    pub(super) current: Option<CurrentRevision>,
    #[prost(oneof = "ExpectedRevisionOption", tags = "8, 9, 10, 11")]
    pub(super) expected: Option<ExpectedRevisionOption>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum CurrentRevision {
    #[prost(uint64, tag = "6")]
    Revision(u64),
    #[prost(message, tag = "7")]
    NoStream(Empty),
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum ExpectedRevisionOption {
    #[prost(uint64, tag = "8")]
    Revision(u64),
    #[prost(message, tag = "9")]
    Any(Empty),
    #[prost(message, tag = "10")]
    StreamExists(Empty),
    #[prost(message, tag = "11")]
    NoStream(Empty),
}

/// The options are those of a single append, without deadlines.
#[derive(Clone, PartialEq, Message)]
pub(super) struct BatchAppendReq {
    #[prost(message, optional, tag = "1")]
    pub(super) correlation_id: Option<Uuid>,
    #[prost(message, optional, tag = "2")]
    pub(super) options: Option<AppendOptions>,
    #[prost(message, repeated, tag = "3")]
    pub(super) proposed_messages: Vec<ProposedMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct BatchAppendResp {
    #[prost(message, optional, tag = "1")]
    pub(super) correlation_id: Option<Uuid>,
    #[prost(message, optional, tag = "4")]
    pub(super) stream_identifier: Option<StreamIdentifier>,
    #[prost(oneof = "BatchAppendResult", tags = "2, 3")]
    pub(super) result: Option<BatchAppendResult>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum BatchAppendResult {
    #[prost(message, tag = "2")]
    Error(RpcStatus),
    #[prost(message, tag = "3")]
    Success(BatchSuccess),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct RpcStatus {
    #[prost(int32, tag = "1")]
    pub(super) code: i32,
    #[prost(string, tag = "2")]
    pub(super) message: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(super) struct BatchSuccess {
    #[prost(uint64, optional, tag = "1")]
    pub(super) current_revision: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SupportedMethod {
    #[prost(string, tag = "1")]
    pub(super) method_name: String,
    #[prost(string, tag = "2")]
    pub(super) service_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SupportedMethods {
    #[prost(message, repeated, tag = "1")]
    pub(super) methods: Vec<SupportedMethod>,
    #[prost(string, tag = "2")]
    pub(super) event_store_server_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ClusterInfo {
    #[prost(message, repeated, tag = "1")]
    pub(super) members: Vec<MemberInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct MemberInfo {
    #[prost(message, optional, tag = "1")]
    pub(super) instance_id: Option<Uuid>,
    /// 8 is the leader.
    #[prost(int32, tag = "3")]
    pub(super) state: i32,
    #[prost(bool, tag = "4")]
    pub(super) is_alive: bool,
    #[prost(message, optional, tag = "5")]
    pub(super) http_end_point: Option<EndPoint>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct EndPoint {
    #[prost(string, tag = "1")]
    pub(super) address: String,
    #[prost(uint32, tag = "2")]
    pub(super) port: u32,
}

impl From<uuid::Uuid> for Uuid {
    fn from(id: uuid::Uuid) -> Uuid {
        let (most, least) = id.as_u64_pair();
        let structured = Structured { most: most.cast_signed(), least: least.cast_signed() };
        Uuid { value: Some(UuidValue::Structured(structured)) }
    }
}

impl From<&Uuid> for uuid::Uuid {
    fn from(id: &Uuid) -> uuid::Uuid {
        match &id.value {
            Some(UuidValue::Structured(Structured { most, least })) => {
                uuid::Uuid::from_u64_pair(most.cast_unsigned(), least.cast_unsigned())
            }
            Some(UuidValue::Text(text)) => text.parse().expect("an id"),
            None => uuid::Uuid::nil(),
        }
    }
}
