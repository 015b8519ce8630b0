/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The C interface of libcudaccl, the only stable one. It labels the connected components of images, follows
 * them over time, and writes records, labels and pictures; on the GPU, or on the CPU.
 *
 *     CudacclEngine *engine = NULL;
 *     CudacclConfig config;
 *     CudacclInput input;
 *     CudacclFrame frame;
 *     CudacclResult result;
 *
 *     cudaccl_config_init (&config, sizeof config);
 *     config.width = 640;
 *     config.height = 480;
 *     cudaccl_input_init (&input, sizeof input);
 *     input.planes[0] = pixels;
 *     input.strides[0] = 640;
 *     cudaccl_frame_init (&frame, sizeof frame);
 *     frame.input = &input;
 *     cudaccl_result_init (&result, sizeof result);
 *
 *     if (cudaccl_engine_new (NULL, &engine) == CUDACCL_OK &&
 *         cudaccl_engine_configure (engine, &config) == CUDACCL_OK &&
 *         cudaccl_engine_run (engine, &frame, &result) == CUDACCL_OK)
 *       printf ("%zu records\n", result.n_records);
 *     else
 *       fprintf (stderr, "%s\n", cudaccl_last_error (engine));
 *     cudaccl_engine_free (engine);
 *
 * Rules:
 * - Every struct begins with its size, which its init function sets, with the defaults of all other fields.
 *   Later versions of the library add fields at the end and keep the layout of the others, so a program that
 *   was compiled with this header runs with them. A program that sets a field which its library does not have
 *   gets CUDACCL_UNSUPPORTED. Structs without a size never change.
 * - A call returns a status, and changes nothing if its arguments are wrong. cudaccl_last_error() then says
 *   what is wrong and what to do. No C++ exception leaves the library.
 * - One thread at a time may use an engine. Several engines are independent.
 * - Boolean fields are uint32_t: 0 or 1.
 * - CUDA's types appear as void*, so no header of CUDA or GStreamer is needed.
 *
 * Memory: cudaccl_engine_configure() takes all memory; a frame takes none, with few exceptions that occur
 * with the first frame which needs them: see docs/library.md.
 */
#ifndef CUDACCL_H
#define CUDACCL_H

#include <stddef.h>
#include <stdint.h>

#include "ccl/component.h"
#include "ccl/grey.h"
#include "ccl/polygon.h"
#include "ccl/track.h"
#include "cudaccl/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDACCL_API __attribute__((visibility("default")))

/** Version of this interface. It grows with each function and each field that is added. */
#define CUDACCL_API_VERSION 2u

/* ---- Status ---- */

typedef enum CudacclStatus {
  CUDACCL_OK = 0,
  CUDACCL_NEED_MORE_DATA = 1,   /**< no frame is in flight */
  CUDACCL_INVALID_ARGUMENT = 2, /**< the caller's values are wrong; nothing was done */
  CUDACCL_UNSUPPORTED = 3,      /**< valid, but not available on this backend or in this build */
  CUDACCL_NO_DEVICE = 4,        /**< no driver, or no GPU with this id */
  CUDACCL_OUT_OF_MEMORY = 5,    /**< not enough host or device memory */
  CUDACCL_DEVICE_ERROR = 6      /**< a CUDA call failed; the engine must be configured again */
} CudacclStatus;

/** A short English text for a status, such as "invalid argument"; never NULL. */
CUDACCL_API const char* cudaccl_status_text(CudacclStatus status);

/* ---- Version and abilities ---- */

/** The version of the library, such as "1.0.0". */
CUDACCL_API const char* cudaccl_version(void);
/** CUDACCL_API_VERSION of the library that runs. */
CUDACCL_API uint32_t cudaccl_api_version(void);
/** CCL_COMPONENT_LAYOUT_VERSION and CCL_TRACK_LAYOUT_VERSION of the library that runs. */
CUDACCL_API uint32_t cudaccl_component_layout_version(void);
CUDACCL_API uint32_t cudaccl_track_layout_version(void);
/** 1 if the library was built with CUDA, else 0. */
CUDACCL_API uint32_t cudaccl_has_cuda(void);

typedef struct CudacclAlgorithmInfo {
  size_t struct_size;
  const char* name;   /**< for CudacclConfig::algorithm; static */
  const char* source; /**< the paper that it follows; static */
  uint32_t on_cpu;    /**< whether it runs on the CPU */
  uint32_t on_cuda;   /**< whether it runs on the GPU, in this build */
} CudacclAlgorithmInfo;

