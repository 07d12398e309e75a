//! Changing a placement: each change makes a new one, the old one stays as it is.
//!
//! A ring follows from the one before, at the cost of copying it; the others are built anew. Either way the result is
//! the one that [`Placement::build`] gives for the members.

use alloc::vec::Vec;

use super::build::ring_after;
use super::{BuildError, Engine, Placement};
use crate::ring::{NodeChange, Ring};
use crate::scheme::{Kind, RingForm};
use crate::{Algorithm, Member, Membership, NodeId, RenumberingCost, Scheme, Weight};

impl Placement {
    /// The placement with one more member, last in the list of a numbered scheme.
    ///
    /// A slot table is made from the members alone, here and in the two methods below;
    /// [`least_movement`](Self::least_movement) is the one that follows the table before.
    ///
    /// # Errors
    /// As [`Placement::build`]; [`BuildError::Membership`] when the id is already there.
    pub fn with_member(&self, member: Member) -> Result<Self, BuildError> {
        let place = self
            .members
            .partition_point(|other| other.id() < member.id());
        let is_new = |other: &Member| !other.id().looks_like(member.id());
        if let Some(ring) = self.ring_with_form()
            && self.members.iter().all(is_new)
        {
            let mut members = Vec::with_capacity(self.members.len() + 1);
            members.extend_from_slice(&self.members[..place]);
            members.push(member);
            members.extend_from_slice(&self.members[place..]);
            return self.ring_changed(ring, members, NodeChange::Added(place as u32));
        }
        self.rebuilt(&self.membership().with(member)?)
    }

    /// The placement without a member.
    ///
    /// # Errors
    /// [`BuildError::Membership`] when the id is not there; [`BuildError::MiddleBucket`] when the scheme
    /// numbers its buckets and the member is not in the last one.
    pub fn without_member(&self, id: &NodeId) -> Result<Self, BuildError> {
        if let Some(ring) = self.ring_with_form()
            && let Some(place) = self.place(id)
        {
            let rest = self.members[..place].iter();
            let members = rest.chain(&self.members[place + 1..]).cloned().collect();
            return self.ring_changed(ring, members, NodeChange::Removed(place as u32));
        }
        let membership = self.membership();
        let smaller = membership.without(id)?;
        self.scheme.allows_removal(&membership, id)?;
        self.rebuilt(&smaller)
    }

    /// The placement with another weight for a member.
    ///
    /// # Errors
    /// As [`Placement::build`]; [`BuildError::Membership`] when the id is not there.
    pub fn with_weight(&self, id: &NodeId, weight: Weight) -> Result<Self, BuildError> {
        if let Some(ring) = self.ring_with_form()
            && let Some(place) = self.place(id)
        {
            let mut members = self.members.clone();
            members[place] = members[place].clone().with_weight(weight);
            return self.ring_changed(ring, members, NodeChange::Changed(place as u32));
        }
        self.rebuilt(&self.membership().with_weight(id, weight)?)
    }

    /// The placement of another membership whose slot table moves as few slots as possible from this one's; for
    /// schemes without slots the same as building it anew.
    ///
    /// The table is history: two processes have it in common only if they share it.
    ///
    /// # Errors
    /// As [`Placement::build`].
    pub fn least_movement(&self, membership: &Membership) -> Result<Self, BuildError> {
        let next = Self::build_after(&self.scheme, membership, Some(self))?;
        Ok(Self {
            keys: self.keys,
            ..next
        })
    }

    /// The members as a membership: in bucket order for numbered schemes, else by id.
    #[must_use]
    pub fn membership(&self) -> Membership {
        let order = match &self.engine {
            Engine::Numbered { by_bucket, .. } => by_bucket.as_slice(),
            Engine::Probed(slots) | Engine::Rank(slots) => slots.nodes(),
            Engine::RedisCluster { listed, .. } => listed.as_slice(),
            _ => &[],
        };
        // A node of several buckets holds consecutive ones; either all members have buckets or none.
        let listed = order.chunk_by(|a, b| a == b).filter_map(|run| run.first());
        let listed = listed.map(|&node| node as usize);
        let rest = (0..self.members.len()).filter(|_| order.is_empty());
        // Ids were checked when the placement was built, so the list is as valid as that one was.
        Membership::new(listed.chain(rest).map(|node| self.members[node].clone()))
            .unwrap_or_default()
    }

    /// The index of a member.
    fn place(&self, id: &NodeId) -> Option<usize> {
        self.members
            .binary_search_by(|member| member.id().cmp(id))
            .ok()
    }

    fn ring_with_form(&self) -> Option<(&Ring, RingForm)> {
        match (&self.engine, self.scheme.kind()) {
            (Engine::Ring(ring), Kind::Ring { form, .. }) => Some((ring, form)),
            _ => None,
        }
    }

    /// The placement of `members`, of whom only one differs from those of this ring.
    fn ring_changed(
        &self,
        (ring, form): (&Ring, RingForm),
        members: Vec<Member>,
        change: NodeChange,
    ) -> Result<Self, BuildError> {
        let ring = ring_after(ring, &self.scheme, form, &members, change)?;
        Ok(Self {
            scheme: self.scheme.clone(),
            secret: self.secret.clone(),
            keys: self.keys,
            members,
            engine: Engine::Ring(ring),
        })
    }

    fn rebuilt(&self, membership: &Membership) -> Result<Self, BuildError> {
        let built = Self::build(&self.scheme, membership)?;
        Ok(Self {
            keys: self.keys,
            ..built
        })
    }
}

impl Scheme {
    /// Whether a member may leave this membership without renumbering others against their will.
    ///
    /// # Errors
    /// [`BuildError::MiddleBucket`] with the expected cost when the scheme draws from numbered buckets (`jump`,
    /// `jumpback`, `probed`, `rank`) and the member is not last.
    pub fn allows_removal(&self, membership: &Membership, id: &NodeId) -> Result<(), BuildError> {
        let by_range = matches!(
            self.algorithm(),
            Algorithm::Jump | Algorithm::JumpBack | Algorithm::Probed | Algorithm::Rank
        );
        let members = membership.members();
        let place = members.iter().position(|member| member.id() == id);
        match place {
            Some(place) if by_range && place + 1 < members.len() => {
                let holds = |member: &Member| match self.algorithm() {
                    Algorithm::Probed | Algorithm::Rank => {
                        let open = member.weight().milli() / 1000;
                        (open.max(1), open > 0)
                    }
                    _ => (1, true),
                };
                Err(BuildError::MiddleBucket {
                    scheme: self.name(),
                    cost: RenumberingCost::new(
                        self.algorithm(),
                        members.iter().map(holds),
                        place,
                        id.clone(),
                    ),
                })
            }
            _ => Ok(()),
        }
    }
}
