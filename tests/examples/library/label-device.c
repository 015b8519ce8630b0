/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Labels an image in GPU memory, in order with the work of a stream of its own:
 *
 *     label-device IMAGE.pgm [THRESHOLD]
 *
 * The program never waits for its uploads: the engine reads the image after all work that is on the stream.
 * It prints the same lines as `label`, and then how many pixels of the mask, which is painted in GPU memory
 * too, are set.
 */
#include <cuda_runtime_api.h>
#include <cudaccl/cudaccl.h>
#include <stdio.h>
#include <stdlib.h>

#include "pgm.h"

/* What a test's runner takes for "cannot be tried here". */
#define SKIPPED 77

typedef struct Buffers {
  cudaStream_t stream;
  void* image;
  void* mask;
  uint8_t* host_mask;
} Buffers;

static int cuda_failed(cudaError_t error, const char* call) {
  if (error != cudaSuccess)
    fprintf(stderr, "error: %s: %s\n", call, cudaGetErrorString(error));
  return error != cudaSuccess;
}

static int allocate(Buffers* buffers, size_t size) {
  buffers->host_mask = (uint8_t*)malloc(size);
  return buffers->host_mask != NULL &&
         !cuda_failed(cudaStreamCreateWithFlags(&buffers->stream, cudaStreamNonBlocking),
                      "cudaStreamCreate") &&
         !cuda_failed(cudaMalloc(&buffers->image, size), "cudaMalloc") &&
         !cuda_failed(cudaMalloc(&buffers->mask, size), "cudaMalloc");
}

static void release(Buffers* buffers) {
  cudaFree(buffers->image);
  cudaFree(buffers->mask);
  if (buffers->stream != NULL)
    cudaStreamDestroy(buffers->stream);
  free(buffers->host_mask);
}

static int configure(CudacclEngine* engine, const PgmImage* image) {
  CudacclConfig config;
  cudaccl_config_init(&config, sizeof config);
  config.width = image->width;
  config.height = image->height;
  config.output = CUDACCL_OUTPUT_MASK;
  config.input_memory = CUDACCL_MEMORY_DEVICE;
  config.output_memory = CUDACCL_MEMORY_DEVICE;
  return cudaccl_engine_configure(engine, &config) == CUDACCL_OK;
}

static int run(CudacclEngine* engine, const PgmImage* image, uint32_t threshold, const Buffers* buffers,
               CudacclResult* result) {
  CudacclSettings settings;
  CudacclInput input;
  CudacclOutput output;
  CudacclFrame frame;

  cudaccl_settings_init(&settings, sizeof settings);
  settings.threshold = threshold;
  cudaccl_input_init(&input, sizeof input);
  input.planes[0] = buffers->image;
  input.strides[0] = image->width;
  input.memory = CUDACCL_MEMORY_DEVICE;
  input.stream = buffers->stream; /* the upload is on it */
  cudaccl_output_init(&output, sizeof output);
  output.pixels = buffers->mask;
  output.stride = image->width;
  output.memory = CUDACCL_MEMORY_DEVICE;
  cudaccl_frame_init(&frame, sizeof frame);
  frame.input = &input;
  frame.output = &output;
  frame.settings = &settings;
  return cudaccl_engine_run(engine, &frame, result) == CUDACCL_OK;
}

static void print(const CudacclResult* result) {
  printf("label,area,x,y,width,height,cx,cy\n");
  for (size_t i = 0; i < result->n_records; i++) {
    const CclComponent* c = &result->records[i];
    printf("%u,%u,%u,%u,%u,%u,%.3f,%.3f\n", c->label, c->area, c->x, c->y, c->width, c->height, c->cx, c->cy);
  }
}

static int label(CudacclEngine* engine, const PgmImage* image, uint32_t threshold, Buffers* buffers) {
  const size_t size = (size_t)image->width * image->height;
  size_t n_set = 0;
  CudacclResult result;

  cudaccl_result_init(&result, sizeof result);
  if (!allocate(buffers, size) || cuda_failed(cudaMemcpyAsync(buffers->image, image->pixels, size,
                                                              cudaMemcpyHostToDevice, buffers->stream),
                                              "cudaMemcpyAsync"))
    return EXIT_FAILURE;
  if (!configure(engine, image) || !run(engine, image, threshold, buffers, &result)) {
    fprintf(stderr, "error: %s\n", cudaccl_last_error(engine));
    return EXIT_FAILURE;
  }
  print(&result);
  /* The frame was popped, so the mask is complete. */
  if (cuda_failed(
          cudaMemcpyAsync(buffers->host_mask, buffers->mask, size, cudaMemcpyDeviceToHost, buffers->stream),
          "cudaMemcpyAsync") ||
      cuda_failed(cudaStreamSynchronize(buffers->stream), "cudaStreamSynchronize"))
    return EXIT_FAILURE;
  for (size_t i = 0; i < size; i++)
    n_set += buffers->host_mask[i] != 0;
  printf("%zu pixels\n", n_set);
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) {
  PgmImage image;
  CudacclEngineOptions options;
  CudacclEngine* engine;
  Buffers buffers = {0};
  int status;

  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s IMAGE.pgm [THRESHOLD]\n", argv[0]);
    return 2;
  }
  cudaccl_engine_options_init(&options, sizeof options);
  options.backend = CUDACCL_BACKEND_CUDA; /* in the primary context, as CUDA's runtime */
  if (cudaccl_engine_new(&options, &engine) != CUDACCL_OK) {
    printf("skipped: %s\n", cudaccl_last_error(NULL));
    return SKIPPED;
  }
  if (!pgm_read(argv[1], &image)) {
    fprintf(stderr, "error: %s is not a binary PGM file of 8 bits a pixel\n", argv[1]);
    cudaccl_engine_free(engine);
    return EXIT_FAILURE;
  }
  status = label(engine, &image, argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1, &buffers);
  release(&buffers);
  cudaccl_engine_free(engine);
  free(image.pixels);
  return status;
}