CUDACCL_API void cudaccl_algorithm_info_init(CudacclAlgorithmInfo* info, size_t struct_size);
CUDACCL_API size_t cudaccl_algorithm_count(void);
/** Describes algorithm `index`, of cudaccl_algorithm_count(). "auto" is the first one. */
CUDACCL_API CudacclStatus cudaccl_algorithm_info(size_t index, CudacclAlgorithmInfo* info);

typedef struct CudacclDeviceInfo {
  size_t struct_size;
  char name[256];
  int32_t compute_major, compute_minor; /**< compute capability */
  uint64_t memory;                      /**< bytes in total */
} CudacclDeviceInfo;

CUDACCL_API void cudaccl_device_info_init(CudacclDeviceInfo* info, size_t struct_size);
/** The number of GPUs. Where there is none, or no driver, or no CUDA in this build, it is 0, the status is
 * OK, and cudaccl_last_error(NULL) says why. */
CUDACCL_API CudacclStatus cudaccl_device_count(int32_t* count);
/** Describes a GPU: `device_id` from 0 to count − 1. CUDACCL_NO_DEVICE if there is no such GPU,
 * CUDACCL_UNSUPPORTED in a build without CUDA. */
CUDACCL_API CudacclStatus cudaccl_device_info(int32_t device_id, CudacclDeviceInfo* info);

/* ---- Engine ---- */

/** Owns the memory and the state of one stream of frames: background model, tracks. */
typedef struct CudacclEngine CudacclEngine;

/** Values are kept by later versions, as those of all enumerations here. */
enum {
  CUDACCL_BACKEND_AUTO = 0, /**< a GPU if there is one, else the CPU */
  CUDACCL_BACKEND_CPU = 1,
  CUDACCL_BACKEND_CUDA = 2
};

typedef struct CudacclEngineOptions {
  size_t struct_size;
  uint32_t backend;  /**< CUDACCL_BACKEND_*; default: auto */
  int32_t device_id; /**< a GPU; default −1: the first one */
  /** A CUcontext to work in. The caller keeps it as long as the engine and its CudacclMemory live. NULL, the
   *  default: the GPU's primary context, which CUDA's runtime and most programs use. Then device_id is
   *  ignored. */
  void* context;
} CudacclEngineOptions;

CUDACCL_API void cudaccl_engine_options_init(CudacclEngineOptions* options, size_t struct_size);

/** Makes an engine; `options` may be NULL for the defaults. The caller frees it. After a failure *engine is
 * NULL, and cudaccl_last_error(NULL) says why. If CUDACCL_BACKEND_AUTO found no GPU, cudaccl_last_error() of
 * the new engine says why. */
CUDACCL_API CudacclStatus cudaccl_engine_new(const CudacclEngineOptions* options, CudacclEngine** engine);
/** Waits for frames in flight. NULL is ignored. */
CUDACCL_API void cudaccl_engine_free(CudacclEngine* engine);

/** The text of the last failure: of this engine's calls, valid until its next call; or, with NULL, of this
 * thread's calls that have no engine, valid until the next one of them. A call that succeeds leaves it as it
 * is. Empty, but never NULL, if there was none. */
CUDACCL_API const char* cudaccl_last_error(const CudacclEngine* engine);

/** CUDACCL_BACKEND_CPU or CUDACCL_BACKEND_CUDA; of NULL CUDACCL_BACKEND_AUTO. */
CUDACCL_API uint32_t cudaccl_engine_backend(const CudacclEngine* engine);
/** The processor in use, for people to read. Valid until the next call with this engine. NULL has "". */
CUDACCL_API const char* cudaccl_engine_description(CudacclEngine* engine);
/** The GPU's id; −1 on the CPU. */
CUDACCL_API int32_t cudaccl_engine_device_id(const CudacclEngine* engine);
/** The CUcontext in use; NULL on the CPU. */
CUDACCL_API void* cudaccl_engine_context(const CudacclEngine* engine);

/** Where an image lies. */
enum {
  CUDACCL_MEMORY_HOST = 0,
  CUDACCL_MEMORY_DEVICE = 1 /**< the GPU's, in the engine's context */
};

