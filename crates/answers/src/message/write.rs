//! A [`Message`] as TRAPI 1.x, which is also the form in which it is kept; 2.0 is in `write_v2`.

use std::io::{self, Write};

use serde_json::value::RawValue;

use super::answer::{Analysis, Answer, Binding, Bindings};
use super::edge::{AGENT_TYPE, KNOWLEDGE_LEVEL, SUPPORT_GRAPHS};
use super::{AuxGraph, Edge, GraphId, Index, List, Message, Node, Rest, Support, Table};
use crate::json::Json;

/// What a node is taken for when it does not say.
pub(super) const NAMED_THING: &str = r#"["biolink:NamedThing"]"#;

/// What both are where nobody says.
pub(super) const NOT_PROVIDED: &str = r#""not_provided""#;

impl Message<'_> {
    /// Writes the message as a JSON object in TRAPI 1.x. Nothing is lost by reading it again.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.write_to(&mut Json::new(out))
    }

    pub(crate) fn write_to<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        json.object(|json| {
            json.member("query_graph")?.value(&self.query_graph)?;
            json.member("knowledge_graph")?.object(|json| self.write_graph(json))?;
            json.member("results")?.list(|json| {
                self.results.iter().try_for_each(|answer| self.write_answer(json.item()?, answer))
            })?;
            json.member("auxiliary_graphs")?.object(|json| {
                self.graphs
                    .iter()
                    .try_for_each(|(_, name, graph)| self.write_aux_graph(json.member(name)?, graph))
            })?;
            write_rest(json, &self.rest)
        })
    }

    /// An analysis as it is written, to be compared with others.
    pub(crate) fn analysis_text(&self, analysis: &Analysis<'_>) -> Vec<u8> {
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = self.write_analysis(&mut Json::new(&mut text), analysis);
        text
    }

    fn write_graph<W: Write>(&self, json: &mut Json<W>) -> io::Result<()> {
        json.member("nodes")?.object(|json| {
            self.nodes.iter().try_for_each(|(_, name, node)| write_node(json.member(name)?, node))
        })?;
        json.member("edges")?.object(|json| {
            self.edges.iter().try_for_each(|(_, name, edge)| self.write_edge(json.member(name)?, edge))
        })?;
        write_rest(json, &self.graph_rest)
    }

    fn write_edge<W: Write>(&self, json: &mut Json<W>, edge: &Edge<'_>) -> io::Result<()> {
        json.object(|json| {
            json.member("subject")?.text(self.nodes.name(edge.subject))?;
            json.member("predicate")?.raw(edge.predicate.get())?;
            json.member("object")?.text(self.nodes.name(edge.object))?;
            if !edge.qualifiers.is_empty() {
                write_list(json.member("qualifiers")?, &edge.qualifiers)?;
            }
            self.write_edge_attributes(json.member("attributes")?, edge)?;
            json.member("sources")?.list(|json| {
                write_items(json, &edge.sources)?;
                self.own_source(edge).map_or(Ok(()), |source| json.item()?.raw(source))
            })?;
            write_rest(json, &edge.rest)
        })
    }

    /// The source that we add to an edge that passes through.
    pub(super) fn own_source(&self, edge: &Edge<'_>) -> Option<&str> {
        self.aggregator.as_ref().filter(|_| edge.aggregated).map(|source| source.get())
    }

    fn write_edge_attributes<W: Write>(&self, json: &mut Json<W>, edge: &Edge<'_>) -> io::Result<()> {
        let says_nothing = edge.attributes.is_empty() && edge.support.is_none();
        if !says_nothing && edge.level.is_none() && edge.agent.is_none() && edge.support.is_none() {
            return write_list(json, &edge.attributes);
        }
        let missing = says_nothing.then_some(NOT_PROVIDED);
        json.list(|json| {
            if let Some(support) = &edge.support {
                self.write_support(json.item()?, support)?;
            }
            write_items(json, &edge.attributes)?;
            for (kind, member) in [(KNOWLEDGE_LEVEL, edge.level), (AGENT_TYPE, edge.agent)] {
                let Some(value) = member.map(RawValue::get).or(missing) else { continue };
                // Another copy of the edge may have said it already, the other dialect's way.
                if edge.attributes.text().is_some_and(|text| text.contains(kind)) {
                    continue;
                }
                json.item()?.object(|json| {
                    json.member("attribute_type_id")?.text(kind)?;
                    json.member("value")?.raw(value)
                })?;
            }
            Ok(())
        })
    }

    pub(super) fn write_support<W: Write>(
        &self,
        json: &mut Json<W>,
        support: &Support<'_>,
    ) -> io::Result<()> {
        json.object(|json| {
            json.member("attribute_type_id")?.text(SUPPORT_GRAPHS)?;
            self.write_graph_names(json.member("value")?, &support.graphs)?;
            write_rest(json, &support.rest)
        })
    }

    pub(super) fn write_graph_names<W: Write>(
        &self,
        json: &mut Json<W>,
        graphs: &[GraphId],
    ) -> io::Result<()> {
        json.list(|json| graphs.iter().try_for_each(|&graph| json.item()?.text(self.graphs.name(graph))))
    }

    fn write_aux_graph<W: Write>(&self, json: &mut Json<W>, graph: &AuxGraph<'_>) -> io::Result<()> {
        json.object(|json| {
            json.member("edges")?.list(|json| {
                graph.edges.iter().try_for_each(|&edge| json.item()?.text(self.edges.name(edge)))
            })?;
            write_list(json.member("attributes")?, &graph.attributes)?;
            write_rest(json, &graph.rest)
        })
    }

    fn write_answer<W: Write>(&self, json: &mut Json<W>, answer: &Answer<'_>) -> io::Result<()> {
        json.object(|json| {
            json.member("node_bindings")?
                .object(|json| self.write_bindings(json, &answer.node_bindings, &self.nodes, true))?;
            json.member("analyses")?.list(|json| {
                answer.analyses.iter().try_for_each(|analysis| self.write_analysis(json.item()?, analysis))
            })?;
            write_rest(json, &answer.rest)
        })
    }

    fn write_analysis<W: Write>(&self, json: &mut Json<W>, analysis: &Analysis<'_>) -> io::Result<()> {
        json.object(|json| {
            if let Some(resource) = &analysis.resource_id {
                json.member("resource_id")?.raw(resource.get())?;
            }
            if analysis.path_bindings.is_empty() {
                json.member("edge_bindings")?
                    .object(|json| self.write_bindings(json, &analysis.edge_bindings, &self.edges, true))?;
            } else {
                json.member("path_bindings")?
                    .object(|json| self.write_bindings(json, &analysis.path_bindings, &self.graphs, false))?;
            }
            if let Some(score) = &analysis.score {
                match score.spelling {
                    Some(spelling) => json.member("score")?.raw(spelling.get())?,
                    None => json.member("score")?.value(&score.value)?,
                }
            }
            if !analysis.support_graphs.is_empty() {
                self.write_graph_names(json.member("support_graphs")?, &analysis.support_graphs)?;
            }
            if !analysis.attributes.is_empty() {
                write_list(json.member("attributes")?, &analysis.attributes)?;
            }
            write_rest(json, &analysis.rest)
        })
    }

    /// Node and edge bindings always have a list of attributes, path bindings only where there are any.
    fn write_bindings<W: Write, I: Index, T>(
        &self,
        json: &mut Json<W>,
        bindings: &Bindings<'_, I>,
        things: &Table<'_, I, T>,
        attributes: bool,
    ) -> io::Result<()> {
        bindings.iter().try_for_each(|(key, list)| {
            json.member(self.keys.name(*key))?.list(|json| {
                list.iter().try_for_each(|binding| {
                    write_binding(json.item()?, binding, things.name(binding.id), attributes)
                })
            })
        })
    }
}

