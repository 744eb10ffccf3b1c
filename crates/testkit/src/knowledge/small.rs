//! The fixed graph: a centre written by hand, a hub, and a crowd around the hub that leads nowhere else.

use super::Knowledge;

const GENE: &[&str] = &["biolink:Gene", "biolink:BiologicalEntity", "biolink:NamedThing"];
const CHEMICAL: &[&str] = &["biolink:SmallMolecule", "biolink:ChemicalEntity", "biolink:NamedThing"];
const DISEASE: &[&str] = &[
    "biolink:Disease",
    "biolink:DiseaseOrPhenotypicFeature",
    "biolink:BiologicalEntity",
    "biolink:NamedThing",
];
const PROCESS: &[&str] = &[
    "biolink:BiologicalProcess",
    "biolink:BiologicalProcessOrActivity",
    "biolink:BiologicalEntity",
    "biolink:NamedThing",
];

/// The nodes of the centre.
const CENTRE: [(&str, &str, &[&str]); 9] = [
    ("CHEBI:45783", "imatinib", CHEMICAL),
    ("NCBIGene:3815", "KIT", GENE),
    ("NCBIGene:25", "ABL1", GENE),
    ("NCBIGene:5159", "PDGFRB", GENE),
    ("NCBIGene:5156", "PDGFRA", GENE),
    ("NCBIGene:7124", "TNF", GENE),
    ("GO:0048008", "platelet-derived growth factor receptor signaling pathway", PROCESS),
    ("MONDO:0004979", "asthma", DISEASE),
    (HUB, "TP53", GENE),
];

/// The statements of the centre: between imatinib and asthma there is one path of each length from two to four
/// edges that passes the hub by, and one of two edges through it.
const STATEMENTS: [(&str, &str, &str, usize); 11] = [
    ("CHEBI:45783", "biolink:affects", "NCBIGene:3815", 5),
    ("NCBIGene:3815", "biolink:genetically_associated_with", "MONDO:0004979", 2),
    ("CHEBI:45783", "biolink:affects", "NCBIGene:25", 9),
    ("NCBIGene:25", "biolink:genetically_interacts_with", "NCBIGene:7124", 1),
    ("NCBIGene:7124", "biolink:genetically_associated_with", "MONDO:0004979", 4),
    ("CHEBI:45783", "biolink:physically_interacts_with", "NCBIGene:5159", 3),
    ("NCBIGene:5159", "biolink:participates_in", "GO:0048008", 1),
    ("NCBIGene:5156", "biolink:participates_in", "GO:0048008", 1),
    ("NCBIGene:5156", "biolink:genetically_associated_with", "MONDO:0004979", 1),
    ("CHEBI:45783", "biolink:affects", HUB, 1),
    (HUB, "biolink:genetically_associated_with", "MONDO:0004979", 1),
];

/// The node that half of the graph is connected with.
const HUB: &str = "NCBIGene:7157";
/// How many nodes are around the hub.
const CROWD: usize = 291;

impl Knowledge {
    /// The fixed graph of 300 nodes.
    ///
    /// Its centre connects imatinib (`CHEBI:45783`) with asthma (`MONDO:0004979`) over KIT (two edges), over ABL1
    /// and TNF (three), over PDGFRB, the pathway of their receptors and PDGFRA (four), and over TP53 (two), which is
    /// a hub of more than 200 edges. The other 291 nodes lead to the centre over the hub only.
    pub fn small() -> Self {
        let mut graph = Self::default();
        for (id, name, categories) in CENTRE {
            let information_content = if id == HUB { 70.0 } else { 85.0 };
            graph.add_node(id, name, categories, information_content);
        }
        for (subject, predicate, object, publications) in STATEMENTS {
            let (subject, object) = (graph.positions[subject], graph.positions[object]);
            graph.add_statement(subject, predicate, object, publications);
        }
        let hub = graph.positions[HUB];
        let crowd: Vec<usize> = (0..CROWD).map(|nth| graph.add_of_crowd(nth)).collect();
        for (nth, &node) in crowd.iter().enumerate() {
            if nth % 4 != 3 {
                graph.add_statement(node, "biolink:affects", hub, nth % 5);
            }
            graph.add_statement(node, "biolink:affects", crowd[(7 * nth + 1) % CROWD], nth % 3);
        }
        graph
    }

    fn add_of_crowd(&mut self, nth: usize) -> usize {
        let (prefix, name, categories) = match nth % 4 {
            0 => ("NCBIGene:9900", "gene", GENE),
            1 => ("CHEBI:9900", "compound", CHEMICAL),
            2 => ("MONDO:9900", "disease", DISEASE),
            _ => ("GO:9900", "process", PROCESS),
        };
        self.add_node(&format!("{prefix}{nth:03}"), &format!("{name} {nth}"), categories, 75.0)
    }
}
