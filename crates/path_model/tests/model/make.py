"""Makes the small models beside this file and what the public libraries say of some paths by them.

    pip install xgboost-cpu==3.2.0 numpy==2.4.6 scikit-learn==1.9.1 safetensors==0.8.0
    python make.py

Everything is drawn from one seed: a second run writes the same numbers.
"""

import json
import pathlib

import numpy as np
import xgboost
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).resolve().parent
LENGTH = 4  # of an embedding
GRAPH = 11  # features of a path's place in the graph
random = np.random.default_rng(20261130)


def number(value):
    """As JSON, with as many digits as single precision needs: NaN is null."""
    return None if np.isnan(value) else float(str(np.float32(value)))


def classifier(name, features, labels):
    """Trained until it gets no better: the trees after the best are left out of predictions."""
    model = xgboost.XGBClassifier(
        n_estimators=30, max_depth=3, learning_rate=0.5, early_stopping_rounds=4, objective="binary:logistic", random_state=7
    )
    half = len(features) // 2
    model.fit(features[:half], labels[:half], eval_set=[(features[half:], labels[half:])], verbose=False)
    model.save_model(HERE / name)
    trees = model.get_booster().num_boosted_rounds()
    assert model.best_iteration + 1 < trees, "early stopping must make a difference"
    return lambda rows: model.predict_proba(rows)[:, 1]


def mlp(name, sizes):
    tensors = {}
    for layer, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        tensors[f"layers.{2 * layer}.weight"] = random.normal(size=(outputs, inputs)).astype(np.float32) / np.float32(inputs)
        tensors[f"layers.{2 * layer}.bias"] = random.normal(size=outputs).astype(np.float32)
    save_file(tensors, HERE / name)

    def run(row):
        row = np.nan_to_num(row, nan=0.0)
        for layer in range(len(sizes) - 1):
            row = tensors[f"layers.{2 * layer}.weight"] @ row + tensors[f"layers.{2 * layer}.bias"]
            if layer + 2 < len(sizes):
                row = np.maximum(row, np.float32(0))
        return row

    return run


def graph_rows(count):
    """Many a value is missing."""
    rows = random.normal(size=(count, GRAPH)).astype(np.float32)
    rows[random.random(rows.shape) < 0.2] = np.nan
    return rows


def labels(rows):
    says = np.nan_to_num(rows[:, 0], nan=-0.5) + 0.5 * np.nan_to_num(rows[:, 1], nan=1.0)
    return (says + random.normal(scale=0.7, size=len(rows)) > 0.3).astype(int)


def mean(embeddings, names):
    known = [embeddings[name] for name in names if name in embeddings]
    if not known:
        return np.full(LENGTH, np.nan, dtype=np.float32)
    return (np.sum(known, axis=0, dtype=np.float64) / len(known)).astype(np.float32)


def main():
    nodes = [f"X:{number}" for number in range(8)]
    predicates = ["biolink:affects", "biolink:treats", "biolink:related_to"]
    embeddings = {name: random.normal(size=LENGTH).astype(np.float32) for name in nodes[:6] + predicates[:2]}

    rows = graph_rows(400)
    by_graph = classifier("graph.json", rows, labels(rows))
    to_score = mlp("score.safetensors", [2 * LENGTH + GRAPH, 6, 1])
    to_features = mlp("features.safetensors", [2 * LENGTH + GRAPH, 6, 3])
    wide = random.normal(size=(400, 3)).astype(np.float32)
    by_features = classifier("features.json", wide, labels(wide))

    cases = []
    for row in graph_rows(40):
        path = [str(name) for name in random.choice(nodes, size=3, replace=False)]
        hops = [str(name) for name in random.choice(predicates, size=2, replace=False)]
        full = np.concatenate([mean(embeddings, path), mean(embeddings, hops), row])
        output = to_features(full)
        cases.append({
            "nodes": path,
            "predicates": hops,
            "graph": [number(value) for value in row],
            "by_graph": number(by_graph(row[None])[0]),
            "by_mlp": number(1 / (1 + np.exp(-to_score(full)[0]))),
            "mlp": [number(value) for value in output],
            "by_mlp_and_classifier": number(by_features(output[None])[0]),
        })
    expected = {
        "embeddings": {name: [number(value) for value in vector] for name, vector in embeddings.items()},
        "cases": cases,
    }
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
