/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The track record and the event: what cudaccl reports about objects over time.
 *
 * Plain C, 64 and 32 bytes, no padding, native byte order, the same on every platform and backend.
 */
#ifndef CCL_TRACK_H
#define CCL_TRACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the layouts below. It changes when a field moves or changes its meaning. */
#define CCL_TRACK_LAYOUT_VERSION 1u

/** CclTrack::component of a track that no component shows in this frame. */
#define CCL_NO_COMPONENT 0xffffffffu

/** CclEvent::where of an event at no zone or line. */
#define CCL_NO_PLACE 0xffffffffu

/** Bits of CclTrack::flags. */
enum {
  /** Seen in enough frames to be an object. All other tracks may be noise. */
  CCL_TRACK_CONFIRMED = 1u << 0,
  /** Not found in this frame: place and box are predicted. */
  CCL_TRACK_PREDICTED = 1u << 1,
  /** Shares its component with other tracks: place and box within the component are estimated. */
  CCL_TRACK_MERGED = 1u << 2,
  /** Several components show it, as when something stands in front of it. */
  CCL_TRACK_FRAGMENTED = 1u << 3,
  /** In its first frame. */
  CCL_TRACK_NEWBORN = 1u << 4,
  /** Left a component that it shared, with this frame. */
  CCL_TRACK_SPLIT = 1u << 5,
  /** The box touches the frame's border: the object may continue outside. */
  CCL_TRACK_TOUCHES_BORDER = 1u << 6
};

/** One object over time, as it is in one frame. */
typedef struct CclTrack {
  /** Unique in the stream, from 1 on, never used again. */
  uint32_t id;
  /** CCL_TRACK_* bits. */
  uint32_t flags;
  /** Frames since the first one, which is 0. */
  uint32_t age;
  /** Index of the record of its component, of several the one that continues it; CCL_NO_COMPONENT if none. */
  uint32_t component;
  /** Time of the frame in which it was seen first, and last, in nanoseconds: see CudacclFrame.time. */
  int64_t first_time, last_time;
  /** Place in pixels: the centroid of its component, or an estimate of it where the component does not show
     the whole object and nothing else (docs/tracking.md). */
  float cx, cy;
  /** Velocity in pixels per second. A step of time counts as one second at most, so at less than one frame
     per second it is in pixels per frame. */
  float vx, vy;
  /** Box, cut off at the frame's border: left and top pixel, and extent in pixels. That of its component, if
     it is alone and whole there (see flags); smaller if the component suddenly shows more than this object;
     where it is expected, if the component was cut from a group of tracks. */
  uint16_t x, y, width, height;
  /** The id of the track that it parted from at its birth; 0: none. */
  uint32_t parent;
  /** Bit i: its anchor is in zone i, of the first 32 zones. */
  uint32_t zones;
} CclTrack;

/** CclEvent::type. Values are kept by later versions. */
enum {
  CCL_EVENT_BORN = 1,          /**< a track is confirmed */
  CCL_EVENT_DIED = 2,          /**< a confirmed track ends */
  CCL_EVENT_MERGED = 3,        /**< `id` came to share a component with `other` */
  CCL_EVENT_SPLIT = 4,         /**< `id` left the component that it shared with `other`, or parted from it */
  CCL_EVENT_ENTERED = 5,       /**< the anchor of `id` came into zone `where` */
  CCL_EVENT_LEFT = 6,          /**< the anchor of `id` left zone `where`, or the track ended in it */
  CCL_EVENT_DWELLED = 7,       /**< `id` has been in zone `where` for the zone's time */
  CCL_EVENT_CROSSED_LEFT = 8,  /**< the anchor of `id` crossed line `where` to the left, seen from its first
                                    point to its second one, y pointing down */
  CCL_EVENT_CROSSED_RIGHT = 9, /**< the same, to the right */
  CCL_EVENT_CROWDED = 10, /**< zone `where` holds more than the zone's number of tracks; `other`: how many */
  CCL_EVENT_STARTED = 11, /**< the first kept component after a time without any */
  CCL_EVENT_STOPPED = 12, /**< no kept component for the hold time */
  CCL_EVENT_COUNT /**< the size of a table by type; stays the last one, and grows with later versions */
};

/** The type of an event as a word, such as `entered`; NULL for a type that this header does not know. */
static inline const char* ccl_event_nick(uint32_t type) {
  /* NOLINTBEGIN(modernize-use-nullptr): C, too */
  static const char* const nicks[] = {NULL,      "born",    "died",    "merged",       "split",
                                      "entered", "left",    "dwelled", "crossed-left", "crossed-right",
                                      "crowded", "started", "stopped"};
#ifdef __cplusplus
  static_assert(sizeof nicks / sizeof *nicks == CCL_EVENT_COUNT, "each type of event has a nick");
#endif
  return type < CCL_EVENT_COUNT ? nicks[type] : NULL;
  /* NOLINTEND(modernize-use-nullptr) */
}

/** Whether CclEvent::where of an event of this type is the index of a line; else it is that of a zone, if of
 * any. */
static inline int ccl_event_is_at_line(uint32_t type) {
  static const uint8_t is_at_line[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0}; /* in the order of nicks */
#ifdef __cplusplus
  static_assert(sizeof is_at_line == CCL_EVENT_COUNT, "each type of event is at a line or not");
#endif
  return type < CCL_EVENT_COUNT && is_at_line[type] != 0;
}

/** Something that happened to a track, in a zone, or in the whole frame. */
typedef struct CclEvent {
  uint32_t type;  /**< CCL_EVENT_* */
  uint32_t id;    /**< the track; 0 if the event is of none */
  uint32_t other; /**< see the type; else 0 */
  uint32_t where; /**< index of the zone or line; CCL_NO_PLACE */
  int64_t time;   /**< of the frame, in nanoseconds: see CudacclFrame.time */
  float x, y;     /**< where the track was; 0 if the event is of none */
} CclEvent;

#ifdef __cplusplus
}
static_assert(sizeof(CclTrack) == 64, "the track record is 64 bytes");
static_assert(sizeof(CclEvent) == 32, "the event is 32 bytes");
#endif

#endif /* CCL_TRACK_H */
