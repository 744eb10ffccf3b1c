//! A [`Message`] as TRAPI 2.0: no nulls, nothing empty that may be absent, bindings as lists of ids,
//! knowledge level and agent type as members of edges.

use std::io::{self, Write};

use foldhash::HashSet;
use serde_json::value::RawValue;
use trapi::Dialect;

use super::edge::{AGENT_TYPE, KNOWLEDGE_LEVEL};
use super::object::{Entries, is_null};
use super::write::{NAMED_THING, NOT_PROVIDED};
use super::{Analysis, Answer, Bindings, Edge, Index, List, Message, Node, Rest, Table};
use crate::json::Json;

/// Deepest nesting of attributes within attributes that is written.
const MAX_DEPTH: usize = 8;

impl Message<'_> {
    pub(crate) fn write_v2<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        json.object(|json| {
            json.member("query_graph")?.value(&self.query_graph.in_dialect(Dialect::V2))?;
            json.member("knowledge_graph")?.object(|json| self.graph_v2(json))?;
            json.member("results")?.list(|json| {
                self.results.iter().try_for_each(|answer| self.answer_v2(json.item()?, answer))
            })?;
            if self.graphs.len() > 0 {
                json.member("auxiliary_graphs")?.object(|json| self.aux_graphs_v2(json))?;
            }
            rest(json, &self.rest)
        })
    }

    fn graph_v2<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        json.member("nodes")?.object(|json| {
            self.nodes.iter().try_for_each(|(_, name, node)| node_v2(json.member(name)?, node))
        })?;
        json.member("edges")?.object(|json| {
            self.edges.iter().try_for_each(|(_, name, edge)| self.edge_v2(json.member(name)?, edge))
        })?;
        rest(json, &self.graph_rest)
    }

    fn aux_graphs_v2<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        self.graphs.iter().try_for_each(|(_, name, graph)| {
            json.member(name)?.object(|json| {
                json.member("edges")?.list(|json| {
                    graph.edges.iter().try_for_each(|&edge| json.item()?.text(self.edges.name(edge)))
                })?;
                rest(json, &graph.rest)
            })
        })
    }

    fn edge_v2<W: Write>(&self, json: &mut Json<W>, edge: &Edge<'_>) -> io::Result<()> {
        let (level, agent, attributes) = lift(edge);
        json.object(|json| {
            json.member("subject")?.text(self.nodes.name(edge.subject))?;
            json.member("predicate")?.raw(edge.predicate.get())?;
            json.member("object")?.text(self.nodes.name(edge.object))?;
            json.member("knowledge_level")?.raw(level.unwrap_or(NOT_PROVIDED))?;
            json.member("agent_type")?.raw(agent.unwrap_or(NOT_PROVIDED))?;
            objects(json, "qualifiers", &edge.qualifiers.items())?;
            if edge.support.is_some() || !attributes.is_empty() {
                json.member("attributes")?.list(|json| {
                    if let Some(support) = &edge.support {
                        self.write_support(json.item()?, support)?;
                    }
                    attributes.iter().try_for_each(|raw| object(json.item()?, raw, 0))
                })?;
            }
            json.member("sources")?.list(|json| {
                edge.sources.items().into_iter().try_for_each(|raw| object(json.item()?, raw, 0))?;
                self.own_source(edge).map_or(Ok(()), |source| json.item()?.raw(source))
            })?;
            rest(json, &edge.rest)
        })
    }

    fn answer_v2<W: Write>(&self, json: &mut Json<W>, answer: &Answer<'_>) -> io::Result<()> {
        json.object(|json| {
            self.bindings_v2(json, "node_bindings", &answer.node_bindings, &self.nodes)?;
            if !answer.analyses.is_empty() {
                json.member("analyses")?.list(|json| {
                    answer.analyses.iter().try_for_each(|analysis| self.analysis_v2(json.item()?, analysis))
                })?;
            }
            rest(json, &answer.rest)
        })
    }

    fn analysis_v2<W: Write>(&self, json: &mut Json<W>, analysis: &Analysis<'_>) -> io::Result<()> {
        json.object(|json| {
            if let Some(resource) = &analysis.resource_id {
                json.member("resource_id")?.raw(resource.get())?;
            }
            self.bindings_v2(json, "edge_bindings", &analysis.edge_bindings, &self.edges)?;
            self.bindings_v2(json, "path_bindings", &analysis.path_bindings, &self.graphs)?;
            if let Some(score) = &analysis.score {
                match score.spelling {
                    Some(spelling) => json.member("score")?.raw(spelling.get())?,
                    None => json.member("score")?.value(&score.value)?,
                }
            }
            if !analysis.support_graphs.is_empty() {
                self.write_graph_names(json.member("support_graphs")?, &analysis.support_graphs)?;
            }
            attributes(json, &analysis.attributes)?;
            rest(json, &analysis.rest)
        })
    }

    fn bindings_v2<W: Write, I: Index, T>(
        &self,
        json: &mut Json<W>,
        name: &str,
        bindings: &Bindings<'_, I>,
        things: &Table<'_, I, T>,
    ) -> io::Result<()> {
        let mut bound = bindings.iter().filter(|(_, list)| !list.is_empty()).peekable();
        if bound.peek().is_none() {
            return Ok(());
        }
        json.member(name)?.object(|json| {
            bound.try_for_each(|(key, list)| {
                let mut known = HashSet::default();
                let names = list.iter().map(|binding| things.name(binding.id));
                let names: Vec<&str> = names.filter(|name| known.insert(*name)).collect();
                json.member(self.keys.name(*key))?.object(|json| json.member("ids")?.value(&names))
            })
        })
    }
}

