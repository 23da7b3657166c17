//! Dispatches a request to its method.

use answers::catalog::examples::Examples;

use super::call::{self, CallReceipt};
use super::discovery;
use super::tools::CallContext;
use crate::protocol::era::Era;
use crate::protocol::message::Message;
use crate::protocol::params::Params;
use crate::protocol::rpc_error::RpcError;

const LEGACY: &str = "initialize, ping, tools/list, tools/call and server/discover";
const MODERN: &str = "server/discover, tools/list and tools/call";

/// Writes the members of the result of a request, and returns what its `_meta` says of the cost.
pub(super) async fn answer(
    context: CallContext<'_>,
    era: Era,
    message: &Message<'_>,
    params: &Params<'_>,
    into: &mut Vec<u8>,
) -> Result<Option<CallReceipt>, RpcError> {
    match (&*message.method, era) {
        ("tools/call", _) => return call::call(context, params, into).await,
        ("tools/list", era) => {
            params.first_page_only()?;
            discovery::tools(&Examples::of(context.state), era == Era::Modern, into);
        }
        ("server/discover", _) => discovery::discover(context.state, into),
        ("initialize", Era::Legacy) => discovery::initialize(params, context.state, into),
        ("ping", Era::Legacy) => {}
        (method, Era::Legacy) => return Err(RpcError::method_not_found(method, LEGACY)),
        (method, Era::Modern) => return Err(RpcError::method_not_found(method, MODERN)),
    }
    Ok(None)
}
