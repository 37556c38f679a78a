"""What only a GPU can show, in one command: `benchmarks/gpu/run.sh`.

| part | question |
| --- | --- |
| kernels | does every kernel compute, in float32 and bfloat16, what the model computes of each candidate alone? |
| graphs | how many graphs does FlexAttention compile over requests of rising length? |
| speed-1b, speed-8b | model FLOPs utilisation by kernel and checkpointing, times TRL, share of the packed limit |
| memory | how many tokens fit into a pass, and what does the estimate say? |
| zero2, zero3, fsdp2, nf4 | does a training that was killed end as an undisturbed one? nf4: of a model in four bits |

Each part is a process with a time limit, a log, a file of figures and an exit code of its own (`start`); one that fails or hangs
leaves the others alone (`run`). Models are made from configurations, with random weights: nothing is fetched.
"""