/** Memory for images. It may outlive the engine. */
typedef struct CudacclMemory CudacclMemory;

/** Takes memory. `kind` is CUDACCL_MEMORY_HOST: for an engine on the GPU page-locked memory, from and to
 * which the GPU copies at full speed while push returns at once; on the CPU plain memory. Or it is
 * CUDACCL_MEMORY_DEVICE: the GPU's, CUDACCL_UNSUPPORTED on the CPU. Bytes are not initialised. */
CUDACCL_API CudacclStatus cudaccl_memory_new(CudacclEngine* engine, uint32_t kind, size_t bytes,
                                             CudacclMemory** memory);
/** Its first byte, at an address that is a multiple of 64 (256 on the GPU); NULL of NULL. */
CUDACCL_API void* cudaccl_memory_data(const CudacclMemory* memory);
/** NULL is ignored. */
CUDACCL_API void cudaccl_memory_free(CudacclMemory* memory);

/* ---- Configuration: what memory depends on ---- */

/** What is painted. */
enum {
  CUDACCL_OUTPUT_NONE = 0,      /**< nothing: records, and planes if configured */
  CUDACCL_OUTPUT_COLORIZED = 1, /**< 4 bytes a pixel: the component's colour, or the background colour */
  CUDACCL_OUTPUT_OVERLAY = 2,   /**< 4 bytes a pixel: the component's colour over the input */
  CUDACCL_OUTPUT_LABELS16 = 3,  /**< 16 bits a pixel: the label, 65535 for all above */
  CUDACCL_OUTPUT_MASK = 4, /**< 8 bits a pixel: mask_on in components that the filter keeps, else mask_off */
  CUDACCL_OUTPUT_BACKGROUND = 5, /**< 4 bytes a pixel: what the background model expects */
  CUDACCL_OUTPUT_FOREGROUND = 6, /**< 4 bytes a pixel: the input in components that the filter keeps */
  /** 16 bits a pixel: the distance to what is not of the component, in 1/16 pixel, rounded down; 65535 for
   *  all above. See CUDACCL_PLANE_DISTANCES. */
  CUDACCL_OUTPUT_DISTANCE = 7,
  CUDACCL_OUTPUT_DISTANCE8 =
      8 /**< 8 bits a pixel: the same in whole pixels, rounded down; 255 for all above */
};

/** Order of the bytes of a 4-byte pixel. */
enum { CUDACCL_ORDER_RGBA = 0, CUDACCL_ORDER_BGRA = 1, CUDACCL_ORDER_ARGB = 2, CUDACCL_ORDER_ABGR = 3 };

/** Planes of 32-bit values that are written beside the painted image, one value a pixel. */
enum {
  /** CclComponent::label of the pixel's component if the filter keeps it, else 0. */
  CUDACCL_PLANE_LABELS = 1u << 0,
  /** CclComponent::id of the pixel's component if the filter keeps it, else 0. Of a component without a
   *  record, because the frame has more components than records: 0 with tracks, else the label. */
  CUDACCL_PLANE_IDS = 1u << 1,
  /** The squared distance to the nearest pixel that is not of the pixel's component, if the filter keeps it,
   *  else 0; CUDACCL_NO_DISTANCE if there is no such pixel, as outside the frame there is none. Horizontal
   *  distances count CudacclSettings::separate_aspect times. With `separate`, the components are those before
   *  they are separated, and the filter's those after it. */
  CUDACCL_PLANE_DISTANCES = 1u << 2
};

/** The squared distance of pixels whose component is the whole frame, and of those farther than 32 bits can
 * say. */
#define CUDACCL_NO_DISTANCE 0xffffffffu

typedef struct CudacclConfig {
  size_t struct_size;
  uint32_t width, height;  /**< of frames, 1 to 32768 pixels; default 0, which is invalid */
  const char* algorithm;   /**< see cudaccl_algorithm_info(); read during the call; default "auto" */
  uint32_t output;         /**< CUDACCL_OUTPUT_*; default: none */
  uint32_t order;          /**< CUDACCL_ORDER_*; default: RGBA */
  uint32_t max_components; /**< length of the record table; default 16384. A frame with more components has
                              records of the largest, and no tracks */
  uint32_t max_tracks;     /**< length of the table of tracks, at most 16384; default 0: no tracking */
  uint32_t planes;         /**< CUDACCL_PLANE_* bits of the planes that every frame has; default 0 */
  uint32_t slots;          /**< batches that may be in flight between push and pop, 1 to 64; default 1 */
  uint32_t input_memory;   /**< CUDACCL_MEMORY_* of most frames: another one is slower; default: host */
  uint32_t output_memory;  /**< likewise, of painted images and planes; default: host */
  uint32_t threads;        /**< CPU only, at most 256; default 0: by frame size */
  uint32_t batch;          /**< frames of a batch, at most 128; default 1 */
} CudacclConfig;

