//! What a statement says of columns: which it binds to a value, which it changes, which have to be unique.
//!
//! What it is: the tree of a parsed statement, searched for conditions that hold for all its rows. What it promises: a
//! column is bound to one value only where an equality with a constant, or a chain of equalities that ends in one, holds
//! for every occurrence of the table; columns under OR only where both sides bind them. What it does not: know columns
//! that a view hides, or evaluate functions. Cost: in proportion to the statement; recursion as deep as it, so that it
//! needs a stack. Source: the dialect of PostgreSQL as the crate sqlparser reads it; its general one where that fails.

mod conditions;

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::{
    AlterTableOperation, Assignment, AssignmentTarget, ColumnOption, Expr, FromTable, InTarget,
    IndexColumn, JoinConstraint, JoinOperator, ObjectName, OnConflictAction, OnInsert, Query,
    SelectItem, SetExpr, Statement, TableConstraint, TableFactor, TableObject, TableWithJoins,
    UpdateTableFromKind,
};
use sqlparser::dialect::{GenericDialect, PostgreSqlDialect};
use sqlparser::parser::{Parser, ParserError};

use conditions::Conditions;

/// To how many values a statement binds a column.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Bound {
    /// One value: one shard.
    One,
    /// Some values: some shards.
    Few,
}

/// What one statement says of a table.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Facts {
    /// Whether it looks for rows of the table, or changes some.
    pub(super) is_query: bool,
    /// Whether it adds rows to the table.
    pub(super) is_insert: bool,
    /// Columns bound to values.
    pub(super) bound: BTreeMap<String, Bound>,
    /// Columns that a join compares with those of another table.
    pub(super) joined: BTreeSet<String>,
    /// Columns that it changes.
    pub(super) changed: BTreeSet<String>,
    /// Columns that have to be unique together.
    pub(super) unique: Vec<BTreeSet<String>>,
}

/// Parses a text; one statement, or several.
pub(super) fn parse(text: &str) -> Result<Vec<Statement>, ParserError> {
    let postgres = Parser::parse_sql(&PostgreSqlDialect {}, text);
    // Question marks for values are not PostgreSQL's; its error is the one to show.
    postgres.or_else(|error| Parser::parse_sql(&GenericDialect {}, text).map_err(|_| error))
}

/// What a statement says of `table`, or of all tables as if they were one.
pub(super) fn facts(statement: &Statement, table: Option<&str>) -> Facts {
    let mut search = Search {
        table: table.map(str::to_lowercase),
        ..Search::default()
    };
    search.statement(statement);
    search.finish()
}

/// A column: the table or the query that it belongs to, and its name. As it is written, its table's name or alias, empty
/// where there is none.
type Column = (String, String);

#[derive(Debug, Default)]
struct Search {
    table: Option<String>,
    /// Queries around the place that is looked at, the innermost last.
    open: Vec<Scope>,
    /// Queries that were looked through.
    closed: Vec<Scope>,
    equal: Vec<(Column, Column)>,
    bound: BTreeMap<Column, Bound>,
    facts: Facts,
}

/// A query, or another statement, with its tables. Columns without a table's name belong to it.
#[derive(Debug, Default)]
struct Scope {
    /// A name that no table has.
    name: String,
    /// Tables by the name that qualifies their columns, with a name that is theirs alone.
    tables: BTreeMap<String, String>,
    /// Those of them, by their own names, that are the table asked about.
    wanted: BTreeSet<String>,
}

impl Search {
    fn is_wanted(&self, name: &str) -> bool {
        self.table.as_deref().is_none_or(|table| table == name)
    }

    fn statement(&mut self, statement: &Statement) {
        self.open();
        self.statement_within(statement);
        self.close();
    }

    fn open(&mut self) {
        let number = self.open.len() + self.closed.len();
        self.open.push(Scope {
            name: format!("#{number}"),
            ..Scope::default()
        });
    }

    fn close(&mut self) {
        self.closed.extend(self.open.pop());
    }

    /// The column that is meant by one as it is written here.
    fn resolve(&self, (table, name): Column) -> Column {
        let inner = self.open.iter().rev();
        let own = if table.is_empty() {
            self.open.last().map(|scope| scope.name.clone())
        } else {
            inner
                .filter_map(|scope| scope.tables.get(&table))
                .next()
                .cloned()
        };
        (own.unwrap_or(table), name)
    }

