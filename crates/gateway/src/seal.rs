//! What only this gateway can read and nobody can change: summaries that clients carry between their calls.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use sabir_store::{Name, Secret};
use sabir_wire::FaultKind;
use sabir_wire::base64;

use crate::failure::{Failure, Result, Whose};
use crate::memory::Memory;

/// What sealed text begins with, so that it is known without a key.
pub(crate) const PREFIX: &str = "sabir-compaction-1.";

const KEY_BYTES: usize = 32;
const KEY_NAME: &str = "compaction";
const KEY_FILE: &str = "compaction.key";

/// A key by which text is sealed and opened.
pub(crate) struct Seal(LessSafeKey);

impl Seal {
    /// The key of the store, which all nodes share, else that of the data folder.
    pub(crate) async fn of(memory: Option<&Memory>, data_folder: Option<&Path>) -> Result<Self> {
        let fresh = Secret::new(random::<KEY_BYTES>()?);
        let secret = match (memory, data_folder) {
            (Some(memory), _) => {
                let name = Name::new(KEY_NAME).map_err(|error| unkept(&error))?;
                let kept = memory.store().ensure_secret(name, fresh).await;
                kept.map_err(|error| unkept(&error).with_status(503))?
            }
            (None, Some(folder)) => in_folder(folder, &fresh).map_err(|error| unkept(&error))?,
            (None, None) => return Err(unkept(&"there is no data folder")),
        };
        Self::new(&secret)
    }

    fn new(secret: &Secret) -> Result<Self> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, secret.expose());
        key.map(|key| Self(LessSafeKey::new(key))).map_err(|_| unkept(&"it is damaged"))
    }

    /// Seals a text for its owner.
    pub(crate) fn seal(&self, owner: &str, text: &str) -> Result<String> {
        let nonce = random::<NONCE_LEN>()?;
        let mut bytes = text.as_bytes().to_vec();
        let aad = Aad::from(owner.as_bytes());
        let sealed =
            self.0.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut bytes);
        sealed.map_err(|_| unkept(&"it does not seal"))?;
        let whole = [&nonce[..], &bytes].concat();
        Ok(format!("{PREFIX}{}", base64::encode(&whole)))
    }

    /// The text, if it was sealed here for that owner.
    pub(crate) fn open(&self, owner: &str, sealed: &str) -> Option<String> {
        let mut bytes = base64::decode(sealed.strip_prefix(PREFIX)?)?;
        let (nonce, rest) = bytes.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let text = self.0.open_in_place(nonce, Aad::from(owner.as_bytes()), rest).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| unkept(&"the system gives no random bytes"))?;
    Ok(bytes)
}

/// The key in the data folder, made by whoever needs it first and readable by its user alone. It is there whole or not at all.
fn in_folder(folder: &Path, fresh: &Secret) -> std::io::Result<Secret> {
    let path = folder.join(KEY_FILE);
    fs::create_dir_all(folder)?;
    let whole = |bytes: &Vec<u8>| bytes.len() == KEY_BYTES;
    if let Some(kept) = fs::read(&path).ok().filter(whole) {
        return Ok(Secret::new(kept));
    }
    let new = folder.join(format!("{KEY_FILE}.{}", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(fresh.expose())?;
    file.sync_all()?;
    // Of two that make one at once the first wins; what broke off long ago is replaced.
    if fs::hard_link(&new, &path).is_err() && !fs::read(&path).is_ok_and(|it| whole(&it)) {
        fs::rename(&new, &path)?;
    }
    let _ = fs::remove_file(&new);
    fs::read(&path).map(Secret::new)
}

fn unkept(reason: &dyn fmt::Display) -> Box<Failure> {
    let message = format!("the key for compactions cannot be used: {reason}");
    Failure::new(Whose::Gateway, FaultKind::Internal, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(byte: u8) -> Seal {
        Seal::new(&Secret::new([byte; KEY_BYTES])).unwrap()
    }

    #[test]
    fn only_the_key_and_the_owner_open_a_text() {
        let sealed = seal(1).seal("ci", "They talked.").unwrap();
        assert!(sealed.starts_with(PREFIX) && !sealed.contains("talked"));
        assert_eq!(seal(1).open("ci", &sealed).as_deref(), Some("They talked."));
        assert_eq!(seal(1).open("other", &sealed), None);
        assert_eq!(seal(2).open("ci", &sealed), None);
        assert_ne!(seal(1).seal("ci", "They talked.").unwrap(), sealed);
    }

    #[test]
    fn what_was_changed_does_not_open() {
        let sealed = seal(1).seal("", "a").unwrap();
        for at in PREFIX.len()..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // Digits that only fill the last group up stand for nothing.
            if base64::decode(&changed[PREFIX.len()..]) != base64::decode(&sealed[PREFIX.len()..]) {
                assert_eq!(seal(1).open("", &changed), None, "{at}");
            }
        }
        for other in ["", "x", PREFIX, &format!("{PREFIX}AAAA")] {
            assert_eq!(seal(1).open("", other), None, "{other}");
        }
    }

    #[test]
    fn a_folder_keeps_its_key() {
        let folder = std::env::temp_dir().join(format!("sabir-seal-{}", std::process::id()));
        let first = in_folder(&folder, &Secret::new([1; KEY_BYTES])).unwrap();
        let second = in_folder(&folder, &Secret::new([2; KEY_BYTES])).unwrap();
        assert_eq!(first, second);
        // One that was cut off is made anew.
        fs::write(folder.join(KEY_FILE), b"").unwrap();
        let third = Secret::new([3; KEY_BYTES]);
        assert_eq!(in_folder(&folder, &third).unwrap(), third);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");
        fs::remove_dir_all(&folder).unwrap();
    }
}
