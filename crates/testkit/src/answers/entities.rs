//! Nodes: what a category's members are called and how their identifiers look.

use serde_json::{Value, json};

use super::question::stable_hash;

/// One thing of the made-up knowledge graph.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entity {
    pub(super) id: String,
    name: String,
    categories: Vec<String>,
}

impl Entity {
    /// The same, also of `category`, in case the query asked for a broader one than its family lists.
    pub(super) fn with_category(mut self, category: Option<&str>) -> Self {
        if let Some(category) = category
            && !self.categories.iter().any(|known| known == category)
        {
            self.categories.push(category.to_owned());
        }
        self
    }

    /// As a node of a TRAPI knowledge graph.
    pub(super) fn to_node(&self) -> Value {
        // Between 40 and 100, as information content is; the same for the same id.
        let information = 40.0 + f64::from(u16::try_from(stable_hash(&[&self.id]) % 600).unwrap_or(0)) / 10.0;
        json!({
            "name": self.name,
            "categories": self.categories,
            "attributes": [{
                "attribute_type_id": "biolink:information_content",
                "value": information,
                "value_type_id": "EDAM:data_0006",
                "original_attribute_name": "information_content",
            }],
        })
    }
}

/// Things of one kind: some known by name, any number of further ones numbered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    prefix: &'static str,
    categories: &'static [&'static str],
    noun: &'static str,
    known: &'static [(&'static str, &'static str)],
}

impl Family {
    /// The family for a category; for chemicals in a question about diabetes, the drugs used for it come first.
    pub(super) fn of(category: Option<&str>, about_diabetes: bool) -> Self {
        let name = category.unwrap_or_default().trim_start_matches("biolink:");
        match name {
            "ChemicalEntity"
            | "SmallMolecule"
            | "Drug"
            | "MolecularMixture"
            | "ChemicalMixture"
            | "MolecularEntity"
            | "ChemicalEntityOrGeneOrGeneProduct"
            | "ChemicalOrDrugOrTreatment" => {
                if about_diabetes {
                    ANTIDIABETICS
                } else {
                    CHEMICALS
                }
            }
            "Gene" | "GeneOrGeneProduct" | "GenomicEntity" => GENES,
            "Protein" | "Polypeptide" => PROTEINS,
            "Disease" | "DiseaseOrPhenotypicFeature" => DISEASES,
            "PhenotypicFeature" => PHENOTYPES,
            "BiologicalProcess"
            | "BiologicalProcessOrActivity"
            | "Pathway"
            | "MolecularActivity"
            | "PhysiologicalProcess" => PROCESSES,
            "AnatomicalEntity" | "Cell" | "GrossAnatomicalStructure" => ANATOMY,
            _ => THINGS,
        }
    }

    /// The member at `index`; there is one for every index.
    pub(super) fn member(&self, index: usize) -> Entity {
        match self.known.get(index) {
            Some(&(id, name)) => self.entity(id.to_owned(), name.to_owned()),
            // Well above the numbers in use, so that nothing real is named by accident.
            None => {
                self.entity(format!("{}{}", self.prefix, 9_000_000 + index), format!("{} {index}", self.noun))
            }
        }
    }

    fn entity(&self, id: String, name: String) -> Entity {
        Entity { id, name, categories: self.categories.iter().map(|&category| category.to_owned()).collect() }
    }
}

/// The entity an identifier stands for.
pub(super) fn of_id(id: &str, category: Option<&str>) -> Entity {
    let known = ALL.iter().find_map(|family| {
        let (_, name) = family.known.iter().find(|(known, _)| *known == id)?;
        Some(family.entity(id.to_owned(), (*name).to_owned()))
    });
    let entity = known.unwrap_or_else(|| {
        let family = match category {
            Some(_) => Family::of(category, false),
            None => ALL.iter().copied().find(|family| id.starts_with(family.prefix)).unwrap_or(THINGS),
        };
        let number = id.rsplit(':').next().unwrap_or(id);
        family.entity(id.to_owned(), format!("{} {number}", family.noun))
    });
    entity.with_category(category)
}

/// In the order in which an identifier's prefix is looked up.
const ALL: [Family; 9] =
    [ANTIDIABETICS, CHEMICALS, GENES, PROTEINS, DISEASES, PHENOTYPES, PROCESSES, ANATOMY, THINGS];

const CHEMICAL: &[&str] = &["biolink:SmallMolecule", "biolink:MolecularEntity", "biolink:ChemicalEntity"];

const ANTIDIABETICS: Family = Family {
    prefix: "CHEBI:",
    categories: CHEMICAL,
    noun: "compound",
    known: &[
        ("CHEBI:6801", "metformin"),
        ("CHEBI:5384", "glipizide"),
        ("CHEBI:40237", "sitagliptin"),
        ("CHEBI:82720", "empagliflozin"),
        ("CHEBI:8228", "pioglitazone"),
        ("CHEBI:71193", "liraglutide"),
        ("CHEBI:85078", "dapagliflozin"),
        ("CHEBI:5383", "glimepiride"),
        ("CHEBI:167574", "semaglutide"),
        ("CHEBI:5441", "glyburide"),
        ("CHEBI:68610", "linagliptin"),
        ("CHEBI:73274", "canagliflozin"),
        ("CHEBI:50122", "rosiglitazone"),
        ("CHEBI:64073", "exenatide"),
        ("CHEBI:8805", "repaglinide"),
        ("CHEBI:71272", "saxagliptin"),
        ("CHEBI:2376", "acarbose"),
        ("CHEBI:31654", "gliclazide"),
        ("CHEBI:72323", "alogliptin"),
        ("CHEBI:31897", "nateglinide"),
        ("CHEBI:6935", "miglitol"),
        ("CHEBI:27999", "tolbutamide"),
        ("CHEBI:3181", "bromocriptine"),
        ("CHEBI:9613", "tolazamide"),
    ],
};

