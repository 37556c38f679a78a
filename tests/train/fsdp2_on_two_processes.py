"""Run by torchrun in two processes: packed passes of a model sharded with FSDP2, against the whole model.

accelerate has no FSDP on the CPU, torch has; so this shards by hand what accelerate would shard.
"""

import sys

import peft
import torch
import torch.distributed as dist
from preference_groups import make_groups
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from transformers import AutoModelForCausalLM
from trl.trainer.utils import add_fused_lm_head

from evenhand.train.attention import use_packed_attention
from evenhand.train.packed_forward import add_packed_forward
from evenhand.train.packing import PackingCollator


def build(folder: str) -> torch.nn.Module:
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    use_packed_attention(base)
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
    model = peft.get_peft_model(base, config)
    add_fused_lm_head(base, outputs=("log_probs", "entropy", "mean_logits", "is_top1"))
    add_packed_forward(base, equal_passes=True)
    return model


def gradients(model: torch.nn.Module, batch: dict[str, object]) -> tuple[float, dict[str, torch.Tensor]]:
    logps = model(**batch, fused_lm_head=True).log_probs.sum(dim=1)
    chosen, rejected = logps.chunk(2)
    loss = -torch.nn.functional.logsigmoid(0.1 * (chosen - rejected)).mean()
    loss.backward()
    return float(loss.detach()), {
        name: p.grad.full_tensor() if isinstance(p.grad, DTensor) else p.grad
        for name, p in model.named_parameters()
        if p.grad is not None
    }


def main(folder: str) -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    first, second, third = (group.columns for group in make_groups())
    shares = [[first, third], [second]]
    batches = [PackingCollator(0, 67)(share) for share in shares]
    assert [len(batch["passes"]) for batch in batches] == [3, 1]
    wanted = [gradients(build(folder), PackingCollator(0, 4096)(share)) for share in shares]
    model = build(folder)
    for layer in model.get_base_model().model.layers:
        fully_shard(layer)
    fully_shard(model)
    loss, found = gradients(model, batches[rank])
    assert abs(loss - wanted[rank][0]) < 1e-5, (loss, wanted[rank][0])
    assert found.keys() == wanted[0][1].keys()
    for name, gradient in found.items():
        mean = (wanted[0][1][name] + wanted[1][1][name]) / 2
        assert (gradient - mean).norm() < 1e-4 * mean.norm(), name
    print(f"process {rank}: equal")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
