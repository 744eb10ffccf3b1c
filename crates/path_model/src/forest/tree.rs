//! One tree, checked once so that every walk from its root ends at a leaf.

use super::saved::SavedTree;

/// Stands for no child.
const NONE: i64 = -1;

#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

#[derive(Clone, Copy, Debug)]
enum Node {
    Leaf(f32),
    Split { feature: usize, below: f32, missing_left: bool, left: usize, right: usize },
}

impl Tree {
    pub(super) fn read(saved: &SavedTree, features: usize) -> Result<Self, &'static str> {
        let count = saved.left_children.len();
        let lengths = [
            saved.right_children.len(),
            saved.split_indices.len(),
            saved.split_conditions.len(),
            saved.default_left.len(),
        ];
        if count == 0 || lengths != [count; 4] {
            return Err("its lists are empty or of different lengths");
        }
        if saved.split_type.iter().any(|kind| *kind != 0) {
            return Err("it splits by a category, which is not supported");
        }
        let node = |place: usize| Self::node(saved, place, features);
        let nodes: Vec<Node> = (0..count)
            .map(node)
            .collect::<Option<_>>()
            .ok_or("it names a node or a feature that is not there")?;
        let tree = Self(nodes);
        if tree.is_tree() { Ok(tree) } else { Err("two branches lead to one node") }
    }

    fn node(saved: &SavedTree, place: usize, features: usize) -> Option<Node> {
        let number = *saved.split_conditions.get(place)?;
        let (left, right) = (*saved.left_children.get(place)?, *saved.right_children.get(place)?);
        if left == NONE && right == NONE {
            return Some(Node::Leaf(number));
        }
        let feature = Some(*saved.split_indices.get(place)?).filter(|feature| *feature < features)?;
        let child =
            |child: i64| usize::try_from(child).ok().filter(|child| *child < saved.left_children.len());
        let missing_left = *saved.default_left.get(place)? != 0;
        Some(Node::Split { feature, below: number, missing_left, left: child(left)?, right: child(right)? })
    }

    /// Whether no node is reached twice from the root.
    fn is_tree(&self) -> bool {
        let mut reached = vec![false; self.0.len()];
        let mut next = vec![0];
        while let Some(place) = next.pop() {
            match reached.get_mut(place) {
                Some(reached) if !*reached => *reached = true,
                _ => return false,
            }
            if let Some(Node::Split { left, right, .. }) = self.0.get(place) {
                next.extend([*left, *right]);
            }
        }
        true
    }

    /// The value of the leaf that the features lead to.
    pub(super) fn leaf(&self, features: &[f32]) -> f32 {
        let mut place = 0;
        loop {
            match self.0.get(place) {
                Some(Node::Leaf(value)) => return *value,
                Some(Node::Split { feature, below, missing_left, left, right }) => {
                    let value = features.get(*feature).copied().unwrap_or(f32::NAN);
                    let goes_left = if value.is_nan() { *missing_left } else { value < *below };
                    place = if goes_left { *left } else { *right };
                }
                // children were checked
                None => return f32::NAN,
            }
        }
    }
}
