//! Errors, by whose fault they are.

/// A failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A received public key is not acceptable.
    #[error("the public key is rejected: {0}")]
    KeyRejected(#[from] KeyFault),
    /// A received ciphertext is not valid under this key.
    #[error("the ciphertext is rejected: {0}")]
    CiphertextRejected(#[from] CiphertextFault),
    /// A key file cannot be used.
    #[error("the key file cannot be used: {0}")]
    KeyFile(#[from] KeyFileFault),
    /// The caller asked for something impossible.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The operating system cannot start a thread.
    #[error("the operating system cannot start another thread")]
    NoThread,
    /// The operating system provides no randomness.
    #[error(
        "the operating system provides no random numbers, and no secret can be generated without them"
    )]
    NoRandomness,
}

/// Why a public key is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// The size is not one of those in [`KeySize`](crate::KeySize).
    #[error("its modulus has {bits} bits; 512, 1024, 2048, 3072 or 4096 are possible")]
    Size {
        /// The bits of the modulus.
        bits: u32,
    },
    /// The modulus is shorter than both sides agreed on.
    #[error("its modulus has {bits} bits, but at least {minimum} were agreed")]
    TooShort {
        /// The bits of the modulus.
        bits: u32,
        /// The agreed minimum.
        minimum: u32,
    },
    /// The modulus is even.
    #[error("its modulus is even")]
    Even,
    /// Trial division found a factor.
    #[error("its modulus has a small factor")]
    SmallFactor,
    /// The modulus is a prime, so anyone can decrypt.
    #[error("its modulus is a prime number")]
    Prime,
    /// The modulus is a perfect square, so anyone can factor it.
    #[error("its modulus is a perfect square")]
    Square,
    /// The two primes of a secret key do not form a Paillier key.
    #[error("its secret primes do not form a key")]
    Primes,
}

/// Why a ciphertext is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CiphertextFault {
    /// There are too few or too many bytes.
    #[error("it has {found} bytes instead of {expected}")]
    Length {
        /// Bytes of a ciphertext under this key.
        expected: usize,
        /// Bytes that were received.
        found: usize,
    },
    /// The number is not below the square of the modulus.
    #[error("it is not below the square of the modulus")]
    Range,
    /// It shares a factor with the modulus. For a batch, the error does not say which ciphertext does.
    #[error("it shares a factor with the modulus")]
    NotInvertible,
}

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileFault {
    /// The operating system reported an error.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A file with this name exists, and keys are never overwritten.
    #[error("a file of that name exists; choose another name or move it away")]
    Exists,
    /// Others may read the secret key.
    #[error("other users may read it (mode {mode:o}); make it private with `chmod 600` first")]
    Readable {
        /// The permission bits that were found.
        mode: u32,
    },
    /// The first line belongs to another kind of file.
    #[error("its first line is not `{expected}`")]
    Kind {
        /// The line that was expected.
        expected: &'static str,
    },
    /// A line is missing, malformed or superfluous.
    #[error("line {line} is not as expected")]
    Line {
        /// The line number, counted from one.
        line: usize,
    },
    /// The parts of the key contradict each other.
    #[error("its numbers contradict each other")]
    Inconsistent,
}

/// A mistake by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// A plaintext must lie strictly between −n/2 and n/2.
    #[error("the number is too large to be encrypted under this key")]
    PlaintextRange,
    /// A scalar is longer than its declared length.
    #[error("the scalar has more than {bits} bits")]
    ScalarLength {
        /// The declared length.
        bits: u32,
    },
    /// Division needs a scalar without a common factor with the modulus.
    #[error("the scalar has no inverse under this key")]
    ScalarNotInvertible,
    /// A ciphertext or randomiser belongs to another key.
    #[error("a ciphertext or randomiser belongs to another key")]
    WrongKey,
    /// Two lists that should match entry by entry differ in length.
    #[error("lists of {left} and {right} values have different lengths")]
    Lengths {
        /// Length of the first list.
        left: usize,
        /// Length of the second list.
        right: usize,
    },
    /// The slots do not fit below half of the modulus.
    #[error("{slots} slots of {slot_bits} bits do not fit into a plaintext of {bits} bits")]
    SlotsDoNotFit {
        /// Slots requested.
        slots: u32,
        /// Bits per slot.
        slot_bits: u32,
        /// Bits of the modulus.
        bits: u32,
    },
    /// A value could carry into the next slot.
    #[error("a value of up to {bits} bits does not fit into a slot of {slot_bits} bits")]
    SlotOverflow {
        /// Bits the value may have.
        bits: u32,
        /// Bits of the slot.
        slot_bits: u32,
    },
    /// The CPU lacks the instructions.
    #[error("this CPU cannot run the requested kernel")]
    KernelUnavailable,
}

/// The result of this crate's fallible functions.
pub type Result<T> = core::result::Result<T, Error>;
