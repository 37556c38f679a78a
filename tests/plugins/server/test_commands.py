"""Commands that ask a server: the shipped recipe, what is refused before any request, and the limit of cost."""

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")
pytest.importorskip("rouge_score")

from serving import Server
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import EvenhandError

# of the shipped recipe
OUTPUT = Path("runs/server-rerank")
GRADES = {str(grade): math.log(share) for grade, share in zip(range(1, 6), (0.1, 0.1, 0.2, 0.5, 0.1), strict=True)}


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


def changed(server, **more):
    """The options of the shipped recipe at this server."""
    backends = ["generate", *(f"judges.rubric_{name}.backend" for name in ("coverage", "faithfulness"))]
    keys = {f"{each}.server.base_url": server.base_url for each in backends}
    models = ["model", *(f"judges.rubric_{name}.model" for name in ("coverage", "faithfulness"))]
    keys |= {f"{each}.name": "tiny" for each in models} | {"corpus.test.limit": 2}
    keys |= {f"{each}.server.price": "{input: 1000, output: 2000}" for each in backends}
    return [part for key, value in (keys | more).items() for part in ("--set", f"{key}={value}")]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def receipt(output, stage):
    """What the receipt of a stage counted."""
    return json.loads(Path(output, f"evaluation/base/receipts/{stage}.json").read_text())["counts"]


def run(*arguments):
    """Exit code of a command, and what it says."""
    result = CliRunner().invoke(app, [*map(str, arguments)])
    error = result.exception
    code = error.exit_code if isinstance(error, EvenhandError) else result.exit_code
    return code, " ".join(f"{result.output} {error}".split())


def stages(server, **more):
    """Candidates, judgements and best ones of the shipped recipe; the first exit code but 0, or the last, and all output."""
    everything = ""
    for verb in ("generate", "judge", "rerank"):
        code, said = run(verb, "server/rerank", *changed(server, **more))
        everything += said
        if code:
            break
    return code, everything


def test_receipts_count_answers_and_grades_of_another_model():
    with Server(logprobs=GRADES) as server:
        server.answers_as = "org/huge-20240101"
        # in the second run the answers are kept, and the grades are verdicts of the cache
        for output, counted in (("one", ("generate", "judge")), ("two", ("generate",))):
            assert stages(server, output=output)[0] == 0
            scored = receipt(output, "judge")["scored"]
            n_grades = scored["rubric_coverage"] + scored["rubric_faithfulness"]
            counts = {"generate": f"{receipt(output, 'generate')['candidates']} answers", "judge": f"{n_grades} grades"}
            for stage in counted:
                (said,) = [each for each in receipt(output, stage)["cautions"] if "another model" in each]
                assert said.startswith(f"{counts[stage]} are of 'org/huge-20240101', another model than was asked for")
        server.answers_as = "tiny-2024-01-01"
        assert stages(server, output="three", **{"model.name": "org/tiny"})[0] == 0
        assert "another model" not in str(receipt("three", "generate"))


def test_shipped_recipe_runs_and_says_before_what_it_costs():
    with Server(logprobs={**GRADES, "The": math.log(0.01)}, owner="vllm") as server:
        code, said = run("loop", "server/rerank", *changed(server), "--dry-run")
        assert code == 0, said
        assert "what is asked again, because an answer did not arrive or cannot be read, is not counted" in said
        assert server.asked == []
        assert stages(server)[0] == 0
    # of the candidates, and of the grades, which are asked for with room for white space
    allowed = Counter[bool]()
    for body in server.asked:
        allowed["logprobs" in body] += body.get("n", 1) * body["max_tokens"]
    assert re.findall(r"at most ([^;]+) out", said) == [f"{allowed[False] / 1000:.2f} k", str(allowed[True])]
    judgements = lines(OUTPUT / "evaluation/base/judgements.jsonl")
    grades = {each["score"] for each in judgements if each["judge"].startswith("rubric")}
    assert sorted(grades) == pytest.approx([3.4])
    # of each request the most that it can cost, then what it did
    costs = {line["record"]["number"]: line["record"]["cost"] for line in lines(OUTPUT / "costs.jsonl")}
    assert len(costs) == len(server.asked)
    # what a server draws is its own affair
    assert receipt(OUTPUT, "generate")["repeatable"] is False
    counts = receipt(OUTPUT, "judge")
    assert counts["repeatable"] == {"rubric_coverage": False, "rubric_faithfulness": False}
    assert "greedy" not in counts
    # its server was told to hold answers to the grades
    assert counts["guided"] == {name: counts["scored"][name] for name in counts["repeatable"]}


