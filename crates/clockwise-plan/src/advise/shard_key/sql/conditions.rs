//! What an expression says of each row for which it is true: which columns are equal, and which have one value or some.
//!
//! Promises only what follows from AND, OR, `=`, `IN` and `= ANY`; whatever else says nothing. Cost: in proportion to the
//! expression.

use std::collections::BTreeMap;

use sqlparser::ast::{BinaryOperator, Expr, InTarget};

use super::{Bound, Column};

/// Equalities that hold for each row.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub(super) equal: Vec<(Column, Column)>,
    pub(super) bound: BTreeMap<Column, Bound>,
}

impl Conditions {
    pub(super) fn add(&mut self, expr: &Expr) {
        match expr {
            Expr::Nested(inner) => self.add(inner),
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And,
                right,
            } => {
                self.add(left);
                self.add(right);
            }
            Expr::BinaryOp {
                left,
                op: BinaryOperator::Or,
                right,
            } => {
                let (mut one, mut other) = (Self::default(), Self::default());
                one.add(left);
                other.add(right);
                let both = one
                    .bound
                    .into_keys()
                    .filter(|column| other.bound.contains_key(column));
                both.for_each(|column| self.bind(column, Bound::Few));
            }
            Expr::BinaryOp {
                left,
                op: BinaryOperator::Eq,
                right,
            } => self.equality(left, right),
            Expr::In {
                expr,
                target: InTarget::List(list),
                negated: false,
                ..
            } if list.iter().all(is_constant) => {
                if let Some(column) = column(expr) {
                    let is_one = list.len() == 1;
                    self.bind(column, if is_one { Bound::One } else { Bound::Few });
                }
            }
            Expr::AnyOp {
                left,
                compare_op: BinaryOperator::Eq,
                right,
                ..
            } if is_constant(right) => {
                if let Some(column) = column(left) {
                    self.bind(column, Bound::Few);
                }
            }
            _ => {}
        }
    }

    fn equality(&mut self, left: &Expr, right: &Expr) {
        if let (Expr::Tuple(left), Expr::Tuple(right)) = (left, right) {
            left.iter()
                .zip(right)
                .for_each(|(left, right)| self.equality(left, right));
            return;
        }
        match (column(left), column(right)) {
            (Some(left), Some(right)) => self.equal.push((left, right)),
            (Some(column), None) if is_constant(right) => self.bind(column, Bound::One),
            (None, Some(column)) if is_constant(left) => self.bind(column, Bound::One),
            _ => {}
        }
    }

    fn bind(&mut self, column: Column, bound: Bound) {
        let entry = self.bound.entry(column).or_insert(bound);
        *entry = bound.min(*entry);
    }
}

fn column(expr: &Expr) -> Option<Column> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => column(inner),
        Expr::Identifier(name) => Some((String::new(), name.value.to_lowercase())),
        Expr::CompoundIdentifier(names) => {
            let (name, before) = names.split_last()?;
            let table = before.last()?.value.to_lowercase();
            Some((table, name.value.to_lowercase()))
        }
        _ => None,
    }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Value(_) | Expr::TypedString(_) => true,
        Expr::Nested(inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::UnaryOp { expr: inner, .. } => is_constant(inner),
        Expr::Array(array) => array.elem.iter().all(is_constant),
        _ => false,
    }
}
