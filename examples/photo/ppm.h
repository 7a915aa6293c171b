/* Binary PPM pictures (P6, 8 bits a channel). */
#ifndef INGOT_EXAMPLES_PHOTO_PPM_H
#define INGOT_EXAMPLES_PHOTO_PPM_H

#include <stddef.h>

typedef struct ppm {
  int width, height;
  unsigned char* rgb; /* height * width * 3, row-major; owned */
} ppm;

/* 0, or -1 with a message on stderr and *picture emptied. Release with ppm_free. */
int ppm_read(const char* path, ppm* picture);
int ppm_write(const char* path, const ppm* picture);
/* A black picture; 0, or -1 for want of memory. */
int ppm_make(int width, int height, ppm* picture);
void ppm_free(ppm* picture);
size_t ppm_size(const ppm* picture);

#endif