fn write_binding<W: Write, I>(
    json: &mut Json<W>,
    binding: &Binding<'_, I>,
    id: &str,
    attributes: bool,
) -> io::Result<()> {
    json.object(|json| {
        json.member("id")?.text(id)?;
        match binding.attributes {
            Some(list) => json.member("attributes")?.raw(list.get())?,
            None if attributes => json.member("attributes")?.raw("[]")?,
            None => {}
        }
        write_rest(json, &binding.rest)
    })
}

fn write_node<W: Write>(json: &mut Json<W>, node: &Node<'_>) -> io::Result<()> {
    json.object(|json| {
        if let Some(name) = node.name {
            json.member("name")?.raw(name.get())?;
        }
        if node.categories.is_empty() {
            json.member("categories")?.raw(NAMED_THING)?;
        } else {
            write_list(json.member("categories")?, &node.categories)?;
        }
        write_list(json.member("attributes")?, &node.attributes)?;
        write_rest(json, &node.rest)
    })
}

pub(super) fn write_rest<W: Write>(json: &mut Json<W>, rest: &Rest<'_>) -> io::Result<()> {
    rest.iter().try_for_each(|(name, value)| json.member(name)?.raw(value.get()))
}

pub(super) fn write_list<W: Write>(json: &mut Json<W>, list: &List<'_>) -> io::Result<()> {
    match list.text() {
        Some(text) => json.raw(text),
        None => json.list(|json| write_items(json, list)),
    }
}

pub(super) fn write_items<W: Write>(json: &mut Json<W>, list: &List<'_>) -> io::Result<()> {
    match list.text() {
        Some(text) => json.items_of(text),
        None => list.items().into_iter().try_for_each(|item| json.item()?.raw(item.get())),
    }
}
