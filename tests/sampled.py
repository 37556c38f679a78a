"""Slow tests that `make test` leaves to `make test-all`.

By file: what of it `make test` runs all the same, which fast test would see the fault, and what only the slow ones can see.
"""

from typing import NamedTuple

ALL = ("",)


class Left(NamedTuple):
    """What is said of a file's slow tests."""

    # beginnings of the names (with "[...]") of those that `make test` runs; ALL of them
    sampled: tuple[str, ...]
    # file whose ordinary tests hold the same, and what only the slow ones can see
    double: str


FILES = {
    "benchmarks/gpu/test_evidence.py": Left((), "its own tests of pieces and bundle; a run that stops and goes on"),
    "benchmarks/gpu/test_run.py": Left((), "benchmarks/gpu/test_speed.py, test_kernels.py; parts as processes"),
    "benchmarks/test_evidence.py": Left((), "its own tests of parts and page; commands run one after another"),
    "benchmarks/test_fairness.py": Left((), "its own tests of equal results; the verb's tables"),
    "benchmarks/test_generation.py": Left((), "generate/test_vllm_whole.py; the contenders of the benchmark"),
    "benchmarks/test_judging.py": Left((), "its own tests; vLLM's cache of prefixes"),
    "benchmarks/test_loop.py": Left((), "test_kills.py runs the loop; its times"),
    "benchmarks/test_serving.py": Left(("test_no_two", "test_documents"), "plugins/serve/test_app.py; the benchmark's processes"),
    "benchmarks/test_size.py": Left((), "its own tests of counts; memory of whole runs"),
    "benchmarks/test_training.py": Left((), "train/test_shared_prefix.py, test_packing.py; the contenders of the benchmark"),
    "calibration/test_headline.py": Left((), "its own fast cells; power of two systems in a hundred sets"),
    "calibration/test_judges.py": Left((), "its own fast cells; all villains at 50 articles"),
    "calibration/test_named.py": Left((), "its own fast cells; every kind of fair corpus"),
    "calibration/test_verdicts.py": Left((), "its own fast cells; comparisons of equal entries"),
    "cli/test_audit.py": Left(ALL, "published numbers of an audit"),
    "plugins/bias/test_verbs.py": Left(ALL, "the verb on a real model"),
    "cli/test_estimate.py": Left((), "its own tests of one machine and of JSON; SLURM's machines, a device by its figures"),
    "cli/test_compare.py": Left((), "evaluation/report/comparison; runs that share their candidates"),
    "plugins/judge_studies/test_training.py": Left((), "its own tests of equal documents; a benchmark of the trained judge"),
    "plugins/ray/test_ray.py": Left(
        ("test_without_a_cluster",),
        "runfolder/test_replicas.py has the same queue without Ray, and errors of its workers; nodes that end, late places",
    ),
    "plugins/slurm/test_slurm.py": Left(
        ("test_a_job_that_slurm_refuses",),
        "test_merging.py has the same shards without a queue, its own tests write odd names; nodes that drain",
    ),
    "train/test_probe.py": Left((), "its own tests of the types in use; every type of transformers"),
    "evaluation/audit/test_consistency_of_all.py": Left((), "evaluation/audit/test_consistency.py; all families at once"),
    "plugins/bias/study/test_build.py": Left(
        (), "its own tests with rules, judges/test_encoder.py, plugins/bias/test_verbs.py has spaCy; both in one study"
    ),
    "plugins/judge_studies/people/test_older_sheets.py": Left(
        ("test_of_any_two_states",),
        "plugins/judge_studies/people/annotations/test_revisions.py reads the same sheets in Python; windows and storage",
    ),
    "plugins/judge_studies/people/test_page_in_browser.py": Left(
        ("test_five_items", "test_nothing_is_wider", "test_the_page_counts"),
        "plugins/judge_studies/people/test_page.py; keys, selections and imports in a browser",
    ),
    "evaluation/pages/test_in_browser.py": Left(
        tuple(
            f"test_page_is_quiet_fits_a_phone_and_is_readable_in_both_colours_and_on_paper[{page}]"
            for page in ("report", "audit")
        ),
        "evaluation/pages/test_golden.py, test_pages.py; colours, axe and a phone on the other pages",
    ),
    "plugins/adapters/test_trl.py": Left((), "its own tests of rewards; a step of TRL's own trainer"),
    "plugins/controlled/test_build.py": Left((), "its own tests on the scripted backend; a real engine's replies"),
    "fairness/groups/test_tokens.py": Left((), "its own test_pipeline, spec/test_vectors.py; thousands of lemmas beside NLTK's"),
    "generate/test_rounds.py": Left((), "generate/test_stage.py; kills between rounds"),
    "plugins/server/test_vllm.py": Left((), "plugins/server/test_backend.py asks a scripted server; vLLM's own"),
    "generate/test_vllm_backend.py": Left(
        ("test_a_processor_without",), "generate/test_vllm_whole.py starts the engine; texts equal to transformers'"
    ),
    "generate/test_vllm_pooled.py": Left((), "runfolder/test_engine_pool.py has scripted engines; adapters served in turn"),
    "generate/test_vllm_resume.py": Left((), "test_kills.py kills the scripted backend; an engine's bytes"),
    "generate/test_vllm_whole.py": Left(ALL, "a real engine with an adapter"),
    "judges/measures/test_oracle.py": Left((), "plugins/released/test_bertscore.py, test_entailers.py; biased summaries"),
    "judges/test_apart.py": Left((), "its own tests of one child; several children, and engines of vLLM"),
    "judges/test_grades.py": Left((), "judges/test_rubric.py; grades of vLLM"),
    "judges/test_rubric.py": Left(ALL, "a real model's grades"),
    "judges/test_thought.py": Left((), "its own tests by replies; a model that thinks, by vLLM and a server"),
    "models/test_places.py": Left((), "models/test_published_shapes.py converts GGUF files; the whole folder"),
    "runfolder/test_replicas.py": Left((), "its own other tests; processes that hang"),
    "plugins/serve/test_grpo.py": Left((), "plugins/serve/test_score.py; TRL's own GRPO against the server"),
    "plugins/serve/test_late.py": Left((), "its own other tests of deadlines; extractions"),
    "plugins/serve/test_load.py": Left((), "plugins/serve/test_hostile.py; honest clients beside hostile ones"),
    "plugins/serve/test_soak.py": Left((), "plugins/serve/test_app.py; memory over many answers"),
    "test_core.py": Left(
        ("test_where_one_plug_in_is_deleted_all_lists_are_whole[judge_studies]",),
        "its own tests of a core without any plug-in, test_loop.py; the core's loop with a trainer, more rooms and plug-ins",
    ),
    "test_docs.py": Left((), "its own tests of code blocks and recipes; the tutorial's training to its end"),
    "test_gpu_recipes.py": Left(
        (), "estimate/test_heads.py, preflight/test_broken_recipes.py read every recipe; each recipe to its end"
    ),
    "test_kills.py": Left(
        ("test_killed_anywhere_the_same_command_continues_and_ends_with_the_same_files[loop]",),
        "its own loop, runfolder/test_replicas.py kills replicas; studies, comparisons and other verbs, which work alike",
    ),
    "test_loop.py": Left((), "test_kills.py; a second recipe beside a finished run"),
    "test_merging.py": Left((), "its own shards of one process each; shards that have replicas"),
    "plugins/server/test_server_kills.py": Left((), "plugins/server/test_account.py; kills at fifty moments"),
    "train/test_fsdp2.py": Left((), "train/test_launch.py[ddp]; FSDP2's shards"),
    "train/test_held_out.py": Left((), "its own tests in one process; the best step's adapter in DDP, ZeRO and FSDP2"),
    "train/test_launch.py": Left(
        ("test_many_processes_train_what_one_trains[ddp]", "test_refusal"),
        "train/test_training.py, preflight reads DeepSpeed's files; its processes and what it compiles",
    ),
    "train/test_many_processes.py": Left((), "train/test_launch.py; adapters that are continued, two machines"),
    "train/test_memory.py": Left((), "its own test without masks; the longest prompt with them"),
    "train/test_pair_trainer.py": Left((), "its own tests beside stock TRL in one process; DDP, ZeRO and FSDP2 on two"),
    "train/test_trackers.py": Left((), "its own tests of names, refusals and keys; files that a tracker writes in two rounds"),
    "train/test_training.py": Left(
        ("test_interrupted_training_is_the_undisturbed_one_bit_for_bit[shared]", "test_same_inputs"),
        "its own other tests, train/test_shared_prefix.py, test_checkpointing.py; every kind of interruption",
    ),
}  # fmt: skip


def is_sampled(file: str, name: str) -> bool:
    """Whether `make test` runs a slow test of this file (from tests/)."""
    return file in FILES and name.startswith(FILES[file].sampled or ("\0",))
