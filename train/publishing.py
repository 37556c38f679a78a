"""The finished adapter of a round on the Hugging Face Hub, where `trainer.push_to_hub` asks for it."""

import logging
from pathlib import Path

from ..config import Recipe
from ..errors import RecipeError
from ..extras import need
from ..models import public_name
from ..models.hub import first_line
from ..runfolder.phases import ADAPTER, Phase

log = logging.getLogger(__name__)

FEATURE = "trainer.push_to_hub"


def refuse_unpublishable(recipe: Recipe) -> None:
    """Refuse what the Hub would refuse after the last step; it is asked who is logged in.

    Raises:
        RecipeError: there is no name to publish under, nobody is logged in, the Hub is out of reach, or the model that the
            adapter is for has no name there.
        MissingExtra: huggingface_hub is not installed.
    """
    if recipe.trainer.get("push_to_hub") is not True:
        return
    hub, errors, httpx = (need(name, FEATURE) for name in ("huggingface_hub", "huggingface_hub.utils", "httpx"))
    name, base = recipe.trainer.get("hub_model_id"), public_name(recipe.model.name)
    if not name:
        raise RecipeError(
            "key 'trainer.hub_model_id': push_to_hub needs a name: write OWNER/MODEL, or leave push_to_hub out"
        )
    for key, repo in (("trainer.hub_model_id", name), ("model.name", base)):
        try:
            errors.validate_repo_id(repo)
        except errors.HFValidationError as error:
            raise RecipeError(
                f"key {key!r}: {repo!r} is no name on the Hub, which push_to_hub needs: {first_line(error)}"
            ) from None
    try:
        hub.HfApi().whoami()
    except (OSError, httpx.HTTPError, errors.HfHubHTTPError, errors.OfflineModeIsEnabled) as error:
        raise RecipeError(
            f"key 'trainer.push_to_hub': the Hub knows nobody here ({first_line(error)}); run `hf auth login` or set HF_TOKEN, "
            "or leave push_to_hub out"
        ) from None


def publish(phase: Phase) -> None:
    """Copy the round's adapter with its card to the Hub, as one commit; each round's follows on the last one's.

    What the Hub refuses now is a warning: the adapter is here, and the run goes on.
    """
    options, folder = phase.recipe.trainer, phase.folder / ADAPTER
    if options.get("push_to_hub") is not True:
        return
    name, revision = options["hub_model_id"], options.get("hub_revision")
    hub, errors, httpx = (need(name, FEATURE) for name in ("huggingface_hub", "huggingface_hub.utils", "httpx"))
    api = hub.HfApi()
    try:
        repo = api.create_repo(name, private=options.get("hub_private_repo"), exist_ok=True).repo_id
        if revision:
            api.create_branch(repo, branch=revision, exist_ok=True)
        message = f"{phase.recipe.name} {phase.name}"
        commit = api.upload_folder(repo_id=repo, folder_path=folder, revision=revision, commit_message=message)
    except (OSError, ValueError, httpx.HTTPError, errors.HfHubHTTPError, errors.OfflineModeIsEnabled) as error:
        log.warning(
            "%s: is not on the Hub: %s. By hand: %s", phase.name, first_line(error), _by_hand(name, folder, revision)
        )
    else:
        log.info("%s: %s", phase.name, commit.commit_url)


def _by_hand(name: str, folder: Path, revision: str | None) -> str:
    return f"hf upload {name} {folder} ." + (f" --revision {revision}" if revision else "")
