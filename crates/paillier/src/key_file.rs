//! Key files. The format is described at the top of the crate.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use crypto_bigint::BoxedUint;
use zeroize::Zeroizing;

use crate::error::{Error, KeyFileFault, Result};
use crate::key_size::KeySize;
use crate::public_key::PublicKey;
use crate::secret_key::SecretKey;

const PUBLIC_HEADER: &str = "veilpath paillier public key 1";
const SECRET_HEADER: &str = "veilpath paillier secret key 1";
/// The most bytes that are read. No key file is longer.
const MAX_FILE_BYTES: u64 = 16 * 1024;

impl PublicKey {
    /// The text of a public key file.
    pub fn to_file_text(&self) -> String {
        let mut text = format!("{PUBLIC_HEADER}\nbits {}\n", self.size().bits());
        push_number(&mut text, "n", self.modulus(), self.size().bits());
        text
    }

    /// Reads the text of a public key file, and checks the key like [`Self::from_modulus`].
    pub fn from_file_text(text: &str, minimum: KeySize) -> Result<Self> {
        let mut lines = Lines::new(text, PUBLIC_HEADER)?;
        let size = lines.size()?;
        let modulus = lines.number("n", size.bits())?;
        lines.finish()?;
        Self::from_modulus(&modulus, minimum)
    }

    /// Writes a new public key file.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_new(
            OpenOptions::new().write(true).create_new(true),
            path,
            self.to_file_text().as_bytes(),
        )
    }

    /// Reads a public key file, and checks the key like [`Self::from_modulus`].
    pub fn load(path: &Path, minimum: KeySize) -> Result<Self> {
        let file = File::open(path).map_err(KeyFileFault::Io)?;
        Self::from_file_text(&read(file)?, minimum)
    }
}

impl SecretKey {
    /// The text of a secret key file.
    pub fn to_file_text(&self) -> Zeroizing<String> {
        let bits = self.public_key().size().bits();
        // Allocated at full size: a text that grows leaves copies in freed memory.
        let mut text = Zeroizing::new(String::with_capacity(256 + bits as usize));
        text.push_str(SECRET_HEADER);
        text.push_str(&format!("\nbits {bits}\n"));
        push_number(&mut text, "n", self.public_key().modulus(), bits);
        for (name, half) in ["p", "q"].into_iter().zip(self.halves()) {
            push_number(&mut text, name, half.prime(), bits / 2);
        }
        text
    }

    /// Reads the text of a secret key file, and checks that its numbers form a key.
    pub fn from_file_text(text: &str) -> Result<Self> {
        let mut lines = Lines::new(text, SECRET_HEADER)?;
        let size = lines.size()?;
        let modulus = lines.number("n", size.bits())?;
        let p = Zeroizing::new(lines.number("p", size.bits() / 2)?);
        let q = Zeroizing::new(lines.number("q", size.bits() / 2)?);
        lines.finish()?;
        let key = Self::from_primes(&p, &q).map_err(|_| KeyFileFault::Inconsistent)?;
        if key.public_key().modulus() != &modulus {
            return Err(KeyFileFault::Inconsistent.into());
        }
        Ok(key)
    }

    /// Writes a new secret key file that only its owner may read.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        write_new(&options, path, self.to_file_text().as_bytes())
    }

    /// Reads a secret key file, and rejects one that other users may read.
    pub fn load(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(KeyFileFault::Io)?;
        #[cfg(unix)]
        let metadata = file.metadata().map_err(KeyFileFault::Io)?;
        let text = read(file)?;
        // Check the header first: the mode does not matter for a public key or a file that is not a key.
        Lines::new(&text, SECRET_HEADER)?;
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777;
            if mode & 0o077 != 0 {
                return Err(KeyFileFault::Readable { mode }.into());
            }
        }
        Self::from_file_text(&text)
    }
}

fn push_number(text: &mut String, name: &str, value: &BoxedUint, bits: u32) {
    text.push_str(name);
    text.push(' ');
    let bytes = Zeroizing::new(value.to_be_bytes().into_vec());
    let length = bits as usize / 8;
    for byte in &bytes[bytes.len().saturating_sub(length)..] {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    text.push('\n');
}

fn write_new(options: &OpenOptions, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => KeyFileFault::Exists,
        _ => KeyFileFault::Io(error),
    })?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| KeyFileFault::Io(error).into())
}

fn read(file: File) -> Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::with_capacity(MAX_FILE_BYTES as usize + 1));
    file.take(MAX_FILE_BYTES)
        .read_to_string(&mut text)
        .map_err(KeyFileFault::Io)?;
    Ok(text)
}

/// The lines of a key file, one after the other.
struct Lines<'a> {
    lines: core::str::Lines<'a>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, header: &'static str) -> Result<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(header) {
            return Err(KeyFileFault::Kind { expected: header }.into());
        }
        Ok(Self { lines, number: 1 })
    }

    fn size(&mut self) -> Result<KeySize> {
        let value = self.value("bits")?;
        let bits = value.parse::<u32>().map_err(|_| self.fault())?;
        KeySize::try_from(bits).map_err(|_| self.fault())
    }

    fn number(&mut self, name: &str, bits: u32) -> Result<BoxedUint> {
        let digits = self.value(name)?;
        let lower_case = digits
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        if digits.len() != bits as usize / 4 || !lower_case {
            return Err(self.fault());
        }
        Option::from(BoxedUint::from_be_hex(digits, bits)).ok_or_else(|| self.fault())
    }

    fn value(&mut self, name: &str) -> Result<&'a str> {
        self.number += 1;
        let line = self.lines.next().ok_or_else(|| self.fault())?;
        let value = line
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(' '));
        value.ok_or_else(|| self.fault())
    }

    fn finish(&mut self) -> Result<()> {
        self.number += 1;
        if self.lines.next().is_some() {
            Err(self.fault())
        } else {
            Ok(())
        }
    }

    fn fault(&self) -> Error {
        KeyFileFault::Line { line: self.number }.into()
    }
}