CUDACCL_API void cudaccl_config_init(CudacclConfig* config, size_t struct_size);

/** Takes the memory that frames of this configuration need, and discards frames in flight. The background
 * model lives on unless the frame's size changes; tracks live on unless that or the length of a table
 * changes. Arguments that are not possible change nothing; after any other failure the engine must be
 * configured again. */
CUDACCL_API CudacclStatus cudaccl_engine_configure(CudacclEngine* engine, const CudacclConfig* config);

/** Bytes of a painted pixel: 0 with CUDACCL_OUTPUT_NONE, and of unknown values. */
CUDACCL_API uint32_t cudaccl_bytes_per_pixel(uint32_t output);

/* ---- Settings and regions: see cudaccl/settings.h ---- */

CUDACCL_API void cudaccl_settings_init(CudacclSettings* settings, size_t struct_size);
CUDACCL_API void cudaccl_regions_init(CudacclRegions* regions, size_t struct_size);

/** Reads regions from `size` bytes: JSON text, which begins with a brace, or the path of a file of it: see
 * docs/regions.md. The caller frees them. After a failure *regions is NULL, and cudaccl_last_error(NULL)
 * names the file, and the line or the place in the document, such as zones[0].polygon[2]. */
CUDACCL_API CudacclStatus cudaccl_regions_read(const char* source, size_t size, CudacclRegions** regions);
/** Frees what cudaccl_regions_read() made, with all that its pointers lead to. NULL is ignored. */
CUDACCL_API void cudaccl_regions_free(CudacclRegions* regions);

/** Sets the regions of all frames that are pushed from now on, also after a later configure. The engine
 * copies them. NULL: the whole frame counts, and there are no zones and no lines. Takes memory; not for every
 * frame. The engine must be configured and have no frame in flight. */
CUDACCL_API CudacclStatus cudaccl_engine_set_regions(CudacclEngine* engine, const CudacclRegions* regions);

/* ---- Frames ---- */

/** Pixels of an input. */
enum {
  CUDACCL_FORMAT_GRAY8 = 0,  /**< one byte; also masks and booleans: 0 and 1, or 0 and 255 */
  CUDACCL_FORMAT_GRAY16 = 1, /**< CudacclInput::bits bits in a little-endian word of 16, at an even address */
  CUDACCL_FORMAT_RGB = 2,    /**< three bytes; the luma is their weighted sum */
  CUDACCL_FORMAT_BGR = 3,
  CUDACCL_FORMAT_RGBA = 4, /**< four bytes; the last one is ignored */
  CUDACCL_FORMAT_BGRA = 5,
  CUDACCL_FORMAT_NV12 = 6, /**< a plane of luma, and one of U and V in turn for every 2×2 pixels */
  CUDACCL_FORMAT_I420 = 7  /**< planes of luma, U and V, the latter two for every 2×2 pixels */
};

/** From and to luma and chroma. */
enum { CUDACCL_MATRIX_BT709 = 0, CUDACCL_MATRIX_BT601 = 1, CUDACCL_MATRIX_BT2020 = 2 };

/** Which luma is black and white: outputs that show the input stretch it. Thresholds are values of bytes. */
enum {
  CUDACCL_RANGE_DEFAULT = 0, /**< limited with NV12 and I420, else full */
  CUDACCL_RANGE_FULL = 1,    /**< 0 and 255 */
  CUDACCL_RANGE_LIMITED = 2  /**< 16 and 235 */
};

