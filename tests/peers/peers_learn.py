"""scikit-learn's side of the benchmarks of perf-predict.

peers_learn.py serve TRAIN.csv TEST.csv   answers each line "fit" or "predict" by the CPU seconds of it; the target is the last column
peers_learn.py pipeline TRAIN.csv TEST.csv reads, fits, predicts, writes: what a script does from its start to its end
peers_learn.py ask TRAIN.csv POOL.csv      answers each line by the CPU seconds of one step of active sampling: fit 64 trees, score the pool, take the best row
peers_learn.py version
"""
import sys
import time

import numpy
import pandas
import sklearn
from sklearn.ensemble import RandomForestRegressor


def split(path):
    table = pandas.read_csv(path)
    return table.iloc[:, :-1].to_numpy(numpy.float32), table.iloc[:, -1].to_numpy()


def forest(seed):
    return RandomForestRegressor(100, random_state=seed, n_jobs=1)


def main(mode, *words):
    if mode == "version":
        print(f"scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}, pandas {pandas.__version__}")
        return
    x, y = split(words[0])
    z, _ = split(words[1])
    if mode == "pipeline":
        pandas.DataFrame({"predicted": forest(1).fit(x, y).predict(z)}).to_csv(sys.stdout, index=False)
        return
    if mode == "ask":
        for seed, line in enumerate(sys.stdin):
            start = time.process_time()
            trees = RandomForestRegressor(64, random_state=seed, n_jobs=1).fit(x, y).estimators_
            each = numpy.stack([tree.predict(z, check_input=False) for tree in trees])
            numpy.argmax(each.std(0) / each.mean(0) ** 0.95)
            print(f"{time.process_time() - start:.6f}", flush=True)
        return
    model, seed = None, 0
    for line in sys.stdin:
        start = time.process_time()
        if line.strip() == "fit":
            seed += 1
            model = forest(seed).fit(x, y)
        else:
            model.predict(z)
        print(f"{time.process_time() - start:.6f}", flush=True)


main(*sys.argv[1:])