def test_empty_candidates_are_told_at_the_end_of_the_step():
    with Server(lambda number, body: [None] * 5, reason="length", logprobs=GRADES) as server:
        code, said = run("generate", "server/rerank", *changed(server))
    # of each of the four requests five of one plan and four of the other
    assert code == 0
    assert "warning: 36 of 36 candidates are empty, and 36 of these stopped at max_tokens" in said
    with Server(lambda number, body: [None], logprobs=GRADES) as server:
        code, said = run("generate", "server/rerank", *changed(server, seed=1))
    # one of each request to the server
    assert "warning: 8 of 36 candidates are empty " in said


def test_server_without_alternatives_gives_whole_grades_and_says_so():
    with Server() as server:
        # it writes sentences, which are no grades
        code, said = stages(server)
        assert code == 3
        assert "reply is no grade" in said
        # and is not asked again for what it has answered, until that is forgotten
        assert "answers.sqlite, and they are asked again only when it is forgotten: `evenhand cache --clear`" in said
        n_asked = len(server.asked)
        for is_forgotten in (False, True):
            (OUTPUT / "evaluation/base/receipts/judge.json").unlink()
            assert run("judge", "server/rerank", *changed(server))[0] == 3
            assert (len(server.asked) > n_asked) == is_forgotten
            assert run("cache", "--clear")[0] == 0
    with Server(logprobs=dict.fromkeys(["4"], 0.0)) as server:
        # one alternative, and the others unseen, as likely as it for all that is known
        code, said = stages(server, name="other", output="other")
        assert code == 0
    judgements = lines(Path("other/evaluation/base/judgements.jsonl"))
    raw = {each["raw"] for each in judgements}
    assert '{"greedy":"4"}' in raw
    # every grade is, of those who grade
    n = sum(each["judge"] == "rubric_coverage" for each in judgements)
    counts = receipt("other", "judge")
    assert counts["greedy"] == {"rubric_coverage": n, "rubric_faithfulness": n}
    warning = f"{n} of {n} grades of rubric_coverage are whole ones"
    assert f"warning: {warning}" in said
    with Server() as server:
        assert run("report", "server/rerank", *changed(server, name="other", output="other"))[0] == 0
    told = json.loads(Path("other/report/report.json").read_text())["warnings"]
    assert any(said.startswith(f"evaluation/base judge: {warning}") for said in told), told


def test_limit_of_cost_stops_the_run_and_raised_it_goes_on():
    with Server(logprobs=GRADES) as server:
        code, said = stages(server, **{"limits.cost": 4})
        assert code == 1
        assert "raise limits.cost, and the same command continues" in said
        n_before = len(server.asked)
        assert n_before > 0
        assert stages(server, **{"limits.cost": 1000})[0] == 0
        # the same requests as without the limit, none of them twice
        bodies = [json.dumps(body, sort_keys=True) for body in server.asked]
        assert len(set(bodies)) == len(bodies) > n_before


