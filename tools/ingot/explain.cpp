#include "verbs.h"
namespace ingot::tool { int explain_verb(const ExplainArgs&) { return 1; } }