/** An image to be labelled, of the configured size. */
typedef struct CudacclInput {
  size_t struct_size;
  uint32_t format;       /**< CUDACCL_FORMAT_*; default: gray8 */
  uint32_t bits;         /**< gray16: 9 to 16 bits, the lower ones of the word; default 16 */
  const void* planes[3]; /**< first byte of the first row of each plane of the format */
  size_t strides[3];     /**< bytes from one row's start to the next one's; I420: U and V have the same one */
  uint32_t memory;       /**< CUDACCL_MEMORY_* of all planes; default: host */
  uint32_t matrix;       /**< CUDACCL_MATRIX_*; default: BT.709 */
  uint32_t range;        /**< CUDACCL_RANGE_* */
  uint32_t reserved;     /**< 0 */
  /** A CUstream: the frame is read after all work that is on the stream at push. The frame has been read when
   *  it is popped. NULL, the default: nothing writes it any more. With a stream of value 0, which is CUDA's
   *  default stream, pass 1 (cudaStreamLegacy) or 2 (cudaStreamPerThread). */
  void* stream;
} CudacclInput;

CUDACCL_API void cudaccl_input_init(CudacclInput* input, size_t struct_size);

/** Where the painted image is to be written. It must not overlap the input. */
typedef struct CudacclOutput {
  size_t struct_size;
  void* pixels;
  size_t stride;     /**< bytes, at least width × cudaccl_bytes_per_pixel() */
  uint32_t memory;   /**< CUDACCL_MEMORY_*; default: host */
  uint32_t reserved; /**< 0 */
  /** A CUstream: the pixels are written after all work that is on the stream at push, and are complete when
   *  the frame is popped. NULL, the default: nothing uses them any more. */
  void* stream;
} CudacclOutput;

CUDACCL_API void cudaccl_output_init(CudacclOutput* output, size_t struct_size);

/** Where a plane is to be written: see CudacclConfig::planes. It overlaps nothing else of the frame. */
typedef struct CudacclPlane {
  size_t struct_size;
  uint32_t* values;
  size_t stride;     /**< bytes from one row's start to the next one's, a multiple of 4; 0 means width × 4 */
  uint32_t memory;   /**< CUDACCL_MEMORY_*; default: host */
  uint32_t reserved; /**< 0 */
  void* stream;      /**< as CudacclOutput::stream */
} CudacclPlane;

CUDACCL_API void cudaccl_plane_init(CudacclPlane* plane, size_t struct_size);

/** CudacclFrame::time of a frame whose time is not known. */
#define CUDACCL_NO_TIME INT64_MIN

/** One frame. The structs may change once the push has returned. What their pointers to pixels and labels
 * point to belongs to the engine until the frame is popped or flushed. */
typedef struct CudacclFrame {
  size_t struct_size;
  const CudacclInput* input;
  const CudacclOutput* output;     /**< NULL with CUDACCL_OUTPUT_NONE */
  const CudacclPlane* labels;      /**< with CUDACCL_PLANE_LABELS; else ignored */
  const CudacclPlane* ids;         /**< with CUDACCL_PLANE_IDS; else ignored */
  const CudacclSettings* settings; /**< NULL, the default: the defaults */
  /** When the frame was taken, in nanoseconds on any clock, for motion, tracks and events. Default:
   *  CUDACCL_NO_TIME. */
  int64_t time;
  uint32_t reset_background;     /**< 1: the background model learns again from this frame on */
  uint32_t reset_tracks;         /**< 1: all tracks end before this frame; their ids are not used again */
  const CudacclPlane* distances; /**< with CUDACCL_PLANE_DISTANCES; else ignored */
} CudacclFrame;

CUDACCL_API void cudaccl_frame_init(CudacclFrame* frame, size_t struct_size);

/** What is known about a frame. The engine owns all arrays. What they hold is valid until its next call
 * except cudaccl_last_error() and cudaccl_engine_shapes(); their memory stays until it is configured, gets
 * other regions, fails, or is freed. */
