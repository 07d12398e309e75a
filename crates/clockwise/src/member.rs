//! One node's entry in a membership: identity, capacity, address and failure domains.
//!
//! Promises that every part was parsed. Does not hold health or load: those change without a new membership. Cost:
//! none. Source: the membership words of the project's design.

use alloc::string::String;

use crate::{Endpoint, NodeId, Weight};

/// A node's entry. Placement reads id and weight; the endpoint never moves a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Member {
    id: NodeId,
    weight: Weight,
    endpoint: Option<Endpoint>,
    domains: FailureDomains,
}

impl Member {
    /// A member of weight 1 without endpoint or failure domains.
    #[must_use]
    pub fn new(id: NodeId) -> Self {
        Self {
            id,
            weight: Weight::ONE,
            endpoint: None,
            domains: FailureDomains::default(),
        }
    }

    /// The same member with another weight.
    #[must_use]
    pub fn with_weight(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    /// The same member reached at another endpoint.
    #[must_use]
    pub fn with_endpoint(self, endpoint: Endpoint) -> Self {
        Self {
            endpoint: Some(endpoint),
            ..self
        }
    }

    /// The same member in other failure domains.
    #[must_use]
    pub fn with_domains(self, domains: FailureDomains) -> Self {
        Self { domains, ..self }
    }

    /// The stable name.
    #[must_use]
    pub fn id(&self) -> &NodeId {
        &self.id
    }

    /// The relative capacity.
    #[must_use]
    pub fn weight(&self) -> Weight {
        self.weight
    }

    /// Where the node is reached, if known.
    #[must_use]
    pub fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint.as_ref()
    }

    /// What fails together with the node.
    #[must_use]
    pub fn domains(&self) -> &FailureDomains {
        &self.domains
    }
}

/// Where a node stands, coarsest level first; an absent level is unknown.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FailureDomains {
    /// Region, for example `eu-west`.
    pub region: Option<String>,
    /// Zone within the region.
    pub zone: Option<String>,
    /// Rack within the zone.
    pub rack: Option<String>,
    /// Machine within the rack.
    pub host: Option<String>,
}
