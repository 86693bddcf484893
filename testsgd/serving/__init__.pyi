from .app import serve as serve
from .app import shield_app as shield_app
from .messages import answer as answer
from .messages import decision_answer as decision_answer
from .messages import label_answer as label_answer
from .messages import parsed as parsed
from .messages import refusal as refusal
from .messages import shield_state as shield_state
