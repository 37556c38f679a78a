"""`evenhand serve`: a recipe behind HTTP, in front of any server that speaks OpenAI's protocol.

asked     what a request must say: documents, whose attributes are its sides, and what becomes of it
decoded   where the answer begins in what a trainer decoded
browsers  who may ask where no key is asked for
work      what one thread works with: draw, judge, choose; judge summaries made elsewhere
guard     what a served summary must not be, and what is tried before none is given
sides     what judges tell of each side, and how the worst one fares
metrics   what Prometheus reads
late      the best so far, when a deadline passes
pool      threads that take requests in turn, and when there are too many of them
app       the addresses, and errors in OpenAI's form
listen    what must be right before it listens, how many connections there may be, and how long a request may take to arrive
rewards   reward functions of verl and TRL; a file that stands alone
"""
