import pytest

from evenhand.config import BackendSection
from evenhand.errors import RecipeError
from evenhand.runfolder.shards import WHOLE, Shard, read_shard, refuse_servers


def test_each_batch_is_of_one_shard():
    shards = [read_shard(f"{number}/3") for number in range(3)]
    assert [[shard.has(batch) for shard in shards].count(True) for batch in range(7)] == [1] * 7
    assert [batch for batch in range(7) if shards[1].has(batch)] == [1, 4]
    assert all(map(WHOLE.has, range(7)))


def test_one_shard_of_one_is_the_whole_stage():
    assert read_shard("0/1") == WHOLE
    assert WHOLE.part("replica-1") == "replica-1"
    assert Shard(1, 3).part("replica-1") == "shard-1-of-3.replica-1"


@pytest.mark.parametrize("written", ["3/3", "4/3", "1", "1/0", "-1/3", "a/b", "1/3/2", ""])
def test_a_shard_that_there_is_not_is_refused(written):
    with pytest.raises(
        RecipeError, match=r"--shard '.*': a shard is a number from 0 and how many there are, as 0/4 to 3/4"
    ):
        read_shard(written)


@pytest.mark.needs("plugins/server")
def test_shards_of_what_servers_answer_are_refused():
    refuse_servers([BackendSection(backend="vllm"), BackendSection(backend="scripted")])
    server = BackendSection.model_validate({"backend": "openai", "server": {"base_url": "http://localhost:8000/v1"}})
    with pytest.raises(RecipeError, match=r"--shard: the recipe asks a server.*server\.concurrency"):
        refuse_servers([BackendSection(backend="vllm"), server])
