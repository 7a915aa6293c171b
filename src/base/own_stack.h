// A call on a large stack of its own, on the thread that asks: for hosts that allow no thread, and where none can be
// had. The call can be left from any depth, which is how a fatal error of LLVM is survived there.
#pragma once

#include <cstddef>

namespace ingot {

// Calls f(argument) on a new stack of `bytes`, all signals blocked, floating-point state as the caller has it. False if
// there is no memory for the stack: nothing was called. f must not throw. Needs a few hundred bytes of the thread's
// own stack. Does not nest.
bool call_on_own_stack(size_t bytes, void (*f)(void*), void* argument);

// Whether this thread is inside such a call.
bool on_own_stack() noexcept;

// Ends the call that this thread is inside: its frames are abandoned, nothing in them is destroyed, and their stack
// stays mapped for good, since something may point there.
[[noreturn]] void leave_own_stack() noexcept;

}  // namespace ingot
