//! The planner: what a change of membership does to real keys, computed before anyone makes it.
//!
//! Keys come in through [`keys`], a [`Census`] counts where each is placed before and after, [`theory`] says what
//! the scheme should do, and a [`Plan`] holds all figures, printed as text or JSON. Pure computation over readers: no
//! sockets, no clock, no randomness without a seed. Memory does not grow with the number of keys.

pub mod advise;
pub mod compare;
pub mod document;
pub mod keys;
pub mod selftest;
pub mod tables;
pub mod theory;

mod balance;
mod census;
mod limits;
mod number;
mod picture;
mod refill;
mod replica_shares;
mod report;
mod ring_spread;
mod what_if;

pub use balance::Balance;
pub use census::{
    Amount, Census, Change, ChangeError, Counts, OutageKind, QuestionError, Questions, TotalError,
};
pub use limits::{Limit, LimitError, LimitResult};
pub use number::{decimal, grouped, percent};
pub use refill::{RefillPoint, RefillTime};
pub use replica_shares::{CalibrationError, DomainShare, ReplicaShares, calibrate};
pub use report::{
    Agreement, Basis, BetweenDomains, CopyFirst, Copying, Domain, DomainHolding, Failure, Flow,
    Formula, FromTo, Heaviest, Holding, HotKey, Hottest, Load, Memory, Miss, Moved, Node, Origin,
    Plan, PlanInput, Receiver, Renumbering, Sides, SlotMoves, Source, Step, Tags, Theory, Tied,
    TokenAdvice, TokenCandidate, Warning, Ways, document as plan_document, page as plan_page,
};
pub use what_if::{
    Cascade, Cascades, Copies, Growth, NodeCopies, Order, Orders, Outage, OutageReceiver, Outages,
    OverNode,
};
