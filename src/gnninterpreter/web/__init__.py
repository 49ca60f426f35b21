"""The live page: edit a graph and see at once what the model makes of it (extra ``web``)."""

from gnninterpreter.web.app import create_app
from gnninterpreter.web.jobs import Job, Jobs
from gnninterpreter.web.studio import Studio

__all__ = ["Job", "Jobs", "Studio", "create_app"]
