"""`evenhand run estimate` as a user meets it."""

import json

import pytest
from commands import ended, started
from published_models import settings_of
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import RecipeError

pytest.importorskip("trl")

RECIPE = "fairness/perspectivesumm/multi-reward"
ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "HF_HUB_OFFLINE": "1"}


def evenhand(*arguments, columns="100"):
    """The command in this process."""
    return ended("run", "estimate", *arguments, **ENVIRONMENT | {"COLUMNS": columns})


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A folder with the published configuration of Llama 3.1 8B alone."""
    folder = tmp_path_factory.mktemp("models") / "Llama-3.1-8B-Instruct"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(settings_of("meta-llama/Llama-3.1-8B-Instruct")))
    return folder


@pytest.mark.usefixtures("quick_python")
def test_a_recipe_for_gpus_is_told_in_tables_of_100_columns(llama):
    options = ("--set", f"model.name={llama}", "--requests", "test=30", "--prompt-tokens", "1200")
    done = started("run", "estimate", RECIPE, *options, **ENVIRONMENT)
    # its judges' models are not on a machine without a hub
    assert done.returncode == 3, done.stderr
    # on 80 columns with a GPU for which layers are run again, too, each row has its strategy
    narrow = evenhand(RECIPE, *options, "--gpu", "a100-40", columns="80").stdout
    assert all(f"\n{name}" in narrow for name in ("DDP", "ZeRO-2 *", "ZeRO-3", "FSDP2")), narrow
    assert all(len(line) <= 100 for line in done.stdout.splitlines() if not line.startswith(("- ", "*")))
    assert "8.03 B" in done.stdout
    assert (
        "longest prompt with a candidate that the model reads and a pass holds with checkpointing: about" in done.stdout
    )
    assert "ZeRO-2 *" in done.stdout
    assert "yelp.jsonl: cannot be read" in done.stdout
    assert "--set judges.faithfulness.model=FOLDER" in done.stdout
    assert "judges.faithfulness.model=FOLDER" not in done.stderr
    assert "error: " in done.stderr


def test_without_the_sizes_of_a_language_model_nothing_is_said_of_memory():
    done = evenhand(RECIPE, "--requests", "test=30", "--prompt-tokens", "1200", "--json")
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert (found["gpu_memory_gib"], found["hours"], found["training"]) == (None, None, [])
    assert all(each["flops"] is None for each in found["stages"])


def test_many_machines_are_told_with_what_they_cost(llama):
    options = (
        "--set",
        f"model.name={llama}",
        "--set",
        "rounds=0",
        "--requests",
        "test=1000000",
        "--prompt-tokens",
        "1200",
    )
    spread = ("--nodes", "8", "--gpus-per-node", "8", "--set", "generate.replicas=auto", "--gpu-price", "2")
    said = " ".join(evenhand(RECIPE, *options, *spread).stdout.split())
    alone = json.loads(evenhand(RECIPE, *options, "--json").stdout)
    assert "needs: 64 GPUs" in said
    assert f"{alone['hours']:,.0f} GPU hours of work" in said
    # two evaluations start an engine on each GPU, for a minute
    n = alone["starts"]
    assert n == 1 and f"and {64 * n / 60:.1f} of starts" in said
    assert f"{2 * (alone['hours'] + 64 * n / 60):,.2f} to pay" in said
    assert "files: about" in said and "candidates.jsonl" in said


def test_json_has_what_follows_from_the_published_sizes(llama):
    options = ("--set", f"model.name={llama}", "--requests", "test=30", "--prompt-tokens", "1200", "--json")
    # of 30 GiB a tenth is left free, and a pass of 4,267 tokens takes 44 without checkpointing
    done = evenhand(RECIPE, *options, "--gpu", "h100", "--gpu-memory", "30")
    found = json.loads(done.stdout)
    (model,) = [each for each in found["models"] if each["name"] == str(llama)]
    assert model["parameters"] == 8_030_261_248
    # rank 16 on four matrices of each layer: query and output 4096 to 4096, key and value 4096 to 1024
    assert model["trained"] == 32 * 16 * (2 * 8192 + 2 * 5120)
    (engine,) = found["engines"]
    # keys and values of eight heads of 128 numbers in bfloat16
    assert engine["kv_of_token"] == 2 * 32 * 8 * 128 * 2
    spread = {each["strategy"]: each for each in found["training"]}
    assert list(spread) == ["DDP", "ZeRO-2", "ZeRO-3", "FSDP2"]
    assert spread["ZeRO-2"]["is_recipes"]
    assert spread["DDP"]["weights"] == 2 * 8_030_261_248
    assert spread["FSDP2"]["weights"] < spread["DDP"]["weights"] / 2
    stages = {(each["split"], each["name"]): each for each in found["stages"]}
    # six candidates of at most 512 tokens for 500 requests, in one round, of however many
    assert stages["train", "generate"]["generated_tokens"] == 500 * 6 * 512
    assert stages["test", "generate"]["requests"] == 30
    # two operations of every weight of the layers for each token, forward and back, and forward again for the reference
    train = stages["train", "train"]
    assert train["flops"] / (6 * 6_979_321_856 * train["prompt_tokens"]) == pytest.approx(1.1, abs=0.1)
    assert train["hours"] == pytest.approx(train["flops"] * 4 / 3 / (8 * 989e12 * 0.3) / 3600, rel=0.02)
    # training takes the most, and a tenth is left free; judges that ask no language model have no say
    own = spread["ZeRO-2"]
    assert own["weights"] + own["adapter"] + own["activations"]["plain"] + own["logits"] > 40 * 2**30
    assert found["checkpointing"] == "auto"
    # weights of 15 GiB and buffers leave less than 12 GiB for passes of half a MiB a token, and masks
    assert 4_267 < found["longest"] < 22_000
    held = own["weights"] + own["adapter"] + own["activations"]["checkpointing"] + own["logits"]
    assert found["gpu_memory_gib"] == pytest.approx(held / 0.9 / 2**30)


def test_each_phase_starts_its_engine_unless_it_is_kept(llama):
    """Ten rounds generate, judge and train; the base, the trained model and the best of n are evaluated by two judges."""
    names = [f"judges.{name}.model.name={llama}" for name in ("coverage", "faithfulness")]
    keys = [f"model.name={llama}", *names, "judges.report_coverage=null", "evaluation.judges=[rouge1_recall]"]
    keys.append("judges.rouge1_recall={kind: rouge, type: rouge1, measure: recall}")
    options = [part for key in keys for part in ("--set", key)] + [
        "--requests",
        "test=30",
        "--prompt-tokens",
        "900",
        "--json",
    ]

    def starts(*more):
        found = json.loads(evenhand("polisum/llama-3.1-8b/dpo", *options, *more).stdout)
        assert found["start_hours"] == pytest.approx(sum(each["starts"] for each in found["stages"]) * 90 / 3600)
        return {(each["split"], each["name"]): each["starts"] for each in found["stages"]}

    anew = starts("--start-seconds", "90")
    assert anew == {
        ("train", "generate"): 10,
        ("train", "judge"): 10,
        ("train", "train"): 10,
        ("test", "generate"): 3,
        ("test", "judge"): 3,
    }
    kept = starts("--start-seconds", "90", "--set", "keep_engines=true", "--set", "generate.adapter=serve")
    assert kept == anew | {
        ("train", "generate"): 1,
        ("train", "judge"): 1,
        ("test", "generate"): 0,
        ("test", "judge"): 0,
    }


@pytest.mark.slow
def test_training_takes_the_machines_that_slurm_would_give_it(llama):
    options = ("--set", f"model.name={llama}", "--requests", "test=30", "--prompt-tokens", "1200", "--json")
    spread = (
        "--gpus-per-node",
        "4",
        "--set",
        "train.accelerate_config=zero3_multi_node",
        "--set",
        "train.num_processes=null",
    )

    def training(*more):
        (found,) = (
            each for each in json.loads(evenhand(RECIPE, *options, *more).stdout)["stages"] if each["name"] == "train"
        )
        return found

    found = training(*spread, "--nodes", "2")
    assert found["gpus"] == 8
    assert training(*spread, "--nodes", "4")["hours"] == pytest.approx(found["hours"] / 2, rel=0.01)
    # of a single machine's eight processes nothing is made less
    refused = evenhand(RECIPE, *options, "--nodes", "2", *spread[:2])
    assert refused.returncode == 2
    assert "--gpus-per-node 4" in refused.stderr


def test_processes_that_cannot_share_a_step_are_refused(llama):
    options = ("--set", f"model.name={llama}", "--requests", "test=30", "--prompt-tokens", "1200")
    refused = evenhand("polisum/llama-3.1-8b/dpo", *options, "--set", "train.num_processes=3")
    assert refused.returncode == 2
    assert "key 'train.global_batch_size': 8 is not a multiple of 3, which 3 processes" in refused.stderr


@pytest.mark.slow
def test_another_device_is_said_by_its_figures(llama):
    options = ("--set", f"model.name={llama}", "--requests", "test=30", "--prompt-tokens", "1200", "--json")
    named, said = (json.loads(evenhand(RECIPE, *options, "--gpu", gpu).stdout) for gpu in ("h100", "80,989,3.35"))
    assert said["device"] == {**named["device"], "name": "the given device"}
    assert said["hours"] == named["hours"]


def test_a_recipe_of_a_model_that_is_here_is_told_whole(tiny_model):
    done = evenhand("quickstart", "--set", f"model.name={tiny_model}")
    assert done.returncode == 0, done.stderr
    assert "needs: 1 GPU of at least" in done.stdout and "and 4 min 00 s of starts" in done.stdout
    assert "cannot be read" not in done.stdout


def test_without_a_language_model_no_gpu_is_needed():
    scripted = "{backend: scripted, plans: {p: {candidates: 2}}}"
    options = (
        "model={name: none}",
        f"generate={scripted}",
        "rounds=0",
        "judges={r: {kind: rouge}}",
        "reward={judges: [r]}",
    )
    done = evenhand("quickstart", *(part for each in (*options, "evaluation.judges=[r]") for part in ("--set", each)))
    assert done.returncode == 0, done.stderr
    assert "needs: no GPU for language models, of which none runs here" in done.stdout


def test_a_benchmark_of_judges_has_no_hours_of_a_loop(tmp_path, llama):
    heads = {"loop": "about", "judges benchmark SETS --judges": "how long a benchmark of judges takes is not known"}
    for verb, said in heads.items():
        path = tmp_path / "recipe.yaml"
        path.write_text(f"# evenhand {verb} recipe.yaml\nextends: polisum/llama-3.1-8b/zero-shot\n")
        judges = ("--set", "judges={r: {kind: rouge}}", "--set", "reward.judges=[r]", "--set", "evaluation.judges=[r]")
        options = ("--set", f"model.name={llama}", "--requests", "test=9", "--prompt-tokens", "900", *judges)
        done = evenhand(path, *options, "--gpu-price", "2")
        assert done.returncode == 0, done.stderr
        assert f"GiB; {said}" in done.stdout and ("GPU hours of work" in done.stdout) == (verb == "loop")


@pytest.mark.usefixtures("quick_commands")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--gpu", "abacus"), "'abacus': is neither one of a100-40"),
        (("--gpu", "80,989"), "nor three numbers above 0"),
        (("--gpu", "80,0,3.35"), "nor three numbers above 0"),
        (("--gpu", "80,nan,3.35"), "nor three numbers above 0"),
        (("--requests", "dev=3"), "write train=N or test=N"),
    ],
)
def test_what_is_not_understood_is_refused(options, said):
    done = started("run", "estimate", "quickstart", *options, **ENVIRONMENT)
    assert done.returncode == 2
    assert said in done.stderr


def test_no_room_is_refused_and_a_training_without_requests_is_said():
    with pytest.raises(RecipeError, match="max_tokens 64 of a plan leave no room for a prompt in max_model_len 60"):
        CliRunner().invoke(
            app, ["run", "estimate", "quickstart", "--set", "generate.max_model_len=60"], catch_exceptions=False
        )
    done = CliRunner().invoke(app, ["run", "estimate", "quickstart", "--set", "generate.max_model_len=100"])
    assert "no request is left, so there is nothing to train on" in " ".join(done.stdout.split()), done.output
