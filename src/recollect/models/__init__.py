"""Models: any LangChain chat model, ``provider/model``, any async callable, or a recording."""

from recollect.models.callables import CallableModel
from recollect.models.environment import load_environment
from recollect.models.langchain_model import LangChainModel, ToolMode
from recollect.models.model_choice import ModelChoice, open_model
from recollect.models.replay import RecordedModel, Replay
from recollect.models.structured_output import PromptedModel

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
