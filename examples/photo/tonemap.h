/* The tone-mapping graph, built op by op. */
#ifndef INGOT_EXAMPLES_PHOTO_TONEMAP_H
#define INGOT_EXAMPLES_PHOTO_TONEMAP_H

#include "ingot/ingot.h"

enum { tonemap_inputs = 4 };

/* Inputs: rgb u8[H, W, 3], exposure f32[] (a factor), saturation f32[] (1 keeps it), vignette f32[] (0 none, 1 black corners).
 * Output: u8[H, W, 3]. H and W are symbols: one executable serves every picture. Exits with a message if the library refuses;
 * release the graph with ingot_graph_release. */
ingot_graph* tonemap_build(ingot_context* context);

/* Ends the process with the status's message, if there is one. */
void check(ingot_status* status);

#endif
