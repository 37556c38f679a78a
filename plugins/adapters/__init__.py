"""Adapters: judges in the loops of other libraries, and their scorers as judges.

opened      a judge whose model stays open from call to call
inspect     a scorer of inspect_ai as a judge, and a judge as a scorer
trl         a judge as a reward function of TRL's trainers
"""
