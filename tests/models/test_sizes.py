"""Sizes from configurations alone, against published ones and against models that are really loaded."""

import http.server
import json
import os
import socket
import subprocess
import sys
import threading

import pytest
from published_models import PUBLISHED, settings_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")

from evenhand.errors import ModelError  # noqa: E402
from evenhand.models import locate  # noqa: E402
from evenhand.models.opening import open_model  # noqa: E402
from evenhand.models.sizes import meta_model, parameters, sizes_of  # noqa: E402

SMALL = "embedded:smollm2-135m-instruct"


def settings(folder, values):
    """A folder that holds a configuration and nothing else."""
    (folder / "config.json").write_text(json.dumps(values))
    return str(folder)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_configuration_alone_has_the_published_parameters(name, tmp_path):
    values, published = settings_of(name), PUBLISHED[name][1]
    sizes = sizes_of(meta_model(settings(tmp_path, values), None, "a test"))
    assert sizes.parameters == published
    # embeddings and head of their own, and the last norm
    assert sizes.outer == 2 * values["vocab_size"] * values["hidden_size"] + values["hidden_size"]
    assert (sizes.layers, sizes.width) == (values["num_hidden_layers"], values["hidden_size"])
    assert sizes.kv_width == values["hidden_size"] // values["num_attention_heads"] * values["num_key_value_heads"]


def test_of_experts_all_take_memory_and_a_token_meets_those_it_is_sent_to(tmp_path):
    values = settings_of("mistralai/Mixtral-8x7B-Instruct-v0.1")
    sizes = sizes_of(meta_model(settings(tmp_path, values), None, "a test"))
    # mistral.ai/news/mixtral-of-experts: "46.7B total parameters but only uses 12.9B parameters per token", embeddings included
    assert round(sizes.parameters / 1e9, 1) == 46.7
    assert round((sizes.body + sizes.outer) / 1e9, 1) == 12.9


def test_sizes_are_those_of_the_loaded_smollm2():
    loaded = open_model("AutoModelForCausalLM", locate(SMALL), "a test", dtype=torch.bfloat16)
    made = meta_model(SMALL, None, "a test")
    assert all(each.is_meta for each in made.parameters())
    # its embeddings are its head
    assert parameters(made) == parameters(loaded) == 134_515_008
    assert sizes_of(made) == sizes_of(loaded)


def test_sizes_are_those_of_a_loaded_llama_of_two_layers(tiny_model):
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tiny_model)
    assert sizes_of(meta_model(str(tiny_model), None, "a test")) == sizes_of(loaded)
    assert sizes_of(loaded).layers == 2


def test_an_encoder_has_the_parameters_of_the_loaded_one():
    loaded = transformers.AutoModel.from_pretrained(locate("embedded:all-minilm-l6-v2"))
    assert parameters(meta_model("embedded:all-minilm-l6-v2", None, "a test", is_causal=False)) == parameters(loaded)


def test_a_model_whose_configuration_is_not_here_is_named_with_what_to_give():
    with pytest.raises(ModelError, match=r"'nobody/nothing': its config\.json is not on this machine.*name a folder"):
        meta_model("nobody/nothing", None, "a test")


class Mirror(http.server.BaseHTTPRequestHandler):
    """Files and nothing else, as mirrors of the hub have them: no API."""

    config = json.dumps(PUBLISHED["Qwen/Qwen2.5-14B-Instruct"][0]).encode()

    def do_HEAD(self):
        self.do_GET(body=False)

    def do_GET(self, body=True):
        if self.path != "/org/fourteen/resolve/main/config.json":
            self.send_error(404)
            return
        self.send_response(200)
        for name, value in {"Content-Length": len(self.config), "X-Repo-Commit": "a" * 40, "ETag": '"config"'}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if body:
            self.wfile.write(self.config)

    def log_message(self, *_):
        pass


# the library reads its address once, so each is a process
ASK_MIRROR = """
import sys
from evenhand.errors import ModelError
from evenhand.models.places import refuse_out_of_reach
from evenhand.models.sizes import settings_folder
for name in sys.argv[1:]:
    try:
        refuse_out_of_reach(name, None, "a test")
        print(open(settings_folder(name, None, "a test") + "/config.json").read())
    except ModelError as error:
        print(error)
"""


def test_a_mirror_of_files_gives_configurations_and_says_what_it_has_not(tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Mirror)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    mirror = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", ASK_MIRROR, "org/fourteen", "org/absent"],
        env=os.environ | mirror | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1"),
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    server.shutdown()
    given, refused = done.stdout.splitlines()
    assert json.loads(given) == json.loads(Mirror.config)
    assert "'org/absent': it is not on this machine, and the hub does not give it" in refused
    assert f"404 Not Found' for url 'http://127.0.0.1:{server.server_port}/org/absent" in refused


def test_a_configuration_that_nobody_knows_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no sizes can be read"):
        meta_model(settings(tmp_path, {"model_type": "abacus"}), None, "a test")


ASK_SILENT = """
import time
from evenhand.models.hub import refusal
began = time.monotonic()
found = [refusal(name, None, "a test", 0.3) for name in ("org/one", "org/two", "org/three", "org/four")]
print(all(found), time.monotonic() - began < 3)
"""


def test_a_hub_that_does_not_answer_is_waited_for_once_and_named_once(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hub = {
            "HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "HF_HOME": str(tmp_path),
            "HF_HUB_OFFLINE": "0",
        }
        done = subprocess.run(
            [sys.executable, "-c", ASK_SILENT],
            env=os.environ | hub | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1"),
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
    assert done.stdout.split() == ["True", "True"]
    assert done.stderr.count("is out of reach") == 1
