"""Models: ``provider/model``, a LangChain chat model, a function, or a recording."""

from recollect.models.callables import CallableModel
from recollect.models.langchain_model import LangChainModel
from recollect.models.model_choice import ModelChoice, open_model
from recollect.models.provider_client import ToolMode
from recollect.models.replay import RecordedModel, Replay
from recollect.models.structured_output import PromptedModel
from recollect.providers.environment import load_environment

__all__ = (
    "CallableModel",
    "LangChainModel",
    "ModelChoice",
    "PromptedModel",
    "RecordedModel",
    "Replay",
    "ToolMode",
    "load_environment",
    "open_model",
)
