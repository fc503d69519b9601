"""What the whole suite agrees on. Patience is generous everywhere: a slow machine is no fault of what is tested."""

from hypothesis import settings

settings.register_profile("suite", deadline=None)
settings.load_profile("suite")
