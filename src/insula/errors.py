"""Every error that Insula raises on purpose.

    InsulaError
    ├── InputError              what the caller gave cannot be used
    │   └── NotFound            what is named is not there
    ├── SettingsError           a settings or identity file cannot be used
    ├── StoreError              the database cannot be read or written
    │   ├── StoreFull           no room, or no permission to write
    │   ├── StoreLocked         another process holds it too long
    │   ├── StoreCorrupt        the file is not a database, or damaged
    │   └── StoreNewer          written by a newer version of Insula
    ├── ModelError              the model gave no usable answer
    │   ├── ModelUnavailable    not found, not installed, no key, not reachable
    │   ├── ModelTimeout        too slow
    │   ├── ModelRefused        the provider declined
    │   └── ModelMalformed      empty, or not what was asked for
    └── BudgetExceeded          a cap on calls, tokens or seconds is reached

Each message is a full sentence that names the input, the reason and the remedy, fit to be shown to a person.
"""


class InsulaError(Exception):
    """The base of all errors raised by Insula."""


class InputError(InsulaError):
    """A message, name or file that cannot be used."""


class NotFound(InputError):
    """What is named is not there."""


class SettingsError(InsulaError):
    """A settings or identity file that cannot be used."""


class StoreError(InsulaError):
    """The database cannot be read or written."""


class StoreFull(StoreError):
    """There is no room on the disk, or no permission to write."""


class StoreLocked(StoreError):
    """Another process has held the database for too long."""


class StoreCorrupt(StoreError):
    """The file is not a database, or it is damaged."""


class StoreNewer(StoreError):
    """The database was written by a newer version of Insula."""


class ModelError(InsulaError):
    """The model gave no usable answer."""


class ModelUnavailable(ModelError):
    """The model is unknown, not installed, without a key, or cannot be reached."""


class ModelTimeout(ModelError):
    """The model took longer than allowed."""


class ModelRefused(ModelError):
    """The provider declined to answer."""


class ModelMalformed(ModelError):
    """The answer is empty, or not what was asked for."""


class ModelSilent(ModelMalformed):
    """The model answered without a word."""


class ModelCutOff(ModelSilent):
    """The model spent all the tokens that it was allowed before the first word of its answer."""


class BudgetExceeded(InsulaError):
    """A cap on calls, tokens or seconds is reached."""
