/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Reads binary PGM files of 8 bits a pixel, without comments in their header.
 */
#ifndef EXAMPLES_PGM_H
#define EXAMPLES_PGM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct PgmImage {
  uint32_t width, height;
  uint8_t* pixels; /* without padding between the rows; for free() */
} PgmImage;

/** 1 if the file could be read, else 0. */
static inline int pgm_read(const char* path, PgmImage* image) {
  FILE* file = fopen(path, "rb");
  unsigned width = 0, height = 0, largest = 0;
  int is_read = 0;
  image->pixels = NULL;
  if (file == NULL)
    return 0;
  if (fscanf(file, "P5 %u %u %u", &width, &height, &largest) == 3 && fgetc(file) != EOF && largest == 255 &&
      width > 0 && height > 0 && width <= 32768 && height <= 32768) {
    const size_t size = (size_t)width * height;
    image->width = width;
    image->height = height;
    image->pixels = (uint8_t*)malloc(size);
    is_read = image->pixels != NULL && fread(image->pixels, 1, size, file) == size;
  }
  fclose(file);
  if (!is_read) {
    free(image->pixels);
    image->pixels = NULL;
  }
  return is_read;
}

#endif /* EXAMPLES_PGM_H */