fn node_v2<W: Write>(json: &mut Json<W>, node: &Node<'_>) -> io::Result<()> {
    json.object(|json| {
        if let Some(name) = node.name {
            json.member("name")?.raw(name.get())?;
        }
        match node.categories.text().filter(|_| !node.categories.is_empty()) {
            Some(text) => json.member("categories")?.raw(text)?,
            None if node.categories.is_empty() => json.member("categories")?.raw(NAMED_THING)?,
            None => json.member("categories")?.value(&node.categories.items())?,
        }
        attributes(json, &node.attributes)?;
        rest(json, &node.rest)
    })
}

/// Takes knowledge level and agent type out of an edge's attributes, unless it has them as members; the
/// other attributes are left.
fn lift<'m>(edge: &'m Edge<'_>) -> (Option<&'m str>, Option<&'m str>, Vec<&'m RawValue>) {
    let (mut level, mut agent) = (edge.level.map(RawValue::get), edge.agent.map(RawValue::get));
    let mut others = Vec::new();
    for raw in edge.attributes.items() {
        let Some(members) = members(raw) else { continue };
        let get =
            |name: &str| members.0.iter().rev().find(|(known, _)| known == name).map(|(_, raw)| raw.get());
        let Some(value) = get("value").filter(|value| *value != "null") else { continue };
        let kind = get("attribute_type_id").map(|kind| kind.trim_matches('"'));
        match kind {
            Some(KNOWLEDGE_LEVEL) => level = level.or(Some(value)),
            Some(AGENT_TYPE) => agent = agent.or(Some(value)),
            _ => others.push(raw),
        }
    }
    (level, agent, others)
}

fn members(raw: &RawValue) -> Option<Entries<'_, &RawValue>> {
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok())?
}

fn attributes<W: Write>(json: &mut Json<W>, list: &List<'_>) -> io::Result<()> {
    objects(json, "attributes", &list.items())
}

/// A list of objects, unless it is empty.
fn objects<W: Write>(json: &mut Json<W>, name: &str, items: &[&RawValue]) -> io::Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    json.member(name)?.list(|json| items.iter().try_for_each(|raw| object(json.item()?, raw, 0)))
}

/// An object without its nulls and empty lists; what its `value` holds is content and stays.
fn object<W: Write>(json: &mut Json<W>, raw: &RawValue, depth: usize) -> io::Result<()> {
    let Some(Entries(members)) = members(raw) else { return json.raw(raw.get()) };
    json.object(|json| {
        let mut known = HashSet::default();
        let last: Vec<_> = members.iter().rev().filter(|(name, _)| known.insert(name.as_ref())).collect();
        for (name, value) in last.into_iter().rev() {
            if is_null(value) || (name != "value" && List::from_raw(value).is_list_and_empty()) {
                continue;
            }
            let json = json.member(name)?;
            if name == "attributes" && depth < MAX_DEPTH {
                let nested = List::from_raw(value);
                json.list(|json| {
                    nested.items().into_iter().try_for_each(|raw| object(json.item()?, raw, depth + 1))
                })?;
            } else {
                json.raw(value.get())?;
            }
        }
        Ok(())
    })
}

