//! Graphs with known answers.

use std::collections::BTreeSet;

use shepherd_paths::{Blocked, Ended, Limits, Question, search};

use crate::brute::Asked;
use crate::made::{Made, Served};
use crate::{between, find, run, shown};

fn found(edges: &str, asked: &Asked) -> Vec<String> {
    shown(&find(&Made::of(edges).into(), asked))
}

#[test]
fn paths_have_up_to_four_hops_and_shorter_ones_come_first() {
    let graph = "S-T S-a a-T S-b b-c c-T S-d d-e e-f f-T S-g g-h h-i i-j j-T";
    assert_eq!(found(graph, &between("S", "T")), ["S-T", "S-a-T", "S-b-c-T", "S-d-e-f-T"]);
}

#[test]
fn edges_join_whatever_their_direction() {
    assert_eq!(found("a-S T-a", &between("S", "T")), ["S-a-T"]);
}

#[test]
fn self_loops_and_two_cycles_lead_nowhere() {
    assert_eq!(found("S-S S-a a-S a-a a-T T-a T-T", &between("S", "T")), ["S-a-T"]);
}

#[test]
fn parallel_edges_are_one_hop_and_make_it_better() {
    let found = find(&Made::of("S-a a-T S-b b-T b-T").into(), &between("S", "T"));
    assert_eq!(shown(&found), ["S-b-T", "S-a-T"]);
    assert_eq!(found.paths[0].hops.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_star_has_one_path_between_two_of_its_points() {
    assert_eq!(found("h-S h-T h-a h-b h-c h-d", &between("S", "T")), ["S-h-T"]);
}

#[test]
fn a_hub_is_not_passed_but_may_be_an_end() {
    let hub = "h-S h-T h-a h-b h-c S-x x-T";
    let narrow = |asked: Asked| Asked { limits: Limits { max_degree: 3, ..asked.limits }, ..asked };
    assert_eq!(found(hub, &narrow(between("S", "T"))), ["S-x-T"]);
    assert_eq!(found(hub, &narrow(between("h", "T"))), ["h-T", "h-S-x-T"]);
}

#[test]
fn a_clique_has_all_paths_and_the_best_few_of_them_are_found() {
    let names = ["S", "T", "a", "b", "c", "d"];
    let edges: Vec<String> = names
        .iter()
        .enumerate()
        .flat_map(|(place, one)| names[..place].iter().map(move |other| format!("{one}-{other}")))
        .collect();
    let all = found(&edges.join(" "), &between("S", "T"));
    assert_eq!(all.len(), 1 + 4 + 4 * 3 + 4 * 3 * 2);
    let asked = between("S", "T");
    let few = Asked { limits: Limits { max_paths: 6, ..asked.limits }, ..asked };
    assert_eq!(found(&edges.join(" "), &few), all[..6]);
}

#[test]
fn nothing_joins_what_is_not_joined() {
    for graph in ["", "S-a b-T", "S-S T-T"] {
        let found = find(&Made::of(graph).into(), &between("S", "T"));
        assert!(found.paths.is_empty() && found.nodes.is_empty() && found.edges.is_empty());
        assert_eq!(found.ended, Ended::Complete);
    }
}

#[test]
fn a_node_is_no_path_to_itself() {
    assert!(found("S-a a-S S-S", &between("S", "S")).is_empty());
}

#[test]
fn all_ends_are_joined_and_none_is_passed() {
    let asked = Asked { starts: vec!["S".into(), "U".into()], ..between("S", "T") };
    assert_eq!(found("S-U U-T S-a a-T", &asked), ["U-T", "S-a-T"]);
}

#[test]
fn blocked_nodes_are_not_passed_whatever_the_case_of_their_names() {
    let served: Served = Made::of("S-a a-T S-b b-T S-c c-T").into();
    let asked = between("S", "T");
    let question = Question::new(asked.starts, asked.ends, &[]).unwrap();
    let blocked = Blocked::new(["a".to_owned()], ["NAME of b".to_owned(), "name of T".to_owned()]);
    let stop = std::future::pending();
    let found = run(search(&question, &blocked, &asked.limits, &served, &served, stop));
    assert_eq!(shown(&found), ["S-c-T"]);
}

#[test]
fn a_category_is_met_by_its_descendants_between_the_ends() {
    let mut graph = Made::of("S-T S-a a-T S-b b-c c-T");
    graph.node("a", "biolink:Disease");
    graph.node("c", "biolink:Protein");
    let wanting = |alternatives: &[&[&str]]| {
        let alternatives =
            alternatives.iter().map(|all| all.iter().map(|&one| one.to_owned()).collect()).collect();
        shown(&find(&graph.clone().into(), &Asked { alternatives, ..between("S", "T") }))
    };
    assert_eq!(wanting(&[&["biolink:GeneOrGeneProduct"]]), ["S-b-c-T"]);
    assert_eq!(wanting(&[&["biolink:Gene", "biolink:Protein"]]), ["S-b-c-T"]);
    assert_eq!(wanting(&[&["biolink:Disease", "biolink:Gene"]]), [""; 0]);
    assert_eq!(wanting(&[&["biolink:Disease"], &["biolink:Protein"]]), ["S-a-T", "S-b-c-T"]);
    assert_eq!(wanting(&[&["biolink:NamedThing"]]), ["S-a-T", "S-b-c-T"]);
    assert_eq!(wanting(&[&[]]), ["S-T", "S-a-T", "S-b-c-T"]);
}

#[test]
fn more_categories_than_can_be_counted_are_refused() {
    let many: Vec<String> = (0..=Question::MAX_CATEGORIES).map(|number| format!("c{number}")).collect();
    assert!(Question::new(["S".to_owned()], ["T".to_owned()], std::slice::from_ref(&many)).is_err());
    assert!(Question::new(["S".to_owned()], ["T".to_owned()], &[many[1..].to_vec()]).is_ok());
}

#[test]
fn what_is_known_beforehand_chooses_among_equals() {
    let mut graph = Made::of("S-a a-T S-b b-T S-c c-T");
    graph.degrees.extend([("a".to_owned(), 900), ("b".to_owned(), 900), ("c".to_owned(), 2)]);
    graph.distances.insert(("T".to_owned(), "b".to_owned()), 0.1);
    let asked = between("S", "T");
    let found = find(&graph.clone().into(), &asked);
    assert_eq!(shown(&found), ["S-c-T", "S-b-T", "S-a-T"]);
    let one = Asked { limits: Limits { top_k: 1, ..asked.limits }, ..asked };
    assert_eq!(shown(&find(&graph.into(), &one)), ["S-c-T"]);
}

#[test]
fn no_more_nodes_are_asked_about_than_allowed_the_best_first() {
    let mut graph = Made::of("S-a a-T S-b b-x x-T S-c c-y y-T");
    graph
        .degrees
        .extend([("a", 900), ("b", 1), ("c", 2), ("x", 3), ("y", 4)].map(|(id, d)| (id.to_owned(), d)));
    let asked = between("S", "T");
    let few = Asked { limits: Limits { max_asked: 3, ..asked.limits }, ..asked };
    let found = find(&graph.into(), &few);
    assert_eq!((found.not_asked, found.batches, found.answered), (4, 2, 2));
    let paths: BTreeSet<String> = shown(&found).into_iter().collect();
    assert_eq!(paths, ["S-a-T", "S-b-x-T"].map(str::to_owned).into());
}

#[test]
fn no_hop_between_nodes_that_the_ends_keep_is_lost() {
    let graph = "S-a a-a0 a-a1 a-a2 a-z z-z0 z-z1 z-z2 z-T";
    let asked = between("S", "T");
    let narrow = Asked { limits: Limits { top_k: 1, ..asked.limits }, ..asked };
    assert_eq!(found(graph, &narrow), ["S-a-z-T"]);
}
