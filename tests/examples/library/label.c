/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Labels an image and prints one line of CSV for each component:
 *
 *     label IMAGE.pgm [THRESHOLD]
 *
 * Pixels from the threshold on (default: 1) are foreground. On a GPU if there is one, else on the CPU.
 */
#include <cudaccl/cudaccl.h>
#include <stdio.h>
#include <stdlib.h>

#include "pgm.h"

static int fail(const CudacclEngine* engine) {
  fprintf(stderr, "error: %s\n", cudaccl_last_error(engine));
  return EXIT_FAILURE;
}

static int label(CudacclEngine* engine, const PgmImage* image, uint32_t threshold) {
  CudacclConfig config;
  CudacclSettings settings;
  CudacclInput input;
  CudacclFrame frame;
  CudacclResult result;

  cudaccl_config_init(&config, sizeof config);
  config.width = image->width;
  config.height = image->height;
  if (cudaccl_engine_configure(engine, &config) != CUDACCL_OK)
    return fail(engine);

  cudaccl_settings_init(&settings, sizeof settings);
  settings.threshold = threshold;
  cudaccl_input_init(&input, sizeof input);
  input.planes[0] = image->pixels;
  input.strides[0] = image->width;
  cudaccl_frame_init(&frame, sizeof frame);
  frame.input = &input;
  frame.settings = &settings;
  cudaccl_result_init(&result, sizeof result);
  if (cudaccl_engine_run(engine, &frame, &result) != CUDACCL_OK)
    return fail(engine);

  printf("label,area,x,y,width,height,cx,cy\n");
  for (size_t i = 0; i < result.n_records; i++) {
    const CclComponent* c = &result.records[i];
    printf("%u,%u,%u,%u,%u,%u,%.3f,%.3f\n", c->label, c->area, c->x, c->y, c->width, c->height, c->cx, c->cy);
  }
  if (result.overflow)
    fprintf(stderr, "%u components; only the %zu largest have records\n", result.n_components,
            result.n_records);
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) {
  PgmImage image;
  CudacclEngine* engine;
  int status;

  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s IMAGE.pgm [THRESHOLD]\n", argv[0]);
    return 2;
  }
  if (!pgm_read(argv[1], &image)) {
    fprintf(stderr, "error: %s is not a binary PGM file of 8 bits a pixel\n", argv[1]);
    return EXIT_FAILURE;
  }
  if (cudaccl_engine_new(NULL, &engine) != CUDACCL_OK) {
    status = fail(NULL);
  } else {
    fprintf(stderr, "on %s\n", cudaccl_engine_description(engine));
    status = label(engine, &image, argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1);
  }
  cudaccl_engine_free(engine);
  free(image.pixels);
  return status;
}
