"""Published metrics that compare centres: VISOR, T2I-CompBench, HRS, GenEval."""
