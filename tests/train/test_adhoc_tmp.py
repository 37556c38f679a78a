import json, time, random
from evenhand.models import locate
from evenhand.records import *
from evenhand.run import *
from evenhand.config import Recipe
from evenhand.storage import write_jsonl
from evenhand.train import train
from evenhand.generate.backend import prompt_tokens, tokens_digest
import yaml
def test_x(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    from transformers import AutoTokenizer
    tok = AutoTokenizer.from_pretrained(locate("embedded:smollm2-135m-instruct"))
    recipe = Recipe.model_validate({"name":"smol","output":str(tmp_path/"r"),"model":{"name":"embedded:smollm2-135m-instruct"},
      "generate":{"plans":{"a":{}},"max_model_len":2048},"judges":{"r":{"kind":"rouge"}},"reward":{"judges":["r"]},"evaluation":{"judges":["r"]},
      "trainer":{"learning_rate":1e-4,"num_train_epochs":1}})
    phase = Phase(recipe,"round-00",None); phase.folder.mkdir(parents=True)
    (recipe.output/"recipe.yaml").write_text(yaml.safe_dump(recipe.model_dump(mode="json")))
    from evenhand.corpora import load_corpus
    sets = load_corpus(recipe.corpus)[:8]
    pairs=[]
    for i,s in enumerate(sets):
      for side in s.values("stance"):
        prompt=(Message(role="user",content="Documents:\n"+"\n".join(d.text for d in s.documents)+f"\nSummarise the {side} in one sentence."),)
        ch=f"The {side.capitalize()} "+s.select("stance",side)[0].text.split(".")[0]+"."; rj="Here are the documents in short: many say many things about it."
        pairs.append(PreferencePair(prompt=prompt,chosen=(Message(role="assistant",content=ch),),rejected=(Message(role="assistant",content=rj),),request_id=f"{s.id}/{side}",set_id=s.id,side=side,chosen_id="a",rejected_id="b",chosen_reward=1,rejected_reward=0,margin=1,prompt_digest=tokens_digest(prompt_tokens(tok,prompt))))
    write_jsonl(phase.folder/"pairs.jsonl",pairs)
    t=time.time(); r,_=train(phase); t=time.time()-t
    j=json.loads((phase.folder/"training.json").read_text())
    print("RESULT", t, r.counts, [(e["step"],e["loss"],e["rewards/margins"]) for e in j["log_history"] if "loss" in e], j["log_history"][-1], j["batch"])
    import subprocess; print("RESULT", subprocess.run(["du","-ah",str(phase.folder)],capture_output=True,text=True).stdout)
