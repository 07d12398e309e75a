//! The thread that reads ahead: blocks of decompressed bytes over a bounded channel.
//!
//! Promises: a fixed number of blocks is ever made, and they go round; whoever waits for a block waits at
//! most [`WAIT`] at a time; bytes that the source gave are never held back while it is asked for more.
//! Does not: end a read of the source that blocks. The thread goes when that read returns, or with the
//! process.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use super::decode::{Decoder, Fault};

/// The receiving side.
pub(super) struct Blocks {
    filled: Receiver<Message>,
    empty: SyncSender<Box<[u8]>>,
    shared: Arc<Shared>,
}

/// What [`Blocks::next`] came back with.
pub(super) enum Next {
    Block(Block),
    /// The source gave nothing for [`WAIT`].
    Nothing,
    End(Ending),
}

/// How the source ended.
pub(super) enum Ending {
    Whole,
    Failed(io::Error),
    Truncated,
    Corrupt(io::Error),
    TrailingData,
}

/// Some bytes of the source, decompressed.
pub(super) struct Block {
    buffer: Box<[u8]>,
    length: usize,
}

/// What both threads look at.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) bytes_read: AtomicU64,
    pub(super) source_failed: AtomicBool,
    compression: OnceLock<&'static str>,
}

enum Message {
    Block(Block),
    End(Ending),
}

impl Blocks {
    /// Starts to read `source` in blocks of `block_bytes`.
    pub(super) fn spawn(source: Box<dyn Read + Send>, block_bytes: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (send_filled, filled) = sync_channel(BLOCKS);
        let (empty, take_empty) = sync_channel(BLOCKS);
        let pump = Pump {
            filled: send_filled,
            empty: take_empty,
            made: 0,
            block_bytes,
            shared: Arc::clone(&shared),
        };
        thread::Builder::new()
            .name("key reader".to_owned())
            .spawn(move || pump.run(source))?;
        Ok(Self {
            filled,
            empty,
            shared,
        })
    }

    pub(super) fn next(&mut self) -> Next {
        match self.filled.recv_timeout(WAIT) {
            Ok(Message::Block(block)) => Next::Block(block),
            Ok(Message::End(ending)) => Next::End(ending),
            Err(RecvTimeoutError::Timeout) => Next::Nothing,
            // Only a source that panics takes the thread away without a word.
            Err(RecvTimeoutError::Disconnected) => Next::End(Ending::Failed(io::Error::other(
                "the reader of the source has died",
            ))),
        }
    }

    pub(super) fn give_back(&self, block: Block) {
        // The channel has room for all blocks; a reader that has ended needs none.
        let _ = self.empty.try_send(block.buffer);
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.shared.bytes_read.load(Ordering::Relaxed)
    }

    pub(super) fn compression(&self) -> Option<&'static str> {
        self.shared.compression.get().copied()
    }
}

impl Block {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Shared {
    pub(super) fn set_compression(&self, compression: &'static str) {
        self.compression.get_or_init(|| compression);
    }
}

/// The reading side.
struct Pump {
    filled: SyncSender<Message>,
    empty: Receiver<Box<[u8]>>,
    made: usize,
    block_bytes: usize,
    shared: Arc<Shared>,
}

/// The other side has gone away.
struct Gone;

impl Pump {
    fn run(mut self, source: Box<dyn Read + Send>) {
        let ending = match Decoder::new(source, &self.shared) {
            Ok(mut decoder) => loop {
                match self.next_block(&mut decoder) {
                    Ok(None) => {}
                    Ok(Some(ending)) => break ending,
                    Err(Gone) => return,
                }
            },
            Err(fault) => fault.into(),
        };
        let _ = self.filled.send(Message::End(ending));
    }

    /// Reads and sends one block. What was read before a fault is sent too.
    fn next_block(&mut self, decoder: &mut Decoder) -> Result<Option<Ending>, Gone> {
        let mut buffer = self.take_empty()?;
        let mut length = 0;
        let ending = loop {
            match decoder.read(&mut buffer[length..], &self.shared) {
                Ok(0) => break Some(Ending::Whole),
                Ok(read) => length += read,
                Err(fault) => break Some(fault.into()),
            }
            // What is there is sent before the source is asked again: it may not answer for hours.
            if length == buffer.len() || !decoder.has_input() {
                break None;
            }
        };
        if length > 0 {
            let block = Block { buffer, length };
            self.filled.send(Message::Block(block)).map_err(|_| Gone)?;
        }
        Ok(ending)
    }

    fn take_empty(&mut self) -> Result<Box<[u8]>, Gone> {
        if let Ok(buffer) = self.empty.try_recv() {
            return Ok(buffer);
        }
        if self.made < BLOCKS {
            self.made += 1;
            return Ok(vec![0; self.block_bytes.max(1)].into_boxed_slice());
        }
        self.empty.recv().map_err(|_| Gone)
    }
}

impl From<Fault> for Ending {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Source(error) => Self::Failed(error),
            Fault::Truncated => Self::Truncated,
            Fault::Corrupt(error) => Self::Corrupt(error),
            Fault::TrailingData => Self::TrailingData,
        }
    }
}

/// Large enough that a handover costs nothing next to the work on a block, small enough for the caches.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// One being filled, one being parsed, two between them to smooth the difference.
const BLOCKS: usize = 4;

/// How long a stop may go unnoticed while the source is silent.
const WAIT: Duration = Duration::from_millis(50);