typedef struct CudacclResult {
  size_t struct_size;
  uint32_t n_labels;         /**< components in the frame */
  uint32_t n_components;     /**< those that the filter keeps, however many records there are */
  uint32_t overflow;         /**< 1: n_components > max_components, only the largest have a record */
  uint32_t labels_saturated; /**< 1: CUDACCL_OUTPUT_LABELS16, and n_labels > 65535 */
  uint32_t n_iterations;     /**< over the whole frame, of an iterating labeler; else 0 */
  uint32_t level;            /**< the threshold that Otsu's method found; else 0 */
  uint32_t relearning;       /**< 1: the background is being learned, nothing is foreground */
  uint32_t reserved;         /**< 0 */
  int64_t time;              /**< CudacclFrame::time */

  const CclComponent* records; /**< by ascending label */
  size_t n_records;
  const CclTrack* tracks; /**< with CudacclConfig::max_tracks: by ascending id; CclTrack::component is an
                             index of `records` */
  size_t n_tracks;
  const CclEvent* events; /**< likewise, in the order of docs/events.md */
  size_t n_events;
  const uint32_t* n_inside; /**< for each zone: how many tracks are in it */
  size_t n_zones;
  const uint32_t* n_removed; /**< for each condition of cudaccl_filter_name(): what it removed */
  size_t n_filters;

  /* Microseconds of each stage. The GPU's `runs` fuses the stages from label to paint; label has them all. */
  float upload_us;
  float segment_us;
  float label_us;
  float number_us;
  float measure_us;
  float track_us;
  float paint_us;
  float download_us;
} CudacclResult;

CUDACCL_API void cudaccl_result_init(CudacclResult* result, size_t struct_size);

/** The conditions of the filter in the order in which they are tested, such as "min-area"; NULL from their
 * number on. Static. */
CUDACCL_API const char* cudaccl_filter_name(size_t index);

/** Starts a frame. CUDACCL_INVALID_ARGUMENT if CudacclConfig::slots times batch frames are in flight already.
 */
CUDACCL_API CudacclStatus cudaccl_engine_push(CudacclEngine* engine, const CudacclFrame* frame);
/** Starts 1 to CudacclConfig::batch frames in one call. Each is popped by a call of its own, and results are
 * those of frames that are pushed one by one. A GPU labels the frames in one launch if they lie in its memory
 * with one stride, have equal settings, and need the algorithm "runs" alone: a threshold or values, no
 * filter, no regions, no tracks; small frames are several times as fast then. CUDACCL_INVALID_ARGUMENT, and
 * no frame is started, if one of them is not valid, or if there are too many. */
CUDACCL_API CudacclStatus cudaccl_engine_push_batch(CudacclEngine* engine, const CudacclFrame* const* frames,
                                                    size_t n_frames);
/** Waits for the oldest frame in flight. CUDACCL_NEED_MORE_DATA if there is none, CUDACCL_INVALID_ARGUMENT
 * if the engine is not configured. */
CUDACCL_API CudacclStatus cudaccl_engine_pop(CudacclEngine* engine, CudacclResult* result);
/** Push and pop in one call. CUDACCL_INVALID_ARGUMENT if a frame is in flight. */
CUDACCL_API CudacclStatus cudaccl_engine_run(CudacclEngine* engine, const CudacclFrame* frame,
                                             CudacclResult* result);

/** The polygons of a frame have at most this many vertices together. */
#define CUDACCL_MAX_VERTICES 262144u

/** Grey statistics and polygons of a frame whose CudacclSettings::features ask for them; docs/features.md
 * describes them. The engine owns all arrays, which are valid until its next call except
 * cudaccl_last_error(). */
typedef struct CudacclShapes {
  size_t struct_size;
  const CclGrey* grey; /**< with CUDACCL_FEATURE_GREY: of each record, in the order of the records */
  size_t n_grey;
  const CclPolygon* polygons; /**< with CUDACCL_FEATURE_RECTANGLE, _HULL, _CONTOUR or _INRADIUS: those of
                                 the largest component first, of each its rectangle, hull, outline, holes and
                                 circle */
  size_t n_polygons;
  const CclVertex* vertices; /**< of all polygons */
  size_t n_vertices;
  uint32_t truncated; /**< 1: a component has no polygons, because they would be too many vertices */
  uint32_t reserved;  /**< 0 */
} CudacclShapes;

CUDACCL_API void cudaccl_shapes_init(CudacclShapes* shapes, size_t struct_size);

/** Makes the polygons of the `max_objects` largest components that have a record (UINT32_MAX: of all), of the
 * frame that was popped last, and finds its grey statistics. Takes memory. CUDACCL_INVALID_ARGUMENT if the
 * engine was called for something else since the pop. */
CUDACCL_API CudacclStatus cudaccl_engine_shapes(CudacclEngine* engine, uint32_t max_objects,
                                                CudacclShapes* shapes);

/** Discards all frames in flight. The caller may then change their memory. */
CUDACCL_API CudacclStatus cudaccl_engine_flush(CudacclEngine* engine);

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_H */
