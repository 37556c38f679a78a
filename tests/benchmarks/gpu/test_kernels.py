"""The exactness part: a kernel that is wrong does not pass, whether in the layer's check or in the whole model."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("trl")

from evenhand.benchmarks.gpu.kernels import MASKS, against_alone, build, errors  # noqa: E402
from evenhand.benchmarks.gpu.part import NotHere  # noqa: E402
from evenhand.train import packed_attention  # noqa: E402

CPU = torch.device("cpu")


def wrong(*arguments, scaling, **options):
    return packed_attention.masked(*arguments, scaling=1.05 * scaling, **options)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_kernel_whose_scale_is_off_by_a_twentieth_is_found_in_the_whole_model(dtype):
    from transformers import AttentionInterface

    AttentionInterface.register("evenhand_wrong", wrong)
    model = build("llama", dtype, CPU, "sdpa")
    model.set_attn_implementation("evenhand_wrong")
    with pytest.raises(AssertionError, match="where the plain path is off by"):
        against_alone(model, "llama", dtype, CPU)


def test_explicit_masks_pass_and_what_has_no_kernel_here_says_so():
    found = errors("mistral", MASKS, torch.float32, CPU)
    assert found["logps_error"] < 1e-5
    assert found["gradient_error"] < 1e-4
    with pytest.raises(NotHere, match="no kernel for float32"):
        errors("llama", "torch_varlen", torch.float32, CPU)
    if not torch.cuda.is_available():
        with pytest.raises(NotHere, match="no backward pass on the CPU"):
            errors("llama", "flex_attention", torch.float32, CPU)
