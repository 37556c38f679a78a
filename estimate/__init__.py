"""What a recipe needs before anything is run: parameters, tokens, operations, memory and hours.

Parameters come from configurations alone. Tokens are counted by running the recipe's own methods and judges on its own documents,
before a stand-in for the language model that answers as long as it may (`counting`). Operations and memory follow from both.

`recipe.estimate` puts it together; torch is loaded with it. What `run_size` counts without it `preflight` reads, too.
"""
