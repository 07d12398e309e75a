//! Lists of nodes as shells hand them over: braces, commas, spaces, names of files that are not there.

mod command;

use command::{holds, json, refusal};

#[test]
fn lists_that_the_shell_did_not_spell_out_are_spelt_out() {
    for nodes in ["cache-{1..4}", "cache-{1..2},cache-{3..4}"] {
        let inspected = json(["inspect", "--json", "--cluster", nodes]);
        let ids: Vec<&str> = inspected["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| node["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["cache-1", "cache-2", "cache-3", "cache-4"], "{nodes}");
    }
    let weighted = json(["inspect", "--json", "--cluster", "c{1..2}=0.5"]);
    assert_eq!(weighted["nodes"][1]["weight"], 0.5);
    holds(
        &refusal(["inspect", "--cluster", "n{0..99999999}"]),
        &["more than 65000 nodes"],
    );
}

#[test]
fn files_that_are_not_there_are_no_nodes() {
    for name in ["cach.toml", "cluster.json", "haproxy.cfg"] {
        holds(
            &refusal(["plan", "--from", name, "--add", "c"]),
            &[name, "there is no such file", "hint: if it is a node"],
        );
    }
}

#[test]
fn a_quoted_list_with_spaces_is_no_node_with_a_space() {
    holds(
        &refusal(["plan", "--from", "cache-1 cache-2", "--add", "c"]),
        &["cache-1 cache-2", "an id with a space needs a cluster file"],
    );
    // A comma at the end of a value is what `a, b` leaves.
    let two = json(["inspect", "--json", "--cluster", "a,", "b"]);
    assert_eq!(two["nodes"].as_array().map(Vec::len), Some(2));
}