fn rest<W: Write>(json: &mut Json<W>, rest: &Rest<'_>) -> io::Result<()> {
    let mut members = rest.iter().filter(|(_, value)| !is_null(value));
    members.try_for_each(|(name, value)| json.member(name)?.raw(value.get()))
}

#[cfg(test)]
mod tests {
    use crate::json::Json;
    use crate::message::parse;

    fn v2(text: &str) -> String {
        let response = format!(r#"{{"message":{text}}}"#);
        let mut out = Vec::new();
        parse(&response).unwrap().write_v2(&mut Json::new(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn v1(text: &str) -> String {
        let response = format!(r#"{{"message":{text}}}"#);
        let mut out = Vec::new();
        parse(&response).unwrap().write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const V2: &str = r#"{"query_graph":{"nodes":{"a":{"ids":["A"]},"b":{}},"edges":{"e":{"subject":"a","object":"b"}}},"knowledge_graph":{"nodes":{"A":{"name":"x","categories":["biolink:Gene"]},"B":{"categories":["biolink:Drug"],"attributes":[{"attribute_type_id":"t","value":[]}]}},"edges":{"e1":{"subject":"A","predicate":"biolink:p","object":"B","knowledge_level":"prediction","agent_type":"manual_agent","qualifiers":[{"qualifier_type_id":"q","qualifier_value":"v"}],"sources":[{"resource_id":"infores:x","resource_role":"primary_knowledge_source"}],"z":1.0}}},"results":[{"node_bindings":{"a":{"ids":["A"]},"b":{"ids":["B"]}},"analyses":[{"resource_id":"infores:y","edge_bindings":{"e":{"ids":["e1"]}},"score":0.50}]}],"auxiliary_graphs":{"g":{"edges":["e1"]}}}"#;

    #[test]
    fn what_came_in_2_0_goes_out_in_2_0_and_by_way_of_1_6() {
        assert_eq!(v2(V2), V2);
        assert_eq!(v2(&v1(V2)), V2);
    }

    #[test]
    fn members_of_2_0_are_attributes_in_1_6() {
        let text = v1(V2);
        assert!(text.contains(
            r#""attributes":[{"attribute_type_id":"biolink:knowledge_level","value":"prediction"},{"attribute_type_id":"biolink:agent_type","value":"manual_agent"}]"#
        ));
        assert!(text.contains(r#""node_bindings":{"a":[{"id":"A","attributes":[]}]"#), "{text}");
        assert_eq!(v1(&text), text);
    }

    #[test]
    fn nulls_and_empty_lists_are_left_out() {
        let text = v2(
            r#"{"query_graph":{"nodes":{}},"knowledge_graph":{"nodes":{"A":{"name":null,"attributes":[{"attribute_type_id":"t","value":null,"x":null},{"attribute_type_id":"u","value":[null],"attributes":[{"attribute_type_id":"w","value":1,"y":null}],"description":null}]}},"edges":{"e":{"subject":"A","object":"A","predicate":"p","qualifiers":[],"attributes":[{"attribute_type_id":"biolink:agent_type","value":"manual_agent"}],"sources":[{"resource_id":"r","upstream_resource_ids":[],"source_record_urls":null}]}}},"results":[{"node_bindings":{"n":[]},"analyses":[]}],"auxiliary_graphs":{}}"#,
        );
        assert!(text.contains(r#"{"attribute_type_id":"u","value":[null],"attributes":[{"attribute_type_id":"w","value":1}]}"#), "{text}");
        assert!(text.contains(r#""knowledge_level":"not_provided","agent_type":"manual_agent","sources":[{"resource_id":"r"}]"#), "{text}");
        assert!(!text.contains("auxiliary_graphs") && !text.contains("analyses"), "{text}");
    }
}
