//! Checks on images, audio and files that OpenAI's APIs share with each other and, in part, with the others.

use super::problem::Problem;
use super::seal;

/// The media type and the payload of a `data:` URL in base64.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    Some((media_type.split(';').next().unwrap_or(media_type), data))
}

pub(super) const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// An image URL as OpenAI takes it.
pub(super) fn check_image_url(url: &str, param: &str) -> Result<(), Problem> {
    if url.starts_with("https://") || url.starts_with("http://") {
        return Ok(());
    }
    let Some((media_type, data)) = data_url(url) else {
        let message = format!(
            "Invalid '{param}'. Expected a valid URL, but got a value with an invalid format."
        );
        return Err(Problem::invalid(message).at(param).coded("invalid_value"));
    };
    if !IMAGE_TYPES.contains(&media_type) {
        let message = format!(
            "Invalid MIME type. Only image types are supported: you uploaded {media_type}."
        );
        return Err(Problem::invalid(message).at(param).coded("invalid_image_format"));
    }
    if !seal::is_standard_base64(data) {
        let message = "Invalid base64 image_url.";
        return Err(Problem::invalid(message).at(param).coded("invalid_base64"));
    }
    Ok(())
}

/// A file's data as OpenAI takes it: a `data:` URL.
pub(super) fn check_file_data(data: &str, param: &str) -> Result<(), Problem> {
    match data_url(data) {
        Some((_, payload)) if seal::is_standard_base64(payload) => Ok(()),
        _ => {
            let message =
                format!("Invalid '{param}': expected a base64-encoded data URL with a MIME type.");
            Err(Problem::invalid(message).at(param).coded("invalid_value"))
        }
    }
}

/// The media type by an image's first bytes.
pub(super) fn sniff(base64: &str) -> Option<&'static str> {
    let head: String = base64.chars().take(24).collect();
    let bytes = seal::decode_base64(&head)?;
    match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [b'%', b'P', b'D', b'F', ..] => Some("application/pdf"),
        _ => None,
    }
}
