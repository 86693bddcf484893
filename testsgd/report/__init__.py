"""Reports: blocks that a capability lays a result out in, and the views written from them."""
