"""The live page: edit a graph and see at once what the model makes of it (extra ``web``)."""

from gnninterpreter.web.app import create_app
from gnninterpreter.web.backend import Backend
from gnninterpreter.web.guard import make_server
from gnninterpreter.web.searches import LiveSearch, LiveSearches

__all__ = ["Backend", "LiveSearch", "LiveSearches", "create_app", "make_server"]
