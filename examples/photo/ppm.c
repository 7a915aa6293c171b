#include "ppm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* 20,000 a side keeps width * height * 3 far from any overflow. */
enum { max_side = 20000 };

/* The next number of the header, or -1. Blanks and # comments separate numbers. */
static int header_number(FILE* file) {
  int c = getc(file);
  while (c != EOF && (isspace(c) || c == '#')) {
    if (c == '#')
      while (c != '\n' && c != EOF) c = getc(file);
    else c = getc(file);
  }
  int value = -1;
  while (c != EOF && isdigit(c) && value <= max_side) {
    value = (value < 0 ? 0 : value) * 10 + (c - '0');
    c = getc(file);
  }
  /* One blank stands between the header and the pixels: it is this one. */
  return c != EOF && isspace(c) ? value : -1;
}

size_t ppm_size(const ppm* picture) { return (size_t)picture->width * (size_t)picture->height * 3; }

int ppm_make(int width, int height, ppm* picture) {
  picture->width = width;
  picture->height = height;
  picture->rgb = calloc(ppm_size(picture), 1);
  return picture->rgb ? 0 : -1;
}

void ppm_free(ppm* picture) {
  free(picture->rgb);
  picture->rgb = NULL;
}

int ppm_read(const char* path, ppm* picture) {
  picture->rgb = NULL;
  FILE* file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return -1;
  }
  int good = getc(file) == 'P' && getc(file) == '6';
  const int width = good ? header_number(file) : -1;
  const int height = width > 0 ? header_number(file) : -1;
  const int top = height > 0 ? header_number(file) : -1;
  good = width > 0 && width <= max_side && height > 0 && height <= max_side && top == 255;
  if (!good) {
    fprintf(stderr, "%s: no binary PPM with 8 bits a channel\n", path);
  } else if (ppm_make(width, height, picture) != 0) {
    fprintf(stderr, "%s: out of memory\n", path);
    good = 0;
  } else if (fread(picture->rgb, 1, ppm_size(picture), file) != ppm_size(picture)) {
    fprintf(stderr, "%s: truncated\n", path);
    ppm_free(picture);
    good = 0;
  }
  fclose(file);
  return good ? 0 : -1;
}

int ppm_write(const char* path, const ppm* picture) {
  FILE* file = fopen(path, "wb");
  if (!file) {
    perror(path);
    return -1;
  }
  int good = fprintf(file, "P6\n%d %d\n255\n", picture->width, picture->height) > 0;
  good = good && fwrite(picture->rgb, 1, ppm_size(picture), file) == ppm_size(picture);
  /* A full disk may only show here. */
  good = fclose(file) == 0 && good;
  if (!good) perror(path);
  return good ? 0 : -1;
}
