//! Who may have the configuration read again.

use std::sync::Arc;

use http::Request;

use crate::tests::{gateway, send_from};

#[tokio::test]
async fn other_machines_do_not_reload() {
    let gateway = Arc::new(gateway(""));
    for (is_local, status) in [(true, 400), (false, 403)] {
        let request = Request::post("/sabir/v1/reload");
        let reply = send_from(is_local, &gateway, request, String::new()).await;
        assert_eq!(reply.status(), status, "400 says that there is no file");
    }
}
