"""The measurement behind the page on trained models, in an environment that has PyTorch.

`wheels` fetches the models and the texts, `rows` says what a head's rows are like, `scales` how far
a quality is from that at the trained scale, and each other module measures one model.
"""
