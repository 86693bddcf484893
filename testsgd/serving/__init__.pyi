from .app import serve as serve
from .app import shield_app as shield_app
from .generative_server import generative_app as generative_app
from .generative_server import serve_generative as serve_generative
from .guardrail import guardrail_app as guardrail_app
from .messages import answer as answer
from .messages import parsed as parsed
from .messages import refusal as refusal
