//! The methods there are.

use super::call;
use super::discovery;
use super::era::Era;
use super::message::Message;
use super::params::Params;
use super::rpc_error::RpcError;
use super::tools::Asked;

const LEGACY: &str = "initialize, ping, tools/list, tools/call and server/discover";
const MODERN: &str = "server/discover, tools/list and tools/call";

/// The members of the result of a request.
pub(super) async fn answer(
    asked: Asked<'_>,
    era: Era,
    message: &Message<'_>,
    params: &Params<'_>,
) -> Result<Vec<u8>, RpcError> {
    match (&*message.method, era) {
        ("tools/call", _) => call::call(asked, params).await,
        ("tools/list", era) => {
            params.first_page_only()?;
            Ok(discovery::tools(era == Era::Modern))
        }
        ("server/discover", _) => Ok(discovery::discover()),
        ("initialize", Era::Legacy) => Ok(discovery::initialize(params, asked.state.site())),
        ("ping", Era::Legacy) => Ok(Vec::new()),
        (method, Era::Legacy) => Err(RpcError::method_not_found(method, LEGACY)),
        (method, Era::Modern) => Err(RpcError::method_not_found(method, MODERN)),
    }
}
