"""Benchmarks: contenders run side by side in one process, a table on the screen and the figures as JSON.

Each is a program of its own and shows its options with --help:

    python -m evenhand.benchmarks.training     shared-prefix DPO against stock TRL, other ways to its loss, and the plain passes
    python -m evenhand.benchmarks.exactness    log-probabilities and gradients of packed sequences, by kernel and family
    python -m evenhand.benchmarks.side         what is asked, last or first: tokens that are shared, and quality
    python -m evenhand.benchmarks.generation   candidates against the engines' own calls
    python -m evenhand.benchmarks.judging      all rubrics and candidates of a document against one call for each
    python -m evenhand.benchmarks.serving      seconds until the best of k is served, and requests a second
    python -m evenhand.benchmarks.hostile      what honest clients of `evenhand serve` wait beside hostile ones, and memory
    python -m evenhand.benchmarks.replicas     engines on a Ray cluster against as many on this machine
    python -m evenhand.benchmarks.loop         a whole run: seconds of each stage, and the share spent outside models
    python -m evenhand.benchmarks.injection    how far an order inside a document or a summary moves a judge's grade
    python -m evenhand.benchmarks.fairness     fairness measures against a loop over sets, and their growth with the corpus
    python -m evenhand.benchmarks.approval     measures of fairness against people's votes, of consultations in folders of yours
    python -m evenhand.benchmarks.evidence     what `make evidence` runs: methods, fairness and judges, on what is real
    python -m evenhand.benchmarks.size         memory and time of each stage, from 1,000 to 100,000 requests
    benchmarks/gpu/run.sh                      all that only a GPU can show

Simulations count how often pages are wrong where the truth is known (`simulate`), each a program, too:

    bias_studies              bias studies that say that anything leans, where nothing does and where something was planted
    calibration               values that an audit names, where summaries take no side and where one is halved
    calibration_headline      whole pages of audits that say something
    calibration_intervals     intervals of an audit's numbers that hold the truth
    calibration_order         thirds of documents that an audit of order names
    calibration_tone          values that an audit of tone names
    calibration_word_lists    groups that word lists name
    gate                      releases that --fail-if fails
    intervals                 intervals that hold the truth
    length                    differences at equal length
    rounds                    what is said of training's rounds
    verdicts                  differences that pages speak of where nothing differs
    villains                  judges that an audit of judges accuses or catches
"""
