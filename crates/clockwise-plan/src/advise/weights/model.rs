//! What nodes have, what the workload takes, and the share of the workload that each resource carries.

use serde::Serialize;

use super::{Demand, WeightsError, WeightsWish};
use crate::advise::print::bytes;
use crate::number::decimal;

/// Something a node has some of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resource {
    /// Bytes of memory, or of disk for a store.
    Ram,
    /// Operations of the disk per second.
    Iops,
    /// Bits per second in the busier direction.
    Network,
    /// Cores.
    Cpu,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 4] = [Self::Ram, Self::Iops, Self::Network, Self::Cpu];

    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ram => "ram",
            Self::Iops => "iops",
            Self::Network => "network",
            Self::Cpu => "cpu",
        }
    }

    fn needs(self) -> &'static str {
        match self {
            Self::Ram => "give --stored-bytes",
            Self::Iops => "give --requests and --read-iops or --write-iops",
            Self::Network => "give --requests and --object-size",
            Self::Cpu => "give --requests and --read-cpu or --write-cpu",
        }
    }
}

/// What a node has; every number above 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NodeResources {
    /// Bytes.
    pub ram: Option<f64>,
    /// Operations per second.
    pub iops: Option<f64>,
    /// Bits per second.
    pub network: Option<f64>,
    /// Cores.
    pub cpu: Option<f64>,
}

impl NodeResources {
    fn of(&self, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Ram => self.ram,
            Resource::Iops => self.iops,
            Resource::Network => self.network,
            Resource::Cpu => self.cpu,
        }
    }
}

/// What all nodes together have to carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Workload {
    /// Bytes stored, with all copies.
    pub stored_bytes: Option<f64>,
    /// Requests per second.
    pub requests: Option<f64>,
    /// Mean bytes of what a request reads or writes.
    pub object_size: Option<f64>,
    /// Share of the requests that read.
    pub read_share: f64,
    /// Operations of the disk for a read.
    pub read_iops: Option<f64>,
    /// Operations of the disk for a write.
    pub write_iops: Option<f64>,
    /// Seconds of a core for a read.
    pub read_cpu_s: Option<f64>,
    /// Seconds of a core for a write.
    pub write_cpu_s: Option<f64>,
}

impl Workload {
    /// What the workload takes of a resource in all; `None` where nothing says it.
    fn takes(&self, resource: Resource) -> Option<f64> {
        let mixed = |read: Option<f64>, write: Option<f64>| {
            if read.is_none() && write.is_none() {
                return None;
            }
            let each = self.read_share * read.unwrap_or(0.0)
                + (1.0 - self.read_share) * write.unwrap_or(0.0);
            Some(self.requests? * each)
        };
        match resource {
            Resource::Ram => self.stored_bytes,
            Resource::Iops => mixed(self.read_iops, self.write_iops),
            // Reads leave a node and writes reach it: the busier direction counts.
            Resource::Network => {
                let busier = self.read_share.max(1.0 - self.read_share);
                Some(self.requests? * self.object_size? * 8.0 * busier)
            }
            Resource::Cpu => mixed(self.read_cpu_s, self.write_cpu_s),
        }
    }
}

/// Shares of the workload that the nodes' resources carry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Capacity {
    /// Resources that nodes have and the workload takes.
    pub(super) resources: Vec<Resource>,
    pub(super) takes: Vec<f64>,
    pub(super) nodes: Vec<NodeCapacity>,
}

/// The share of the workload that each resource of a node could carry alone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeCapacity {
    pub(super) carries: Vec<f64>,
}

impl NodeCapacity {
    /// The resource that carries the least, by place, and how much that is; the first of equal ones.
    pub(super) fn least(&self) -> (usize, f64) {
        let carries = self.carries.iter().copied().enumerate();
        carries
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 0.0))
    }
}

impl Capacity {
    /// How many times the workload all nodes carry, each to its limit.
    pub(super) fn carries(&self) -> f64 {
        self.nodes.iter().map(|node| node.least().1).sum()
    }

    /// The same where every node has so many times as much of one resource.
    pub(super) fn carries_with(&self, place: usize, times: f64) -> f64 {
        let least = |node: &NodeCapacity| {
            let mut more = node.clone();
            more.carries[place] *= times;
            more.least().1
        };
        self.nodes.iter().map(least).sum()
    }

    /// The resource of which a tenth more adds most; the first of equal ones.
    pub(super) fn binding(&self) -> Resource {
        let mut best = (Resource::Ram, f64::NEG_INFINITY);
        for (place, resource) in self.resources.iter().enumerate() {
            let gain = self.carries_with(place, 1.1);
            if gain > best.1 {
                best = (*resource, gain);
            }
        }
        best.0
    }

    pub(super) fn demand(&self, wish: &WeightsWish) -> Vec<Demand> {
        let have = |resource: Resource| {
            let nodes = wish.nodes.iter();
            nodes.filter_map(|(_, node)| node.of(resource)).sum()
        };
        let demand = |(resource, takes): (&Resource, &f64)| Demand {
            resource: resource.name(),
            takes: *takes,
            have: have(*resource),
        };
        self.resources.iter().zip(&self.takes).map(demand).collect()
    }
}

/// The model of a wish.
pub(super) fn capacities(wish: &WeightsWish) -> Result<Capacity, WeightsError> {
    let mut resources = Vec::new();
    let mut takes = Vec::new();
    for resource in Resource::ALL {
        let has = |(_, node): &&(_, NodeResources)| node.of(resource).is_some();
        if !wish.nodes.iter().any(|node| has(&node)) {
            continue;
        }
        if let Some((node, _)) = wish.nodes.iter().find(|node| !has(node)) {
            return Err(WeightsError::Missing {
                node: node.to_string(),
                resource: resource.name(),
            });
        }
        match wish.workload.takes(resource) {
            None => {
                return Err(WeightsError::NoDemand {
                    resource: resource.name(),
                    needs: resource.needs(),
                });
            }
            // Nothing is taken, so that nothing binds.
            Some(0.0) => {}
            Some(takes_of) => {
                resources.push(resource);
                takes.push(takes_of);
            }
        }
    }
    if resources.is_empty() {
        return Err(WeightsError::NothingToCarry);
    }
    let nodes = wish.nodes.iter().map(|(_, node)| NodeCapacity {
        carries: resources
            .iter()
            .zip(&takes)
            .map(|(resource, takes)| node.of(*resource).unwrap_or(0.0) / takes)
            .collect(),
    });
    Ok(Capacity {
        nodes: nodes.collect(),
        resources,
        takes,
    })
}

/// An amount of a resource with its unit.
pub(super) fn amount(resource: &str, value: f64) -> String {
    match resource {
        "ram" => bytes(value),
        "iops" => format!("{} operations a second", decimal(value, 0)),
        "network" => format!("{} Gbit/s", decimal(value / 1e9, 2)),
        _ => format!("{} cores", decimal(value, 2)),
    }
}
