//! A multilayer perceptron: linear layers with rectifiers between them.

use std::collections::BTreeMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::error::{ModelError, Unusable, read};

/// A multilayer perceptron, as `layers.N.weight` (outputs × inputs) and `layers.N.bias` (outputs) of a safetensors file
/// in single precision, in the order of N; each layer but the last is followed by max(0, x).
#[derive(Debug)]
pub struct Mlp(Vec<Layer>);

#[derive(Debug)]
struct Layer {
    inputs: usize,
    /// One row per output.
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// The two tensors of a layer.
#[derive(Default)]
struct Tensors<'t> {
    weight: Option<TensorView<'t>>,
    bias: Option<TensorView<'t>>,
}

impl Mlp {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ModelError`] says why it is of no use.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        Self::parse(&read(path)?).map_err(|reason| reason.at(path))
    }

    fn parse(bytes: &[u8]) -> Result<Self, Unusable> {
        let file = SafeTensors::deserialize(bytes)?;
        let mut found: BTreeMap<u32, Tensors<'_>> = BTreeMap::new();
        for (name, tensor) in file.iter() {
            let unknown = || Unusable::UnknownTensor(name.to_owned());
            let (layer, part) =
                name.strip_prefix("layers.").and_then(|rest| rest.split_once('.')).ok_or_else(unknown)?;
            let layer = found.entry(layer.parse().map_err(|_| unknown())?).or_default();
            match part {
                "weight" => layer.weight = Some(tensor),
                "bias" => layer.bias = Some(tensor),
                _ => return Err(unknown()),
            }
        }
        let mut layers: Vec<Layer> = Vec::with_capacity(found.len());
        for (number, tensors) in found {
            let inputs = layers.last().map(|before| before.bias.len());
            layers.push(layer(number, &tensors, inputs)?);
        }
        if layers.is_empty() { Err(Unusable::NoLayers) } else { Ok(Self(layers)) }
    }

    /// How many numbers it takes.
    pub fn inputs(&self) -> usize {
        self.0.first().map_or(0, |layer| layer.inputs)
    }

    /// How many numbers it gives.
    pub fn outputs(&self) -> usize {
        self.0.last().map_or(0, |layer| layer.bias.len())
    }

    /// What it makes of so many numbers as it takes; NaN counts as 0.
    pub fn run(&self, features: &[f32]) -> Vec<f32> {
        let known = |&feature: &f32| if feature.is_nan() { 0.0 } else { feature };
        let mut row: Vec<f32> = features.iter().map(known).collect();
        for (place, layer) in self.0.iter().enumerate() {
            let rectified = place + 1 < self.0.len();
            let rows = layer.weight.chunks_exact(layer.inputs).zip(&layer.bias);
            row = rows
                .map(|(weights, bias)| {
                    let sum: f32 = weights.iter().zip(&row).map(|(weight, value)| weight * value).sum();
                    if rectified { (sum + bias).max(0.0) } else { sum + bias }
                })
                .collect();
        }
        row
    }
}

/// A layer that takes as many numbers as the one before gives.
fn layer(number: u32, tensors: &Tensors<'_>, inputs: Option<usize>) -> Result<Layer, Unusable> {
    let named = |part: &str| format!("layers.{number}.{part}");
    let missing = |part: &str, expected: &str| Unusable::Tensor {
        name: named(part),
        found: "missing".to_owned(),
        expected: expected.to_owned(),
    };
    let weight = tensors.weight.as_ref().ok_or_else(|| missing("weight", "a matrix"))?;
    let bias = tensors.bias.as_ref().ok_or_else(|| missing("bias", "a vector"))?;
    let outputs = bias.shape().first().copied().unwrap_or_default().max(1);
    let inputs = inputs.or_else(|| weight.shape().get(1).copied()).unwrap_or_default().max(1);
    Ok(Layer {
        inputs,
        weight: numbers(named("weight"), weight, &[outputs, inputs])?,
        bias: numbers(named("bias"), bias, &[outputs])?,
    })
}

fn numbers(name: String, tensor: &TensorView<'_>, shape: &[usize]) -> Result<Vec<f32>, Unusable> {
    if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
        let found = format!("{:?} {:?}", tensor.dtype(), tensor.shape());
        return Err(Unusable::Tensor { name, found, expected: format!("F32 {shape:?}") });
    }
    // its length is what its shape says: the library has checked it
    let (numbers, _) = tensor.data().as_chunks::<{ size_of::<f32>() }>();
    Ok(numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
}
