"""What a recipe says of attention reweighting."""

from typing import ClassVar, Literal

from ...config.methods import MethodSection


class AttentionReweightingSection(MethodSection):
    """Position-invariant attention over the passages."""

    lays_out_anew: ClassVar[bool] = True

    # "target": the passages of the side that is asked for, the others come before them; "all": the passages of all sides, as
    # task.scope: all needs it
    mode: Literal["target", "all"] = "target"
    # false runs the same prompts on the same backend with ordinary attention: the control
    reweight: bool = True

    def refuse_backend(self, backend: str) -> None:
        """Attention can be changed in one of them."""
        if backend != "transformers":
            raise ValueError(
                f"method attention-reweighting changes the model's attention, which backend: {backend} does not allow; write "
                "backend: transformers"
            )

    def scope_mistake(self, scope: str) -> str | None:
        """A mode that needs a side."""
        if scope == "all" and self.mode == "target":
            return (
                "attention_reweighting.mode target needs a side that is asked for, which task.scope: all does not have; write "
                "mode: all"
            )
        return None