    fn statement_within(&mut self, statement: &Statement) {
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Update(update) => {
                let name = self.with_joins(&update.table);
                if let Some(
                    UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from),
                ) = &update.from
                {
                    self.from(from);
                }
                if name.is_some_and(|name| self.is_wanted(&name)) {
                    self.changes(&update.assignments);
                }
                self.condition(update.selection.as_ref());
            }
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) =
                    &delete.from;
                self.from(from);
                self.from(delete.using.as_deref().unwrap_or_default());
                self.condition(delete.selection.as_ref());
            }
            Statement::Insert(insert) => {
                let TableObject::TableName(name) = &insert.table else {
                    return;
                };
                if let Some(source) = &insert.source {
                    self.query(source);
                }
                if self.is_wanted(&last(name)) {
                    self.facts.is_insert = true;
                    match &insert.on {
                        Some(OnInsert::DuplicateKeyUpdate(assignments)) => {
                            self.changes(assignments)
                        }
                        Some(OnInsert::OnConflict(conflict)) => {
                            if let OnConflictAction::DoUpdate(update) = &conflict.action {
                                self.changes(&update.assignments);
                            }
                        }
                        _ => {}
                    }
                }
            }
            Statement::Explain { statement, .. } => self.statement(statement),
            other => self.definition(other),
        }
    }

    /// Unique keys of the table.
    fn definition(&mut self, statement: &Statement) {
        match statement {
            Statement::CreateTable(create) if self.is_wanted(&last(&create.name)) => {
                for column in &create.columns {
                    let is_unique = column.options.iter().any(|option| {
                        matches!(
                            option.option,
                            ColumnOption::PrimaryKey(_) | ColumnOption::Unique(_)
                        )
                    });
                    if is_unique {
                        let name = column.name.value.to_lowercase();
                        self.facts.unique.push(BTreeSet::from([name]));
                    }
                }
                create
                    .constraints
                    .iter()
                    .for_each(|one| self.constraint(one));
            }
            Statement::CreateIndex(index)
                if index.unique && self.is_wanted(&last(&index.table_name)) =>
            {
                self.unique(&index.columns);
            }
            Statement::AlterTable(alter) if self.is_wanted(&last(&alter.name)) => {
                for operation in &alter.operations {
                    if let AlterTableOperation::AddConstraint { constraint, .. } = operation {
                        self.constraint(constraint);
                    }
                }
            }
            _ => {}
        }
    }

    fn constraint(&mut self, constraint: &TableConstraint) {
        match constraint {
            TableConstraint::Unique(unique) => self.unique(&unique.columns),
            TableConstraint::PrimaryKey(key) => self.unique(&key.columns),
            _ => {}
        }
    }

    fn unique(&mut self, columns: &[IndexColumn]) {
        let names = columns
            .iter()
            .filter_map(|column| match &column.column.expr {
                Expr::Identifier(name) => Some(name.value.to_lowercase()),
                _ => None,
            });
        self.facts.unique.push(names.collect());
    }

    fn changes(&mut self, assignments: &[Assignment]) {
        for assignment in assignments {
            let names = match &assignment.target {
                AssignmentTarget::ColumnName(name) => std::slice::from_ref(name),
                AssignmentTarget::Tuple(names) => names,
            };
            self.facts.changed.extend(names.iter().map(last));
        }
    }

    fn query(&mut self, query: &Query) {
        for one in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.query(&one.query);
        }
        self.body(&query.body);
    }

    fn body(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => {
                self.open();
                self.from(&select.from);
                self.condition(select.selection.as_ref());
                for item in &select.projection {
                    if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } =
                        item
                    {
                        self.subqueries(expr);
                    }
                }
                self.close();
            }
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left);
                self.body(right);
            }
            SetExpr::Insert(statement)
            | SetExpr::Update(statement)
            | SetExpr::Delete(statement) => {
                self.statement(statement);
            }
            _ => {}
        }
    }

    fn from(&mut self, from: &[TableWithJoins]) {
        for one in from {
            self.with_joins(one);
        }
    }

    /// Notes all tables of a join; the name of the first where it is one.
    fn with_joins(&mut self, joined: &TableWithJoins) -> Option<String> {
        let (first, alias) = self.factor(&joined.relation);
        let mut left = alias;
        for join in &joined.joins {
            let (_, right) = self.factor(&join.relation);
            let (constraint, filters) = constraint_of(&join.join_operator);
            match constraint {
                Some(JoinConstraint::On(expr)) => self.join_condition(expr, filters),
                Some(JoinConstraint::Using(columns) | JoinConstraint::UsingAlias(columns, _)) => {
                    for column in columns.iter().map(last) {
                        for side in [&left, &right].into_iter().flatten() {
                            let plain = self.resolve((String::new(), column.clone()));
                            self.equal.push((plain, (side.clone(), column.clone())));
                        }
                        self.facts.joined.insert(column);
                    }
                }
                _ => {}
            }
            left = right.or(left);
        }
        first
    }

    /// Notes a table, or what stands for one: its name and the name by which columns are qualified.
    fn factor(&mut self, factor: &TableFactor) -> (Option<String>, Option<String>) {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let name = last(name);
                let alias = alias
                    .as_ref()
                    .map_or_else(|| name.clone(), |alias| alias.name.value.to_lowercase());
                let is_wanted = self.is_wanted(&name);
                let own = self.open.last_mut().map(|scope| {
                    let own = format!("{}.{alias}", scope.name);
                    scope.tables.insert(alias, own.clone());
                    if is_wanted {
                        scope.wanted.insert(own.clone());
                    }
                    own
                });
                self.facts.is_query |= is_wanted;
                (Some(name), own)
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                self.query(subquery);
                let own = alias
                    .as_ref()
                    .zip(self.open.last_mut())
                    .map(|(alias, scope)| {
                        let alias = alias.name.value.to_lowercase();
                        let own = format!("{}.{alias}", scope.name);
                        scope.tables.insert(alias, own.clone());
                        own
                    });
                (None, own)
            }
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => (self.with_joins(table_with_joins), None),
            _ => (None, None),
        }
    }

    /// A condition that each row meets.
    fn condition(&mut self, condition: Option<&Expr>) {
        if let Some(condition) = condition {
            self.join_condition(condition, true);
        }
    }

    /// The same, of which values count only where it `filters`: an outer join keeps rows that do not meet it.
    fn join_condition(&mut self, condition: &Expr, filters: bool) {
        let mut found = Conditions::default();
        found.add(condition);
        for (left, right) in found.equal {
            let sides = [self.resolve(left), self.resolve(right)];
            if sides[0].0 != sides[1].0 {
                let own = sides.iter().filter(|side| self.is_own(side));
                let names: Vec<String> = own.map(|side| side.1.clone()).collect();
                self.facts.joined.extend(names);
            }
            let [left, right] = sides;
            self.equal.push((left, right));
        }
        if filters {
            for (column, bound) in found.bound {
                let entry = self.bound.entry(self.resolve(column)).or_insert(bound);
                *entry = bound.min(*entry);
            }
        }
        self.subqueries(condition);
    }

    fn is_own(&self, column: &Column) -> bool {
        let scopes = || self.open.iter().chain(&self.closed);
        self.table.is_none()
            || scopes().any(|scope| scope.name == column.0 || scope.wanted.contains(&column.0))
    }

    /// Looks into queries within an expression.
    fn subqueries(&mut self, expr: &Expr) {
        match expr {
            Expr::Subquery(query)
            | Expr::Exists {
                subquery: query, ..
            } => self.query(query),
            Expr::In { expr, target, .. } => {
                self.subqueries(expr);
                if let InTarget::Subquery(query) = target {
                    self.query(query);
                }
            }
            Expr::BinaryOp { left, right, .. } => {
                self.subqueries(left);
                self.subqueries(right);
            }
            Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => self.subqueries(inner),
            _ => {}
        }
    }

    /// Follows equalities until no column more is bound.
    fn finish(mut self) -> Facts {
        let sides = self.equal.iter().flat_map(|(left, right)| [left, right]);
        let columns: BTreeSet<Column> = self.bound.keys().chain(sides).cloned().collect();
        // The only table's columns are the same with its name and without.
        let only = self.closed.iter().filter(|scope| scope.tables.len() == 1);
        let twins: BTreeMap<&String, &String> = only
            .flat_map(|scope| scope.tables.values().map(|table| (&scope.name, table)))
            .flat_map(|(scope, table)| [(scope, table), (table, scope)])
            .collect();
        for (table, name) in &columns {
            if let Some(&twin) = twins.get(table) {
                let column = (table.clone(), name.clone());
                self.equal.push((column, (twin.clone(), name.clone())));
            }
        }
        for _ in 0..=self.equal.len().min(MOST_ROUNDS) {
            let before = self.bound.clone();
            for (left, right) in &self.equal {
                let bound = [left, right]
                    .into_iter()
                    .filter_map(|side| self.bound.get(side))
                    .min();
                if let Some(&bound) = bound {
                    self.bound.insert(left.clone(), bound);
                    self.bound.insert(right.clone(), bound);
                }
            }
            if before == self.bound {
                break;
            }
        }
        let names: BTreeSet<&String> = columns.iter().map(|column| &column.1).collect();
        for column in names {
            let of = |table: &str| self.bound.get(&(table.to_owned(), column.clone())).copied();
            let bound = match &self.table {
                // Every occurrence of the table has to be bound, by its name or by the query's only such column.
                Some(_) => {
                    let occurs = self.closed.iter().flat_map(|scope| {
                        let wanted = scope.wanted.iter();
                        wanted.map(|table| of(table).or_else(|| of(&scope.name)))
                    });
                    occurs
                        .collect::<Option<Vec<Bound>>>()
                        .and_then(|all| all.into_iter().max())
                }
                // Any table may be meant.
                None => {
                    let same = self.bound.iter().filter(|(one, _)| one.1 == *column);
                    same.map(|(_, bound)| *bound).min()
                }
            };
            if let Some(bound) = bound {
                self.facts.bound.insert(column.clone(), bound);
            }
        }
        self.facts
    }
}

fn constraint_of(operator: &JoinOperator) -> (Option<&JoinConstraint>, bool) {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::CrossJoin(constraint)
        | JoinOperator::Semi(constraint)
        | JoinOperator::LeftSemi(constraint)
        | JoinOperator::StraightJoin(constraint) => (Some(constraint), true),
        JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint) => (Some(constraint), false),
        _ => (None, false),
    }
}

/// The last part of a name: what schema it is in does not count.
fn last(name: &ObjectName) -> String {
    let part = name.0.last().and_then(|part| part.as_ident());
    part.map_or(String::new(), |ident| ident.value.to_lowercase())
}

/// Chains of equalities are short; a longer one is not followed to its end.
const MOST_ROUNDS: usize = 64;

#[cfg(test)]
mod tests;
