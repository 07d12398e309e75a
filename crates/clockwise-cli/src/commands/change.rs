//! The two memberships of a change, from the arguments that several commands share.

use std::path::Path;

use clockwise::{Membership, NodeId};
use clockwise_plan::Warning;

use crate::args::ChangeArgs;
use crate::failure::Failure;
use crate::membership::{Cluster, explain_edit, nodes_of, parse_edit, parse_node};

/// The membership of today, and tomorrow's where it is named and not made by edits.
#[derive(Debug)]
pub(crate) struct Clusters {
    pub(crate) today: Cluster,
    pub(crate) tomorrow: Option<Cluster>,
}

impl Clusters {
    /// Reads `--from` and `--to`.
    pub(crate) fn read(args: &ChangeArgs, warnings: &mut Vec<Warning>) -> Result<Self, Failure> {
        let mut today = Cluster::read(&args.from)?;
        warnings.append(&mut today.warnings);
        let mut tomorrow = if args.to.is_empty() {
            None
        } else {
            Some(Cluster::read(&args.to)?)
        };
        if let Some(tomorrow) = &mut tomorrow {
            let mut more = std::mem::take(&mut tomorrow.warnings);
            more.retain(|warning| !warnings.contains(warning));
            warnings.append(&mut more);
            // A bare list of nodes says nothing about how they place keys: that stays as it is.
            if !tomorrow.is_file {
                tomorrow.scheme.clone_from(&today.scheme);
                tomorrow.key_rule = today.key_rule;
                tomorrow.replication.clone_from(&today.replication);
            }
        }
        Ok(Self { today, tomorrow })
    }

    /// The cluster that says how the new membership places keys.
    pub(crate) fn after(&self) -> &Cluster {
        self.tomorrow.as_ref().unwrap_or(&self.today)
    }

    /// The new membership: tomorrow's, or today's with the edits of the command line, first removals, then weights,
    /// then additions. A removal goes past `may_remove` first.
    pub(crate) fn list_after(
        &self,
        args: &ChangeArgs,
        may_remove: impl Fn(&Membership, &NodeId) -> Result<(), Failure>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Membership, Failure> {
        if let Some(tomorrow) = &self.tomorrow {
            return Ok(tomorrow.membership.clone());
        }
        let mut membership = self.today.membership.clone();
        for id in nodes_of(&args.remove)? {
            let id = id.parse().map_err(Failure::usage)?;
            let smaller = membership
                .without(&id)
                .map_err(|error| explain_edit(error, &membership))?;
            may_remove(&membership, &id)?;
            membership = smaller;
        }
        for text in &args.weight {
            let (id, weight) = parse_edit(text)?;
            membership = membership
                .with_weight(&id, weight)
                .map_err(|error| explain_edit(error, &membership))?;
        }
        for node in nodes_of(&args.add)? {
            if Path::new(&node).is_file() {
                return Err(
                    Failure::usage(format!("--add {node}: that is a file, not a node"))
                        .hint("a file of keys goes behind --keys, a membership behind --to"),
                );
            }
            let (member, warning) = parse_node(&node)?;
            warnings.extend(warning);
            membership = membership.with(member).map_err(Failure::usage)?;
        }
        Ok(membership)
    }
}

impl ChangeArgs {
    /// Whether nothing is said about what changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.to.is_empty()
            && self.add.is_empty()
            && self.remove.is_empty()
            && self.weight.is_empty()
    }
}
