"""Harmonia beside DiskSim and MQSim on the same work: results and speed. `make peers` runs it; docs/peers.md has the table.

A pair is one scenario of this folder with a few keys changed. Its resolved keys become a run of Harmonia and the parameter
files of the peer, so that both simulate the same device. Nothing of the peers is kept here.

    scenario -> harmonia check -> Scenario -> load.py       a trace that both replay, or a closed loop
                                           -> ours.py       a run of Harmonia
                                           -> disksim.py    parameters and output of DiskSim
                                           -> mqsim.py      parameters and output of MQSim
    pairs.py: which pairs there are        -> verdict.py    how far apart, and whether that is within what the pair allows
                                           -> speed.py      user time of both, in turns
"""