const CHEMICALS: Family = Family {
    known: &[
        ("CHEBI:15365", "aspirin"),
        ("CHEBI:5855", "ibuprofen"),
        ("CHEBI:39548", "atorvastatin"),
        ("CHEBI:6541", "losartan"),
        ("CHEBI:8378", "prednisolone"),
        ("CHEBI:41879", "dexamethasone"),
        ("CHEBI:27732", "caffeine"),
        ("CHEBI:9168", "sirolimus"),
        ("CHEBI:45783", "imatinib"),
        ("CHEBI:16469", "estradiol"),
        ("CHEBI:3901", "colchicine"),
        ("CHEBI:44185", "methotrexate"),
    ],
    ..ANTIDIABETICS
};

const GENES: Family = Family {
    prefix: "NCBIGene:",
    categories: &["biolink:Gene", "biolink:BiologicalEntity"],
    noun: "gene",
    known: &[
        ("NCBIGene:6934", "TCF7L2"),
        ("NCBIGene:5468", "PPARG"),
        ("NCBIGene:3767", "KCNJ11"),
        ("NCBIGene:1803", "DPP4"),
        ("NCBIGene:6524", "SLC5A2"),
        ("NCBIGene:2740", "GLP1R"),
        ("NCBIGene:3630", "INS"),
        ("NCBIGene:3643", "INSR"),
        ("NCBIGene:2645", "GCK"),
        ("NCBIGene:6833", "ABCC8"),
        ("NCBIGene:3667", "IRS1"),
        ("NCBIGene:6927", "HNF1A"),
        ("NCBIGene:3172", "HNF4A"),
        ("NCBIGene:9370", "ADIPOQ"),
        ("NCBIGene:10891", "PPARGC1A"),
        ("NCBIGene:208", "AKT2"),
        ("NCBIGene:7124", "TNF"),
        ("NCBIGene:3569", "IL6"),
    ],
};

const PROTEINS: Family = Family {
    prefix: "UniProtKB:P",
    categories: &["biolink:Protein", "biolink:Polypeptide", "biolink:BiologicalEntity"],
    noun: "protein",
    known: &[
        ("UniProtKB:P01308", "insulin"),
        ("UniProtKB:P06213", "insulin receptor"),
        ("UniProtKB:P27487", "dipeptidyl peptidase 4"),
    ],
};

const DISEASES: Family = Family {
    prefix: "MONDO:",
    categories: &["biolink:Disease", "biolink:DiseaseOrPhenotypicFeature", "biolink:BiologicalEntity"],
    noun: "disease",
    known: &[
        ("MONDO:0005148", "type 2 diabetes mellitus"),
        ("MONDO:0011122", "obesity disorder"),
        ("MONDO:0005044", "hypertensive disorder"),
        ("MONDO:0005015", "diabetes mellitus"),
        ("MONDO:0004790", "fatty liver disease"),
        ("MONDO:0011705", "lymphangioleiomyomatosis"),
        ("MONDO:0005147", "type 1 diabetes mellitus"),
        ("MONDO:0004975", "Alzheimer disease"),
        ("MONDO:0004979", "asthma"),
    ],
};

const PHENOTYPES: Family = Family {
    prefix: "HP:",
    categories: &[
        "biolink:PhenotypicFeature",
        "biolink:DiseaseOrPhenotypicFeature",
        "biolink:BiologicalEntity",
    ],
    noun: "phenotype",
    known: &[
        ("HP:0003074", "hyperglycemia"),
        ("HP:0000855", "insulin resistance"),
        ("HP:0001513", "obesity"),
        ("HP:0000822", "hypertension"),
        ("HP:0003124", "hypercholesterolemia"),
        ("HP:0001943", "hypoglycemia"),
    ],
};

const PROCESSES: Family = Family {
    prefix: "GO:",
    categories: &["biolink:BiologicalProcess", "biolink:BiologicalEntity"],
    noun: "process",
    known: &[
        ("GO:0006006", "glucose metabolic process"),
        ("GO:0030073", "insulin secretion"),
        ("GO:0008286", "insulin receptor signaling pathway"),
        ("GO:0042593", "glucose homeostasis"),
        ("GO:0006094", "gluconeogenesis"),
        ("GO:0006954", "inflammatory response"),
    ],
};

const ANATOMY: Family = Family {
    prefix: "UBERON:",
    categories: &["biolink:AnatomicalEntity", "biolink:OrganismalEntity"],
    noun: "structure",
    known: &[("UBERON:0001264", "pancreas"), ("UBERON:0002107", "liver"), ("UBERON:0002113", "kidney")],
};

const THINGS: Family =
    Family { prefix: "UMLS:C", categories: &["biolink:NamedThing"], noun: "thing", known: &[] };
