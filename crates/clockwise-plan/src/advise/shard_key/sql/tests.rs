use super::*;

fn of(text: &str, table: Option<&str>) -> Facts {
    facts(&parse(text).unwrap()[0], table)
}

fn one(text: &str, table: Option<&str>) -> Vec<String> {
    let bound = of(text, table).bound.into_iter();
    bound
        .filter(|(_, bound)| *bound == Bound::One)
        .map(|(column, _)| column)
        .collect()
}

#[test]
fn a_column_is_bound_where_every_row_has_one_value() {
    for (text, columns) in [
        (
            "select * from o where user_id = 5 and day > 3",
            &["user_id"][..],
        ),
        ("select * from o where (user_id = $1)", &["user_id"]),
        ("select * from o where ? = user_id", &["user_id"]),
        ("select * from o where user_id = 5 or day = 3", &[]),
        ("select * from o where not user_id = 5", &[]),
        ("select * from o where user_id <> 5", &[]),
        ("select * from o where user_id in (5)", &["user_id"]),
        ("select * from o where user_id in (5, 6)", &[]),
        (
            "select * from o where (user_id, day) = (5, 6)",
            &["day", "user_id"],
        ),
        ("select * from o where lower(user_id) = 'x'", &[]),
        ("select * from o where user_id = '5'::int", &["user_id"]),
        ("select * from O where O.User_Id = -5", &["user_id"]),
        ("update o set day = 5 where id = 3", &["id"]),
        ("delete from o where id = 3", &["id"]),
        (
            "select * from o join u on u.id = o.user_id where u.id = 4",
            &["user_id"],
        ),
        (
            "select * from o, u where u.id = o.user_id and u.id = 4",
            &["user_id"],
        ),
        ("select * from o join u on u.id = o.user_id", &[]),
        (
            "select * from o left join u on u.id = 4 and u.id = o.user_id",
            &[],
        ),
        (
            "select * from o a join o b on a.user_id = b.parent where a.user_id = 4",
            &[],
        ),
        (
            "select * from o a join o b on a.user_id = b.user_id where a.user_id = 4",
            &["user_id"],
        ),
        (
            "select * from o join u using (user_id) where user_id = 4",
            &["user_id"],
        ),
        (
            "select * from u where exists (select 1 from o where o.user_id = u.id) and u.id = 4",
            &["user_id"],
        ),
        (
            "with x as (select * from o where user_id = 4) select * from x",
            &["user_id"],
        ),
        (
            "select * from (select * from o where user_id = 4) t",
            &["user_id"],
        ),
        (
            "select * from o where user_id = 4 union select * from o where day = 3",
            &[],
        ),
    ] {
        assert_eq!(one(text, Some("o")), columns, "{text}");
    }
}

#[test]
fn several_values_are_few_and_the_table_can_be_left_open() {
    let few = of(
        "select * from o where id in (1, 2) and (k = 1 or k = 2) and j = any($1)",
        Some("o"),
    );
    assert_eq!(few.bound.len(), 3);
    assert!(few.bound.values().all(|bound| *bound == Bound::Few));
    assert_eq!(
        one("select * from a join b on a.x = b.y where b.y = 1", None),
        ["x", "y"]
    );
    assert!(!of("select * from other where id = 1", Some("o")).is_query);
}

#[test]
fn changed_and_unique_columns_are_found() {
    let set = |text: &str| of(text, Some("o")).changed.into_iter().collect::<Vec<_>>();
    assert_eq!(
        set("update o set a = 1, (b, c) = (2, 3) where id = 1"),
        ["a", "b", "c"]
    );
    assert_eq!(set("update other set a = 1"), [""; 0]);
    assert_eq!(
        set("insert into o (id, a) values (1, 2) on conflict (id) do update set a = 2"),
        ["a"]
    );
    let unique = |text: &str| of(text, Some("o")).unique.len();
    assert_eq!(
        unique("create table o (id int primary key, mail text unique, t int, unique (t, id))"),
        3
    );
    assert_eq!(unique("create unique index on o (mail)"), 1);
    assert_eq!(unique("create index on o (mail)"), 0);
    assert_eq!(unique("alter table o add constraint u unique (mail, t)"), 1);
    assert_eq!(
        unique("alter table other add constraint u unique (mail, t)"),
        0
    );
}