def test_batches_end_each_command_with_5_until_they_are_done():
    batched = {
        f"{each}.server.batches": True
        for each in ("generate", *(f"judges.rubric_{name}.backend" for name in ("coverage", "faithfulness")))
    }
    codes = []
    with Server(logprobs=GRADES) as server:
        while not codes or codes[-1] == 5:
            codes.append(stages(server, **batched)[0])
            server.work_off()
            assert len(codes) < 9
        # candidates of each plan are requests of one batch, and the grades of both judges
        assert (codes, len(server.batches)) == ([5, 5, 0], 2)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"generate.server.base_url": "http://127.0.0.1:9/v1"}, "gives no whole answer"),
        ({"model.name": "huge"}, "has no model 'huge'; it has 'tiny'"),
        ({"generate.server.api_key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY, which server.api_key_env names, is not set"),
        ({"generate.server.api_key": "sk-secret-value"}, "secrets do not belong in a recipe"),
        ({"generate.server.api_key_env": "sk-secret-value"}, "is the name of a variable of the environment"),
        ({"generate.server.apikey": "sk-secret-value"}, "secrets do not belong in a recipe"),
        ({"generate.server.headers": "{Authorization: sk-secret-value}"}, "secrets do not belong in a recipe"),
        ({"generate.engine.extra_headers": "{Authorization: sk-secret-value}"}, "it is not a field of a request"),
        ({"generate.engine.api_key": "sk-secret-value"}, "'api_key' is the name of a secret"),
        ({"generate.server.base_url": "http://u:sk-secret-value@127.0.0.1/v1"}, "must hold no user, password"),
        ({"generate.server.base_url": "http://127.0.0.1/v1?key=sk-secret-value"}, "must hold no user, password"),
        ({"generate.engine.max_completion_tokens": 5000}, "write it in 'plans'"),
        ({"judges.rubric_coverage.overflow": "truncate"}, "how long a chat is the server alone knows"),
        ({"model.adapter": "adapter"}, "cannot be handed to a server that is sent messages"),
        ({"generate.plans.hot.top_k": 5}, "top_k: OpenAI's protocol has temperature and top_p alone"),
        ({"rounds": 1}, "trains the model that writes, and generate.server has it"),
        ({"limits.cost": 1, "generate.server.price": "null"}, "write generate.server.price: {input"),
        ({"generate.server.timeout": 0}, "generate.server.timeout"),
    ],
)
def test_mistakes_are_told_before_any_request(changes, said):
    with Server() as server:
        code, told = run("validate", "server/rerank", *changed(server, **changes))
        assert code == 2
        assert said in told
        assert "secret-value" not in told
        assert server.asked == []


def test_wrong_key_is_told_before_any_request(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret-value")
    with Server(key="another") as server:
        code, said = run("validate", "server/rerank", *changed(server, **{"generate.server.api_key_env": "MY_KEY"}))
    assert code == 2
    assert "refuses the key in MY_KEY" in said
    assert "secret-value" not in said


def at(base_url):
    """The options of a recipe with one model at this server."""
    backend = f"{{backend: openai, server: {{base_url: {base_url}, price: {{input: 1000, output: 2000}}}}}}"
    return ["--set", "model={name: tiny}", "--set", f"backend={backend}"]


def test_dry_run_of_a_bias_study_says_what_it_costs():
    study = ["bias-study", "bias/simulated", "--set", "simulated=null", "--set", "inputs.assignments=1", "--dry-run"]
    with Server() as server:
        code, said = run(*study, *at(server.base_url))
        assert code == 0, said
        # 12 documents, 2 inputs each in either design, and 256 tokens at most for a summary
        assert re.search(r"summaries by http\S+ [\d.]+ k tokens in, at most 12.29 k out; about \d", said), said
        assert server.asked == []


def test_dry_run_of_a_controlled_set_says_what_it_costs_at_most():
    with Server() as server:
        code, said = run("judges", "controlled", "controlled/sample", *at(server.base_url), "--dry-run")
        assert code == 0, said
        # 9 key points, 34 adversarial ones and 48 summaries (tests/plugins/controlled), 128 tokens at most for each
        assert re.search(r"texts by http\S+ [\d.]+ k tokens in, at most 11.65 k out; about \d", said), said
        assert "each counts as long as it may be" in said
        assert server.asked == []


@pytest.mark.parametrize(
    "command",
    [["bias-study", "bias/simulated", "--set", "simulated=null"], ["judges", "controlled", "controlled/sample"]],
)
def test_dry_run_notices_a_server_that_is_not_there(command):
    code, said = run(*command, *at("http://127.0.0.1:9/v1"), "--dry-run")
    assert code == 1
    assert "http://127.0.0.1:9/v1 gives no whole answer" in said
    assert "start it, or mend server.base_url" in said
